//go:build amd64 && !noasm

package simd

func decodeHuffman4Kernel(
	s *HuffmanStreams, table *[1 << HuffmanBits]uint16, dst, src []byte, part, rounds int,
) bool {
	if current() == portable {
		return false
	}
	decodeHuffman4AVX2((*rawHuffmanStreams)(s), table, &dst[0], part, &src[0], rounds)
	for i := range s.Out {
		s.Out[i] += HuffmanRound * rounds
	}
	return true
}

// The forms in which the assembly knows the types.
type (
	rawHuffmanStreams = struct {
		Bits [4]uint64
		In   [4]int
		Out  [4]int
	}
	rawSequenceBits = struct {
		State     [3]uint32
		Repeats   [3]uint32
		MaxOffset uint32
		Lits      uint64
		Matches   uint64
		Left      int
	}
)

func decodeSequencesKernel(
	s *SequenceBits, cells *SequenceCells, src []byte, seqs []rawSequence,
) (n int, ok bool) {
	if current() == portable {
		return 0, false
	}
	n = min(len(seqs), maxCallSequences)
	if n == 0 || s.Left < 128 {
		return 0, true
	}
	size := decodeSequencesAVX2((*rawSequenceBits)(s), (*[3][512]uint64)(cells), src, &seqs[0], n)
	return size / sequenceSize, true
}
