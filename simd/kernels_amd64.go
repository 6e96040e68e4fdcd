//go:build amd64 && !noasm

package simd

import "github.com/gopz/compress/internal/cpu"

// This file selects the assembly for amd64. A function returns false if the portable twin is to do
// the work.

// maxCallBytes is the most bytes that one call of an assembly function handles, in about 50 µs. The
// runtime cannot interrupt it.
const maxCallBytes = 1 << 17

func prefetchKernel(table *byte, size int, at []uint32, mask uint32) {
	if cpu.Current() != cpu.Portable {
		prefetchEntries(table, size, at, mask)
	}
}

// matchLenKernel requires slices of equal length, of at least matchStep bytes.
func matchLenKernel(a, b []byte) (n int, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, false
	}
	return matchLenAVX2(a, b), true
}

// minHistogramBytes is the least number of bytes for the kernel, which has to clear and add up
// eight banks. From there on the kernel is at least 13% faster.
const minHistogramBytes = 512

func histogramKernel(counts *[256]uint32, p []byte) bool {
	if cpu.Current() == cpu.Portable || len(p) < minHistogramBytes {
		return false
	}
	for len(p) >= 16 {
		var banks [8][256]uint32
		n := min(len(p)&^15, maxCallBytes)
		histogramAVX2(counts, &banks, p[:n])
		p = p[n:]
	}
	for _, c := range p {
		counts[c]++
	}
	return true
}

const (
	// minFoldBytes is the least number of bytes for the folding kernel. Below it, its first and
	// last steps take as long as hash/crc32 does for everything.
	minFoldBytes = 1024
	// maxSerialBytes is the most bytes for the kernel that takes one word after the other. It is
	// half as fast as hash/crc32 there, but needs no table, which takes 0.2 ms to make.
	maxSerialBytes = 2048
)

// crc32cKernel returns the sum continued over the front of p, and the rest of p.
func crc32cKernel(sum uint32, p []byte) (uint32, []byte) {
	tier := cpu.Current()
	if tier == cpu.AVX512 && cpu.HasVPCLMULQDQ {
		for len(p) >= minFoldBytes {
			n := min(len(p)&^255, maxCallBytes)
			sum = ^crc32cAVX512(^sum, p[:n])
			p = p[n:]
		}
	}
	if tier != cpu.Portable && len(p) <= maxSerialBytes {
		return ^crc32cAVX2(^sum, p), nil
	}
	return sum, p
}
