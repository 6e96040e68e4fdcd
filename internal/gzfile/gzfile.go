// Package gzfile writes and reads what surrounds the Deflate streams of a .gz file: the header and the trailer of each member, as RFC 1952
// has them. It does no I/O and knows no codec. Append functions extend dst; parse functions believe none of the bytes they are given.
package gzfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Sizes of parts, in bytes.
const (
	MinHeaderSize = 10
	TrailerSize   = 8

	// MaxString is the most that a name or a comment takes, without the zero that ends it. The format has no limit; longer ones are not written, and
	// nobody who wants to know the name has to go on for ever to find the end.
	MaxString = 1 << 16

	// MaxHeaderSize is the size of the longest header that ParseHeader takes.
	MaxHeaderSize = MinHeaderSize + 2 + maxExtra + 2*(MaxString+1) + 2

	maxExtra = 1<<16 - 1
)

// Magic begins every member.
const Magic = "\x1f\x8b"

// What a parse function complains of.
var (
	ErrMagic    = errors.New("not gzip data")
	ErrMethod   = errors.New("unknown compression method")
	ErrShort    = errors.New("gzip header cut short")
	ErrChecksum = errors.New("gzip header checksum mismatch")
	ErrField    = errors.New("gzip header field out of range")
	ErrLong     = fmt.Errorf("%w: name or comment too long", ErrField) // for ParseHeader; a Skipper passes over it
)

// Checksum continues the CRC-32 sum, 0 to begin with, over p.
func Checksum(sum uint32, p []byte) uint32 { return crc32.Update(sum, crc32.IEEETable, p) }

// AppendTrailer appends the trailer of a member with size bytes of content, whose Checksum is sum. The trailer has only room for size
// modulo 2³².
func AppendTrailer(dst []byte, sum uint32, size int64) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return binary.LittleEndian.AppendUint32(dst, uint32(size))
}

// ParseTrailer reads a trailer from the first TrailerSize bytes of p: the Checksum of the content, and its size modulo 2³².
func ParseTrailer(p []byte) (sum, size uint32) {
	return binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
}
