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
