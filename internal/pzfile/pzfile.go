// Package pzfile writes, reads, indexes and salvages .pz files, as docs/FORMAT.md describes them.
// It knows headers, block headers, index and footer, and no codec.
//
// Append functions extend dst. Parse functions get exactly the bytes of one part and trust none of
// them.
package pzfile

import (
	"errors"

	"github.com/gopz/compress/simd"
)

// Limits and sizes of parts, in bytes.
const (
	MinBlockSize = 1 << 12
	MaxBlockSize = 1 << 26

	MinHeaderSize   = 10 // without optional fields, unless the stream is small
	MaxHeaderSize   = 24 // with all of them, which is invalid; valid are 22
	LeastHeader     = minSmallHeader
	BlockHeaderSize = 16 // unless the header is short
	EndMarkerSize   = 4
	UnitSize        = 8 // of the index: the entry of a block, unless that is short
	FooterSize      = 32

	// MinStreamSize is the size of a stream without blocks that is not small.
	MinStreamSize = MinHeaderSize + EndMarkerSize + FooterSize

	// minBlockHeader is the size of the shortest block header.
	minBlockHeader = shortEntry + shortChecks
	// minBlock is the least that a block takes, without its index entry.
	minBlock = minBlockHeader + 1
)

// Parts of short block headers, in bytes. The entry is 3 bytes, and 2 more if the block is coded.
const (
	shortEntry      = 3
	shortCodedEntry = 5
	shortChecks     = 6 // of the content and of the header

	shortFlag       = 4 // in the first byte of an entry, and of an end marker
	maxShortRaw     = 1<<21 - 1
	maxShortPayload = 1<<16 - 1 // of a coded block
)

// flushFlag in the first byte of an entry that is not short says that a flush ends the block.
const flushFlag = 8

// Version of the format that this package writes and reads.
const Version = 1

// Errors of the parse functions.
var (
	ErrMagic    = errors.New("not .pz data")
	ErrVersion  = errors.New("unsupported format version")
	ErrChecksum = errors.New("header checksum mismatch")
	ErrField    = errors.New("field out of range")
)

// Checksum continues the CRC-32C sum, initially 0, over p.
func Checksum(sum uint32, p []byte) uint32 { return simd.CRC32C(sum, p) }
