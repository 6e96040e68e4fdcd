//go:build amd64 && !noasm

package cpu

import "github.com/klauspost/cpuid/v2"

// The tiers above Portable.
const (
	AVX2   = Portable + 1 + iota // 32-byte vectors
	AVX512                       // 64-byte vectors: AVX-512 F, BW, DQ, VL
)

var tierNames = [...]string{"portable", "avx2", "avx512"}

// detect asks the processor. cpuid also checks that the operating system saves the wide registers.
func detect() Tier {
	switch {
	case !cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT, cpuid.LZCNT):
		return Portable
	case !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL):
		return AVX2
	}
	return AVX512
}

// Some processors of the tier AVX512 lack these instructions. Only tests change the variables.
var (
	// HasVPCLMULQDQ reports carry-less multiplication of wide vectors, and the CRC32 instruction.
	HasVPCLMULQDQ = cpuid.CPU.Supports(cpuid.VPCLMULQDQ, cpuid.SSE42)
	// HasVBMI reports permutations of the bytes of two wide vectors.
	HasVBMI = cpuid.CPU.Supports(cpuid.AVX512VBMI)
)
