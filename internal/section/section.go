// Package section has the headers, packets and footers of sections: parts of a .pz file that are no
// streams, and skippable frames of a .zst file (FORMAT.md, "Sections").
package section

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"sync"
)

// A Kind says what a section has.
type Kind uint8

const (
	// MaySkip is the bit of kinds that a decoder without knowledge of the kind skips.
	MaySkip Kind = 0x80

	Parity Kind = MaySkip | 1
)

// Skippable reports whether a decoder that does not know the kind passes over the section.
func (k Kind) Skippable() bool { return k&MaySkip != 0 }

// Sizes in bytes.
const (
	HeaderSize = 17
	FooterSize = 16

	// MinSize is the size of a section without content.
	MinSize = HeaderSize + FooterSize

	maxSize = 1 << 62
)

const (
	magic       = "PZ"
	version     = 1
	noPipeline  = 0 // tells a section from a stream
	footerMagic = "PZSE"
)

// Errors of ParseHeader.
var (
	ErrChecksum = errors.New("checksum mismatch")
	ErrSize     = errors.New("size out of range")
)

// castagnoli returns the table of CRC32C. Package crc32 takes 0.2 ms to make it.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// IsHeader reports whether p begins like the header of a section, and not like that of a stream.
func IsHeader(p []byte) bool {
	return len(p) >= 4 && string(p[:2]) == magic && p[2] == version && p[3] == noPipeline
}

// AppendHeader appends the header of a section of size bytes, which includes header and footer.
func AppendHeader(dst []byte, kind Kind, size int64) []byte {
	start := len(dst)
	dst = append(append(dst, magic...), version, noPipeline, byte(kind))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(size))
	return binary.LittleEndian.AppendUint32(dst, Checksum(dst[start:]))
}

// ParseHeader reads the header from the first HeaderSize bytes of p, for which IsHeader is true. It
// returns the size of the section, which includes header and footer.
func ParseHeader(p []byte) (kind Kind, size int64, err error) {
	if Checksum(p[:13]) != binary.LittleEndian.Uint32(p[13:]) {
		return 0, 0, ErrChecksum
	}
	n := binary.LittleEndian.Uint64(p[5:])
	if n < MinSize || n > maxSize {
		return 0, 0, ErrSize
	}
	return Kind(p[4]), int64(n), nil
}

// AppendFooter appends the footer of a section of size bytes, which includes the header around it
// and the footer.
func AppendFooter(dst []byte, size int64) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(size))
	dst = binary.LittleEndian.AppendUint32(dst, Checksum(dst[start:]))
	return append(dst, footerMagic...)
}

// ParseFooter returns the size of the section that ends with p. ok is false if none does.
func ParseFooter(p []byte) (size int64, ok bool) {
	if len(p) < FooterSize {
		return 0, false
	}
	p = p[len(p)-FooterSize:]
	n := binary.LittleEndian.Uint64(p)
	if string(p[12:]) != footerMagic || binary.LittleEndian.Uint32(p[8:]) != Checksum(p[:8]) ||
		n < FooterSize || n > maxSize {
		return 0, false
	}
	return int64(n), true
}
