package kernels

import "math"

// ParseHashChain finds matches with hash chains, and parses lazily, for formats without repeat
// offsets and with a window of HashChainWindow bytes.
//
// heads4 has the last position for each hash of 4 bytes. links has, for each position of the
// window, the position before with the same hash. heads3 has the last position for each hash of 3
// bytes; it is in use while MinMatch is 3. An entry is a position less Base in 16 bits, and the
// least value stands for none. The caller slides the tables when At reaches Base + HashChainWindow.
//
// The kernel computes the hash of a position while it searches the one before, and prefetches the
// head. A candidate must first equal the 4 bytes at the end of the length to exceed.
//
// The portable twin, chains.parse of package lz77, is the definition. The kernel finds the same
// matches and leaves the same tables.

// HashChainParse is the state and the parameters of ParseHashChain. Positions and lengths are in
// bytes.
type HashChainParse struct {
	At         int // next position to search, at least 1
	Anchor     int // end of the last match, at most At
	NextInsert int // first position that is not in the tables yet, 1 to At
	End        int // matches begin before it; at most len(src)-16

	Depth     int    // most candidates of a position, at least 4
	Lazy      int    // how many positions ahead to look for a better match, 0 to 2
	Nice      int    // length of a match that ends the search, 5 to MaxHashChainMatch
	MinMatch  int    // least length of a match, 3 to 16
	SureMatch int    // least length of a match that is not weighed
	MaxOffset int    // 1 to HashChainWindow
	Base      int    // position that an entry 0 of the tables stands for; at most NextInsert
	Shift     uint64 // 32 − log2 of the number of heads, at most 29
}

const (
	// HashChainWindow is the number of links, and the greatest offset in bytes.
	HashChainWindow = 1 << 15
	// HashChainLess3 is the number of bits by which the hash of 3 bytes is shorter than that of 4.
	HashChainLess3 = 2
	// MaxHashChainMatch is the length in bytes of the longest match that a search returns.
	MaxHashChainMatch = 258
	// HashChainSlack is the number of bytes at the end of src that the kernel does not search. A
	// lazy search moves on only to a match that saves more bits, and a match of MaxHashChainMatch
	// bytes saves most. So it ends at most 350 bytes behind its first match.
	HashChainSlack = 1 << 10
)

// rawHashChain is the form in which the assembly knows a HashChainParse.
type rawHashChain = struct {
	At, Anchor, NextInsert, End                             int
	Depth, Lazy, Nice, MinMatch, SureMatch, MaxOffset, Base int
	Shift                                                   uint64
}

// ParseHashChain continues a parse of src. It stops when At reaches End or len(src)-HashChainSlack,
// or when seqs is full. It may stop anywhere else, to bound the time of a call. costs are the
// prices of literals, in eighths of a bit. It returns the number of sequences written.
//
// HasHashChain must have reported a kernel; a later change of the tier does not matter.
// ParseHashChain panics if p is out of range. For any contents of the tables it touches nothing
// outside the slices.
//
// Portable twin: lz77/hashchain.go.
func ParseHashChain[S Sequence](
	p *HashChainParse, src []byte, heads3, heads4, links []int16, costs *[256]uint8, seqs []S,
) (n int) {
	return parseHashChainKernel(p, src, heads3, heads4, links, costs, raw(seqs))
}

// HasHashChain reports whether the tier has a kernel for ParseHashChain.
func HasHashChain() bool { return hasHashChain() }

// SlideHashChain lowers entries of a table by HashChainWindow. Those below 0 become the least
// value, which stands for none.
func SlideHashChain(entries []int16) {
	entries = entries[slideKernel(entries):]
	for i, e := range entries {
		entries[i] = max(e, 0) | math.MinInt16
	}
}
