// Package rans codes byte streams with static range asymmetric numeral systems (rANS; Duda 2013,
// arXiv:1311.2540). Symbols are interleaved over 32 lanes (Giesen 2014, arXiv:1402.3392), so that
// vector units, GPUs and portable Go decode the same bytes.
//
// An [Encoder] codes several streams into one self-describing byte string. It cuts each stream into
// segments where the statistics change. A segment is stored, one repeated symbol, or coded with a
// frequency table of its own; for little content the format has default tables. The coded symbols
// of all segments form one sequence, which groups of 32 lanes share evenly. The states of a group
// continue from segment to segment, so they are stored once.
//
// A state has 32 bits, with lower bound L = 2¹⁵, and is renormalised by 16-bit words. The
// frequencies of a table sum to 2¹¹. A decoder step therefore reads at most one word, and states
// stay below 2³¹. The lanes of a group read their words from one sequence, in lane order, so that
// no lane needs an offset of its own. The decoder runs forward, the encoder backward.
//
// A [ContextEncoder] codes one stream with tables that depend on the two symbols before.
//
// docs/FORMAT.md specifies both formats, under "Coded streams" and "Context-coded streams".
package rans

import "github.com/gopz/compress/internal/codec/rans/internal/model"

const (
	smallLanes = 4 // number of lanes of the single group of a short input

	// minSegment is the minimum number of symbols in a segment that is not the last of its stream.
	// It bounds the number of tables that a decoder must hold.
	minSegment = 4096
)

// Slack is the spare capacity of a decoded stream, in bytes. A caller may read and write that far
// behind its end: copy loops work in blocks of 16 and 32 bytes.
const Slack = model.Slack

// CorruptError describes why a decoder rejected its input.
type CorruptError = model.CorruptError
