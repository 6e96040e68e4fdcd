// Package zstframe writes and parses the headers of frames and blocks of zstd (RFC 8878, section
// 3.1.1). Packages zstd and zstfile share it.
//
// Append functions extend dst. Parse functions trust no byte.
package zstframe

import "errors"

// Magic begins every frame that is not skippable, as a little-endian number.
const Magic = 0xFD2FB528

// Limits and sizes of parts, in bytes.
const (
	MagicSize       = 4
	MinHeaderSize   = 6  // of a frame header
	MaxHeaderSize   = 18 // of a frame header
	BlockHeaderSize = 3
	ChecksumSize    = 4         // behind the last block, if the header announces it
	MaxBlock        = 128 << 10 // content of a block

	// MinWindow and MaxWindow bound the window that a frame header can state.
	MinWindow = 1 << 10
	MaxWindow = 15 << 38
)

// Errors of the parse functions.
var (
	ErrMagic = errors.New("not zstd data")
	ErrField = errors.New("field out of range")
	ErrShort = errors.New("unexpected end of data")
)
