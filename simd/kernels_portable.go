//go:build !amd64 || noasm

package simd

// What stands in, everywhere else, for the kernels that amd64 alone has: it says that the portable twin is to do the work. For those that arm64 has as well
// kernels_none.go does.

func decodeLanesVector(*DecodeGroup) bool { return false }

func decodeLanes2Vector(_, _ *DecodeGroup) bool { return false }

func decodeChainedVector(*CtxLanes, int, *CtxTable, []uint64, []byte, []byte) (rounds, used int, ok bool) {
	return 0, 0, false
}

func decodeChained2Vector(*[2]CtxLanes, *CtxTable, []uint64, []byte, [2][]byte) (rounds int, used [2]int) {
	return 0, used
}

func loadAheadVector(*byte, int, []uint32, uint32) {}

func markRunsVector(_ []uint64, at uint64, _, _ []byte) (done, used int, end uint64, ok bool) {
	return 0, 0, at, false
}

func scatterVector([]byte, *[Lanes]int, []byte, int) (done int) { return 0 }

func encodeLanesVector(*[Lanes]uint32, *EncodeTable, []byte, []byte, int) (int, bool) {
	return 0, false
}

func branchesVector([]uint64, []byte) bool { return false }

func histogramVector(*[256]uint32, []byte) bool { return false }

func resolveRepeatVector([]rawSequence, []byte, []byte, []byte, []byte, []byte, *uint, *[4]uint32, *[4]uint32) (r TokenProgress, ok bool) {
	return r, false
}

func resolvePlainVector([]rawSequence, []byte, []byte, []byte, []byte) (r TokenProgress, ok bool) {
	return r, false
}

func checksumVector(sum uint32, p []byte) (uint32, []byte) { return sum, p }

func buildVector(*DecodeTable, *[256]uint16) (done, sym int) { return 0, 0 }

func parseSingleVector(*SingleParse, []byte, []uint32, []rawSequence) (n int, ok bool) {
	return 0, false
}

func hasDouble() bool { return false }

func parseDoubleVector(*DoubleParse, []byte, []uint32, []uint32, []rawSequence) int {
	panic("simd: no such kernel")
}

func parseDoubleLazyVector(*DoubleParse, []byte, []uint32, []uint32, *[256]uint8, []rawSequence, int) int {
	panic("simd: no such kernel")
}

func hasRecent(int) bool { return false }

func parseRecentVector(*RowHashParse, []byte, []uint32, *[256]uint8, []rawSequence, int) int {
	panic("simd: no such kernel")
}

func hasGiven() bool { return false }

func parseGivenVector(*RowHashParse, []byte, []uint32, *[256]uint8, []rawSequence, int) int {
	panic("simd: no such kernel")
}

func putOffsetsVector(_, _, _ []byte, _ []rawSequence, _ uint32) (usedCodes, usedExtra int, ok bool) {
	return 0, 0, false
}

func putLengthsVector(_, _, _ []byte, _ []rawSequence) (done, usedLits, usedMatches int, ok bool) {
	return 0, 0, 0, false
}
