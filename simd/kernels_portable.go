//go:build !amd64 || noasm

package simd

// This file stands in for the kernels that only amd64 has, everywhere else. It leaves all work to
// the portable twins. kernels_none.go does so for the kernel that arm64 has too.

func prefetchKernel(*byte, int, []uint32, uint32) {}

func histogramKernel(*[256]uint32, []byte) bool { return false }

func crc32cKernel(sum uint32, p []byte) (uint32, []byte) { return sum, p }
