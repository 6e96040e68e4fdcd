package parity

import (
	"encoding/binary"
	"fmt"
)

// Frame says what a section looks like from outside, so that decoders of the format around it pass
// over it.
type Frame uint8

const (
	PZ   Frame = iota // a section of a .pz file, behind a stream
	Zstd              // a skippable frame of a .zst file, behind a frame
)

const (
	pzHeaderSize   = 17
	zstdHeaderSize = 8
	footerSize     = 16

	pzVersion   = 1
	pzSection   = 0          // in place of a pipeline
	parityKind  = 0x80 | 1   // kind 1; a decoder that does not know it may skip it
	zstdMagic   = 0x184D2A5A // of the skippable frame
	footerMagic = "PZSE"     // ends a section
	pzMagic     = "PZ"       // begins a section
)

// String returns the name of the format.
func (f Frame) String() string {
	switch f {
	case PZ:
		return "pz"
	case Zstd:
		return "zstd"
	}
	return fmt.Sprintf("Frame(%d)", uint8(f))
}

func (f Frame) headerSize() int {
	if f == Zstd {
		return zstdHeaderSize
	}
	return pzHeaderSize
}

// appendHeader appends the header of a section of size bytes, which includes header and footer.
func (f Frame) appendHeader(dst []byte, size int64) []byte {
	le := binary.LittleEndian
	if f == Zstd {
		dst = le.AppendUint32(dst, zstdMagic)
		return le.AppendUint32(dst, uint32(size-zstdHeaderSize))
	}
	start := len(dst)
	dst = append(dst, pzMagic...)
	dst = append(dst, pzVersion, pzSection, parityKind)
	dst = le.AppendUint64(dst, uint64(size))
	return le.AppendUint32(dst, checksum(dst[start:]))
}

// appendFooter appends the footer of a section of size bytes. It is the same in all formats.
func appendFooter(dst []byte, size int64) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(size))
	dst = binary.LittleEndian.AppendUint32(dst, checksum(dst[start:]))
	return append(dst, footerMagic...)
}

// parseFooter returns the size of the section that ends with p. It returns false if none does.
func parseFooter(p []byte) (size int64, ok bool) {
	if len(p) != footerSize || string(p[12:]) != footerMagic ||
		binary.LittleEndian.Uint32(p[8:]) != checksum(p[:8]) {
		return 0, false
	}
	u := binary.LittleEndian.Uint64(p)
	return int64(u), u < 1<<62
}
