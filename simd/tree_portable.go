//go:build !amd64 || noasm

package simd

// This file stands in for the kernels of Tree where there are none.

func hashTreeKernel(*Tree, []byte, int) bool { return false }

func sweepTreeKernel([]uint16, uint16) bool { return false }

func searchTreeKernel(
	_ *Tree, _ []byte, _ int, _ []uint64, n int, _ []uint32, _ int,
) (_ int, found, ok bool) {
	return n, false, false
}
