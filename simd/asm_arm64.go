//go:build arm64 && !noasm

package simd

// Written by hand, in asm_arm64.s: the generator of the other assembly knows amd64 alone.

// matchLenNEON returns the length of the common prefix of a and b, which are equally long and have 32 bytes at least.
//
//go:noescape
func matchLenNEON(a, b []byte) (n int)

// executeNEON carries out sequences up to the first one for which there is not room in dst, or not enough in lits, with 32 bytes of slack each, or
// whose offset reaches beyond the beginning of dst. at must be in dst, offsets must be 16 or more.
// It returns the size of what it has carried out, the position behind that, and the number of literals used.
//
//go:noescape
func executeNEON(dst []byte, at int, lits []byte, seqs *struct{ LitLen, MatchLen, Offset uint32 }, n int) (bytes, end, used int)
