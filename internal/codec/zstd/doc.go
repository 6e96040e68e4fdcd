// Package zstd writes the blocks of a Zstandard frame for package pipeline, and decodes frames. It
// is not a general-purpose encoder; the root package is.
//
// It encodes LZ77 sequences and literals as RFC 8878, section 3.1.1.2 specifies. It finds no
// matches and writes no frame header.
//
// The encoder cuts content of any size into blocks of at most 128 KiB, where the statistics change
// or where a block is full. A block reuses repeat offsets, the Huffman code and the FSE tables of
// earlier blocks where that is cheaper. Short blocks, which flushes make, share tables that are
// made from all of them. All decisions use integers and depend on the content and its sequences
// alone.
//
// The [Decoder] decodes frames of any encoder, whole or block by block. Its two halves also work
// apart: an [EntropyDecoder] parses blocks anywhere, and an [Executor] carries them out in order.
// Encoder and decoders begin frames with a [Dictionary] if they get one.
package zstd

import "github.com/gopz/compress/lz77"

// MaxBlock is the maximum content of a block in bytes (RFC 8878, section 3.1.1.2.4).
const MaxBlock = 128 << 10

// MinMatch is the minimum length of a match in bytes.
const MinMatch = 3

// Limits bounds the sequences that a match finder should produce. Offsets stay within the window of
// 8 MiB that every decoder should support (RFC 8878, section 3.1.1.1.2). [Encoder] accepts offsets
// up to 2³¹ − 4.
var Limits = lz77.Limits{MinMatch: MinMatch, MinOffset: 1, MaxOffset: 8 << 20, Repeats: 3}
