//go:build (!amd64 && !arm64) || noasm

package kernels

// This file stands in for the kernels that amd64 and arm64 share, where there is no assembly. It
// leaves all work to the portable twins. kernels_portable.go does so for the kernels of amd64
// alone.

func executeKernel(_ []byte, at int, _ []byte, _ []rawSequence) (done, end, used int, ok bool) {
	return 0, at, 0, false
}
