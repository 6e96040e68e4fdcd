// Package pzfile writes and reads the parts of a .pz file that surround the payloads: headers, block headers, index and
// footer, as docs/FORMAT.md has them. It does no I/O and knows no codec. Append functions extend dst; parse functions
// are given exactly the bytes of the part and believe none of them.
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
	// BlockOverhead is what a block adds to a stream besides its payload.
	BlockOverhead = BlockHeaderSize + EntrySize
)

// Version of the format that this package writes and reads.
const Version = 1

// What a parse function complains of.
var (
	ErrMagic    = errors.New("not .pz data")
	ErrVersion  = errors.New("unsupported format version")
	ErrChecksum = errors.New("header checksum mismatch")
	ErrField    = errors.New("field out of range")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum continues the CRC32C sum, 0 to begin with, over p.
func Checksum(sum uint32, p []byte) uint32 { return crc32.Update(sum, castagnoli, p) }
