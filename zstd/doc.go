// Package zstd encodes sequences and literals as the blocks of a Zstandard frame: RFC 8878, section 3.1.1.2 and what that refers to. It does
// not find matches, and it writes no frame header: that is the container's.
//
// Content of any size is cut into zstd's blocks of at most 128 KiB, where its statistics change or where a block is full. What a block
// may take over from those before it, which is repeat offsets, Huffman codes and tables of codes, is taken over where that is
// cheaper. Everything is decided with integers, by the content and its sequences alone.
package zstd

import "github.com/gopz/compress/lz77"

// MaxBlock is the most content that a block of zstd may have, in bytes.
const MaxBlock = 128 << 10

// MinMatch is the length of the shortest match that can be expressed, in bytes.
const MinMatch = 3

// Limits is what a matcher should keep to. Offsets are bounded by the window of 8 MiB that every decoder should have; [Encoder] itself takes them
// up to the 2³¹ − 4 that the format allows.
var Limits = lz77.Limits{MinMatch: MinMatch, MinOffset: 1, MaxOffset: 8 << 20, Repeats: 3, Model: model{}}
