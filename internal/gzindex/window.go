package gzindex

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"io"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/errs"
)

const (
	// WindowSize is the most content of a window in bytes.
	WindowSize = inflate.WindowSize

	// maxPacked is the most bytes of a compressed window. Deflate's stored blocks need 5 bytes
	// each, and no sensible writer makes them shorter than 100 bytes.
	maxPacked = WindowSize + WindowSize/16

	zlibHeader  = 2 // bytes
	zlibTrailer = 4 // bytes
)

// A Window is up to WindowSize bytes of content, compressed. Bytes that the content behind the
// window does not refer to may be zero. A Window is immutable. The zero value is an empty window: a
// member begins there, or nothing refers to the content before.
type Window struct {
	zlib []byte // a zlib stream (RFC 1950); nil if the window is empty
}

// Empty reports whether the window has no content.
func (w Window) Empty() bool { return len(w.zlib) == 0 }

// Size returns the memory of the compressed content in bytes.
func (w Window) Size() int { return cap(w.zlib) }

// An Unpacker decompresses windows. The zero value is ready to use, by one goroutine at a time. It
// keeps about 60 KiB of memory.
type Unpacker struct {
	dec inflate.Decoder
	buf []byte
}

// unpackRoom is the memory for the content of a window in bytes. What is more than WindowSize lets
// the decoder use its fast loop to the end, and shows that a window is too large.
const unpackRoom = WindowSize + 512

// Unpack returns the content of w. It is valid until the next call. The error wraps errs.Corrupt.
func (u *Unpacker) Unpack(w Window) ([]byte, error) {
	if w.Empty() {
		return nil, nil
	}
	if u.buf == nil {
		u.buf = make([]byte, unpackRoom)
	}
	z := w.zlib
	if len(z) < zlibHeader+zlibTrailer || z[0]&15 != 8 || z[1]&0x20 != 0 ||
		binary.BigEndian.Uint16(z)%31 != 0 {
		return nil, badWindow("no header of zlib")
	}
	u.dec.Reset()
	n, used, err := u.dec.Decode(u.buf, 0, z[zlibHeader:])
	rest := z[zlibHeader+used:]
	switch {
	case n > WindowSize:
		return nil, badWindow("more than %d bytes", WindowSize)
	case err == nil:
		return nil, badWindow("ends too early")
	case err != io.EOF:
		return nil, badWindow("%v", err)
	case len(rest) != zlibTrailer:
		return nil, badWindow("%d bytes behind its data in place of %d", len(rest), zlibTrailer)
	case binary.BigEndian.Uint32(rest) != adler32.Checksum(u.buf[:n]):
		e := errs.New(errs.Checksum, "index of a .gz file: window: wrong checksum")
		e.Part = errs.PartIndex
		return nil, e
	}
	return u.buf[:n], nil
}

// badWindow returns an error about the content of a window.
func badWindow(format string, args ...any) error {
	err := errs.New(errs.Corrupt, "index of a .gz file: window: "+fmt.Sprintf(format, args...))
	err.Part = errs.PartIndex
	return err
}
