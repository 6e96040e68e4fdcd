//go:build arm64 && !noasm

package simd

import "github.com/gopz/compress/internal/cpu"

// This file selects the assembly for arm64, and says why there is so little of it: CRC32C needs no
// kernel, because hash/crc32 uses the processor's instruction for it.

// matchLenKernel requires slices of equal length, of at least matchStep bytes.
func matchLenKernel(a, b []byte) (n int, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, false
	}
	return matchLenNEON(a, b), true
}

// matchLenNEON returns the length of the common prefix of a and b. It requires equal lengths, of at
// least 32 bytes. It is in asm_arm64.s.
//
//go:noescape
func matchLenNEON(a, b []byte) (n int)
