//go:build amd64 && !noasm

package kernels

import "github.com/gopz/compress/internal/cpu"

// rawMulti is the form in which the assembly knows a MultiHash.
type rawMulti = struct {
	At, hashedFrom, batchFrom, batchEnd int

	Nice, MinMatch, MinOffset, MaxOffset, MaxOffset3 int

	Skip, Reach, Before, Offset int

	Tables    [MultiHashTables][]uint32
	Lengths   [MultiHashTables]int
	First     int
	Multiples [16]uint8

	tagMask uint32
	entries [multiBatch * MultiHashTables]uint32
	hashes  [MultiHashTables][multiBatch]uint64
}

// multiVector is the number of bytes that the kernels load at a position.
const multiVector = 32

func hashMultiKernel(t *MultiHash, src []byte, i, n int) bool {
	if cpu.Current() == cpu.Portable || n != multiBatch || i+multiBatch+multiVector > len(src) {
		return false
	}
	for k := t.First; k < MultiHashTables; k++ {
		hashes, table, shift := &t.hashes[k], &t.Tables[k][0], uint64(multiShift(t.Tables[k]))
		switch length := t.Lengths[k]; {
		case length <= 8:
			hashMulti8AVX2(hashes, &src[i], uint64(64-8*length), table, shift)
		case length <= 16:
			hashMulti16AVX2(hashes, &src[i], uint64(128-8*length), table, shift)
		default:
			hashMulti32AVX2(hashes, &src[i], 0, table, shift)
		}
	}
	return true
}

func exchangeMultiKernel(t *MultiHash, src []byte, k, i, n int) bool {
	if cpu.Current() == cpu.Portable || n != multiBatch {
		return false
	}
	exchangeMultiAVX2(&t.Tables[k][0], uint64(multiShift(t.Tables[k])), &t.hashes[k],
		&t.entries[k], &src[0], uint32(i), t.tagMask)
	return true
}

// searchMultiKernel handles up to a batch of positions.
func searchMultiKernel(
	t *MultiHash, src []byte, end int, cands []uint64, n int, first []uint32, most int,
) (_ int, stopped, ok bool) {
	end = min(end, len(src)-multiVector+1)
	if cpu.Current() == cpu.Portable || t.At >= end || t.Nice < multiVector || t.MaxOffset < multiVector {
		return n, false, false
	}
	n, stopped = searchMultiAVX2(
		(*rawMulti)(t), &src[0], len(src), end, &cands[0], n, &first[0], most)
	return n, stopped, true
}
