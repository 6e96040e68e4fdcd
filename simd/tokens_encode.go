package simd

// The kernels in this file are the reverse of DecodeTokensRepeat. Their portable twins are in package lzseq.

// offsetState is how far EncodeOffsets is: what of extra is no whole byte yet, its bits, and the list of repeats.
type offsetState struct {
	Acc, Have uint64
	Repeats   [4]uint32
}

// EncodeOffsets sets tokens, one for each sequence, to a place in the list of repeats in bits 6–7, or 3 for a new offset, and writes codes and other bits of the new
// ones to codes and extra. All three places of the list begin as initial. codes must have room for one byte more than there are sequences, extra for all that is written
// and 8 bytes more. It returns how many bytes of the two it has used. ok = false says that this tier has no such kernel, and nothing is done.
func EncodeOffsets[S Sequence](tokens, codes, extra []byte, seqs []S, initial uint32) (usedCodes, usedExtra int, ok bool) {
	if len(tokens) != len(seqs) || len(codes) <= len(seqs) {
		panic("simd: no room for the offsets")
	}
	return encodeOffsetsKernel(tokens, codes, extra, raw(seqs), initial)
}

// EncodeLengths adds to tokens, one for each sequence, a literal run in bits 0–1 and a match length less 4 in bits 2–5, and writes to lits and matches what is above 3 or
// 15, one byte each, if it is that much. Both must have room for as many bytes as there are sequences. It stops before a length that may take more than a byte, and may stop
// at any other place. It returns how many sequences it has done and how many bytes of the two it has used. ok = false says that this tier has no such kernel.
func EncodeLengths[S Sequence](tokens, lits, matches []byte, seqs []S) (done, usedLits, usedMatches int, ok bool) {
	if n := len(seqs); len(tokens) != n || len(lits) < n || len(matches) < n {
		panic("simd: no room for the lengths")
	}
	return encodeLengthsKernel(tokens, lits, matches, raw(seqs))
}
