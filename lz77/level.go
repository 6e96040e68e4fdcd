package lz77

// Finder is a way to look for matches.
type Finder uint8

const (
	// Single looks at one earlier position, the last one whose next HashBytes bytes hash alike, and goes faster where it finds nothing.
	SingleHash Finder = iota
	// Double has a second table for the next 8 bytes, which finds the longer matches.
	DoubleHash
	// Recent looks at the Depth most recent earlier positions in the block whose next HashBytes bytes hash alike, all positions
	// taken into account, from the nearest to the farthest. One with a match of HashBytes bytes or more is taken; another that is
	// longer replaces it if each 4 bits that its offset is longer come with more than a byte of match. For the choice a match counts
	// up to Nice bytes, and one that has so many ends the search. A distance below MinOffset stands for its least multiple that is not.
	// That is a definition of candidates, not of a data structure: here it is rings of positions, and a device may find the same ones
	// by sorting.
	RowHash
	// Tree looks at Depth earlier positions at most whose next 4 bytes hash alike, in the order of binary search trees, for the nearest match of each
	// length, and chooses among all of them by price; see Model. Where matches of 3 bytes may be, it looks at the last two positions whose next 3 bytes hash alike as well. A match of Nice bytes or more is
	// taken at once, with Rules.Blocks as several.
	BinaryTree
	// Ladder looks, in the same way, at the nearest earlier position that has the same hash of the next 4 bytes, and of the next 7, 11 and 32.
	MultiHash
	// Intervals knows the nearest match of each class of lengths, however many there are, but for positions within matches, which it need not see: it sorts all suffixes of the block first. That takes about as long whatever the window is,
	// so that Tree is faster where few positions are in reach.
	LCPIntervals
)

// Priced reports whether it chooses among all of its matches by price.
func (f Finder) Optimal() bool { return f >= BinaryTree }

// Params says how to find matches and how to choose among them.
type Params struct {
	Finder         Finder
	HashLog        uint8 // log2 of the entries in the hash table, or in the largest of them, for blocks that fill it; 11 or more with Ladder
	LongHashLog    uint8 // the same for the table of 8 bytes; Double only
	HashBytes      uint8 // bytes that the hash covers, 4 … 8. With Recent and what is Priced new matches have as many, or what the coder's have if that is more; 0 is for those, Priced
	SkipLog        uint8 // positions passed over grow by one for each 1<<SkipLog literals; Single and Double
	Depth          int   // candidates looked at for each position, with Recent 8, 16, 32 or 64; Recent and Tree
	Nice           int   // a match of this length, in bytes, ends the search; more than HashBytes, less than PricedLengths; Recent and all that are Priced, and Double if Lazy
	Passes         int   // parses of each piece that is unlike those before it, the last of which counts and the others take half of it, and one more of the first; with Rules.Blocks of each block, all of it; Priced
	MaxMisses      int   // lengths of a match that are tried in vain before shorter ones are not, but with Rules.Blocks; Priced
	SkipInMatch    int   // within a match of so many bytes, 32 or more, others are not looked for, but near its end; 0 is never; Priced
	KeepSecondPath bool  // a second way to each position is gone on from, but with Rules.Blocks; Priced
	Lazy           int   // how many positions further on a better match is looked for, 0 … 2; Recent. Double has two parsers: 0 is the greedy one
}

// MaxLevel is the highest level.
const MaxLevel = 9

