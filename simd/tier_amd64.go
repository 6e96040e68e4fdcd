//go:build amd64 && !noasm

package simd

import "github.com/klauspost/cpuid/v2"

const (
	avx2   = portable + 1 + iota // 32-byte vectors
	avx512                       // 64-byte vectors: AVX512 F, BW, DQ, VL
)

var tierNames = [...]string{"portable", "avx2", "avx512"}

// detect asks the processor, and with it the operating system, which has to save the wide registers.
func detect() tier {
	switch {
	case !cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT, cpuid.LZCNT):
		return portable
	case !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL):
		return avx2
	}
	return avx512
}

// folds says that there is carry-less multiplication of wide vectors, which some processors of the highest tier lack.
var hasVPCLMULQDQ = cpuid.CPU.Supports(cpuid.VPCLMULQDQ, cpuid.SSE42)
