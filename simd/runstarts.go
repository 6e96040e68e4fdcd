package simd

// MarkStep is how many tokens MarkRunStarts takes at a time.
const MarkStep = 8

// MarkRunStarts sets, in bits of which the least significant one of each number comes first, those of the literals where the runs of tokens begin; the first of these is that of number at. Without the word that it
// is in nothing is done. Bits from there on are 0. Tokens and litLens are those of DecodeTokensRepeat. The twin is where that is at home, in package lzseq.
//
// It stops before MarkStep tokens that have more than 63 literals, and where fewer tokens are left or bits end; it may stop at any other place. It returns how many tokens and
// bytes of litLens it has used, and the number of the literal behind them. ok = false says that this tier has no such kernel. Whatever the arguments, nothing outside of the slices is touched.
func MarkRunStarts(bits []uint64, at uint64, tokens, litLens []byte) (done, used int, end uint64, ok bool) {
	return markRunStartsKernel(bits, at, tokens, litLens)
}
