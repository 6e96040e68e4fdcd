//go:build amd64 && !noasm

package simd

import "github.com/klauspost/cpuid/v2"

const (
	avx2   = portable + 1 + iota // 32-byte vectors
	avx512                       // 64-byte vectors: AVX-512 F, BW, DQ, VL
)

var tierNames = [...]string{"portable", "avx2", "avx512"}

// detect asks the processor. cpuid also checks that the operating system saves the wide registers.
func detect() tier {
	switch {
	case !cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT, cpuid.LZCNT):
		return portable
	case !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL):
		return avx2
	}
	return avx512
}

// Some processors of the tier avx512 lack these instructions.
var (
	// hasVPCLMULQDQ reports carry-less multiplication of wide vectors, and the CRC32 instruction.
	hasVPCLMULQDQ = cpuid.CPU.Supports(cpuid.VPCLMULQDQ, cpuid.SSE42)
	// hasVBMI reports permutations of the bytes of two wide vectors.
	hasVBMI = cpuid.CPU.Supports(cpuid.AVX512VBMI)
)
