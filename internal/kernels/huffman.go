package kernels

import (
	"unsafe"

	"github.com/gopz/compress/internal/cpu"
)

// HuffmanStreams is the state of four streams of Huffman codes that are read backward. Package
// huffman has an essay on them.
type HuffmanStreams struct {
	Bits [4]uint64 // next bits, highest first, with a 1 behind them
	In   [4]int    // where the last load of 8 bytes began in the input
	Out  [4]int    // where the next byte goes in the output
}

// Constants of rounds.
const (
	HuffmanBits       = 11 // maximum length of a code, in bits
	HuffmanRound      = 5  // bytes that a round decodes from a stream
	HuffmanRoundInput = 7  // maximum number of bytes that a round consumes
)

// DecodeHuffman4 decodes rounds of four streams. An entry of table is a byte of content in the
// upper half and the length of its code, at most HuffmanBits, in the lower half. It returns false
// if the tier has no kernel: nothing is done. It panics if a stream lacks room or input, or if the
// outputs do not begin at equal distances.
//
// Portable twin: internal/codec/huffman/streams.go.
func DecodeHuffman4(
	s *HuffmanStreams, table *[1 << HuffmanBits]uint16, dst, src []byte, rounds int,
) bool {
	part := s.Out[1] - s.Out[0]
	for i := range 4 {
		if s.Out[i] != s.Out[0]+i*part || s.Out[i] < 0 || s.In[i] > len(src)-8 ||
			rounds > s.In[i]/HuffmanRoundInput || rounds > (len(dst)-s.Out[i])/HuffmanRound {
			panic("kernels: HuffmanStreams out of range")
		}
	}
	if rounds <= 0 {
		return cpu.Current() != cpu.Portable
	}
	return decodeHuffman4Kernel(s, table, dst, src, part, rounds)
}

// HuffmanWriters is the state of two streams that are written.
type HuffmanWriters struct {
	Acc  [2]uint64 // bits that are not written yet, in the highest bits
	Have [2]uint64 // number of bits in Acc, below 8
	Out  [2]int    // where the next byte goes in the output
}

// HuffmanWriteRound is the number of bytes that a round encodes into a stream.
const HuffmanWriteRound = 4

// EncodeHuffman2 encodes rounds of two streams, from the last bytes of a and b on. An entry of
// codes has the code in the highest bits and its length, at most maxBits, in the lowest 8. maxBits
// must not exceed HuffmanBits. EncodeHuffman2 stores whole words, so dst must have 8 bytes behind
// the end of each stream, which it may overwrite. It returns false if the tier has no kernel:
// nothing is done. It panics if a stream lacks room or input.
//
// Portable twin: internal/codec/huffman/literals.go.
func EncodeHuffman2[C ~uint64](
	s *HuffmanWriters, codes *[256]C, maxBits int, dst, a, b []byte, rounds int,
) bool {
	const size = HuffmanWriteRound
	for i, src := range [2][]byte{a, b} {
		room := len(dst) - s.Out[i] - 8
		if s.Have[i] > 7 || s.Out[i] < 0 || room < 0 || rounds > len(src)/size ||
			maxBits > HuffmanBits || rounds*size*maxBits > 8*room {
			panic("kernels: HuffmanWriters out of range")
		}
	}
	rounds = max(rounds, 0)
	return encodeHuffman2Kernel(s, (*[256]uint64)(unsafe.Pointer(codes)), dst,
		a[len(a)-size*rounds:], b[len(b)-size*rounds:], rounds)
}
