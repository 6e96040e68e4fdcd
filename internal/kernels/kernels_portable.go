//go:build !amd64 || noasm

package kernels

// This file stands in for the kernels that only amd64 has, everywhere else. It leaves all work to
// the portable twins. kernels_none.go does so for the kernels that arm64 has too.

func decodeLanesKernel(*DecodeGroup) bool { return false }

func decodeLanes2Kernel(_, _ *DecodeGroup) bool { return false }

func decodeCtxKernel(
	*CtxLanes, int, *CtxTable, []uint64, []byte, []byte,
) (rounds, used int, ok bool) {
	return 0, 0, false
}

func decodeCtx2Kernel(
	*[2]CtxLanes, *CtxTable, []uint64, []byte, [2][]byte,
) (rounds int, used [2]int) {
	return 0, used
}

func markRunStartsKernel(
	_ []uint64, at uint64, _, _ []byte,
) (done, used int, end uint64, ok bool) {
	return 0, 0, at, false
}

func deinterleaveKernel([]byte, *[Lanes]int, []byte, int) (done int) { return 0 }

func cheapestTablesKernel([]uint8, []uint32, []uint8, []uint16, *CtxPrices) bool { return false }

func encodeCtxKernel(
	*[Lanes]uint32, *[MaxCtxTables]EncodeTable, []byte, []byte, *[Lanes]int, int, int, []byte, int,
) (at int, ok bool) {
	return 0, false
}

func nonZeroKernel(*[4]uint64, *[256]uint32) bool { return false }

func encodeLanesKernel(*[Lanes]uint32, *EncodeTable, []byte, []byte, int) (int, bool) {
	return 0, false
}

func markDisplacementsKernel([]uint64, []byte) bool { return false }

func decodeTokensRepeatKernel(
	_ []rawSequence, _, _, _, _, _ []byte, _ *uint, _, _ *[4]uint32,
) (r TokenProgress, ok bool) {
	return r, false
}

func decodeTokensPlainKernel(_ []rawSequence, _, _, _, _ []byte) (r TokenProgress, ok bool) {
	return r, false
}

func buildDecodeTableKernel(*DecodeTable, *[256]uint16) (done, sym int) { return 0, 0 }

func parseSingleKernel(*SingleParse, []byte, []uint32, []rawSequence) (n int, ok bool) {
	return 0, false
}

func hasDouble() bool { return false }

func parseDoubleKernel(*DoubleParse, []byte, []uint32, []uint32, []rawSequence) int {
	panic("kernels: ParseDouble without a kernel")
}

func parseDoubleLazyKernel(
	*DoubleParse, []byte, []uint32, []uint32, *[256]uint8, []rawSequence, int,
) int {
	panic("kernels: ParseDoubleLazy without a kernel")
}

func hasRowHash(int) bool { return false }

func parseRowHashKernel(
	*RowHashParse, []byte, []uint32, *[256]uint8, []rawSequence, int,
) int {
	panic("kernels: ParseRowHash without a kernel")
}

func hasCandidates() bool { return false }

func parseCandidatesKernel(
	*RowHashParse, []byte, []uint32, *[256]uint8, []rawSequence, int,
) int {
	panic("kernels: ParseCandidates without a kernel")
}

func encodeOffsetsKernel(
	_, _, _ []byte, _ []rawSequence, _ *OffsetState,
) (usedCodes, usedExtra int, ok bool) {
	return 0, 0, false
}

func encodeLengthsKernel(
	_, _, _ []byte, _ []rawSequence,
) (done, usedLits, usedMatches int, ok bool) {
	return 0, 0, 0, false
}

func executeNearKernel(_ []byte, at int, _ []byte, _ []rawSequence) (done, end, used int, ok bool) {
	return 0, at, 0, false
}

func decodeHuffman4Kernel(
	*HuffmanStreams, *[1 << HuffmanBits]uint16, []byte, []byte, int, int,
) bool {
	return false
}

func decodeSequencesKernel(
	*SequenceBits, *SequenceCells, []byte, []rawSequence,
) (n int, ok bool) {
	return 0, false
}

func inflateKernel(*InflateState, *InflateTables, []byte, []byte) bool { return false }

func inflateSymbolsKernel(*InflateState, *InflateTables, []uint16, []byte) bool { return false }

func resolveSymbolsKernel([]byte, []uint16, *SymbolTable) (n int, ok bool) { return 0, false }

func pathCostsKernel(*PathPrices, []byte, []uint32, []uint64, []uint32, int, int, int) bool {
	return false
}

func hasHashChain() bool { return false }

func parseHashChainKernel(
	*HashChainParse, []byte, []int16, []int16, []int16, *[256]uint8, []rawSequence,
) int {
	panic("kernels: ParseHashChain without a kernel")
}

func slideKernel([]int16) (done int) { return 0 }

func hashMultiKernel(*MultiHash, []byte, int, int) bool { return false }

func exchangeMultiKernel(*MultiHash, []byte, int, int, int) bool { return false }

func searchMultiKernel(
	_ *MultiHash, _ []byte, _ int, _ []uint64, n int, _ []uint32, _ int,
) (int, bool, bool) {
	return n, false, false
}

func hashTreeKernel(*Tree, []byte, int) bool { return false }

func sweepTreeKernel([]uint16, uint16) bool { return false }

func searchTreeKernel(
	_ *Tree, _ []byte, _ int, _ []uint64, n int, _ []uint32, _ int,
) (_ int, found, ok bool) {
	return n, false, false
}

func relaxPathsKernel(*PathParse) bool { return false }

func sequenceCodesKernel(
	[]SequenceCode, *CodeCounts, *[3]uint32, *LengthCodes, []rawSequence,
) bool {
	return false
}

func encodeSequencesKernel(
	*SequenceStates, [3]*StateTable, []SequenceCode, []byte,
) (used int, ok bool) {
	return 0, false
}

func encodeHuffman2Kernel(*HuffmanWriters, *[256]uint64, []byte, []byte, []byte, int) bool {
	return false
}

func copyLiteralsKernel(_, _ []byte, _ []rawSequence) (done, used, read int, ok bool) {
	return 0, 0, 0, false
}
