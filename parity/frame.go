package parity

import (
	"encoding/binary"
	"io"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/container"
	outer "github.com/gopz/compress/internal/section"
)

// frame says what a section looks like from outside, so that decoders of the format around it pass
// over it.
type frame uint8

const (
	framePZ   frame = iota // a section of a .pz file, behind a stream
	frameZstd              // a skippable frame of a .zst file, behind a frame
)

const (
	pzHeaderSize   = outer.HeaderSize
	zstdHeaderSize = 8
	footerSize     = outer.FooterSize

	zstdMagic = 0x184D2A5A // of the skippable frame
)

// frameOf returns what sections of a file look like.
func frameOf(f compress.Format) frame {
	if f == compress.Zstd {
		return frameZstd
	}
	return framePZ
}

func (f frame) headerSize() int {
	if f == frameZstd {
		return zstdHeaderSize
	}
	return pzHeaderSize
}

// appendHeader appends the header of a section of size bytes, which includes header and footer.
func (f frame) appendHeader(dst []byte, size int64) []byte {
	if f == frameZstd {
		dst = binary.LittleEndian.AppendUint32(dst, zstdMagic)
		return binary.LittleEndian.AppendUint32(dst, uint32(size-zstdHeaderSize))
	}
	return outer.AppendHeader(dst, outer.Parity, size)
}

// appendFooter appends the footer of a section of size bytes. It is the same in all formats.
func appendFooter(dst []byte, size int64) []byte { return outer.AppendFooter(dst, size) }

// parseFooter returns the size of the section that ends with p. It returns false if none does.
func parseFooter(p []byte) (size int64, ok bool) { return outer.ParseFooter(p) }

// Present reports whether a file of size bytes ends with a section. Damage may hide one.
func Present(src io.ReaderAt, size int64) bool {
	var p [footerSize]byte
	if size < footerSize || container.ReadAt(src, p[:], size-footerSize) != nil {
		return false
	}
	_, ok := parseFooter(p[:])
	return ok
}
