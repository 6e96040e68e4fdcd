package simd

// RowHashParse is how far lz77's lazy parse with rows of recent positions is, and how it is to go on. Positions and lengths are in bytes.
//
// A row has an entry for each of the Depth latest positions whose hashes share it, the latest first. An entry is the position, Base and 1, with 7 more bits of the hash above
// them; see RowHashBits. Those of another block are passed over if its Base and length are no more than Base. No entry may stand for a
// position that is still to be entered, or matches may be missed.
type RowHashParse struct {
	At         int // where to look for a match next
	Anchor     int // where the last one ended, at most At
	NextInsert int // the first position that is not in its row yet, at most At; or behind what was looked at for a match that is to be weighed, at least At
	End        int // matches begin before it, 16 bytes before the end of src at least

	PendingLen, PendingOffset int    // a match at At that is to be weighed before the parse goes on, of fewer than 8 bytes; 0 for none
	Repeats                   [3]int // the last offsets, the latest first, at least 1

	Lazy           int // how many positions further on a better match is looked for, 0 … 2
	Nice           int // a match of this length ends the search, more than 4
	MinRowMatch    int // bytes of a match that is taken from a row, at least 4
	MinRepeatMatch int // bytes of one with a repeated offset
	MaxOffset      int // at least 32
	UseRepeats     int // not 0: matches with the last offsets are looked for
	Depth          int // entries of a row; there are kernels for 8, 16 and 32

	Shift    uint64 // 32 − log2 of the number of rows
	HashMask uint64 // the bits of the second 4 bytes that are hashed
	Base     uint64 // what is added to positions

	callEnd int // where a call ends
	bad     int // not 0 if an impossible candidate was given
}

// RowHashBits is how many bits of an entry Base, the positions of a block and 1 share.
const RowHashBits = 25

// rawRecent is how the assembly knows a RowHashParse.
type rawRowHash = struct {
	At, Anchor, NextInsert, End, PendingLen, PendingOffset                int
	Repeats                                                               [3]int
	Lazy, Nice, MinRowMatch, MinRepeatMatch, MaxOffset, UseRepeats, Depth int
	Shift, HashMask, Base                                                 uint64
	callEnd, bad                                                          int
}

// ParseRowHash goes on with a parse of src, until At is End or more, or there is no room for more sequences, or a match is to be weighed that costs, the price of each literal, are
// too old for: that is one with a new offset and fewer than 8 bytes after fresh sequences or more. It may stop at any other place, so that no call takes long. It returns how
// many sequences it has written. The portable twin, parseLazy of package lz77, is the definition.
//
// HasRowHash must have said that there is a kernel; a parse goes on whatever the tier is by then. Whatever rows hold, nothing outside of the slices is touched.
func ParseRowHash[S Sequence](p *RowHashParse, src []byte, rows []uint32, costs *[256]uint8, seqs []S, costsValid int) (n int) {
	return parseRowHashKernel(p, src, rows, costs, raw(seqs), costsValid)
}

// ParseCandidates is ParseRowHash with the best candidates of all positions in front of End in place of rows, which somebody else has found: see lz77.CandidateOffsetBits. Depth, Shift, HashMask and Base are not looked at, nor is MinRowMatch but to see that it is possible. Whatever
// is given, nothing outside of the slices is touched; BadCandidate says whether one of those that it has looked at cannot be. HasCandidates must have said that there is a kernel.
func ParseCandidates[S Sequence](p *RowHashParse, src []byte, candidates []uint32, costs *[256]uint8, seqs []S, costsValid int) (n int) {
	return parseCandidatesKernel(p, src, candidates, costs, raw(seqs), costsValid)
}

// HasCandidates reports whether this tier has a kernel for given candidates.
func HasCandidates() bool { return hasCandidates() }

// BadCandidate reports whether an impossible candidate was looked at so far.
func (p *RowHashParse) BadCandidate() bool { return p.bad != 0 }

// HasRowHash reports whether this tier has a kernel for rows of that many entries.
func HasRowHash(depth int) bool { return hasRowHash(depth) }
