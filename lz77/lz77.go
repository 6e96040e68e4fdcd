// Package lz77 turns a block of bytes into sequences, and back: which runs of bytes are new, and which repeat what came
// before (Ziv and Lempel 1977). How the sequences are coded is not its business.
//
// A [Matcher] combines a match finder with a parser, as a row of [Levels] says. The result depends on the block and the settings
// alone. There is no window apart from the block: offsets reach back to its beginning if the [Limits] allow.
package lz77

import "fmt"

// Sequence says: copy LitLen literals, then MatchLen bytes from Offset bytes back. What is left of the block after the
// last sequence is literals.
type Sequence struct {
	LitLen   uint32
	MatchLen uint32 // at least Limits.MinMatch, or MinRepeat with a repeat offset
	Offset   uint32 // Limits.MinOffset … Limits.MaxOffset
}

// Limits is what the coder that takes the sequences can express. Others than those that are given here are a mistake in the program: a Matcher panics.
type Limits struct {
	MinMatch  int // bytes, 3 … 8; only what is Priced gives matches of 3
	MinRepeat int // bytes, 2 … MinMatch, of a match with a repeat offset; 0 is MinMatch. Only what is Priced gives shorter ones than MinMatch
	MaxOffset int // bytes, 32 … 2²⁷−1; with Repeats not less than InitialRepeat
	// Repeats is the number of recent offsets, 0 … 3, that are cheap to use again. The list begins as InitialRepeat
	// in each place; the offset of each match moves to its front.
	Repeats int
	// MinOffset is the least offset, 1 … MinOffset; 0 is MinOffset. Only what is Priced gives any below that.
	MinOffset int
	// Model says what sequences cost, for finders that are Priced; without one that is guessed.
	Model PriceModel
	// Contexts are what prices of literals depend on, for the same; nil if they depend on nothing.
	Contexts *Contexts
}

func (l *Limits) check() {
	if l.MinMatch < 3 || l.MinMatch > 8 || l.MaxOffset < 2*MinOffset || l.MaxOffset > maxOffset || l.Repeats < 0 || l.Repeats > NewOffset ||
		l.Repeats > 0 && l.MaxOffset < InitialRepeat || l.MinRepeat != 0 && (l.MinRepeat < 2 || l.MinRepeat > l.MinMatch || l.Repeats == 0) || l.MinOffset < 0 || l.MinOffset > MinOffset {
		panic(fmt.Sprintf("lz77: impossible limits: matches of %d bytes or more, %d where offsets are repeated, offsets %d to %d, %d of them repeated", l.MinMatch, l.MinRepeat, l.minOffset(), l.MaxOffset, l.Repeats))
	}
	if l.Contexts != nil {
		l.Contexts.check()
	}
}

// minRepeat is the least length of a match with a repeat offset.
func (l *Limits) minRepeat() int {
	if l.MinRepeat == 0 {
		return l.MinMatch
	}
	return l.MinRepeat
}

// threeReach is the greatest offset of a match of 3 bytes.
func (l *Limits) maxOffset3() int {
	reach := 0
	if l.Model != nil {
		reach = l.Model.Rules().MaxOffset3
	}
	if reach == 0 {
		reach = defaultMaxOffset3
	}
	return min(l.MaxOffset, reach)
}

// threeOffset is Rules.Three where a Model does not say. In executables 13 bits in place of 18 are 0.3% larger, with zstd's codes.
const defaultMaxOffset3 = 1 << 18

// maxOffset is the greatest that a candidate has room for.
const maxOffset = 1<<27 - 1

// minOffset is the least offset.
func (l *Limits) minOffset() int {
	if l.MinOffset == 0 {
		return MinOffset
	}
	return l.MinOffset
}

// MinOffset is the least offset of a match, in bytes. What repeats every n bytes also repeats every k·n, so that short periods
// lose next to nothing, and a decoder may copy so many bytes at a time without looking for overlaps.
const MinOffset = 16

// InitialRepeat is the offset that the list of repeat offsets is filled with at the beginning of a block.
const InitialRepeat = 64
