package host

import (
	"encoding/binary"
	"fmt"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/rans"
)

// Streams does a request of Fused alone and returns, besides, the streams that its kernels have coded: for tests, which tell from them which step is wrong.
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
	// The buffers are as the kernels have left them.
	var bounds [6]uint64
	at, sizes := uint64(0), lzseq.Repeat.MaxSizes(len(r.Src))
	for k, m := range sizes {
		bounds[k] = at
		at += 4 * uint64(words(m)+1)
	}
	s.begin(0, In)
	s.downloadFrom(Counts, 0, 4*stateWords)
	s.downloadFrom(Keys, 0, at)
	if err := s.submit(); err != nil {
		return nil, err
	}
	out := new(lzseq.Streams)
	var err error
	if e := s.q.Downloaded(func(p []byte) {
		if status := binary.LittleEndian.Uint32(p); status != 1 {
			err = fmt.Errorf("gpu: the parse is not done: %d, at position %d after %d turns", status, binary.LittleEndian.Uint32(p[4:]), binary.LittleEndian.Uint32(p[4*32:]))
			return
		}
		for k, dst := range out.All() {
			n := int(binary.LittleEndian.Uint32(p[4*(21+k):]))
			if n > sizes[k] {
				err = fmt.Errorf("stream %d of %d bytes", k, n)
				return
			}
			*dst = append(make([]byte, 0, n+rans.Slack), p[4*stateWords+bounds[k]:][:n]...)
		}
	}); e != nil {
		return nil, e
	}
	return out, err
}
