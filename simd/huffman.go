package simd

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
// Portable twin: huffman/streams.go.
func DecodeHuffman4(
	s *HuffmanStreams, table *[1 << HuffmanBits]uint16, dst, src []byte, rounds int,
) bool {
	part := s.Out[1] - s.Out[0]
	for i := range 4 {
		if s.Out[i] != s.Out[0]+i*part || s.Out[i] < 0 || s.In[i] > len(src)-8 ||
			rounds > s.In[i]/HuffmanRoundInput || rounds > (len(dst)-s.Out[i])/HuffmanRound {
			panic("simd: HuffmanStreams out of range")
		}
	}
	if rounds <= 0 {
		return current() != portable
	}
	return decodeHuffman4Kernel(s, table, dst, src, part, rounds)
}
