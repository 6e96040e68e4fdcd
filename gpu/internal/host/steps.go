package host

import (
	"encoding/binary"
	"fmt"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/lzseq"
)

// Streams runs one request of Fused and returns the streams that its kernels have made. Tests
// compare them to find the kernel that is wrong.
func (d *Device) Streams(r *gpu.Request) (*lzseq.Streams, error) {
	s, ok := <-d.slots
	if !ok {
		return nil, ErrClosed
	}
	defer func() { d.slots <- s }()
	if !d.acceptsFused(r) {
		return nil, ErrTooLarge
	}
	if err := s.runFused([]*gpu.Request{r}); err != nil {
		return nil, err
	}
	// The buffers still hold what the kernels left.
	bounds, end := fusedBounds(len(r.Src))
	s.beginSubmission(0, In)
	s.downloadFrom(State, 0, 4*stateWords)
	s.downloadFrom(Keys, 0, end)
	if err := s.submit(); err != nil {
		return nil, err
	}
	out := new(lzseq.Streams)
	var err error
	if e := s.downloaded(func(p []byte) { err = readStreams(out, p, bounds, len(r.Src)) }); e != nil {
		return nil, e
	}
	return out, err
}

// fusedBounds returns where the streams of a single block of n bytes begin and end in their buffer,
// in bytes.
func fusedBounds(n int) (begin [6]uint64, end uint64) {
	for k, m := range lzseq.Repeat.MaxSizes(n) {
		begin[k] = end
		end += 4 * uint64(words(m)+1)
	}
	return begin, end
}

// readStreams reads the streams of a block of n bytes from the state of its parse and the streams'
// buffer.
func readStreams(out *lzseq.Streams, p []byte, begin [6]uint64, n int) error {
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(p[4*i:]) }
	if word(0) != 1 {
		return fmt.Errorf("gpu: parse ends with status %d after %d sequences", word(0), word(6))
	}
	sizes := lzseq.Repeat.MaxSizes(n)
	for k, dst := range out.All() {
		size := int(word(21 + k))
		if size > sizes[k] {
			return fmt.Errorf("gpu: stream %d of %d bytes; the limit is %d", k, size, sizes[k])
		}
		*dst = append(make([]byte, 0, size+rans.Slack), p[4*stateWords+begin[k]:][:size]...)
	}
	return nil
}
