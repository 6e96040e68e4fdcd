// Package inflate decodes Deflate streams (RFC 1951) from the front to the back, with the decoder
// of klauspost/compress, which it keeps from one stream to the next. The result for a stream
// depends on nothing that was decoded before it.
package inflate

import (
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"
)

// primer is an empty Deflate stream whose single block has dynamic codes: one literal, the end of
// the block, and one distance. A code without symbols, which a damaged stream may have, leaves the
// decoder's table unchanged. After the primer such a table always has the same content.
const primer = "\x05\xc0\x81\x00\x00\x00\x00\x00\x10\xff\xd5\x04"

// Decoder decodes one stream after the other. The zero value is ready for Reset. Its methods are
// for one goroutine at a time.
type Decoder struct {
	dec  io.ReadCloser
	src  strings.Reader
	none [1]byte
}

// Source is what a stream is read from, no further than to its end.
type Source = interface {
	io.Reader
	io.ByteReader
}

// Reset begins a stream. The Decoder refers to src until the next Reset.
func (d *Decoder) Reset(src Source) error {
	d.src.Reset(primer)
	var err error
	if d.dec == nil {
		d.dec = flate.NewReader(&d.src)
	} else {
		err = d.dec.(flate.Resetter).Reset(&d.src, nil)
	}
	if err == nil {
		for err == nil {
			_, err = d.dec.Read(d.none[:])
		}
	}
	if err != io.EOF {
		return err
	}
	return d.dec.(flate.Resetter).Reset(src, nil)
}

// Read reads content. The end of the stream is io.EOF; an end of the source before it is
// io.ErrUnexpectedEOF. Other errors are the source's, or report Corrupt.
func (d *Decoder) Read(p []byte) (int, error) { return d.dec.Read(p) }

// Corrupt reports whether err says that the stream is damaged, and how many bytes of it had been
// read, 0 if unknown.
func (d *Decoder) Corrupt(err error) (offset int64, ok bool) {
	var c flate.CorruptInputError
	if errors.As(err, &c) {
		return int64(c), true
	}
	var i flate.InternalError // what a code without symbols may lead to
	return 0, errors.As(err, &i)
}
