// Package gzfile writes what surrounds the Deflate streams of a .gz file, and reads whole files:
// the header and the trailer of each member (RFC 1952), and the content.
//
// A [Scanner] reads a file from the front and cuts it into units. Its decoder decodes their content
// in order, or ahead of their turn.
//
// Append functions extend dst. Parse functions trust no byte they get.
package gzfile

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Sizes of parts, in bytes.
const (
	MinHeaderSize = 10
	TrailerSize   = 8

	// MaxString is the longest name or comment that is written or parsed, in bytes, without the
	// zero that ends it. The format has no limit.
	MaxString = 1 << 16

	// MaxHeaderSize is the longest header that ParseHeader accepts, in bytes.
	MaxHeaderSize = MinHeaderSize + 2 + maxExtra + 2*(MaxString+1) + 2

	maxExtra = 1<<16 - 1
)

// Magic begins every member.
const Magic = "\x1f\x8b"

// Errors of the parse functions.
var (
	ErrMagic    = errors.New("not gzip data")
	ErrMethod   = errors.New("unknown compression method")
	ErrShort    = errors.New("gzip header cut short")
	ErrChecksum = errors.New("gzip header checksum mismatch")
	ErrField    = errors.New("gzip header field out of range")
	// ErrLong is for ParseHeader; a Skipper has limits of its own. It is an ErrField.
	ErrLong error = longField{}
)

// longField is a type of its own because package fmt takes longer to begin than a small file.
type longField struct{}

func (longField) Error() string { return ErrField.Error() + ": name or comment too long" }
func (longField) Unwrap() error { return ErrField }

// Checksum continues the CRC-32 sum, initially 0, over p.
func Checksum(sum uint32, p []byte) uint32 { return crc32.Update(sum, crc32.IEEETable, p) }

// AppendTrailer appends the trailer of a member. sum is the Checksum of its content, size the
// number of bytes, which the trailer stores modulo 2³².
func AppendTrailer(dst []byte, sum uint32, size int64) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return binary.LittleEndian.AppendUint32(dst, uint32(size))
}

// ParseTrailer reads a trailer from the first TrailerSize bytes of p: the Checksum of the content,
// and its size modulo 2³².
func ParseTrailer(p []byte) (sum, size uint32) {
	return binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
}
