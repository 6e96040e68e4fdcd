package rans

import "github.com/gopz/compress/simd"

// A chained stream is coded by order-1 statistics: the table of a symbol is chosen by the one before it. For lanes to work side by side, each has a piece of
// neighbouring symbols of a segment, so that it knows the symbol before from itself; and symbols that some other stream marks have a context of their own, for what
// is before them says little. Contexts that are followed by like symbols share one of 16 tables at most.
// The format is described in docs/FORMAT.md, "Chained streams".

const (
	contexts  = simd.ChainMark + 1 // the symbol before, or a mark
	maxTables = simd.ChainTables

	// minChainSegment is the least number of symbols in a segment that is not the last: it may have sixteen tables.
	minChainSegment = 1 << 14
)

// chainSegment is a segment of a chained stream.
type chainSegment struct {
	size   int             // symbols
	class  [contexts]uint8 // number of the table of each context, among those of the segment
	tables int             // how many there are, 1 to maxTables
}

// piece is where in n symbols of a segment the piece of a lane begins: the first n mod 32 have one symbol more than the others.
func piece(n, lane int) int { return n/lanes*lane + min(lane, n%lanes) }

// chainCut is the number of symbols in the first of two groups; there is but one below smallLimit.
func chainCut(n int) int {
	if n < smallLimit {
		return n
	}
	return groupCut(n)
}

// classBits is the size of a table's number where there are n.
func classBits(n int) (b uint) {
	for 1<<b < n {
		b++
	}
	return b
}
