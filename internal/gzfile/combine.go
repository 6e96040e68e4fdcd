package gzfile

import (
	"hash/crc32"
	"math/bits"
)

// A checksum is a polynomial over GF(2) modulo that of CRC-32, whose coefficient of x⁰ is the highest bit.
const (
	one = 1 << 31 // x⁰
	x   = 1 << 30 // x¹
)

// squares[k] is x to the power of 2ᵏ; bytes have eight bits, and sizes 63.
var squares = makeSquares()

func makeSquares() (t [63 + 3]uint32) {
	p := uint32(x)
	for k := range t {
		t[k] = p
		p = multiply(p, p)
	}
	return t
}

// multiply returns a·b.
func multiply(a, b uint32) (p uint32) {
	for ; a != 0; a <<= 1 {
		p ^= b & -(a >> 31)
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return p
}

// Combine returns the Checksum of two pieces of content laid end to end, whose own are a and b; the second one has size bytes, 0 or more. It takes time
// in proportion to the logarithm of size.
func Combine(a, b uint32, size int64) uint32 {
	shift := uint32(one) // x to the power of the second one's bits
	for n := uint64(size); n != 0; n &= n - 1 {
		shift = multiply(squares[bits.TrailingZeros64(n)+3], shift)
	}
	return multiply(shift, a) ^ b
}
