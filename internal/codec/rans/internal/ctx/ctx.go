package ctx

import (
	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
)

// Package ctx codes one byte stream with context-dependent rANS tables. It serves package rans
// only.
//
// The two symbols before a symbol form its context: a map adds a value for the last symbol to a
// value for the one before it. A segment of the stream has at most 32 frequency tables, and
// contexts with similar statistics share a table. The caller marks symbols that do not depend on
// their predecessors, for example the first literal behind a match. All marked symbols have one
// context of their own.
//
// A lane cannot know the symbols of its neighbours while it decodes. So each of the 64 lanes has a
// contiguous piece of the segment, and all its contexts come from its own output. The first symbol
// of each piece counts as marked.
//
// docs/FORMAT.md specifies the format under "Context-coded streams".

const (
	numContexts = 257
	markContext = kernels.CtxMarked
	maxTables   = kernels.MaxCtxTables

	// minSegment is the minimum number of symbols in a segment that is not the last. It bounds the
	// number of tables: a segment may have 32.
	minSegment = 1 << 14
)

// segment describes one segment of a stream.
type segment struct {
	size      int                // number of symbols
	class     [numContexts]uint8 // table number of each context, below numTables
	numTables int                // 1 to maxTables
}

// laneCount returns the number of lanes of a stream with n symbols: one group of them below
// SmallLimit, else two.
func laneCount(n int) int {
	if n < model.SmallLimit {
		return model.Lanes
	}
	return kernels.CtxRound
}

// pieceStart returns the index at which the piece of a lane begins in a segment of n symbols. Each
// of the first n mod width pieces has one symbol more than the others.
func pieceStart(n, lane, width int) int { return n/width*lane + min(lane, n%width) }

// tailLanes returns the number of lanes of a group that have a symbol in the last, incomplete round
// of a segment of n symbols.
func tailLanes(n, group, width int) int {
	return min(max(n%width-group*model.Lanes, 0), model.Lanes)
}

// indexBits returns the number of bits of an index below n.
func indexBits(n int) (b uint) {
	for 1<<b < n {
		b++
	}
	return b
}
