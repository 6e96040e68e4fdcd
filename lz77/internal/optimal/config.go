package optimal

// Finder names a match finder.
type Finder uint8

const (
	BinaryTree Finder = iota
	MultiHash
	LCPIntervals
)

// Config says which sequences a Parser may use and how much it searches. Sizes are in bytes.
// Fields without a comment are those of lz77.Params and lz77.Limits.
type Config struct {
	Finder         Finder
	HashLog        uint8
	Depth          int
	Nice           int
	Passes         int
	MaxMisses      int // 1 or more
	SkipInMatch    int
	KeepSecondPath bool

	MinNew    int // length of the shortest match with a new offset, 3 …
	MinRepeat int // length of the shortest match at a repeat offset, 2 … MinNew
	// BoundSequences drops matches below minSequenceBytes from a chunk if the sequences so far are
	// shorter on average.
	BoundSequences bool
	MinOffset      int // least offset, 1 … base.MinOffset
	MaxOffset      int
	Repeats        int
	Model          PriceModel // nil stands for a general model
	Contexts       *Contexts
}

// model returns the price model.
func (c *Config) model() PriceModel {
	if c.Model == nil {
		return genericModel{}
	}
	return c.Model
}

// maxOffset3 returns the greatest offset of a match of 3 bytes.
func (c *Config) maxOffset3() int {
	reach := c.model().Rules().MaxOffset3
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
func (c *Config) Memory(size int) int {
	const parser = 200 << 10 // the Parser, mostly Prices, rounded up as the runtime does
	rules := c.model().Rules()
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
	var finder int
	switch c.Finder {
	case MultiHash:
		finder = multiHashMemory(c, size)
	case LCPIntervals:
		finder = lcpMemory(size)
	default:
		finder = treeMemory(c, size)
	}
	return parser + contexts + finder + n*graph + 16*c.stepLimit(n) + 2*chunkCandidatesBytes(n)
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
func (c *Config) stepLimit(size int) int { return size/c.MinRepeat + 2 }

// candidateLimit returns how many candidates a chunk of size bytes may have: the chunk ends before
// there are more. Text has about 3 for each position.
func candidateLimit(size int) int { return 4*size + 2*PricedLengths }
