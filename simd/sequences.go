package simd

import "unsafe"

// The kernels in this file make sequences and carry them out. Their portable twins are where that is at home: packages lz77 and lzseq. Each kernel does as many
// sequences as it can, from the first one on, checks all that could lead it out of a slice, and leaves what is rare to the twin, and all that is wrong.

// A Sequence is a literal run, a match length, and the offset of the match, in bytes: lz77's Sequence, which this package does not know by name.
type Sequence interface {
	~struct{ LitLen, MatchLen, Offset uint32 }
}

// rawSequence is how the assembly knows a Sequence.
type rawSequence = struct{ LitLen, MatchLen, Offset uint32 }

// raw is the same memory by the other name.
func raw[S Sequence](seqs []S) []rawSequence {
	return unsafe.Slice((*rawSequence)(unsafe.Pointer(unsafe.SliceData(seqs))), len(seqs))
}

// CopySlack is the number of bytes behind the content that Execute may write, and behind the literals that it may read.
const CopySlack = 32

// Execute carries out sequences from the first one on: it writes to dst from position at on and reads literals from the front of lits. Offsets must be 16 or
// more, or the bytes copied are any of dst's.
//
// It stops before a sequence for which dst does not have room, or lits not enough, with CopySlack bytes to spare, and before one whose offset reaches back beyond
// the beginning of dst; it may stop at any other place, so that no call takes long. It returns the number of sequences carried out, the position behind the last
// one and the number of literals used. ok = false says that this tier has no such kernel. Whatever the arguments, nothing outside of the slices is touched.
func Execute[S Sequence](dst []byte, at int, lits []byte, seqs []S) (done, end, used int, ok bool) {
	return executeKernel(dst, at, lits, raw(seqs))
}

// TokenProgress is how far resolving tokens has come.
type TokenProgress struct {
	Done                               int    // tokens used, and sequences written
	UsedLits, UsedMatches, UsedOffsets int    // bytes used of the streams
	Lits, Produced                     uint64 // sums over the sequences: literals; literals and matches
}

// DecodeTokensRepeat turns tokens into sequences, as many as there are of both. A token has a literal run in bits 0–1, to which one from litLens is added if it is 3; a
// match length in bits 2–5, to which one from matchLens is added if it is 15, and least of bits 6–7 in any case, below 16 each; and in bits 6–7 a place in the list of repeats, or 3 for a new
// offset, v·4 + c%4 − 4, of which a byte c of codes says that v has 1 + c/4 bits, and extra, from the given bit on, has those below the highest. The
// offset moves to the front of the list. Bit and list move on; the last place of the list is not used. In litLens and matchLens a length is one byte, or 255
// and four bytes.
//
// It stops before four bytes that say less than 255 or more than 65,535, a code above 99, an offset below 16, and where a stream has fewer bytes left than it
// reads at once; it may stop at any other place. ok = false says that this tier has no such kernel. Whatever the arguments, nothing outside of the slices is
// touched.
func DecodeTokensRepeat[S Sequence](seqs []S, tokens, litLens, matchLens, codes, extra []byte, bit *uint, repeats, least *[4]uint32) (r TokenProgress, ok bool) {
	return decodeTokensRepeatKernel(raw(seqs), tokens, litLens, matchLens, codes, extra, bit, repeats, least)
}

// DecodeTokensPlain is the same for tokens that have a literal run in bits 0–3, a match length less 5 in bits 4–7, to both of which a length is added if they are 15,
// and offsets of two bytes each.
func DecodeTokensPlain[S Sequence](seqs []S, tokens, litLens, matchLens, offsets []byte) (r TokenProgress, ok bool) {
	return decodeTokensPlainKernel(raw(seqs), tokens, litLens, matchLens, offsets)
}
