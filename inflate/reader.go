package inflate

import (
	"bufio"
	"errors"
	"io"
)

// bufferSize is the size of a Reader's buffer in bytes: the window, and room for content.
const bufferSize = WindowSize + 64<<10

// A Reader reads the content of one stream after the other. Call Reset before the first Read. It
// must not be used by two goroutines at once.
type Reader struct {
	src      *bufio.Reader
	dec      Decoder
	buf      []byte // content
	from, to int    // buf[from:to] has not been read
	err      error  // what follows the content in buf
}

// Reset begins a stream. The Reader refers to src until the next Reset, and uses no byte behind the
// end of the stream.
func (r *Reader) Reset(src *bufio.Reader) {
	if r.buf == nil {
		r.buf = make([]byte, bufferSize)
	}
	r.src, r.from, r.to, r.err = src, 0, 0, nil
	r.dec.Reset()
}

// Read reads content. It waits for input only if the input so far makes no content available. The
// end of the stream is io.EOF. An end of the source before it is io.ErrUnexpectedEOF. Other errors
// are those of the source, and *CorruptError. No error comes with content.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for r.from == r.to {
		if r.err != nil {
			return 0, r.err
		}
		if r.fill(); r.from < r.to || r.err != nil {
			continue
		}
		if _, err := r.src.Peek(1); err == io.EOF {
			return 0, io.ErrUnexpectedEOF
		} else if err != nil {
			return 0, err
		}
	}
	n := copy(p, r.buf[r.from:r.to])
	if r.from += n; r.from == r.to && r.err == nil {
		r.fill()
	}
	return n, nil
}

// Buffered returns the number of bytes that can be read without more input. It is 0 only if there
// are none.
func (r *Reader) Buffered() int { return r.to - r.from }

// fill decodes from the buffer of the source. All content has been read.
func (r *Reader) fill() {
	if len(r.buf)-r.to < WindowSize {
		r.to = copy(r.buf, r.buf[r.to-WindowSize:r.to])
	}
	r.from = r.to
	src, _ := r.src.Peek(r.src.Buffered())
	n, used, err := r.dec.Decode(r.buf, r.to, src)
	r.src.Discard(used)
	r.to += n
	r.err = err
}

// Corrupt reports whether err says that the stream is damaged, and how many bytes of the stream are
// before the damage. A byte with damage in it counts unless the damage begins with it.
func (r *Reader) Corrupt(err error) (offset int64, ok bool) {
	var c *CorruptError
	if errors.As(err, &c) {
		return (c.Bit + 7) >> 3, true
	}
	return 0, false
}
