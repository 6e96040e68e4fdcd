package compress

import "github.com/gopz/compress/simd"

// Kernels names the instructions that the inner loops use on this machine: "portable" for plain Go, "avx2", "avx512" or "neon". Results do not
// depend on it. The environment variable PZ_SIMD can name a lower tier than the best there is, and the build tag noasm leaves out all but the first.
func Kernels() string { return simd.Tier() }
