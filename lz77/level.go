package lz77

import "github.com/gopz/compress/internal/finder"

// Finder names a match finder. The finder decides which parser runs: greedy for SingleHash and
// DoubleHash, lazy for RowHash, HashChain and DoubleHash with Lazy.
type Finder uint8

const (
	// SingleHash looks at one candidate: the last position with the same hash of HashBytes bytes.
	SingleHash Finder = iota
	// DoubleHash has a second table, by a hash of 8 bytes, which finds the longer matches.
	DoubleHash
	// RowHash looks at the Depth most recent positions with the same hash of HashBytes bytes,
	// from the nearest to the farthest. All positions of the block count.
	//
	//   - A candidate with a match of at least HashBytes bytes is taken.
	//   - A later candidate replaces it if the match is longer, and by more than a byte for each
	//     4 bits that the offset is longer. Lengths count up to Nice.
	//   - A candidate with Nice bytes ends the search.
	//   - A distance below MinOffset stands for its least multiple that is not below.
	//
	// This defines candidates, not a data structure: the CPU keeps rows of recent positions, and a
	// device may sort positions instead. The parser works on segments of 64 KiB.
	RowHash
	// HashChain looks at the Depth most recent positions with the same hash of 4 bytes, and at the
	// last one with the same hash of 3 bytes, within a window of 32 KiB. It takes the longest match
	// of up to 258 bytes, and the nearest of that length. A following position is searched at half
	// or a quarter of Depth. It gives all offsets from 1 on: Limits.MinOffset must be 1, and
	// Limits.Repeats 0.
	HashChain
)

// Params configures a match finder and its parser. The comments list the finders that read a field.
type Params struct {
	Finder Finder
	// HashLog is log2 of the entries of the largest hash table, for blocks that fill it.
	HashLog uint8
	// LongHashLog is log2 of the entries of the table by 8 bytes. DoubleHash.
	LongHashLog uint8
	// HashBytes is the number of bytes that the hash covers, 4 … 8. With RowHash new matches have
	// at least max(HashBytes, Limits.MinMatch) bytes. HashChain does not read it.
	HashBytes uint8
	// SkipLog sets the step of the search: it grows by one for each 1<<SkipLog literals.
	// SingleHash, DoubleHash.
	SkipLog uint8
	// Depth is the number of candidates per position: 8, 16, 32 or 64 for RowHash, 4 or more for
	// HashChain.
	Depth int
	// Nice is the length of a match in bytes that ends a search, above HashBytes; 5 to 258 for
	// HashChain. RowHash, HashChain, DoubleHash with Lazy.
	Nice int
	// Lazy is the number of following positions, 0 … 2, that are searched for a better match.
	// RowHash, HashChain. For DoubleHash 0 selects the greedy parser and 1 the lazy one.
	Lazy int
}

// MaxLevel is the highest level.
const MaxLevel = 7

// Levels holds the settings of levels 1 to MaxLevel, from the fastest to the densest; entry 0 is
// not used. docs/notes/match-finding.md lists the alternatives that were measured.
//
//   - 1: a hash of 7 bytes finds few but long matches. The table of 128 KiB stays in the
//     second-level cache. SkipLog 3 is 1.8% larger and no faster.
//   - 2 and 3: two tables. Those of level 2 have 64 and 256 KiB. With a hash of 6 bytes level 2 is
//     1.9% larger on the mixed file at 1.05 times the speed.
//   - 4: lazy matching. LongHashLog 18 and Nice 24 are 0.6% larger at 1.06 times the speed. Nice 32
//     is up to 0.4% larger at the same speed.
//   - 5: rows of 16 candidates. Rows of 8 with HashLog 17, twice the memory, are 0.6% larger at 1.0
//     to 1.08 times the speed.
//   - 6: rows of 16 candidates, for literals that are coded by context. A hash of 5 bytes is 1%
//     larger at 0.94 of the speed.
//   - 7: rows of 32 candidates. At 6 and 7 HashLog 17 is 0.1% smaller, at 0.93 of the speed.
var Levels = [MaxLevel + 1]Params{
	1: {Finder: SingleHash, HashLog: 15, HashBytes: 7, SkipLog: 5},
	2: {Finder: DoubleHash, HashLog: 14, LongHashLog: 16, HashBytes: 5, SkipLog: 5},
	3: {Finder: DoubleHash, HashLog: 16, LongHashLog: 18, HashBytes: 6, SkipLog: 7},
	4: {Finder: DoubleHash, HashLog: 17, LongHashLog: 19, HashBytes: 5, SkipLog: 7, Nice: 64, Lazy: 1},
	5: {Finder: RowHash, HashLog: 15, HashBytes: 5, Depth: 16, Nice: 128, Lazy: 2},
	6: {Finder: RowHash, HashLog: 16, HashBytes: 6, Depth: 16, Nice: 128, Lazy: 2},
	7: {Finder: RowHash, HashLog: 16, HashBytes: 6, Depth: 32, Nice: 256, Lazy: 2},
}

// Memory returns the scratch memory in bytes that a Matcher needs for blocks of up to size bytes,
// including the bytes in front of them.
func (p *Params) Memory(size int) int {
	n := 4 << finder.TableLog(p.HashLog, size)
	switch p.Finder {
	case DoubleHash:
		n += 4 << finder.TableLog(p.LongHashLog, size)
	case RowHash:
		n = (5*p.Depth + 1) << finder.TableLog(p.HashLog, size)
	case HashChain:
		n = chainMemory(finder.TableLog(p.HashLog, size))
	}
	return n
}

// minNewMatch returns the length in bytes of the shortest match with a new offset that RowHash
// makes.
func (p *Params) minNewMatch(limits *Limits) int { return max(limits.MinMatch, int(p.HashBytes)) }
