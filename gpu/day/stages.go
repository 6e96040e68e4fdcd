package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/pipeline"
)

// block is a block with the CPU's result of every stage.
type block struct {
	src     []byte
	seqs    [lz77.MaxLevel + 1][]lz77.Sequence // of matchLevels
	streams *lzseq.Streams
	payload []byte
	fused   [lz77.MaxLevel + 1][]byte // payloads of matchLevels
}

// matchLevels has a level for each search depth of those that devices match: 8, 16 and 32.
var matchLevels = []int{6, 5, 7}

func newBlock(src []byte) (*block, error) {
	w := new(worker)
	b := &block{src: src, streams: new(lzseq.Streams)}
	for _, level := range matchLevels {
		b.seqs[level] = w.match(nil, matchRequest(b.src, level))
		b.streams.Encode(lzseq.Repeat, b.src, b.seqs[level])
		r := b.encodeRequest()
		if err := pipeline.Host(r); err != nil {
			return nil, err
		}
		b.fused[level] = r.Dst
	}
	// The streams are those of the last level.
	b.payload = b.fused[matchLevels[len(matchLevels)-1]]
	return b, nil
}

func matchRequest(src []byte, level int) *gpu.Request {
	return &gpu.Request{Op: gpu.Stage0, Size: len(src), Src: src, Params: &lz77.Levels[level],
		Limits: lzseq.Repeat.Limits}
}

func fusedRequest(src []byte, level int) *gpu.Request {
	return &gpu.Request{Op: gpu.Fused, Size: len(src), Src: src, Params: &lz77.Levels[level],
		Limits: lzseq.Repeat.Limits, Layout: lzseq.Repeat}
}

func (b *block) encodeRequest() *gpu.Request {
	return &gpu.Request{Op: gpu.StageN, Size: len(b.src), Layout: lzseq.Repeat, Streams: b.streams}
}

func (b *block) decodeRequest() *gpu.Request {
	return &gpu.Request{Op: gpu.StageN, Decode: true, Size: len(b.src), Src: b.payload,
		Streams: new(lzseq.Streams)}
}

// codedBytes returns the size of the streams that rANS codes.
func (b *block) codedBytes() (n int) {
	all := b.streams.All()
	for _, s := range all[:len(all)-lzseq.Repeat.Stored] {
		n += len(*s)
	}
	return n
}

// stage is work that both the device and the CPU can do.
type stage struct {
	name    string
	k       int      // candidates, 0 if that means nothing
	kernels []string // those that Again can repeat
	request func(b *block) *gpu.Request
	equal   func(b *block, r *gpu.Request) bool // compares the result with the CPU's
	bytes   func(b *block) int                  // unit of its speed
	verify  func(r *gpu.Request) bool           // a worker's part after the device, nil if there is none
	cpu     func(r *gpu.Request) error          // does the work on the CPU
}

func (s *stage) String() string {
	if s.k == 0 {
		return s.name
	}
	return fmt.Sprintf("%s with %d candidates", s.name, s.k)
}

// worker does a worker's part: it matches and parses on the CPU, and verifies a device's results.
// It reuses its memory.
type worker struct {
	matcher lz77.Matcher
	decoded gpu.Request
	content []byte
}

// match appends the sequences that the CPU finds for a request of Stage0.
func (w *worker) match(dst []lz77.Sequence, r *gpu.Request) []lz77.Sequence {
	return w.matcher.ParseFrom(dst, r.Src, r.Window, r.Params, r.Limits)
}

// parse parses the candidates of a device into r.Seqs and verifies these.
func (w *worker) parse(r *gpu.Request) (ok bool) {
	r.Seqs, ok = w.matcher.ParseCandidates(r.Seqs[:0], r.Src, r.Window, r.Params, r.Limits, r.Candidates)
	return ok && lz77.Valid(r.Seqs, r.Src, r.Window, r.Limits, nil)
}

func (w *worker) decodes(r *gpu.Request) bool {
	streams := w.decoded.Streams
	if streams == nil {
		streams = new(lzseq.Streams)
	}
	w.decoded = gpu.Request{Op: gpu.StageN, Decode: true, Size: r.Size, Src: r.Dst, Streams: streams}
	return pipeline.Host(&w.decoded) == nil
}

func (w *worker) encoded(r *gpu.Request) bool {
	return w.decodes(r) && equalStreams(w.decoded.Streams, r.Streams)
}

func (w *worker) fused(r *gpu.Request) bool {
	w.content = slices.Grow(w.content[:0], r.Size+lz77.Slack)[:r.Size]
	return w.decodes(r) && w.decoded.Streams.Decode(w.decoded.Layout, w.content, 0) == nil &&
		bytes.Equal(w.content, r.Src)
}

func allStages() []stage {
	w := new(worker)
	list := []stage{{
		name: "decode", kernels: []string{"rans_decode"},
		request: (*block).decodeRequest,
		equal: func(b *block, r *gpu.Request) bool {
			return equalStreams(r.Streams, b.streams) && r.Layout == lzseq.Repeat
		},
		bytes: (*block).codedBytes,
		cpu:   pipeline.Host,
	}, {
		name: "encode", kernels: []string{"histogram", "rans_encode"},
		request: (*block).encodeRequest,
		equal:   func(b *block, r *gpu.Request) bool { return bytes.Equal(r.Dst, b.payload) },
		bytes:   (*block).codedBytes,
		verify:  w.encoded,
		cpu:     pipeline.Host,
	}}
	for _, level := range matchLevels {
		list = append(list, stage{
			name: "match",
			k:    lz77.Levels[level].Depth,
			// Repeating match_scan would spoil the counts.
			kernels: []string{"match_hash", "match_count", "match_base", "match_scatter", "match_best"},
			request: func(b *block) *gpu.Request { return matchRequest(b.src, level) },
			equal: func(b *block, r *gpu.Request) bool {
				return w.parse(r) && slices.Equal(r.Seqs, b.seqs[level])
			},
			bytes:  func(b *block) int { return len(b.src) },
			verify: w.parse,
			cpu:    func(r *gpu.Request) error { r.Seqs = w.match(r.Seqs[:0], r); return nil },
		})
	}
	for _, level := range matchLevels {
		list = append(list, stage{
			name: "fused",
			k:    lz77.Levels[level].Depth,
			// Repeating the parse measures nothing: the first run leaves no work.
			kernels: []string{"match_best", "fused_code", "fused_cut", "fused_frame", "rans_encode",
				"fused_pieces", "fused_payload"},
			request: func(b *block) *gpu.Request { return fusedRequest(b.src, level) },
			equal:   func(b *block, r *gpu.Request) bool { return bytes.Equal(r.Dst, b.fused[level]) },
			bytes:   func(b *block) int { return len(b.src) },
			verify:  w.fused,
			cpu:     pipeline.Host,
		})
	}
	return list
}

func equalStreams(got, want *lzseq.Streams) bool {
	all := want.All()
	for i, s := range got.All() {
		if !bytes.Equal(*s, *all[i]) {
			return false
		}
	}
	return true
}

var errOtherResult = errors.New("the device's result differs from the CPU's")
