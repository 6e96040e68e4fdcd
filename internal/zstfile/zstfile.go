// Package zstfile writes, reads, indexes and salvages .zst files: frames and skippable frames (RFC
// 8878, section 3.1), and the seek table of zstd's seekable format
// (contrib/seekable_format/zstd_seekable_compression_format.md in zstd's source). Package zstframe
// parses the headers of frames and blocks. Package zstd decodes the frames that zstfile cuts into
// parts.
//
// Append functions extend dst. Parse functions trust no byte, and allocate nothing unless they say
// so.
package zstfile

import (
	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/zstframe"
)

// Sizes in bytes.
const (
	SkippableHeaderSize = 8
	MaxBlock            = zstframe.MaxBlock // content of a block
)

// Header is the header of a frame.
type Header = zstframe.Header

// Errors of the parse functions.
var (
	errMagic = zstframe.ErrMagic
	errField = zstframe.ErrField
	errShort = zstframe.ErrShort
)

// Checksum returns the check of content in frames and seek tables: the low 32 bits of its XXH64.
func Checksum(content []byte) uint32 { return uint32(xxhash.Sum64(content)) }
