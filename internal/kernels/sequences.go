package kernels

import "unsafe"

// The kernels for sequences take and return slices of any type with the layout of Sequence, without
// copying. Each handles as many sequences as it can, from the first one on. It checks everything
// that could lead it out of a slice. Rare cases, and invalid data, it leaves to the portable twin,
// which is in package lz77 or lzseq.

// Sequence is a literal run, a match length and the offset of the match, all in bytes. It is the
// layout of lz77.Sequence, which this package cannot import.
type Sequence interface {
	~struct{ LitLen, MatchLen, Offset uint32 }
}

// rawSequence is the form in which the assembly knows a Sequence.
type rawSequence = struct{ LitLen, MatchLen, Offset uint32 }

// raw returns the same memory as a slice of rawSequence.
func raw[S Sequence](seqs []S) []rawSequence {
	return unsafe.Slice((*rawSequence)(unsafe.Pointer(unsafe.SliceData(seqs))), len(seqs))
}
