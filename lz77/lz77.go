// Package lz77 turns a block of bytes into sequences, and back: which runs of bytes are new, and which repeat what came
// before (Ziv and Lempel 1977). How the sequences are coded is not its business.
//
// A [Matcher] combines a match finder with a parser, as a row of [Levels] says. The result depends on the block and the settings
// alone. There is no window apart from the block: offsets reach back to its beginning if the [Limits] allow.
package lz77

// Sequence says: copy LitLen literals, then MatchLen bytes from Offset bytes back. What is left of the block after the
// last sequence is literals.
type Sequence struct {
	LitLen   uint32
	MatchLen uint32 // at least Limits.MinMatch
	Offset   uint32 // MinOffset … Limits.MaxOffset
}

// Limits is what the coder that takes the sequences can express.
type Limits struct {
	MinMatch  int // bytes, 4 … 8
	MaxOffset int // bytes, 32 or more
	// Repeats is the number of recent offsets, 0 … 3, that are cheap to use again. The list begins as InitialRepeat
	// in each place; the offset of each match moves to its front.
	Repeats int
	// MinOffset is the least offset, 1 … MinOffset; 0 is MinOffset. Only Tree gives any below that.
	MinOffset int
	// Model says what sequences cost, for Tree; without one that is guessed.
	Model Model
}

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
