package pipeline

import (
	"fmt"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/x86"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// Stages of the pipelines that write .pz. A coded payload is a layout byte and the streams of the layout, coded together.
// Each stage comes as the CPU does it and, where a device may, as a request to one.

// matchStage finds the sequences of a block within limits.
var matchStage = stage{name: "lz77",
	run: func(ws *workspace, b *Block) error {
		p := b.payload
		p.ranges = nil
		if p.seqs = p.seqs[:0]; b.plain {
			return nil
		}
		if b.dense() && !b.coarse {
			ws.matchDense(b)
		} else {
			p.seqs = ws.matcher.ParseFrom(p.seqs, b.Src, b.Window, b.params(), *b.limits())
		}
		return nil
	},
	remote: &remote{
		op:   gpu.Stage0,
		fits: func(b *Block) bool { return b.coarse || notDense(b) },
		ask: func(b *Block, r *gpu.Request) {
			r.Params, r.Limits, r.Seqs = b.params(), *b.limits(), b.payload.seqs[:0]
		},
		take: takeMatches,
	},
}

// takeMatches takes over the sequences of a device. Where the device has only found candidates, it
// parses them.
func takeMatches(ws *workspace, b *Block, r *gpu.Request) error {
	limits, parsed := *b.limits(), true
	if r.Candidates != nil {
		r.Seqs, parsed = ws.matcher.ParseCandidates(r.Seqs[:0], b.Src, b.Window, b.params(), limits, r.Candidates)
		r.FreeCandidates()
	}
	b.payload.seqs, b.payload.ranges = r.Seqs, nil
	if !parsed || !lz77.Valid(r.Seqs, b.Src, b.Window, limits) {
		return errWrong
	}
	return nil
}

// limits are those of the block's sequences. Finders that are not Priced, as of one that is coarse, have none of the shorter matches.
func (b *Block) limits() *lz77.Limits {
	if b.dense() && !b.coarse {
		return &lzseq.Dense.Limits
	}
	return b.run.cfg.Pipeline.limits
}

// params are the settings chosen for the block, or else those of the run's level.
func (b *Block) params() *lz77.Params {
	if b.settings != nil {
		return b.settings
	}
	return &b.run.cfg.Pipeline.levels[b.run.cfg.Level]
}

// streamStage turns sequences into the streams of a layout, or of Dense.
func streamStage(l *lzseq.Layout) stage {
	return stage{name: "lzseq", run: func(ws *workspace, b *Block) error {
		l := l
		if b.payload.coded {
			return nil
		}
		if b.dense() {
			l = lzseq.Dense
		}
		b.payload.streams.Encode(l, ws.coded(b), b.payload.seqs)
		return nil
	}}
}

// codeStage turns streams into a coded payload.
func codeStage(l *lzseq.Layout) stage {
	return stage{name: "rans",
		run: func(ws *workspace, b *Block) error {
			switch ws.dense.coarse = b.coarse; {
			case b.payload.coded:
			case b.coarse:
				ws.codeCoarse(b)
			case b.dense():
				b.dst = ws.codeDense(b.dst[:0], &b.payload.streams, b.payload.ranges)
			default:
				b.dst = ws.code(b.dst[:0], l, &b.payload.streams)
			}
			return nil
		},
		remote: &remote{
			op:   gpu.StageN,
			fits: notDense,
			ask: func(b *Block, r *gpu.Request) {
				r.Layout, r.Streams, r.Dst = l, &b.payload.streams, b.dst[:0]
			},
			take: takeStreams,
		},
	}
}

// fusedStages is a whole block of a layout.
func fusedStages(l *lzseq.Layout) *remote {
	return &remote{
		op:   gpu.Fused,
		fits: notDense,
		ask: func(b *Block, r *gpu.Request) {
			r.Params, r.Limits, r.Layout, r.Dst = b.params(), l.Limits, l, b.dst[:0]
		},
		take: takeContent,
	}
}

// decodeStage takes a payload apart, whichever layout it names.
var decodeStage = stage{name: "rans",
	run: func(ws *workspace, b *Block) (err error) {
		p := b.payload
		p.layout, p.ranges, err = ws.takeApart(b.Src, b.Raw, &p.streams)
		return err
	},
	remote: &remote{
		op:   gpu.StageN,
		fits: notDense,
		ask: func(b *Block, r *gpu.Request) {
			r.Decode, r.Streams = true, &b.payload.streams
		},
		take: takeDecoded,
	},
}

// copyStage carries out the sequences, and undoes what filter there is.
var copyStage = stage{name: "lzseq", run: func(ws *workspace, b *Block) error {
	dst := b.Into
	if b.placed = dst != nil; b.placed {
		dst = dst[:b.Raw:b.Raw]
	} else {
		b.dst = resize(b.dst, b.Raw+lz77.Slack)[:b.Raw]
		dst = b.dst
	}
	ranges := b.payload.ranges
	b.payload.ranges = nil // it is a part of Src
	if err := b.payload.streams.Decode(b.payload.layout, dst); err != nil {
		return fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if ranges != nil {
		x86.Decode(dst, ranges)
	}
	return nil
}}

// code appends a coded payload to dst.
func (ws *workspace) code(dst []byte, l *lzseq.Layout, s *lzseq.Streams) []byte {
	var streams [6][]byte
	for i, s := range s.All() {
		streams[i] = *s
	}
	dst = append(resize(dst, payloadRoom(s))[:0], l.ID)
	return ws.rans.enc.Append(dst, l.Stored, streams[:]...)
}

// payloadRoom is room for all streams as they are: coding hardly ever makes them longer, and a buffer that grows by appending takes more.
func payloadRoom(s *lzseq.Streams) int {
	n := 0
	for _, s := range s.All() {
		n += len(*s)
	}
	return n + n/256 + 1024
}

// notDense is for devices, which do not know chained streams, nor sequences made for them.
func notDense(b *Block) bool {
	if b.run.cfg.Op == Decompress {
		return len(b.Src) == 0 || b.Src[0] != lzseq.Dense.ID
	}
	return !b.dense()
}

// takeApart decodes the streams of a coded payload that stands for size bytes of content. Ranges, a part of src, are
// those of the content that were filtered, or nil.
func (ws *workspace) takeApart(src []byte, size int, s *lzseq.Streams) (l *lzseq.Layout, ranges []byte, err error) {
	if len(src) == 0 {
		return nil, nil, fmt.Errorf("%w: empty", ErrPayload)
	}
	if src[0] == lzseq.Dense.ID {
		ranges, err = ws.takeDense(src[1:], size, s)
		return lzseq.Dense, ranges, err
	}
	if l = lzseq.LayoutByID(src[0]); l == nil {
		return nil, nil, fmt.Errorf("%w: unknown layout %d", ErrPayload, src[0])
	}
	streams, limits := s.All(), l.MaxSizes(size)
	rest, err := ws.rans.dec.Decode(src[1:], limits[:], streams[:]...)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if len(rest) != 0 {
		return nil, nil, fmt.Errorf("%w: %d bytes too many", ErrPayload, len(rest))
	}
	return l, nil, nil
}

// DecodeStreams decodes the streams of a coded payload that stands for size bytes of content, for those who want to look at them: if the
// content was filtered, of what the filter made of it. s is overwritten.
func DecodeStreams(s *lzseq.Streams, payload []byte, size int) (*lzseq.Layout, error) {
	l, _, err := new(workspace).takeApart(payload, size, s)
	return l, err
}
