//go:build arm64 && !noasm

package simd

// This file is the one place where assembly for arm64 is chosen. A function returns false if the portable twin is to do the work.
//
// Comparing and copying are what there is. Decoding and coding with lanes live on loads from tables, of which NEON has none for vectors; the standard library's CRC32C
// uses the processor's instruction for it.

// matchLenKernel takes equally long slices of at least matchStep bytes.
func matchLenKernel(a, b []byte) (n int, ok bool) {
	if current() == portable {
		return 0, false
	}
	return matchLenNEON(a, b), true
}

func executeKernel(dst []byte, at int, lits []byte, seqs []rawSequence) (done, end, used int, ok bool) {
	if current() == portable {
		return 0, at, 0, false
	}
	if len(seqs) == 0 || uint(at) > uint(len(dst)) {
		return 0, at, 0, true
	}
	dst = dst[:min(len(dst), at+maxCallBytes)]
	seqs = seqs[:min(len(seqs), maxCallSequences)]
	size, end, used := executeNEON(dst, at, lits, &seqs[0], len(seqs))
	return size / sequenceSize, end, used, true
}
