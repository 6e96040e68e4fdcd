// Package zstfile writes and reads the parts of a .zst file that surround the blocks: frame headers, block headers, skippable frames (RFC 8878, section
// 3.1) and the seek table of zstd's seekable format (contrib/seekable_format/zstd_seekable_compression_format.md in zstd's source).
// It does no I/O and knows no codec. Append functions extend dst; parse functions believe nothing, and allocate nothing unless they say so.
package zstfile

import (
	"errors"

	"github.com/cespare/xxhash/v2"
)

// Limits and sizes of parts, in bytes.
const (
	MagicSize       = 4
	MinHeaderSize   = 6  // of a frame header
	MaxHeaderSize   = 18 // of a frame header
	BlockHeaderSize = 3
	ChecksumSize    = 4 // behind the last block, if the header announces it
	MaxBlock        = 128 << 10

	SkippableHeaderSize = 8

	// MinWindow and MaxWindow bound what a frame header can say.
	MinWindow = 1 << 10
	MaxWindow = 15 << 38
)

// What a parse function complains of.
var (
	ErrMagic = errors.New("not zstd data")
	ErrField = errors.New("field out of range")
	ErrShort = errors.New("unexpected end of data")

	// ErrChecksum is what a Decoder returns.
	ErrChecksum = errors.New("checksum mismatch")
)

// Checksum is the check of content that frames and seek tables carry: the low half of its XXH64.
func Checksum(content []byte) uint32 { return uint32(xxhash.Sum64(content)) }
