// Package optimal is the optimal parser. Of all divisions of a block into literals and matches it
// takes the cheapest that it can find, by the prices of the coded form.
//
// It goes chunk by chunk, so that only the memory of the match finder grows with the block. A chunk
// has up to 64 KiB and takes three steps:
//
//  1. A match finder finds the candidates of all positions: findmatches.go, with binarytree.go,
//     multihash.go or lcpintervals.go.
//  2. The parser makes prices from the counts of the chunks before, and of a sample of this chunk
//     if the content changed: sample.go.
//  3. Dynamic programming finds the cheapest path through the chunk: parse.go.
//
// A helper may find the candidates of the next chunk meanwhile (lookahead.go). Forms that are
// written in blocks, such as Deflate, are parsed by windows instead (blocks.go).
//
// An [Incremental] parses short blocks that follow one another, at fixed prices.
package optimal

import (
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/lz77"
)

// Parser parses blocks. The zero value is ready to use. A Parser keeps its memory from call to call
// and is not safe for concurrent use.
type Parser struct {
	config     config
	model      PriceModel
	rules      Rules
	checkpoint func() // during Parse
	bounds

	tree  binaryTree
	multi multiHash
	lcp   lcpIntervals

	lookahead
	progress
	graph
	blocks blockParser

	context        *contextState // nil where literals have no contexts
	contextScratch *contextState // memory for context; nil until a block needs it

	prices Prices
	statistics
	steps []Step // of the chunk
}

// bounds holds numbers that stay the same within a chunk.
type bounds struct {
	minNew, minRepeat int  // lengths of the shortest matches, with a new and a repeat offset
	chunkSize         int  // most content of a chunk in bytes
	maxPositions      int  // most positions of a chunk, including the one behind it
	candLimit         int  // most candidates of a chunk; depends on the block, not on memory at hand
	decayShift        uint // of past counts, per chunk
	maxMatch          int  // length of the longest candidate, with Rules.NewSplitter
}

// statistics holds the frequencies of symbols that prices are made from.
type statistics struct {
	counts Counts // of the chunk, by its last parse
	past   Counts // of the chunks before it; farther ones weigh less
	sum    Counts

	greedyCounts Counts // of the chunk, by a greedy parse
	greedyPast   Counts // as past
}

// minSequenceBytes bounds the number of sequences, and with it memory. If the sequences so far
// cover fewer bytes on average, the next chunk has no matches that are shorter; see
// config.BoundSequences.
const minSequenceBytes = 4

// MaxChunk is the most content in bytes that is parsed with the same prices.
const MaxChunk = 1 << 16

// halfLife is the amount of content in bytes that halves the weight of earlier counts,
// approximately.
const halfLife = 1 << 15

// chunk is the content src[from:to] and a match behind it that is taken in any case.
type chunk struct {
	from, to int
	last     link // length 0 if there is none
}

// checkpointStep is the number of positions between checkpoints of a search or a parse. Adverse
// content takes up to 4 µs a position in a search.
const checkpointStep = 1 << 10

// Parse appends the sequences of src[start:] to dst. Matches may reach back into src[:start]. A
// block of fewer than 16 bytes has none. helper may be nil. Parse panics if f is out of range.
//
// Parse calls checkpoint, unless it is nil, after at most checkpointStep positions of every search
// and parse, and in every pass of sorting. checkpoint may panic: the Parser then waits for its
// helper and can be used again.
func (o *Parser) Parse(
	dst []lz77.Sequence, src []byte, start int, p *Params, f *Form, helper Helper, checkpoint func(),
) []lz77.Sequence {
	f.Check()
	if f.Contexts != nil {
		f.Contexts.check()
	}
	if len(src) < start+finder.Tail {
		return dst
	}
	return o.parseBlock(dst, src[:len(src):len(src)], start, newConfig(p, f), helper, checkpoint)
}

// parseBlock is Parse for a block of finder.Tail bytes or more. src has a capacity of its length.
func (o *Parser) parseBlock(
	dst []lz77.Sequence, src []byte, start int, c config, helper Helper, checkpoint func(),
) []lz77.Sequence {
	o.helper, o.checkpoint = helper, checkpoint
	if checkpoint == nil {
		o.checkpoint = func() {}
	}
	defer o.release()
	o.reset(src, start, c)
	if o.rules.NewSplitter != nil {
		return o.parseBlocks(dst, src, start)
	}
	return o.parseChunks(dst, src, start)
}

// reset begins a block and inserts the positions in front of start into the match finder.
func (o *Parser) reset(src []byte, start int, c config) {
	o.config, o.model = c, c.Model
	o.rules = o.model.Rules()
	o.maxMatch = min(max(c.Nice, o.rules.MaxMatch), PricedLengths-1)
	o.chunkSize = MaxChunk
	switch {
	case o.rules.NewSplitter != nil:
		o.chunkSize = maxWindow
	case o.rules.ChunkSize != 0:
		o.chunkSize = min(o.chunkSize, o.rules.ChunkSize)
	}
	o.decayShift = uint(max(1, o.chunkSize/halfLife))
	n := chunkPositions(len(src)-start, &o.rules)
	o.maxPositions, o.candLimit = n, candidateLimit(n)
	o.grow(n)
	o.progress.beginBlock(len(src) - start)
	switch o.config.Finder {
	case MultiHash:
		o.multi.reset(&o.config, src, start, o.checkpoint)
	case LCPIntervals:
		o.lcp.reset(&o.config, src, start, o.preparingCheckpoint())
	default:
		o.tree.reset(&o.config, len(src))
		o.insertPieces(src, 0, start, o.checkpoint)
	}
	o.past, o.skipped = Counts{}, 0
	o.context = nil
	if o.config.Contexts != nil {
		if o.contextScratch == nil {
			o.contextScratch = new(contextState)
		}
		o.context = o.contextScratch
		o.context.reset(o.config.Contexts, n)
	}
	o.setMinMatch(false)
}

