// Package lz77 turns a block of bytes into sequences and back (Ziv and Lempel, "A Universal
// Algorithm for Sequential Data Compression", 1977). A sequence is a run of literals followed by a
// match.
//
// A [Matcher] combines a match finder with a parser, as a row of [Levels] says. Its result depends
// on the block and the settings only. [Execute] restores a block from sequences and literals.
// Other packages code the sequences; this package knows no format.
//
// There is no window apart from the block: offsets reach back to its first byte if
// [Limits.MaxOffset] allows.
package lz77

import (
	"fmt"

	"github.com/gopz/compress/lz77/internal/base"
)

// Sequence copies LitLen literals, then MatchLen bytes from Offset bytes back. Its fields are
// uint32. MatchLen is at least Limits.MinMatch, or MinRepeat at a repeat offset, and Offset lies
// between Limits.MinOffset and MaxOffset. Bytes of a block behind its last sequence are literals.
type Sequence = base.Sequence

// Limits says which sequences a coder can express. All sizes are in bytes.
// A Matcher panics if a field is outside its range.
type Limits struct {
	// MinMatch is the length of the shortest match, 3 … 8.
	// Only HashChain and the optimal parser make matches of 3.
	MinMatch int
	// MinRepeat is the length of the shortest match at a repeat offset, 2 … MinMatch; 0 stands for
	// MinMatch. Only the optimal parser makes such matches shorter than MinMatch.
	MinRepeat int
	// MaxOffset is the greatest offset, 32 … 2²⁷−1, and at least InitialRepeat if Repeats > 0.
	MaxOffset int
	// Repeats is the number of recent offsets, 0 … 3, that are cheap to repeat. Every entry of the
	// list starts as InitialRepeat. The offset of each match moves to its front.
	Repeats int
	// MinOffset is the least offset, 1 … the constant MinOffset; 0 stands for the constant.
	// With Repeats above 0 only the optimal parser makes offsets below the constant.
	MinOffset int
	// Model gives the prices of sequences to the optimal parser. Nil stands for a general model.
	Model PriceModel
	// Contexts gives the contexts of literals to the optimal parser. Nil stands for none.
	Contexts *Contexts
}

func (l *Limits) check() {
	if l.MinMatch < 3 || l.MinMatch > 8 ||
		l.MaxOffset < 2*MinOffset || l.MaxOffset > base.MaxOffset ||
		l.Repeats < 0 || l.Repeats > NewOffset ||
		l.Repeats > 0 && l.MaxOffset < InitialRepeat ||
		l.MinRepeat != 0 && (l.MinRepeat < 2 || l.MinRepeat > l.MinMatch || l.Repeats == 0) ||
		l.MinOffset < 0 || l.MinOffset > MinOffset {
		panic(fmt.Sprintf("lz77: limits out of range: "+
			"MinMatch %d, MinRepeat %d, MinOffset %d, MaxOffset %d, Repeats %d",
			l.MinMatch, l.minRepeat(), l.minOffset(), l.MaxOffset, l.Repeats))
	}
	if l.Contexts != nil {
		l.Contexts.Check()
	}
}

// minRepeat returns the length of the shortest match at a repeat offset.
func (l *Limits) minRepeat() int {
	if l.MinRepeat == 0 {
		return l.MinMatch
	}
	return l.MinRepeat
}

// minOffset returns the least offset.
func (l *Limits) minOffset() int {
	if l.MinOffset == 0 {
		return MinOffset
	}
	return l.MinOffset
}

// MinOffset is the least offset of a match in bytes, unless Limits.MinOffset is smaller. A decoder
// may copy so many bytes at a time without a check for overlap. Short periods lose next to nothing,
// because data with period n has period k·n as well.
const MinOffset = base.MinOffset

// InitialRepeat is the repeat offset that fills the list at the beginning of a block.
const InitialRepeat = base.InitialRepeat
