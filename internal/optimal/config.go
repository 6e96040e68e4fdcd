package optimal

import "github.com/gopz/compress/lz77"

// Finder names a match finder.
type Finder uint8

const (
	None Finder = iota
	// BinaryTree looks at up to Depth positions with the same hash of 4 bytes, in binary search
	// trees, for the nearest match of each length, at most 32,767 bytes back. For matches of 3
	// bytes it also looks at the last two positions with the same hash of 3 bytes. The parser takes
	// a match of Nice bytes or more at once.
	BinaryTree
	// MultiHash looks at the last position with the same hash of 4, 7, 11 and 32 bytes, and of
	// 3 bytes for matches of 3.
	MultiHash
	// LCPIntervals finds the nearest match of each class of lengths from the sorted suffixes of the
	// block. Sorting takes the same time for any window, so BinaryTree is faster for its small one.
	LCPIntervals
)

// Params configures the search of a Parser. The comments list the finders that read a field.
type Params struct {
	Finder Finder
	// HashLog is log2 of the entries of the largest hash table, for blocks that fill it.
	// BinaryTree, and MultiHash, which needs at least 11.
	HashLog uint8
	// MinMatch is the length in bytes of the shortest match with a new offset, if it is longer than
	// that of the form. It is at most 8.
	MinMatch uint8
	// Depth is the number of candidates per position. BinaryTree.
	Depth int
	// Nice is the length of a match in bytes that ends a search, above MinMatch and below
	// PricedLengths.
	Nice int
	// Passes is how often a chunk is parsed, with prices from the parse before. Passes before the
	// last take half of the chunk as a sample. The first chunk of a block has one more pass. A
	// chunk that resembles those before it has one pass only. With Rules.NewSplitter Passes is how
	// often each block is parsed after a first parse, with its own prices, 0 or more.
	Passes int
	// MaxMisses, 1 or more, stops the parser from trying shorter lengths of a match after this many
	// consecutive blocks of up to 8 lengths that improved nothing. Not with Rules.NewSplitter.
	MaxMisses int
	// SkipInMatch is the length of a match, 32 or more, within which the finder does not search
	// except near its end. 0 turns skipping off. MultiHash, LCPIntervals.
	SkipInMatch int
	// KeepSecondPath makes the parser also extend the second-cheapest path to each position. Not
	// with Rules.NewSplitter.
	KeepSecondPath bool
}

// Form is a coded form of sequences: what it can express, and what that costs.
type Form struct {
	lz77.Limits
	Model PriceModel
	// Contexts gives the contexts of literals. Nil stands for none.
	Contexts *Contexts
}

// config is the settings for a block. All sizes are in bytes.
type config struct {
	Params
	MinNew    int // length of the shortest match with a new offset, 3 …
	MinRepeat int // length of the shortest match at a repeat offset, 2 … MinNew
	// BoundSequences drops matches below minSequenceBytes from a chunk if the sequences so far are
	// shorter on average.
	BoundSequences bool
	MinOffset      int // least offset, 1 … lz77.MinOffset
	MaxOffset      int
	Repeats        int
	Model          PriceModel
	Contexts       *Contexts
}

func newConfig(p *Params, f *Form) config {
	return config{
		Params: *p,
		MinNew: max(f.MinMatch, int(p.MinMatch)), MinRepeat: f.LeastRepeat(),
		BoundSequences: f.MinRepeat > 0,
		MinOffset:      f.LeastOffset(), MaxOffset: f.MaxOffset, Repeats: f.Repeats,
		Model: f.Model, Contexts: f.Contexts,
	}
}

// maxOffset3 returns the greatest offset of a match of 3 bytes.
func (c *config) maxOffset3() int {
	reach := c.Model.Rules().MaxOffset3
	if reach == 0 {
		reach = defaultMaxOffset3
	}
	return min(c.MaxOffset, reach)
}

// defaultMaxOffset3 stands for Rules.MaxOffset3 where a model leaves it 0.
// With 1<<13, executables in zstd's codes are 0.3% larger.
const defaultMaxOffset3 = 1 << 18

// Memory returns the scratch memory in bytes that a Parser needs for blocks of up to size bytes,
// including the bytes in front of them.
func (p *Params) Memory(size int, f *Form) int {
	c := newConfig(p, f)
	return c.memory(size)
}

func (c *config) memory(size int) int {
	const parser = 200 << 10 // the Parser, mostly Prices, rounded up as the runtime does
	rules := c.Model.Rules()
	n := chunkPositions(size, &rules)
	graph := 4*runPositions + pathBytes
	if c.KeepSecondPath {
		graph += pathBytes
	}
	if rules.NewSplitter != nil {
		graph = windowPositionBytes
	}
	contexts := 0
	if c.Contexts != nil {
		contexts = contextStateBytes + n*contextPositionBytes
	}
	var tables int
	switch c.Finder {
	case MultiHash:
		tables = multiHashMemory(c, size)
	case LCPIntervals:
		tables = lcpMemory(size)
	default:
		tables = treeMemory(c, size)
	}
	return parser + contexts + tables + n*graph + 16*c.stepLimit(n) + 2*chunkCandidatesBytes(n)
}

// chunkPositions returns how many positions a chunk or window of a block of size bytes may have,
// including the one behind it.
func chunkPositions(size int, rules *Rules) int {
	if rules.NewSplitter != nil {
		return min(size, maxWindow) + 1
	}
	return min(size, MaxChunk) + 1
}

// stepLimit returns how many steps a chunk of size bytes may have, including the match behind it.
func (c *config) stepLimit(size int) int { return size/c.MinRepeat + 2 }

// candidateLimit returns how many candidates a chunk of size bytes may have: the chunk ends before
// there are more. Text has about 3 for each position.
func candidateLimit(size int) int { return 4*size + 2*PricedLengths }
