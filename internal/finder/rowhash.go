package finder

// The finder lz77.RowHash defines the candidates of positions, so a device may find them as well.
// This file has what devices and package lz77 must agree on.

// RowHash returns the hash of 8 bytes, little-endian in v:
//
//	low·0x9E3779B1 + (high & mask)·0x85EBCA77 modulo 2³²
//
// low and high are its halves. It takes 32-bit arithmetic only, so that GPUs can compute it. The
// highest bits select a row, and the RowTagBits bits below them are the tag.
func RowHash(v uint64, mask uint32) uint32 {
	const high = 0x85EBCA77 // the second prime of xxHash32
	return uint32(v)*Prime32 + uint32(v>>32)&mask*high
}

// RowTagBits is the number of bits of a tag. A position with another tag counts among the Depth
// most recent ones of its row, but is not compared.
const RowTagBits = 7

// RowHashMask returns the mask for a hash of 4 … 8 bytes.
func RowHashMask(bytes uint8) uint32 { return uint32(1<<(8*(bytes-4)) - 1) }

// A candidate is the best match of a position, in 32 bits. 0 stands for none. Otherwise the low
// CandidateOffsetBits bits hold the offset and the high bits the length less 4, up to Nice. The
// last Tail bytes of a block have no candidates.
const (
	CandidateOffsetBits = 24
	// MaxCandidateNice is the greatest Nice that a candidate can express.
	MaxCandidateNice = 1<<(32-CandidateOffsetBits) - 1 + 4
)

// SegmentSize is the size of a segment of the lazy parser in bytes. The last segment of a block may
// be shorter. JSON at level 5 is 0.6% larger than without segments, with 32 KiB 0.8%.
const SegmentSize = 64 << 10
