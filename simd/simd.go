// Package simd holds the kernels that the hot loops stand on: slices in, counts, lengths, sequences, streams, coded and decoded lanes out. It knows no format and
// starts no goroutine.
//
// Every kernel has a portable twin in Go that is always compiled and gives the same results: here, or, for what makes sequences and carries them out, in packages
// lz77 and lzseq, and for those kernels a function here reports whether the tier has one. On amd64 there is assembly for AVX2 and AVX-512, which avo generates; on arm64
// there is some for NEON, for comparing and for copying sequences, written by hand, because avo knows no arm64. The processor is
// asked once, at the start, and [Tier] says what runs. The build tag noasm leaves the assembly out, and the environment variable PZ_SIMD names the highest tier to be
// used: portable, avx2, avx512 or neon; any other value is ignored, and so is a tier that the processor lacks.
package simd

import (
	"encoding/binary"
	"math/bits"
)

// MatchLen returns the length of the common prefix of a and b.
//
// Most are short, and a call of assembly costs more than it brings: only what has 32 equal bytes goes there.
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

// matchStep is the number of bytes that a vector compares.
const matchStep = 32

// matchLen is the portable twin of the vector kernel.
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

// Histogram adds the number of times that each byte occurs in p to counts.
func Histogram(counts *[256]uint32, p []byte) {
	if !histogramKernel(counts, p) {
		histogram(counts, p)
	}
}

// histogram is the portable twin of the vector kernel.
//
// Four banks take turns, because a run of equal bytes would otherwise wait each time for the count it has just written.
func histogram(counts *[256]uint32, p []byte) {
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
