package kernels

// ParseRowHash finds matches with a row hash, and parses lazily. A hash selects a row, which holds
// the latest Depth positions with that hash, the latest first.
//
// Row entries: position + Base + 1 in the low RowHashBits bits, and 7 more bits of the hash, the
// tag, above them. Base lets a new block reuse the rows of an old one without clearing them.
// Subtracting an entry from that of the current position gives the offset if the tags are equal,
// and a number of more than RowHashBits bits if not. So one subtraction and one comparison with the
// greatest allowed offset test eight entries. Insertion shifts a row by one entry with VPERMD and
// VPBLENDD. Hashes of eight positions at a time are computed 32 positions ahead of the search, and
// their rows prefetched.
//
// ParseCandidates is the same parse with one candidate for each position in place of rows: those
// that a GPU has found.
//
// The price of a match grows with the bits of its offset; the parser looks up to Lazy positions
// ahead for one that saves more. It weighs a match of fewer than 8 bytes with a new offset against
// the prices of its bytes as literals.
//
// The portable twin, parseLazy of package lz77, is the definition. It keeps rows in another way.
// The kernels find the same matches.

// RowHashParse is the state and the parameters of ParseRowHash and ParseCandidates. Positions and
// lengths are in bytes.
//
// The parser ignores entries of another block if its Base and length sum to at most the current
// Base. No entry may stand for a position that is yet to be inserted, or matches may be missed.
type RowHashParse struct {
	At     int // next position to search
	Anchor int // end of the last match, at most At
	// NextInsert is the first position that is not in its row yet, at most At. If a match is
	// pending, it is the position behind the last one searched, at least At.
	NextInsert int
	End        int // matches begin before it; at most len(src)-16

	// PendingLen is not 0 if the parser has stopped at a match at At, of fewer than 8 bytes, that
	// it has to weigh.
	PendingLen, PendingOffset int
	Repeats                   [3]int // repeat offsets, the latest first, at least 1

	Lazy           int // how many positions ahead to look for a better match, 0 to 2
	Nice           int // length of a match that ends the search, at least 5
	MinRowMatch    int // least length of a match from a row, at least 4
	MinRepeatMatch int // least length of a match with a repeat offset
	MaxOffset      int // at least 32
	UseRepeats     int // if not 0, search the repeat offsets
	Depth          int // entries of a row: 8, 16 or 32

	Shift    uint64 // 32 − log2 of the number of rows
	HashMask uint64 // selects the bits to hash of the second 4 bytes
	Base     uint64 // added to positions in entries

	callEnd int // position where a call of the assembly stops
	bad     int // not 0 if a candidate was impossible
}

// RowHashBits is the number of bits for Base + position + 1 in an entry. Base plus the length of
// the block must be below 1<<RowHashBits.
const RowHashBits = 25

// rawRowHash is the form in which the assembly knows a RowHashParse.
type rawRowHash = struct {
	At, Anchor, NextInsert, End, PendingLen, PendingOffset int

	Repeats [3]int

	Lazy, Nice, MinRowMatch, MinRepeatMatch, MaxOffset, UseRepeats, Depth int

	Shift, HashMask, Base uint64
	callEnd, bad          int
}

// ParseRowHash continues a parse of src. It stops when At reaches End or seqs is full. costs are
// the prices of literals, in eighths of a bit, and are valid for weighing the first costsValid
// sequences. Behind these it stops at a match to weigh and describes it by PendingLen and
// PendingOffset; the caller calls again with new costs. It may stop anywhere else, to bound the
// time of a call. It returns the number of sequences written.
//
// HasRowHash must have reported a kernel; a later change of the tier does not matter. ParseRowHash
// panics if p is out of range. For any contents of rows it touches nothing outside the slices.
//
// Portable twin: lz77/lazy.go, which keeps rows in another layout.
func ParseRowHash[S Sequence](
	p *RowHashParse, src []byte, rows []uint32, costs *[256]uint8, seqs []S, costsValid int,
) (n int) {
	return parseRowHashKernel(p, src, rows, costs, raw(seqs), costsValid)
}

// ParseCandidates continues a parse as ParseRowHash does, with the candidate of each position
// before End in place of rows, in the format of finder.CandidateOffsetBits. It does not use Depth,
// Shift, HashMask and Base. MinRowMatch must be in range. It skips an impossible candidate, and
// BadCandidate then returns true. For any candidates it touches nothing outside the slices.
// HasCandidates must have reported a kernel.
//
// Portable twin: lz77/lazy.go.
func ParseCandidates[S Sequence](
	p *RowHashParse, src []byte, candidates []uint32, costs *[256]uint8, seqs []S, costsValid int,
) (n int) {
	return parseCandidatesKernel(p, src, candidates, costs, raw(seqs), costsValid)
}

// BadCandidate reports whether ParseCandidates has seen an impossible candidate: one with an offset
// below 16, above MaxOffset or before the beginning of src, or that ends behind src.
func (p *RowHashParse) BadCandidate() bool { return p.bad != 0 }

// HasRowHash reports whether the tier has a kernel for rows of that many entries.
func HasRowHash(depth int) bool { return hasRowHash(depth) }

// HasCandidates reports whether the tier has a kernel for ParseCandidates.
func HasCandidates() bool { return hasCandidates() }
