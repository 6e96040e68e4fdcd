package kernels

// The functions in this file are the reverse of DecodeTokensRepeat: they turn sequences into tokens
// and streams. Their portable twins are in package lzseq.
//
// EncodeOffsets updates the list of repeat offsets and writes codes and extra bits with conditional
// moves instead of branches, one sequence a step: whether an offset is new is hard to predict.
// EncodeLengths handles eight sequences a step. It packs their lengths into bytes, and a table of
// shuffles moves those that need a byte of their own together.

// OffsetState is the state of EncodeOffsets between calls.
type OffsetState struct {
	Acc, Have uint64    // bits that do not fill a byte of extra yet, and their number, below 8
	Repeats   [4]uint32 // the list of repeat offsets; the last place is not used
}

// EncodeOffsets sets each token, one for each sequence, to the index of its offset in the list of
// repeat offsets, in bits 6–7, or to 3 for a new offset. It writes the codes and extra bits of new
// offsets, and updates st. It returns the number of bytes written to codes and extra. Behind the
// last sequence the caller writes the bits that are left in st.Acc, if st.Have is not 0.
//
// codes needs room for one byte more than there are sequences. extra needs 8 bytes of any content
// behind the bytes written. Without room EncodeOffsets panics. ok = false means that the tier has
// no kernel: nothing is done.
//
// Portable twin: lzseq/repeat.go.
func EncodeOffsets[S Sequence](
	tokens, codes, extra []byte, seqs []S, st *OffsetState,
) (usedCodes, usedExtra int, ok bool) {
	if len(tokens) != len(seqs) || len(codes) <= len(seqs) {
		panic("kernels: no room for the offsets")
	}
	return encodeOffsetsKernel(tokens, codes, extra, raw(seqs), st)
}

// EncodeLengths adds lengths to tokens, one for each sequence: the literal run in bits 0–1, and the
// match length less 4 in bits 2–5. For a length of at least 3 or 15 it writes the excess over that
// to lits or matches, as one byte. Both need room for as many bytes as there are sequences, or
// EncodeLengths panics.
//
// It stops before a length that may take more than a byte, and where fewer than eight sequences are
// left. It may stop anywhere else. It returns the number of sequences encoded, and of bytes written
// to lits and matches. ok = false means that the tier has no kernel: nothing is done.
//
// Portable twin: lzseq/repeat.go.
func EncodeLengths[S Sequence](
	tokens, lits, matches []byte, seqs []S,
) (done, usedLits, usedMatches int, ok bool) {
	if n := len(seqs); len(tokens) != n || len(lits) < n || len(matches) < n {
		panic("kernels: no room for the lengths")
	}
	return encodeLengthsKernel(tokens, lits, matches, raw(seqs))
}
