package zstfile

import (
	"encoding/binary"
	"fmt"

	"github.com/gopz/compress/internal/zstframe"
)

// SkippableMagic is the first of the 16 magic numbers of skippable frames.
const SkippableMagic = 0x184D2A50

// appendSkippableHeader appends the header of a skippable frame whose content, of size bytes,
// follows. kind, 0 … 15, selects the magic number.
func appendSkippableHeader(dst []byte, kind int, size uint32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, SkippableMagic+uint32(kind))
	return binary.LittleEndian.AppendUint32(dst, size)
}

// SectionKind is the kind of the skippable frames that are sections (package section).
const SectionKind = 10

// IsSkippable reports whether p begins with the magic number of a skippable frame.
func IsSkippable(p []byte) bool {
	return len(p) >= zstframe.MagicSize && binary.LittleEndian.Uint32(p)&^15 == SkippableMagic
}

// IsFrame reports whether p begins with the magic number of a frame with content.
func IsFrame(p []byte) bool {
	return len(p) >= zstframe.MagicSize && binary.LittleEndian.Uint32(p) == zstframe.Magic
}

// ParseSkippable reads the header of a skippable frame from the first SkippableHeaderSize bytes of
// p: its kind, 0 … 15, and how many bytes of content follow.
func ParseSkippable(p []byte) (kind int, size int64, err error) {
	switch {
	case len(p) < SkippableHeaderSize:
		return 0, 0, errShort
	case !IsSkippable(p):
		return 0, 0, fmt.Errorf("%w: magic number of a skippable frame missing", errMagic)
	}
	return int(p[0] & 15), int64(binary.LittleEndian.Uint32(p[4:])), nil
}
