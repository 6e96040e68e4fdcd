package pipeline

import (
	"fmt"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/lzprice"
	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/internal/x86"
	"github.com/gopz/compress/lzseq"
)

// Stages of the pipelines that write .pz. A coded payload is a layout byte and the streams of the
// layout, coded together. A stage that a device can do has a deviceOp besides the function for the
// CPU.

// matchStage finds the sequences of a block.
var matchStage = stage{
	name: "lz77",
	run: func(ws *workspace, b *Block) error {
		p := b.payload
		p.ranges = nil
		p.seqs = p.seqs[:0]
		if b.noMatches {
			return nil
		}
		if b.dense() && b.run.cfg.Dictionary == nil {
			ws.filter(b) // matches with a dictionary save more
		}
		switch {
		case b.History != nil:
			p.seqs = ws.findInHistory(b)
		case b.run.cfg.Dictionary != nil && b.Window == 0:
			p.seqs = ws.findWithDictionary(b)
		case b.hasLongRepeat():
			ws.matchBetween(b)
		case b.priced():
			ws.matchPriced(b)
		default:
			src := ws.matchInput(b)
			p.seqs = ws.matcher.ParseFrom(p.seqs, src, b.Window, b.params(), b.form())
			if b.dense() && len(src) <= smallBlock {
				ws.tryLazyParses(b)
			}
		}
		return nil
	},
	device: &deviceOp{
		op:  gpu.Stage0,
		can: plain,
		prepare: func(b *Block, r *gpu.Request) {
			r.Params, r.Limits = &b.params().Params, b.form().Limits
		},
		accept: acceptSequences,
	},
}

// form returns the coded form of the block's sequences.
func (b *Block) form() *optimal.Form {
	if b.priced() {
		return &lzprice.Dense
	}
	return b.run.cfg.Pipeline.form
}

// params returns the settings chosen for the block, or those of the run's level.
func (b *Block) params() *match.Params {
	if b.settings != nil {
		return b.settings
	}
	return &b.run.cfg.Pipeline.levels[b.run.cfg.Level]
}

// streamStage turns sequences into the streams of a layout, or of Dense.
func streamStage(l *lzseq.Layout) stage {
	return stage{name: "lzseq", run: func(ws *workspace, b *Block) error {
		l := l
		if b.payload.encoded {
			return nil
		}
		if b.dense() {
			l = lzseq.Dense
		}
		ws.streams(b.payload).Encode(l, ws.matchInput(b), b.payload.seqs)
		return nil
	}}
}

// codeStage turns streams into a coded payload.
func codeStage(l *lzseq.Layout) stage {
	return stage{
		name: "rans",
		run: func(ws *workspace, b *Block) error {
			ws.dense.fast = !b.thorough()
			switch {
			case b.payload.encoded:
			case b.priced():
				b.dst = ws.encodeDense(b.dst[:0], ws.streams(b.payload), b.payload.ranges)
			case b.dense():
				ws.encodeLazyDense(b)
			default:
				b.dst = ws.encodePayload(b.dst[:0], l, &b.payload.streams)
			}
			return nil
		},
		device: &deviceOp{
			op:  gpu.StageN,
			can: notDense,
			prepare: func(b *Block, r *gpu.Request) {
				r.Layout, r.Streams, r.Dst = l, forDevice(b.payload), b.dst[:0]
			},
			accept: acceptStreams,
		},
	}
}

// fusedStages turns a block into a coded payload in one request.
func fusedStages(l *lzseq.Layout) *deviceOp {
	return &deviceOp{
		op:  gpu.Fused,
		can: plain,
		prepare: func(b *Block, r *gpu.Request) {
			r.Params, r.Limits, r.Layout, r.Dst = &b.params().Params, l.Limits, l, b.dst[:0]
		},
		accept: acceptContent,
	}
}

// decodeStage decodes the streams of a payload of any layout.
var decodeStage = stage{
	name: "rans",
	run: func(ws *workspace, b *Block) (err error) {
		p := b.payload
		p.layout, p.ranges, err = ws.decodePayload(b.src, b.raw, ws.streams(p))
		return err
	},
	device: &deviceOp{
		op:  gpu.StageN,
		can: notDense,
		prepare: func(b *Block, r *gpu.Request) {
			r.Decode, r.Streams = true, forDevice(b.payload)
		},
		accept: acceptDecoded,
	},
}

// copyStage executes the sequences and undoes the filter, if the block has one.
var copyStage = stage{name: "lzseq", run: func(ws *workspace, b *Block) error {
	dst := b.output()
	work, start := dst, 0
	if b.run.cfg.Dictionary != nil {
		work, start = ws.behindDictionary(b, len(dst))
	}
	ranges := b.payload.ranges
	b.payload.ranges = nil // it is a part of Src
	if err := ws.streams(b.payload).Decode(b.payload.layout, work, start); err != nil {
		return fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if start > 0 {
		pieces.Copy(dst, work[start:], ws.check)
	}
	if ranges != nil {
		x86.Decode(dst, ranges, ws.check)
	}
	return nil
}}

// encodePayload appends a coded payload to dst.
func (ws *workspace) encodePayload(dst []byte, l *lzseq.Layout, s *lzseq.Streams) []byte {
	var streams [6][]byte
	for i, s := range s.All() {
		streams[i] = *s
	}
	dst = append(resize(dst, payloadRoom(s))[:0], l.ID)
	ws.rans.enc.Defaults = s.Size < rans.DefaultsLimit
	return ws.rans.enc.Append(dst, l.Stored, streams[:]...)
}

// payloadRoom returns the sizes of all streams and a little more. Coding hardly ever makes them
// longer, and a buffer that grows by appending takes more memory.
func payloadRoom(s *lzseq.Streams) int {
	n := 0
	for _, s := range s.All() {
		n += len(*s)
	}
	return n + n/256 + 1024
}

// notDense reports whether a device can code the block. Devices have no context-coded streams.
func notDense(b *Block) bool {
	if b.run.cfg.Op == Decompress {
		return len(b.src) == 0 || b.src[0] != lzseq.Dense.ID
	}
	return !b.dense()
}

// plain reports whether a device can find the sequences of the block: it has no dictionaries, no
// optimal parser either, and leaves out no content.
func plain(b *Block) bool {
	return notDense(b) && b.run.cfg.Dictionary == nil && !b.params().Optimal() && !b.hasLongRepeat()
}

// decodePayload decodes the streams of a coded payload for size bytes of content. If the content
// was filtered, ranges is the part of src that says where, else nil.
func (ws *workspace) decodePayload(
	src []byte, size int, s *lzseq.Streams,
) (l *lzseq.Layout, ranges []byte, err error) {
	if len(src) == 0 {
		return nil, nil, fmt.Errorf("%w: empty", ErrPayload)
	}
	if src[0] == lzseq.Dense.ID {
		ranges, err = ws.decodeDense(src[1:], size, s)
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

// DecodeStreams decodes the streams of a coded payload for size bytes of content into s. It is for
// tools that show streams. If the content was filtered, the streams are those of the filtered
// content.
func DecodeStreams(s *lzseq.Streams, payload []byte, size int) (*lzseq.Layout, error) {
	l, _, err := new(workspace).decodePayload(payload, size, s)
	return l, err
}
