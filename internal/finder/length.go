package finder

import (
	"math/bits"

	"github.com/gopz/compress/simd"
)

// Extend returns the length of the match of src[i:] with src[c:]; c < i. The first n bytes are
// known to be equal.
func Extend(src []byte, c, i, n int) int {
	if i+n+InlineBytes <= len(src) {
		x, k := FirstDifference(Xor8(src, c+n, i+n), Xor8(src, c+n+8, i+n+8))
		n += k
		if x != 0 {
			return n
		}
	}
	return n + simd.MatchLen(src[c+n:], src[i+n:])
}

// FirstDifference takes the XOR of 16 bytes with 16 others in two words. It returns how many bytes
// are equal and the word with the first difference, 0 if all are equal. It does not branch, since
// the end of a match is hard to predict.
func FirstDifference(x, y uint64) (word uint64, equal int) {
	zero := ^uint64(int64(x|-x) >> 63) // all bits if x is 0
	word = x | y&zero
	return word, int(8&zero) + bits.TrailingZeros64(word)>>3
}

// InlineBytes is the number of bytes that FirstDifference compares. Parsers call simd.MatchLen for
// longer matches only.
const InlineBytes = 16

// Xor8 returns the 8 bytes at c ^ those at i.
func Xor8(src []byte, c, i int) uint64 { return Load64(src, c) ^ Load64(src, i) }

// EqualBefore8 returns how many bytes in front of i equal those in front of c, up to most and 8;
// 8 ≤ c < i.
func EqualBefore8(src []byte, c, i, most int) int {
	x := Xor8(src, c-8, i-8) | 1<<63>>(8*uint(most))
	return bits.LeadingZeros64(x) >> 3
}

// EqualBefore returns how many bytes in front of i equal those in front of c, up to most; c < i.
func EqualBefore(src []byte, c, i, most int) (n int) {
	for n < most && n < c && src[i-n-1] == src[c-n-1] {
		n++
	}
	return n
}
