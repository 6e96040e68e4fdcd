//go:build arm64 && !noasm

package kernels

import "github.com/gopz/compress/internal/cpu"

// This file selects the assembly for arm64. A function returns ok = false if the portable twin is
// to do the work.
//
// There is a kernel for copying only, and one for comparing in package simd. The rANS kernels
// depend on table lookups, and NEON cannot load vectors from tables in memory.

func executeKernel(
	dst []byte, at int, lits []byte, seqs []rawSequence,
) (done, end, used int, ok bool) {
	if cpu.Current() == cpu.Portable {
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

// executeNEON carries out sequences. It stops before one for which dst or lits has less than 32
// bytes of slack, and before one whose offset reaches before the beginning of dst. It requires at
// to be in dst, and offsets of at least 16. It returns the size of the sequences carried out, the
// position behind the last one, and the number of literals used.
//
// It is in asm_arm64.s, written by hand: the generator of the other assembly knows amd64 only.
//
//go:noescape
func executeNEON(
	dst []byte, at int, lits []byte, seqs *struct{ LitLen, MatchLen, Offset uint32 }, n int,
) (bytes, end, used int)
