// Package lz77 is a building block for compressors: it turns blocks of bytes into sequences and
// back (Ziv and Lempel, "A Universal Algorithm for Sequential Data Compression", 1977). A minor
// release of this module may change it.
//
// A sequence is a run of literals followed by a match. A [Matcher] finds the sequences of a block,
// by a match finder and a parser that a row of [Levels] names. Its result depends on the block and
// the settings only. [AppendLiterals] collects the literals. Other packages code sequences and
// literals, such as lzseq; this package knows no format. [Execute] restores a block from them.
//
// There is no window apart from the block: offsets reach back to its first byte if
// [Limits.MaxOffset] allows.
package lz77

import (
	"fmt"

	"github.com/gopz/compress/internal/finder"
)

// Sequence copies LitLen literals, then MatchLen bytes from Offset bytes back. MatchLen is at least
// Limits.MinMatch, or MinRepeat at a repeat offset, and Offset lies between Limits.MinOffset and
// MaxOffset. Bytes of a block behind its last sequence are literals.
type Sequence struct {
	LitLen   uint32
	MatchLen uint32
	Offset   uint32
}

// Limits says which sequences a coder can express. All sizes are in bytes. A Matcher panics if a
// field is outside its range.
type Limits struct {
	// MinMatch is the length of the shortest match, 3 … 8. Only HashChain makes matches of 3.
	MinMatch int
	// MinRepeat is the length of the shortest match at a repeat offset, 2 … MinMatch; 0 stands for
	// MinMatch. A Matcher makes no matches shorter than MinMatch.
	MinRepeat int
	// MaxOffset is the greatest offset, 32 … 2²⁷−1, and at least InitialRepeat if Repeats > 0.
	MaxOffset int
	// Repeats is the number of recent offsets, 0 … 3, that are cheap to repeat. Every entry of the
	// list starts as InitialRepeat. The offset of each match moves to its front.
	Repeats int
	// MinOffset is the least offset, 1 … the constant MinOffset; 0 stands for the constant. A
	// Matcher makes offsets below the constant only if Repeats is 0.
	MinOffset int
}

// Check panics if a field of l is outside its range.
func (l *Limits) Check() {
	if l.MinMatch < 3 || l.MinMatch > 8 ||
		l.MaxOffset < 2*MinOffset || l.MaxOffset > finder.MaxOffset ||
		l.Repeats < 0 || l.Repeats > maxRepeats ||
		l.Repeats > 0 && l.MaxOffset < InitialRepeat ||
		l.MinRepeat != 0 && (l.MinRepeat < 2 || l.MinRepeat > l.MinMatch || l.Repeats == 0) ||
		l.MinOffset < 0 || l.MinOffset > MinOffset {
		panic(fmt.Sprintf("lz77: limits out of range: "+
			"MinMatch %d, MinRepeat %d, MinOffset %d, MaxOffset %d, Repeats %d",
			l.MinMatch, l.LeastRepeat(), l.LeastOffset(), l.MaxOffset, l.Repeats))
	}
}

// LeastRepeat returns the length of the shortest match at a repeat offset.
func (l *Limits) LeastRepeat() int {
	if l.MinRepeat == 0 {
		return l.MinMatch
	}
	return l.MinRepeat
}

// LeastOffset returns the least offset.
func (l *Limits) LeastOffset() int {
	if l.MinOffset == 0 {
		return MinOffset
	}
	return l.MinOffset
}

const (
	// MinOffset is the least offset of a match in bytes, unless Limits.MinOffset is smaller. A
	// decoder may copy so many bytes at a time without a check for overlap. Short periods lose next
	// to nothing, because data with period n has period k·n as well.
	MinOffset = 16

	// InitialRepeat is the repeat offset that fills the list at the beginning of a block.
	InitialRepeat = 64

	// maxRepeats is the length of the list of repeat offsets.
	maxRepeats = 3
)
