//go:build amd64 && !noasm

package kernels

import (
	"unsafe"

	"github.com/gopz/compress/internal/cpu"
)

func decodeHuffman4Kernel(
	s *HuffmanStreams, table *[1 << HuffmanBits]uint16, dst, src []byte, part, rounds int,
) bool {
	if cpu.Current() == cpu.Portable {
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
	if cpu.Current() == cpu.Portable {
		return 0, false
	}
	n = min(len(seqs), maxCallSequences)
	if n == 0 || s.Left < 128 {
		return 0, true
	}
	size := decodeSequencesAVX2((*rawSequenceBits)(s), (*[3][512]uint64)(cells), src, &seqs[0], n)
	return size / sequenceSize, true
}

// The forms in which the assembly knows the types of the encoder.
type (
	rawSequenceCode = struct {
		Extra     uint64
		Codes     [3]uint8
		ExtraBits uint8
		_         uint32
	}
	rawStateTable = struct {
		Symbols [256]struct {
			Bits  uint32
			Place int32
		}
		States [4096]uint16
	}
	rawSequenceStates = struct {
		State [3]uint32
		Have  uint32
		Acc   uint64
	}
	rawHuffmanWriters = struct {
		Acc  [2]uint64
		Have [2]uint64
		Out  [2]int
	}
)

func sequenceCodesKernel(
	dst []SequenceCode, counts *CodeCounts, repeats *[3]uint32, codes *LengthCodes,
	seqs []rawSequence,
) bool {
	if cpu.Current() == cpu.Portable {
		return false
	}
	for len(seqs) > 0 {
		n := min(len(seqs), maxCallSequences)
		sequenceCodesAVX2((*rawSequenceCode)(&dst[0]), (*[3][64]uint32)(counts), repeats,
			(*[384]uint8)(unsafe.Pointer(codes)), &seqs[0], n)
		dst, seqs = dst[n:], seqs[n:]
	}
	return true
}

func encodeSequencesKernel(
	s *SequenceStates, tables [3]*StateTable, seqs []SequenceCode, dst []byte,
) (used int, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, false
	}
	for len(seqs) > 0 {
		n := min(len(seqs), maxCallSequences)
		first := len(seqs) - n
		room := dst[used:]
		if len(room) < 16 {
			panic("kernels: no room for sequences")
		}
		size := encodeSequencesAVX2((*rawSequenceStates)(s), rawTable(tables[0]), rawTable(tables[1]),
			rawTable(tables[2]), (*rawSequenceCode)(&seqs[first]), n, &room[0], len(room))
		if size < 0 {
			panic("kernels: no room for sequences")
		}
		used, seqs = used+size, seqs[:first]
	}
	return used, true
}

func rawTable(t *StateTable) *rawStateTable { return (*rawStateTable)(unsafe.Pointer(t)) }

func encodeHuffman2Kernel(
	s *HuffmanWriters, codes *[256]uint64, dst, a, b []byte, rounds int,
) bool {
	if cpu.Current() == cpu.Portable {
		return false
	}
	if rounds > 0 {
		encodeHuffman2AVX2((*rawHuffmanWriters)(s), codes, &dst[0], &a[0], &b[0], rounds)
	}
	return true
}

// literalsMargin is the number of bytes that src and dst have at least behind a sequence of
// copyLiteralsAVX2.
const literalsMargin = 32 + 256

func copyLiteralsKernel(dst, src []byte, seqs []rawSequence) (done, used, read int, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, 0, 0, false
	}
	for len(seqs) > 0 && len(dst)-used >= literalsMargin && len(src)-read >= literalsMargin {
		n := min(len(seqs), maxCallSequences)
		size, u, r := copyLiteralsAVX2(dst[used:], src[read:], &seqs[0], n)
		size /= sequenceSize
		done, used, read = done+size, used+u, read+r
		if size < n {
			break
		}
		seqs = seqs[n:]
	}
	return done, used, read, true
}