// Levels holds the settings of levels 1 to MaxLevel, from the fastest to the densest; entry 0 is not used.
//
// Sizes and speeds are of lzseqr on dickens+mr+nci+xml, 59 MB, one thread of an AMD EPYC (Zen 5), with the first-level cache of 48 KiB and the second of 1 MiB that
// the tables of levels 1 to 4 are made for:
//
//   - 1: a hash of 7 bytes and steps that grow soon: few matches, but long ones. Hash of 8: 2.4% larger, 8% faster. SkipLog 4: 0.9% smaller, 2% slower; 5: 4%
//     smaller on programs. HashLog 14: 1.7% larger, 2% faster.
//   - 2: a table of twice the size, and steps that grow late: 3.4% smaller, at 0.9 of the speed. Hash of 6: 0.25% smaller in all, 2–3% on programs, 2–3% larger on XML,
//     JSON and tables; at 0.92 of the speed. HashLog 17: 1.3% smaller at 0.93, 15: 1.9% larger at 1.04. SkipLog 6: no faster.
//   - 3: LongLog 16 with SkipLog 8: 0.65% larger and some 5% faster. Measured with the parse before it had a kernel, as is level 4.
//   - 4: LongLog 19 with Nice 64 is 0.7% smaller at 0.85 of the speed, Nice 64 alone 0.14% smaller at 0.96.
//   - 5: as small as zstd -9 here, and faster than zstd -7. 16 candidates are 1.7% smaller at 0.8 of the speed, blocks of 2 MiB 1.0% larger and as fast. One position less to wait
//     for: 1.5% larger. A greedy parse of 16 candidates is 9% larger on tables and 5% on XML, which is more than level 4 gives.
//   - 6: as small as zstd -12 here, at half the speed of level 5. Nice 128: 0.1% larger; HashLog 17: 0.1% larger and 3% faster; blocks of 8 MiB 0.9% smaller and no slower; 64 candidates:
//     0.9% smaller; hash of 4 bytes 2% larger.
//   - 7: parsing by price with what costs little to find, and with contexts of literals. Matches of 3 bytes as well: programs and source 0.5–0.8% smaller, XML 0.2% and an image 0.7% larger. One pass: 0.3% larger, XML 0.7%. With more tables in
//     the ladder HashLog 17 was 2.4% larger at 1.2 times the speed, Misses 2 0.2% smaller at 0.9, and without contexts a second way to each position made tables 1.8% smaller, others 0.5% at most, at 0.9 of
//     the speed, and not to skip 0.15% at 0.92.
//   - 8: depth of 16 in a binary tree in place of Intervals: 1.1% larger at 0.94 of the speed that Intervals had before measure went in the order of the text. One pass: XML 0.7% larger, the others 0.1% at most, at 1.0 to 1.1 times the speed. Misses 2: 0.2% smaller (with
//     zstd's codes 1.1% on many kinds together), but then nothing but Skip tells it from level 9 on files of one block.
//   - 9: a binary tree with a depth of 64: 0.1% larger at 0.72 of the speed, likewise. Without Skip tables are 0.1% smaller and XML too. Skip 64: 0.03% larger (XML 0.1%), in
//     blocks of 64 MiB 0.3% (an image 0.5%), at 1.06–1.10 times the speed, or no faster where memory is slow. Nice 192: tables and XML 0.6–0.7% larger, 128: 3.0% and 1.2%. Misses 1: tables and XML 0.3–0.4% larger. Every piece sampled: the same within 0.15% at 0.8 of the speed.
//
// Misses 4 was measured when levels 8 and 9 had a binary tree, and not since: tables 0.2–0.4% smaller, XML and text the same, 3% slower.
var Levels = [MaxLevel + 1]Params{
	1: {Finder: SingleHash, HashLog: 15, HashBytes: 7, SkipLog: 3},
	2: {Finder: SingleHash, HashLog: 16, HashBytes: 7, SkipLog: 7},
	3: {Finder: DoubleHash, HashLog: 15, LongHashLog: 17, HashBytes: 5, SkipLog: 7},
	4: {Finder: DoubleHash, HashLog: 17, LongHashLog: 18, HashBytes: 5, SkipLog: 7, Nice: 24, Lazy: 1},
	5: {Finder: RowHash, HashLog: 17, HashBytes: 5, Depth: 8, Nice: 96, Lazy: 2},
	6: {Finder: RowHash, HashLog: 18, HashBytes: 5, Depth: 32, Nice: 256, Lazy: 2},
	7: {Finder: MultiHash, HashLog: 19, HashBytes: 4, Nice: 256, Passes: 2, MaxMisses: 1, SkipInMatch: 32},
	8: {Finder: LCPIntervals, Nice: 256, Passes: 2, MaxMisses: 1, SkipInMatch: 48, KeepSecondPath: true},
	9: {Finder: LCPIntervals, Nice: 256, Passes: 2, MaxMisses: 2, SkipInMatch: 96, KeepSecondPath: true},
}

// Memory returns the bytes of scratch that a Matcher needs for blocks of up to size bytes, with what is in front of them.
func (p *Params) Memory(size int, limits *Limits) int {
	if p.Finder.Optimal() {
		return optimalMemory(p, size, limits)
	}
	n := 4 << tableLog(p.HashLog, size)
	switch p.Finder {
	case DoubleHash:
		n += 4 << tableLog(p.LongHashLog, size)
	case RowHash:
		n = (5*p.Depth + 1) << tableLog(p.HashLog, size)
	}
	return n
}

// least is the length of the shortest match with a new offset, in bytes, that Recent and what is Priced look for.
func (p *Params) minNewMatch(limits *Limits) int { return max(limits.MinMatch, int(p.HashBytes)) }

// tableLog is the size of a hash table for a block: more than one entry for each position would only be cleared for nothing.
func tableLog(log uint8, size int) uint8 {
	for log > minTableLog && 1<<(log-1) >= size {
		log--
	}
	return log
}

const minTableLog = 8
