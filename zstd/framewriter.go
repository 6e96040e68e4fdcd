package zstd

import (
	"crypto/rand"
	"fmt"
	"io"
	"math/bits"

	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// A frameWriter passes on a frame of the engine with another header. It joins small writes, so that
// a short stream is one write.
type frameWriter struct {
	w       io.Writer
	opts    *encoderOptions
	content int64 // of the frame in bytes, as the caller has stated it; 0 if it is unknown
	begun   bool  // the header has passed
	size    int64 // bytes passed on, or in buf
	buf     []byte
}

// joined is the most bytes that wait to be written together.
const joined = 8 << 10

func (f *frameWriter) reset(w io.Writer, opts *encoderOptions, content int64) {
	*f = frameWriter{w: w, opts: opts, content: content, buf: f.buf[:0]}
}

// Write passes on a part of the frame.
func (f *frameWriter) Write(p []byte) (int, error) {
	all := len(p)
	if !f.begun {
		f.begun = true
		h, n, err := zstframe.ParseHeader(p)
		if err != nil {
			return 0, fmt.Errorf("zstd: header of the engine: %w", err)
		}
		if h.ContentSize < 0 && f.content > 0 {
			h.ContentSize = f.content
		}
		h = f.opts.streamHeader(h.ContentSize)
		head := h.Append(f.buf)
		f.size += int64(len(head) - len(f.buf))
		f.buf, p = head, p[n:]
	}
	f.size += int64(len(p))
	if len(f.buf)+len(p) <= joined {
		f.buf = append(f.buf, p...)
		return all, nil
	}
	if err := f.flush(); err != nil {
		return 0, err
	}
	if len(p) <= joined/2 {
		f.buf = append(f.buf, p...)
		return all, nil
	}
	return all, f.writeAll(p)
}

// flush writes what waits.
func (f *frameWriter) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	p := f.buf
	f.buf = f.buf[:0]
	return f.writeAll(p)
}

func (f *frameWriter) writeAll(p []byte) error {
	n, err := f.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

// streamHeader returns the header of a stream. content is that of the frame in bytes, −1 if it is
// unknown.
func (o *encoderOptions) streamHeader(content int64) zstframe.Header {
	h := zstframe.Header{
		ContentSize: content, Window: int64(o.window()), Checksum: o.crc, Dictionary: o.dict.dictionaryID(),
	}
	o.fitWindow(&h)
	return h
}

// fitWindow makes the window no larger than the content, and leaves out a size below 256 bytes,
// which would take four bytes.
func (o *encoderOptions) fitWindow(h *zstframe.Header) {
	if n := h.ContentSize; n >= 0 && n < h.Window {
		h.Window = max(MinWindowSize, int64(1)<<bits.Len64(uint64(n)))
	}
	if h.ContentSize < 256 {
		h.ContentSize = -1
	}
}

// blockHeader returns the header of a frame of EncodeAll with n bytes of content.
func (o *encoderOptions) blockHeader(n int) zstframe.Header {
	h := zstframe.Header{
		ContentSize: int64(n), Window: int64(o.window()), Checksum: o.crc, Dictionary: o.dict.dictionaryID(),
		SingleSegment: n <= o.window(),
	}
	if o.single != nil {
		h.SingleSegment = *o.single
	}
	if !h.SingleSegment {
		o.fitWindow(&h)
	}
	return h
}

// emptyFrame is a frame without content, and without a checksum.
var emptyFrame = func() []byte {
	h := zstframe.Header{Window: MinWindowSize, SingleSegment: true}
	return append(h.Append(nil), 1, 0, 0)
}()

// padding returns how many bytes of a skippable frame make n bytes a multiple of o.pad.
func (o *encoderOptions) padding(n int64) int64 {
	if o.pad == 0 || n%int64(o.pad) == 0 {
		return 0
	}
	pad := int64(o.pad)
	add := pad - n%pad
	for add < zstfile.SkippableHeaderSize {
		add += pad
	}
	return add
}

// appendPadding appends a skippable frame of n random bytes to dst. It is nothing if n is 0.
func appendPadding(dst []byte, n int64) ([]byte, error) {
	if n == 0 {
		return dst, nil
	}
	n -= zstfile.SkippableHeaderSize
	h := Header{Skippable: true, SkippableSize: uint32(n)}
	dst, err := h.AppendTo(dst)
	if err != nil {
		return dst, err
	}
	at := len(dst)
	dst = append(dst, make([]byte, n)...)
	_, err = rand.Read(dst[at:])
	return dst, err
}
