package kernels

// ParseDouble and ParseDoubleLazy find matches with two hash tables: one for 8 bytes (long), one
// for fewer (short). Entries are those of ParseSingle. Both prefer the long candidate; the short
// one serves where the long one is too far away.
//
// The greedy parser searches the repeat offset one position on, then the candidates, and then the
// long table one position on, whose match it takes if it is longer. It selects candidates with
// conditional moves instead of branches. A match inserts two of its positions.
//
// The lazy parser moves on while the long table has a longer match one position on, and then tries
// the long candidate at the end of the match. It weighs a match of fewer than 8 bytes with a new
// offset against the prices of its bytes as literals. A match inserts every second of its first
// positions and every eighth of the others.
//
// After a match, both look for matches with the repeat offset before the last, without literals.
//
// The portable twins, parseDoublePortable and parseDoubleLazyPortable of package lz77, are the
// definition. The kernels find the same matches and leave the same tables.

// DoubleParse is the state and the parameters of ParseDouble and ParseDoubleLazy. Positions and
// lengths are in bytes.
type DoubleParse struct {
	At      int    // next position to search, at least 1
	Anchor  int    // end of the last match, at most At
	End     int    // matches begin before it; at most len(src)-16
	Repeats [2]int // the last offset and the one before, at least 1

	// CheckRepeat is not 0 if a match has just ended at At, and the next step looks for a match
	// with Repeats[1] there. Then Anchor is At and PendingLen is 0.
	CheckRepeat int

	// State of the lazy parser. PendingLen is not 0 if the parser has stopped at a match at At, of
	// fewer than 8 bytes, that it has to weigh. NextInsert is the first position to insert if it
	// takes the match.
	NextInsert                int
	PendingLen, PendingOffset int

	LongShift  uint64 // 64 − log2 of the number of entries of the long table
	ShortShift uint64 // the same for the short table
	ShortMask  uint64 // selects the bytes to hash for the short table, out of 8
	TagMask    uint64 // bits of an entry that are a tag

	SkipLog       uint64 // below 64: a step grows by one position for each 1<<SkipLog literals
	MinMatch      int    // 3 to 32
	MaxOffset     int    // at least 32
	UpdateRepeats int    // if not 0, each match updates Repeats
	Nice          int    // length of a match that ends the search; lazy parser only
}

// rawDouble is the form in which the assembly knows a DoubleParse.
type rawDouble = struct {
	At, Anchor, End                                    int
	Repeats                                            [2]int
	CheckRepeat, NextInsert, PendingLen, PendingOffset int
	LongShift, ShortShift, ShortMask, TagMask          uint64
	SkipLog                                            uint64
	MinMatch, MaxOffset, UpdateRepeats                 int
	Nice                                               int
}

// DoubleSlack is how many bytes at the end of src ParseDouble may leave to its twin.
const DoubleSlack = 48

// ParseDouble continues a greedy parse of src. It stops when CheckRepeat is 0 and At reaches End or
// len(src)-DoubleSlack, or when seqs is full. It may stop anywhere else, to bound the time of a
// call. It returns the number of sequences written.
//
// HasDouble must have reported a kernel; a later change of the tier does not matter. ParseDouble
// panics if p is out of range. For any contents of the tables it touches nothing outside the
// slices.
//
// Portable twin: lz77/double.go.
func ParseDouble[S Sequence](
	p *DoubleParse, src []byte, long, short []uint32, seqs []S,
) (n int) {
	return parseDoubleKernel(p, src, long, short, raw(seqs))
}

// ParseDoubleLazy continues a lazy parse of src. It stops when At reaches End or seqs is full.
// costs are the prices of literals, in eighths of a bit, and are valid for weighing the first
// costsValid sequences. Behind these it stops at a match to weigh and describes it by PendingLen
// and PendingOffset; the caller calls again with new costs. The rest is as for ParseDouble.
//
// One call compares the whole length of a match and inserts its positions: about 13 ms for 64 MiB
// of equal bytes.
//
// Portable twin: lz77/doublelazy.go.
func ParseDoubleLazy[S Sequence](
	p *DoubleParse, src []byte, long, short []uint32, costs *[256]uint8, seqs []S, costsValid int,
) (n int) {
	return parseDoubleLazyKernel(p, src, long, short, costs, raw(seqs), costsValid)
}

// HasDouble reports whether the tier has kernels for ParseDouble and ParseDoubleLazy.
func HasDouble() bool { return hasDouble() }
