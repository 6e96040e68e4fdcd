//go:build !amd64 || noasm

package simd

// There are no kernels but the portable ones.

func decodeLanesVector(*DecodeGroup) bool { return false }

func decodeLanes2Vector(_, _ *DecodeGroup) bool { return false }

func encodeLanesVector(*[Lanes]uint32, *EncodeTable, []byte, []byte, int) (int, bool) {
	return 0, false
}

func matchLenVector(_, _ []byte) (int, bool) { return 0, false }

func histogramVector(*[256]uint32, []byte) bool { return false }
