// Package rans codes byte streams with static range asymmetric numeral systems (Duda 2013, arXiv:1311.2540), interleaved over
// 32 lanes so that a vector unit, a GPU workgroup and plain Go can all decode the same bytes.
//
// Several streams are coded together into one self-describing byte string. Each stream is cut into segments where its statistics change; a
// segment is stored, one symbol repeated, or coded with a frequency table of its own. The coded symbols of all segments
// form one sequence, which is shared out evenly between the lane groups; the states of a group live on from segment to segment, so
// that they are written only once.
//
// States are 32 bits wide, with lower bound L = 2¹⁵, and are renormalised by 16-bit words; frequencies sum to 2¹¹. A step of the
// decoder therefore takes at most one word, and states stay below 2³¹. The lanes of a group take their words from one sequence, in
// lane order: there are no offsets per lane. Decoding goes forward, encoding backward.
// The format is described in docs/FORMAT.md, "Coded streams".
package rans

import "github.com/gopz/compress/rans/internal/model"

const (
	smallLanes = 4 // of the one group used for short inputs, whose states cost less

	// minSegment is the least number of symbols in a segment that is not the last of its stream. It bounds the number of
	// tables that a decoder must hold.
	minSegment = 4096
)

// Slack is the number of bytes behind the end of each decoded stream that the caller may read, and that a decoder's
// buffers have room for: copy loops work in blocks of 16 and 32 bytes.
const Slack = model.Slack

// A CorruptError says what a decoder did not accept in its input.
type CorruptError = model.CorruptError
