//go:build arm64 && !noasm

package simd

// The functions are in asm_arm64.s, written by hand: the generator of the other assembly knows
// amd64 only.

// matchLenNEON returns the length of the common prefix of a and b. It requires equal lengths, of at
// least 32 bytes.
//
//go:noescape
func matchLenNEON(a, b []byte) (n int)

// executeNEON carries out sequences. It stops before one for which dst or lits has less than 32
// bytes of slack, and before one whose offset reaches before the beginning of dst. It requires at
// to be in dst, and offsets of at least 16. It returns the size of the sequences carried out, the
// position behind the last one, and the number of literals used.
//
//go:noescape
func executeNEON(
	dst []byte, at int, lits []byte, seqs *struct{ LitLen, MatchLen, Offset uint32 }, n int,
) (bytes, end, used int)
