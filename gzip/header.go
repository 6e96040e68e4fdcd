package gzip

import (
	stdgzip "compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"time"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/gzfile"
)

// Errors of a Reader. They are the values of compress/gzip, so code that compares with those finds
// these.
var (
	// ErrChecksum: the checksum or the size of the content is not what the trailer says.
	ErrChecksum = stdgzip.ErrChecksum
	// ErrHeader: a header is damaged, or what follows a member is no other member.
	ErrHeader = stdgzip.ErrHeader
)

// Errors of a Reader that compress/gzip does not have.
var errReadBegun = errors.New("gzip: SetOptions after the first Read")

// Errors about the fields of a Header that is to be written.
var (
	errExtra  = errors.New("gzip.Write: Extra data is too large")
	errString = errors.New("gzip.Write: non-Latin-1 header string")
)

// Header has the fields of the header of a member. [Writer] and [Reader] embed it.
//
// Comment and Name are UTF-8 here and Latin-1 in the file (RFC 1952, section 2.3.1). They may have
// characters U+0001 to U+00FF.
type Header struct {
	Comment string    // "" is none
	Extra   []byte    // subfields (RFC 1952, section 2.3.1.1), at most 65,535 bytes; nil is none
	ModTime time.Time // of the file, in whole seconds; written as unknown up to 1970
	Name    string    // of the file; "" is none
	OS      byte      // the system that made the file; 255 is unknown
}

// Flags of a header.
const (
	flagHeaderCRC = 1 << 1
	flagExtra     = 1 << 2
	flagName      = 1 << 3
	flagComment   = 1 << 4
)

const (
	methodDeflate = 8

	// maxString is the longest name or comment that is read, in bytes with the zero that ends it.
	maxString = 512
)

// writeHeader writes the header: first the fixed part, then each of the fields that are set.
func (z *Writer) writeHeader() error {
	h := gzfile.Header{OS: z.OS}
	if z.ModTime.After(time.Unix(0, 0)) {
		h.ModTime = uint32(z.ModTime.Unix())
	}
	switch z.level {
	case BestSpeed:
		h.Speed = gzfile.Fastest
	case BestCompression:
		h.Speed = gzfile.Densest
	}
	p, err := h.Append(z.buf[:0])
	if err != nil {
		return err
	}
	const flags = 3 // offset of the flags
	for _, f := range [...]struct {
		flag byte
		set  bool
	}{{flagExtra, z.Extra != nil}, {flagName, z.Name != ""}, {flagComment, z.Comment != ""}} {
		if f.set {
			p[flags] |= f.flag
		}
	}
	if err := z.writeBuffer(p); err != nil {
		return err
	}
	if z.Extra != nil {
		if len(z.Extra) > math.MaxUint16 {
			return errExtra
		}
		p = binary.LittleEndian.AppendUint16(z.buf[:0], uint16(len(z.Extra)))
		if err := z.writeBuffer(append(p, z.Extra...)); err != nil {
			return err
		}
	}
	for _, s := range [...]string{z.Name, z.Comment} {
		if s == "" {
			continue
		}
		if err := z.writeString(s); err != nil {
			return err
		}
	}
	return nil
}

// writeString writes s in Latin-1 and a zero.
func (z *Writer) writeString(s string) error {
	for _, r := range s {
		if r == 0 {
			return errString
		}
	}
	p, ok := gzfile.Latin1(z.buf[:0], s)
	if !ok {
		return errString
	}
	return z.writeBuffer(append(p, 0))
}

// writeBuffer writes p to the underlying writer and keeps its memory.
func (z *Writer) writeBuffer(p []byte) error {
	z.buf = p[:0]
	_, err := container.WriteFull(z.w, p)
	return err
}

// readHeader reads the header of a member. The error is io.EOF if there is not a single byte.
func (z *Reader) readHeader() (h Header, err error) {
	p := z.scratch[:gzfile.MinHeaderSize]
	if _, err := io.ReadFull(z.r, p); err != nil {
		return h, err
	}
	if string(p[:2]) != gzfile.Magic || p[2] != methodDeflate {
		return h, ErrHeader
	}
	flags := p[3]
	if t := binary.LittleEndian.Uint32(p[4:]); t > 0 {
		h.ModTime = time.Unix(int64(t), 0)
	}
	h.OS = p[9]
	z.sum = crc32.ChecksumIEEE(p)
	if flags&flagExtra != 0 {
		if err = z.readSummed(z.scratch[:2]); err != nil {
			return h, err
		}
		h.Extra = make([]byte, binary.LittleEndian.Uint16(z.scratch[:]))
		if err = z.readSummed(h.Extra); err != nil {
			h.Extra = nil
			return h, err
		}
	}
	if flags&flagName != 0 {
		h.Name, err = z.readString()
		if err != nil {
			return h, noEOF(err)
		}
	}
	if flags&flagComment != 0 {
		h.Comment, err = z.readString()
		if err != nil {
			return h, noEOF(err)
		}
	}
	if flags&flagHeaderCRC != 0 {
		sum := uint16(z.sum)
		if err = z.readSummed(z.scratch[:2]); err != nil {
			return h, err
		}
		if binary.LittleEndian.Uint16(z.scratch[:]) != sum {
			return h, ErrHeader
		}
	}
	return h, nil
}

// readSummed fills p and adds it to the checksum of the header.
func (z *Reader) readSummed(p []byte) error {
	_, err := io.ReadFull(z.r, p)
	z.sum = crc32.Update(z.sum, crc32.IEEETable, p)
	return noEOF(err)
}

// readString reads a string that a zero ends, and adds it to the checksum of the header.
func (z *Reader) readString() (string, error) {
	ascii := true
	for i := range maxString {
		c, err := z.r.ReadByte()
		if err != nil {
			return "", err
		}
		z.scratch[i] = c
		ascii = ascii && c < 0x80
		if c != 0 {
			continue
		}
		z.sum = crc32.Update(z.sum, crc32.IEEETable, z.scratch[:i+1])
		if ascii {
			return string(z.scratch[:i]), nil
		}
		return gzfile.FromLatin1(z.scratch[:i]), nil
	}
	return "", ErrHeader
}

// noEOF turns io.EOF, which would mean a proper end, into io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
