package zstd

import (
	"bufio"
	"io"
	"sync"

	"github.com/gopz/compress/internal/zstframe"
)

// A source reads the input of a stream. It waits only for bytes that the next step needs.
type source struct {
	r     io.Reader
	buf   *bufio.Reader // of r; nil before the first read
	block []byte        // a block that does not fit into buf
	taken int           // bytes in block; they are read from r already
}

// sourceBuffer is the size of a source's buffer in bytes.
const sourceBuffer = 8 << 10

// sourceBuffers has those not in use.
var sourceBuffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, sourceBuffer) }}

// release drops the input. With share set other sources get the buffer.
func (s *source) release(share bool) {
	if s.buf != nil && share {
		s.buf.Reset(nil)
		sourceBuffers.Put(s.buf)
	}
	s.r, s.buf, s.taken = nil, nil, 0
}

// reader returns the buffered input.
func (s *source) reader() *bufio.Reader {
	if s.buf == nil {
		s.buf = sourceBuffers.Get().(*bufio.Reader)
		s.buf.Reset(s.r)
	}
	return s.buf
}

// peek returns the next n bytes of a frame. They are valid until the next call of a method. The end
// of the input is io.ErrUnexpectedEOF.
func (s *source) peek(n int) ([]byte, error) {
	in := s.reader()
	if n <= in.Size() {
		p, err := in.Peek(n)
		if len(p) == n {
			return p, nil
		}
		return nil, broken(err)
	}
	if cap(s.block) < n {
		s.block = make([]byte, n)
	}
	p := s.block[:n]
	var err error
	s.taken, err = io.ReadFull(in, p)
	if err != nil {
		return nil, broken(err)
	}
	return p, nil
}

// discard passes over n bytes that peek has returned.
func (s *source) discard(n int) {
	if s.taken > 0 {
		s.taken = 0
		return
	}
	s.buf.Discard(n)
}

// readHeader reads the header of the next frame. At the end of the input it returns io.EOF.
func (s *source) readHeader(h *Header) error {
	*h = Header{}
	in := s.reader()
	if _, err := in.Peek(1); err != nil {
		return err
	}
	p, err := s.peek(zstframe.MagicSize)
	if err != nil {
		return err
	}
	err = h.parseFrame(p)
	for n := zstframe.MinHeaderSize; err == io.ErrUnexpectedEOF; n = h.HeaderSize {
		*h = Header{}
		p, err = s.peek(n)
		if err != nil {
			return err
		}
		err = h.parseFrame(p)
	}
	if err != nil {
		return err
	}
	s.discard(h.HeaderSize)
	return nil
}

// skip passes over n bytes of a skippable frame.
func (s *source) skip(n int64) error {
	for n > 0 {
		m, err := s.reader().Discard(int(min(n, 1<<30)))
		if err != nil {
			return broken(err)
		}
		n -= int64(m)
	}
	return nil
}
