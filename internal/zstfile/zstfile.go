// Package zstfile writes, reads, indexes and salvages .zst files: frame headers, block headers and
// skippable frames (RFC 8878, section 3.1), and the seek table of zstd's seekable format
// (contrib/seekable_format/zstd_seekable_compression_format.md in zstd's source). It knows no
// codec.
//
// Append functions extend dst. Parse functions trust no byte, and allocate nothing unless they say
// so.
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

	// MinWindow and MaxWindow bound the window that a frame header can state.
	MinWindow = 1 << 10
	MaxWindow = 15 << 38
)

// Errors of the parse functions.
var (
	ErrMagic = errors.New("not zstd data")
	ErrField = errors.New("field out of range")
	ErrShort = errors.New("unexpected end of data")

	// ErrChecksum is what a Decoder returns for a checksum that does not match.
	ErrChecksum = errors.New("checksum mismatch")
)

// Checksum returns the check of content in frames and seek tables: the low 32 bits of its XXH64.
func Checksum(content []byte) uint32 { return uint32(xxhash.Sum64(content)) }
