// Package inflate decodes Deflate streams (RFC 1951) of other people, by a library's decoder that it keeps from one stream to the next. The result for a stream
// depends on nothing that was decoded before it.
package inflate

import (
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"
)

// primer is a Deflate stream without content whose single block has codes of its own: one literal and the end of the block, and one distance. A code without symbols, which
// a damaged stream may have, leaves the decoder's table as it is, so that its symbols would be those of whatever was decoded last; after the primer they are these.
const primer = "\x05\xc0\x81\x00\x00\x00\x00\x00\x10\xff\xd5\x04"

// Decoder decodes one stream after the other. The zero value is ready for Reset. Its methods are for one goroutine at a time.
type Decoder struct {
	dec  io.ReadCloser
	src  strings.Reader
	none [1]byte
}

// Source is what a stream is read from, no further than to its end.
type Source interface {
	io.Reader
	io.ByteReader
}

// Reset begins a stream. The decoder keeps hold of src until the next Reset.
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

// Read reads content. The end of the stream is io.EOF, that of the source in front of it io.ErrUnexpectedEOF. Other errors are the source's, or Corrupt.
func (d *Decoder) Read(p []byte) (int, error) { return d.dec.Read(p) }

// Corrupt reports whether err says that the stream is damaged, and how many bytes of it had been read, 0 if that is not known.
func Corrupt(err error) (offset int64, ok bool) {
	var c flate.CorruptInputError
	if errors.As(err, &c) {
		return int64(c), true
	}
	var i flate.InternalError // what a code without symbols may lead to
	return 0, errors.As(err, &i)
}
