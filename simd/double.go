package simd

// DoubleParse is how far lz77's parse with two hash tables is, and how it is to go on. Positions and lengths are in bytes.
type DoubleParse struct {
	At          int    // where to look for a match next, at least 1
	Anchor      int    // where the last one ended, at most At
	End         int    // matches begin before it, 16 bytes before the end of src at least
	Repeats     [2]int // the last offset and the one before, at least 1
	CheckRepeat int    // not 0: a match has ended at At, which is Anchor, and one with Repeats[1] is to be looked for there first; PendingLen is then 0

	// Of use to the lazy parse alone.
	NextInsert                int // the first position that is to be entered behind a match that is to be weighed
	PendingLen, PendingOffset int // a match at At that is to be weighed before the parse goes on, of fewer than 8 bytes; 0 for none

	LongShift  uint64 // 64 − log2 of the number of entries for 8 bytes
	ShortShift uint64 // the same for the bytes of ShortMask
	ShortMask  uint64 // the bytes of 8 that are hashed
	TagMask    uint64 // the bits of an entry that are a tag

	SkipLog       uint64 // below 64: steps grow by one for each 1<<SkipLog literals
	MinMatch      int    // 3 to 32
	MaxOffset     int    // at least 32
	UpdateRepeats int    // not 0: each match sets Repeats
	Nice          int    // a match of this length ends the search; of use to the lazy parse alone
}

// rawDouble is how the assembly knows a DoubleParse.
type rawDouble = struct {
	At, Anchor, End                                    int
	Repeats                                            [2]int
	CheckRepeat, NextInsert, PendingLen, PendingOffset int
	LongShift, ShortShift, ShortMask, TagMask          uint64
	SkipLog                                            uint64
	MinMatch, MaxOffset, UpdateRepeats                 int
	Nice                                               int
}

// ParseDouble goes on with a greedy parse of src, until At is End, or DoubleSlack bytes in front of the end of src, or more, and CheckRepeat is 0; or there is no room for more sequences;
// or at any other place, so that no call takes long, but where matches are very long. It returns how many sequences it has written. The portable twin, parseDouble of package lz77, is the definition.
//
// HasDouble must have said that there is a kernel; a parse goes on whatever the tier is by then. Whatever the tables hold, nothing outside of the slices is touched.
func ParseDouble[S Sequence](p *DoubleParse, src []byte, long, short []uint32, seqs []S) (n int) {
	return parseDoubleKernel(p, src, long, short, raw(seqs))
}

// DoubleSlack is how many bytes at the end of src ParseDouble may leave to the twin.
const DoubleSlack = 48

// ParseDoubleLazy does the same with a lazy parse, whose definition is parseDoubleLazy, to the end of src. It ends as well if a match is to be weighed that costs, the price of each
// literal, are too old for: that is one with a new offset and fewer than 8 bytes after fresh sequences or more. A match of 64 MiB, of one byte, took some 13 ms: all of it is compared, and its
// positions are entered, in one call.
func ParseDoubleLazy[S Sequence](p *DoubleParse, src []byte, long, short []uint32, costs *[256]uint8, seqs []S, costsValid int) (n int) {
	return parseDoubleLazyKernel(p, src, long, short, costs, raw(seqs), costsValid)
}

// HasDouble reports whether this tier has kernels for parsing with two tables.
func HasDouble() bool { return hasDouble() }
