// Package pzfile writes, reads, indexes and salvages .pz files, as docs/FORMAT.md describes them.
// It knows headers, block headers, index and footer, and no codec.
//
// Append functions extend dst. Parse functions get exactly the bytes of one part and trust none of
// them.
package pzfile

import (
	"errors"
	"hash/crc32"
)

// Limits and sizes of parts, in bytes.
const (
	MinBlockSize = 1 << 12
	MaxBlockSize = 1 << 26

	MinHeaderSize   = 10 // without the content size
	MaxHeaderSize   = 18 // with it
	BlockHeaderSize = 16
	EndMarkerSize   = 4
	EntrySize       = 8 // one block in the index
	FooterSize      = 32

	// MinStreamSize is the size of a stream without blocks.
	MinStreamSize = MinHeaderSize + EndMarkerSize + FooterSize
	// BlockOverhead is the size of a block without its payload, index entry included.
	BlockOverhead = BlockHeaderSize + EntrySize
)

// Version of the format that this package writes and reads.
const Version = 1

// Errors of the parse functions.
var (
	ErrMagic    = errors.New("not .pz data")
	ErrVersion  = errors.New("unsupported format version")
	ErrChecksum = errors.New("header checksum mismatch")
	ErrField    = errors.New("field out of range")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum continues the CRC-32C sum, initially 0, over p.
func Checksum(sum uint32, p []byte) uint32 { return crc32.Update(sum, castagnoli, p) }
