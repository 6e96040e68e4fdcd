// Package simd holds the kernels that the hot loops stand on: slices in, counts and lengths out. It knows no format and
// starts no goroutine. Every kernel has a portable twin that is always compiled.
package simd

import (
	"encoding/binary"
	"math/bits"
)

// MatchLen returns the length of the common prefix of a and b.
func MatchLen(a, b []byte) int {
	b = b[:min(len(a), len(b))]
	a = a[:len(b)]
	n := 0
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

// Histogram adds the number of times that each byte occurs in p to counts.
//
// Four banks take turns, because a run of equal bytes would otherwise wait each time for the count it has just written.
func Histogram(counts *[256]uint32, p []byte) {
	var b1, b2, b3 [256]uint32
	for len(p) >= 8 {
		v := binary.LittleEndian.Uint64(p)
		counts[byte(v)]++
		b1[byte(v>>8)]++
		b2[byte(v>>16)]++
		b3[byte(v>>24)]++
		counts[byte(v>>32)]++
		b1[byte(v>>40)]++
		b2[byte(v>>48)]++
		b3[byte(v>>56)]++
		p = p[8:]
	}
	for _, c := range p {
		counts[c]++
	}
	for i := range counts {
		counts[i] += b1[i] + b2[i] + b3[i]
	}
}

// Fill sets every byte of p to c.
func Fill(p []byte, c byte) {
	if len(p) == 0 {
		return
	}
	p[0] = c
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}
