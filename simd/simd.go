// Package simd is a building block for compressors: the inner loops that most of them need, in
// assembly where the processor allows. A minor release of this module may change it.
//
// Functions take slices and return counts and lengths. They know no format and start no goroutine.
// All are safe for concurrent use on different memory, and touch nothing outside their slices.
//
// # Tiers
//
// A tier is a set of instructions that the assembly is written for. The package asks the processor
// once, at start-up. [Tier] names the tier in use.
//
//	portable  plain Go, on every machine
//	avx2      amd64 with AVX2, BMI1, BMI2, POPCNT and LZCNT
//	avx512    amd64 with AVX-512 F, BW, DQ and VL besides
//	neon      arm64
//
// The environment variable PZ_SIMD names the highest tier to use. The package ignores an unknown
// name, and a tier that the processor lacks. The build tag noasm leaves the assembly out. All of
// this holds for the other packages of the module too.
//
// # Kernels and portable twins
//
// A kernel is a function in assembly. Each has a portable twin in Go that gives the same results
// and is always compiled. A function runs the twin where there is no kernel. A tier uses the
// kernels of the lower tiers where it has none of its own.
//
//	function    kernel for                            twin
//	MatchLen    avx2, neon                            here
//	Histogram   avx2                                  here
//	CRC32C      avx2 to 2 KiB, avx512 with VPCLMULQDQ hash/crc32
//	Prefetch    avx2                                  none: does nothing
//	Fill        none                                  here
//
// The Go runtime cannot interrupt assembly, and a garbage collection waits for it. So one call of
// an assembly function handles at most 128 KiB, about 50 µs, and functions of this package call it
// again. MatchLen compares all of its slices in one call.
package simd

import "github.com/gopz/compress/internal/cpu"

// Tier returns the name of the tier in use: "portable"; "avx2" or "avx512" on amd64; "neon" on
// arm64. It is the highest tier of the machine, unless the environment variable PZ_SIMD names a
// lower one. With the build tag noasm it is "portable".
func Tier() string { return cpu.Current().String() }

// Tiers returns the names of the tiers that this program can run on this machine, from "portable"
// to the highest.
func Tiers() []string { return cpu.Tiers() }

// SetTier makes all kernels of the module use the given tier, and returns the name of the one used
// before. It is for tests and benchmarks. It is safe for concurrent use, also with kernels, because
// results do not depend on the tier. It panics if the machine has no such tier.
func SetTier(name string) (before string) { return cpu.SetTier(name) }
