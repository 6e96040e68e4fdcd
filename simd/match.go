package simd

import (
	"encoding/binary"
	"math/bits"
)

// MatchLen compares two slices from their beginnings. It is the inner loop of every match finder.
//
// Most matches are short, and a call of assembly costs more than comparing 32 bytes. So Go code
// compares the first 32 bytes, eight at a time, and only the rest goes to the kernel. The kernel
// compares 32 bytes a step and finds the first difference by counting trailing zeros in a mask with
// one bit a byte (AVX2), or by comparing four words (NEON). Its last step begins 32 bytes before
// the end of the slices, so that it needs no slack.

// matchStep is the number of bytes that the kernel compares in a step.
const matchStep = 32

// MatchLen returns the length of the common prefix of a and b, in bytes. It touches nothing behind
// the shorter slice.
func MatchLen(a, b []byte) int {
	b = b[:min(len(a), len(b))]
	a = a[:len(b)]
	n := 0
	if len(a) >= 2*matchStep {
		for n < matchStep {
			if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
				return n + bits.TrailingZeros64(x)>>3
			}
			n += 8
		}
		a, b = a[matchStep:], b[matchStep:]
		if more, ok := matchLenKernel(a, b); ok {
			return n + more
		}
	}
	return n + matchLen(a, b)
}

// matchLen is the portable twin of the kernel.
func matchLen(a, b []byte) (n int) {
	for len(b) >= 8 && len(a) >= 8 {
		if x := binary.LittleEndian.Uint64(a) ^ binary.LittleEndian.Uint64(b); x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
		a, b = a[8:], b[8:]
		n += 8
	}
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			break
		}
		n++
	}
	return n
}