// grow makes room for chunks of n positions.
func (o *Parser) grow(n int) {
	if o.rules.NewSplitter != nil {
		if len(o.blocks.links) < n {
			o.blocks.grow(n)
		}
	} else if cap(o.literals) < n {
		o.literals = make([][runPositions]int32, n)
		o.best.grow(n)
	}
	if o.config.KeepSecondPath && cap(o.secondBest.states) < n {
		o.secondBest.grow(n)
	}
	o.chunks[0].grow(n, o.candLimit)
	if limit := o.config.stepLimit(n); cap(o.steps) < limit {
		o.steps = make([]Step, 0, limit)
	}
}

// setMinMatch sets the lengths of the shortest matches in the next chunk. many says that the block
// has many sequences so far.
func (o *Parser) setMinMatch(many bool) {
	o.minNew, o.minRepeat = o.config.MinNew, o.config.MinRepeat
	if many && o.config.BoundSequences {
		o.minNew, o.minRepeat = max(o.minNew, minSequenceBytes), max(o.minRepeat, minSequenceBytes)
	}
}

// parseChunks parses the block chunk by chunk.
func (o *Parser) parseChunks(dst []lz77.Sequence, src []byte, start int) []lz77.Sequence {
	at := state{repeats: o.rules.InitialRepeats}
	first := len(dst)
	s, more := o.firstChunk(src, start), true
	for ; more; s, more = o.nextChunk(src, s) {
		o.reach(s.from - start)
		o.startHelper(src, s)
		o.setMinMatch((len(dst)-first)*minSequenceBytes > s.from-start)
		o.counts = Counts{}
		if c := o.context; c != nil {
			c.classify(src, s)
			c.clearCounts()
		}
		passes := o.config.Passes
		if s.from == start {
			o.seedCounts(src, s)
			passes++
		} else if passes > 1 && o.resemblesPast(src, s) {
			passes = 1
		}
		at = o.parseChunk(src, s, at, passes)
		o.past.decay(o.decayShift)
		o.past.addCounts(&o.counts)
		if c := o.context; c != nil {
			c.addPast(o.decayShift)
		}
		dst = appendSteps(dst, first, o.steps)
	}
	return dst
}

// parseChunk parses a chunk from state at, after passes−1 samples, and returns the state behind it.
func (o *Parser) parseChunk(src []byte, s chunk, at state, passes int) (next state) {
	for pass := range passes {
		o.checkpoint()
		o.setPrices()
		o.counts = Counts{}
		if pass < passes-1 {
			// A sample is half of the chunk, so it counts twice.
			o.sample(src, s, at)
			o.sum.copyFrom(&o.counts)
			o.counts.addCounts(&o.sum)
			if c := o.context; c != nil {
				c.counts.setSum(&c.counts, &c.counts, c.Classes+1)
			}
			continue
		}
		o.priceLiterals(src[s.from:s.to], 0)
		next = o.parse(src, s, at)
		o.model.Count(&o.counts, o.steps)
	}
	return next
}

// setPrices sets the prices from the counts of the chunk and of those before it. It clears the
// counts of literals by context.
func (o *Parser) setPrices() {
	o.sum.copyFrom(&o.past)
	o.sum.addCounts(&o.counts)
	o.model.Price(&o.prices, &o.sum)
	if c := o.context; c != nil {
		c.sum.setSum(&c.past, &c.counts, c.Classes+1)
		c.clearCounts()
		c.price(&o.sum.Literals)
	}
}

// priceLiterals sets the prices of the literals of content, which begins at position at of the
// chunk.
func (o *Parser) priceLiterals(content []byte, at int) {
	literals := o.literals[at:][:len(content)]
	c := o.context
	if c == nil {
		for i, b := range content {
			price := o.prices.Literal[b]
			literals[i] = [runPositions]int32{price, price, price}
		}
		return
	}
	classes, first := c.classes[at:][:len(content)], &c.prices[c.Classes]
	for i, b := range content {
		k := &classes[i]
		literals[i] = [runPositions]int32{
			firstOfRun:  first[b],
			secondOfRun: c.prices[k[secondOfRun]][b],
			otherOfRun:  c.prices[k[otherOfRun]][b],
		}
	}
}

// appendSteps appends the sequences of steps to dst; those of the same block begin at first. A
// match that continues the one before it, as happens between chunks, is merged with it.
func appendSteps(dst []lz77.Sequence, first int, steps []Step) []lz77.Sequence {
	for i := range steps {
		q := steps[i].Sequence
		if k := len(dst) - 1; q.LitLen == 0 && k >= first && dst[k].Offset == q.Offset {
			dst[k].MatchLen += q.MatchLen
			continue
		}
		dst = append(dst, q)
	}
	return dst
}
