//go:build arm64 && !noasm

package simd

// This file selects the assembly for arm64. A function returns ok = false if the portable twin is
// to do the work.
//
// There are kernels for comparing and copying only. The rANS kernels depend on table lookups, and
// NEON cannot load vectors from tables in memory. CRC32C needs no kernel: hash/crc32 uses the
// processor's instruction for it.

// matchLenKernel requires slices of equal length, of at least matchStep bytes.
func matchLenKernel(a, b []byte) (n int, ok bool) {
	if current() == portable {
		return 0, false
	}
	return matchLenNEON(a, b), true
}

func executeKernel(
	dst []byte, at int, lits []byte, seqs []rawSequence,
) (done, end, used int, ok bool) {
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
