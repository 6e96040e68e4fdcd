package gzfile

import (
	"hash/crc32"
	"math/bits"
	"sync"
)

// A CRC-32 is a polynomial over GF(2), reduced by that of the CRC. The highest bit of the number is
// the coefficient of x⁰.
const (
	one = 1 << 31 // x⁰
	x   = 1 << 30 // x¹
)

// squares[k] is x to the power of 2ᵏ. A byte has 8 bits, and a size has 63.
var squares = sync.OnceValue(func() *[63 + 3]uint32 {
	t, p := new([63 + 3]uint32), uint32(x)
	for k := range t {
		t[k] = p
		p = multiply(p, p)
	}
	return t
})

// multiply returns the product of two polynomials, reduced.
func multiply(a, b uint32) (p uint32) {
	for ; a != 0; a <<= 1 {
		p ^= b & -(a >> 31)
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return p
}

// Combine returns the Checksum of two contents laid end to end, whose checksums are a and b. size
// is the length of the second in bytes, at least 0. The time is logarithmic in size.
func Combine(a, b uint32, size int64) uint32 {
	if a == 0 {
		return b // nothing in front, or zeros that count for nothing
	}
	shift, squares := uint32(one), squares() // shift: x to the power of the second one's bits
	for n := uint64(size); n != 0; n &= n - 1 {
		shift = multiply(squares[bits.TrailingZeros64(n)+3], shift)
	}
	return multiply(shift, a) ^ b
}
