package kernels

// MarkRunStarts finds the literals that begin a literal run: the first one, and each one right
// after a match. Context-coded runs mark these symbols.
//
// The kernel takes eight tokens a step. Their literal runs are bytes of a vector; a table of
// shuffles hands lengths from litLens to the tokens that need one. Prefix sums of the bytes give
// the positions of the marks relative to the first one, and shifting ones by them gives 64 bits of
// marks. That works for up to 63 literals in a step. The portable twin is in package lzseq and
// handles the rest.

// MarkStep is the number of tokens that MarkRunStarts handles in a step.
const MarkStep = 8

// MarkRunStarts sets, for each token, the bit of the literal with which its literal run begins. Bit
// k mod 64 of bits[k/64] stands for literal k. The first run begins with literal at. Bits from
// there on must be 0. Without bits[at/64] nothing is done. Tokens and litLens have the format of
// DecodeTokensRepeat.
//
// It stops before a step of MarkStep tokens with more than 63 literals, and where fewer tokens are
// left or bits ends. It may stop anywhere else. It returns the number of tokens and of bytes of
// litLens used, and the number of the literal behind them. ok = false means that the tier has no
// kernel: nothing is done. For any arguments it touches nothing outside the slices.
//
// Portable twin: lzseq/marks.go.
func MarkRunStarts(
	bits []uint64, at uint64, tokens, litLens []byte,
) (done, used int, end uint64, ok bool) {
	return markRunStartsKernel(bits, at, tokens, litLens)
}
