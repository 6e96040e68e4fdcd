package offload

import (
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// A wrong payload would be a file that no decoder can read. So a worker checks each result of a
// device before it counts. Where a check fails, the CPU does the work again and the device is lost.

// Decoder decodes the streams of a coded payload for size bytes of content. Filtered says that the
// payload stands for filtered content, which no device makes.
type Decoder interface {
	DecodePayload(
		s *lzseq.Streams, payload []byte, size int,
	) (l *lzseq.Layout, filtered bool, err error)
}

// Verifier checks the results of a device. The zero value is ready for use. It keeps its scratch
// memory, about 4.5 times the size of a block, and is for one goroutine at a time.
type Verifier struct {
	// Checkpoint, unless it is nil, is called between pieces of the work, on the caller's
	// goroutine. It may block. It may panic to abandon the work; the Verifier can then be used
	// again.
	Checkpoint func()

	streams lzseq.Streams
	content []byte
}

// Sequences checks the result of Stage0: sequences must be valid for src within limits.
func (v *Verifier) Sequences(
	seqs []lz77.Sequence, src []byte, window int, limits lz77.Limits,
) error {
	if !lz77.Valid(seqs, src, window, limits, v.Checkpoint) {
		return ErrWrong
	}
	return nil
}

// Streams checks the result of StageN: the payload of r must decode to the streams that it was made
// from.
func (v *Verifier) Streams(d Decoder, r *gpu.Request, size int, want *lzseq.Streams) error {
	if !v.decodePayload(d, r, size) {
		return ErrWrong
	}
	streams := want.All()
	for i, s := range v.streams.All() {
		if !pieces.Equal(*s, *streams[i], v.Checkpoint) {
			return ErrWrong
		}
	}
	return nil
}

// Content checks the result of Fused: the payload of r must decode to the content.
func (v *Verifier) Content(d Decoder, r *gpu.Request, want []byte) error {
	if !v.decodePayload(d, r, len(want)) {
		return ErrWrong
	}
	if n := len(want) + lz77.Slack; cap(v.content) < n {
		v.content = make([]byte, n)
	}
	v.content = v.content[:len(want)]
	if v.streams.Decode(r.Layout, v.content, 0) != nil ||
		!pieces.Equal(v.content, want, v.Checkpoint) {
		return ErrWrong
	}
	return nil
}

// decodePayload decodes the payload of r into v.streams.
func (v *Verifier) decodePayload(d Decoder, r *gpu.Request, size int) bool {
	v.streams.Checkpoint = v.Checkpoint
	l, filtered, err := d.DecodePayload(&v.streams, r.Dst, size)
	return err == nil && l == r.Layout && !filtered
}

// Decoded checks the result of StageN when decoding: layout and sizes of the streams must fit the
// payload. The check of the content shows whether the streams are right, so a device decodes only
// for runs with checks.
func (v *Verifier) Decoded(r *gpu.Request, payload []byte, size int, got *lzseq.Streams) error {
	if r.Layout == nil || len(payload) == 0 || r.Layout != lzseq.LayoutByID(payload[0]) {
		return ErrWrong
	}
	limits := r.Layout.MaxSizes(size)
	for i, s := range got.All() {
		if len(*s) > limits[i] || cap(*s) < len(*s)+rans.Slack {
			return ErrWrong
		}
	}
	return nil
}
