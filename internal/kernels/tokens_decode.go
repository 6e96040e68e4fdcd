package kernels

// The functions in this file turn tokens and the streams that go with them into sequences. A token
// is a byte with the short parts of a sequence: literal run, match length, and how the offset is
// coded. Longer lengths, and offsets, follow in streams of their own.
//
// The kernel decodes eight tokens a step. A table of shuffles hands the next bytes of a length
// stream to the tokens that need one. Offsets of four sequences at a time are a permutation of four
// new offsets and the list of repeat offsets; a table indexed by the kinds of four tokens holds it.
// So only the position in extra and the list pass from one step to the next. Three vectors of eight
// dwords store eight sequences.
//
// A length of more than a byte takes a slower path within the kernel. The kernel stops before a
// step with two of them in one stream, and before anything invalid. The portable twins are in
// package lzseq; they also handle the tokens that the kernel leaves.

// TokenProgress says how far a call has decoded tokens.
type TokenProgress struct {
	Done        int // tokens used and sequences written
	UsedLits    int // bytes used of litLens
	UsedMatches int // bytes used of matchLens
	UsedOffsets int // bytes used of codes or offsets

	Lits     uint64 // sum of the literal runs
	Produced uint64 // sum of the literal runs and match lengths
}

// DecodeTokensRepeat decodes tokens with repeat offsets, at most as many as seqs has room for.
//
// A token consists of:
//
//	bits 0–1  literal run; if it is 3, a length from litLens is added
//	bits 2–5  match length; if it is 15, a length from matchLens is added; in any case
//	          minMatch[bits 6–7], which must be below 16
//	bits 6–7  index in the list of repeat offsets; 3 is a new offset
//
// A length in a stream is one byte, or 255 and four bytes, little endian. A new offset is
// v·4 + c%4 − 4, where c is a byte of codes and v has 1 + c/4 bits. The highest bit of v is 1; the
// others come from extra, from bit number *bit on, least significant bit first. The offset of a
// sequence moves to the front of the list repeats, whose last place is not used.
//
// It stops before a four-byte length below 255 or above 65,535, a code above 99, an offset below
// 16, and where a stream has fewer bytes left than the kernel reads at once. It may stop anywhere
// else. It advances *bit and repeats. ok = false means that the tier has no kernel: nothing is
// done. For any arguments it touches nothing outside the slices.
//
// Portable twin: lzseq/repeat.go.
func DecodeTokensRepeat[S Sequence](
	seqs []S, tokens, litLens, matchLens, codes, extra []byte,
	bit *uint, repeats, minMatch *[4]uint32,
) (r TokenProgress, ok bool) {
	return decodeTokensRepeatKernel(
		raw(seqs), tokens, litLens, matchLens, codes, extra, bit, repeats, minMatch)
}

// DecodeTokensPlain decodes tokens with two-byte offsets, as DecodeTokensRepeat does others. Bits
// 0–3 of a token are the literal run, bits 4–7 the match length less 5; to each, a length from its
// stream is added if it is 15. Each sequence takes two bytes of offsets, little endian.
//
// Portable twin: lzseq/plain.go.
func DecodeTokensPlain[S Sequence](
	seqs []S, tokens, litLens, matchLens, offsets []byte,
) (r TokenProgress, ok bool) {
	return decodeTokensPlainKernel(raw(seqs), tokens, litLens, matchLens, offsets)
}
