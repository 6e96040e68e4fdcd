//go:build (!amd64 && !arm64) || noasm

package simd

// What stands in for the kernels that both amd64 and arm64 have, where there is no assembly: it says that the portable twin is to do the work. kernels_portable.go
// has the same for those of amd64 alone.

func matchLenKernel(_, _ []byte) (int, bool) { return 0, false }

func executeKernel(_ []byte, at int, _ []byte, _ []rawSequence) (done, end, used int, ok bool) {
	return 0, at, 0, false
}
