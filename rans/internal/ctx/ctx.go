package ctx

import (
	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// A chained stream is coded by what is before each symbol: its context, which follows from the two symbols before, says which table it has. For lanes to work side by side,
// each of 64 has a piece of neighbouring symbols of a segment, so that it knows the symbols before from itself; and symbols that some other stream marks have a context of their
// own, for what is before them says little. Contexts that are followed by like symbols share one of 32 tables at most.
// The format is described in docs/FORMAT.md, "Chained streams".

const (
	contexts    = 257
	markContext = simd.CtxMarked
	maxTables   = simd.MaxCtxTables

	// minChainSegment is the least number of symbols in a segment that is not the last: it may have 32 tables.
	minChainSegment = 1 << 14
)

// chainSegment is a segment of a chained stream.
type chainSegment struct {
	size   int             // symbols
	class  [contexts]uint8 // number of the table of each context, among those of the segment
	tables int             // how many there are, 1 to maxTables
}

// chainWidth is the number of lanes that a stream of n symbols has: those of two groups, or of one below smallLimit.
func chainWidth(n int) int {
	if n < model.SmallLimit {
		return model.Lanes
	}
	return simd.CtxRound
}

// piece is where in n symbols of a segment the piece of a lane begins, if there are so many lanes: the first n mod width have one symbol more than the others.
func piece(n, lane, width int) int { return n/width*lane + min(lane, n%width) }

// short is how many lanes of a group have a symbol in the last round of a segment of n symbols, which is not a whole one.
func short(n, group, width int) int { return min(max(n%width-group*model.Lanes, 0), model.Lanes) }

// classBits is the size of a table's number where there are n.
func classBits(n int) (b uint) {
	for 1<<b < n {
		b++
	}
	return b
}
