package optimal

import (
	"math/bits"

	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/lz77"
)

// This file is the optimal parser for forms that are written in blocks with codes of their own,
// such as Deflate. Literals and matches cost the same wherever they stand there, since no offset is
// repeated and runs are not coded.
//
// The parser takes a window of content at a time:
//
//  1. It parses the window part by part, with prices that follow the content.
//  2. A BlockSplitter cuts the window into blocks, by the steps of that parse.
//  3. It parses each block Passes times, with prices from the block's own counts.
//
// With 0 passes the first parse is the result.
//
// libdeflate and zopfli go from blocks to prices and back as well.
//
// A parse goes from the end to the beginning, so that each position has its turn once. Its cost to
// the end is the least over its edges. Only positions on the cheapest path then find out which edge
// that was: of edges of equal cost a literal comes first, then the nearest offset, then the
// greatest length.

// blockParser is the state of that parser.
type blockParser struct {
	costs    []uint32 // from each position of the window to the end of the parse
	links    []uint32 // edge from each position of a path: 0 for a literal, else a match
	prices   kernels.PathPrices
	ends     []int      // ends of the blocks of the window
	model    PriceModel // model that splitter belongs to
	splitter BlockSplitter
}

// A link that is a match has the length in its low bits and the offset above them.
const (
	linkShift  = 9
	linkLength = 1<<linkShift - 1

	maxBlocksOffset = 1<<17 - 1
)

// maxWindow is the most content of a window in bytes. With 256 KiB files are 0.02% smaller.
const maxWindow = 1 << 17

// windowPositionBytes is the memory of a position in a blockParser and a BlockSplitter, in bytes.
const windowPositionBytes = 4 + 4 + 2

// BlockSplitter cuts content into blocks. It takes at most 2 bytes of memory for each byte of
// content, and a few thousand, and is not safe for concurrent use.
type BlockSplitter interface {
	// Split appends the ends of blocks to ends, in bytes of content and ascending; the last one is
	// len(content). Content behind the steps is literals. An end should not lie within a match of
	// the steps: the other positions of a match may have no candidates and become literals.
	Split(ends []int, content []byte, steps []Step) []int
}

func (b *blockParser) grow(n int) {
	b.costs, b.links = make([]uint32, n+kernels.PathSlack), make([]uint32, n)
}

// parseBlocks appends the sequences of src[start:] to dst.
func (o *Parser) parseBlocks(dst []lz77.Sequence, src []byte, start int) []lz77.Sequence {
	if o.config.MaxOffset > maxBlocksOffset || o.config.Repeats > 0 {
		panic("optimal: a model with NewSplitter needs offsets of at most 17 bits and no repeat offsets")
	}
	partSize := o.rules.ChunkSize
	switch {
	case partSize < 0:
		panic("optimal: Rules.ChunkSize is negative")
	case partSize == 0:
		partSize = maxWindow
	}
	b := &o.blocks
	if b.splitter == nil || b.model != o.model {
		b.splitter, b.model = o.rules.NewSplitter(), o.model
	}
	base := len(dst)
	run := uint32(0) // literals in front of the block
	s, more := o.firstChunk(src, start), true
	for ; more; s, more = o.nextChunk(src, s) {
		o.reach(s.from - start)
		o.startHelper(src, s)
		content := src[s.from:s.to]
		if s.from == start {
			o.chooseInitialCounts(src, s)
		}
		o.steps = o.steps[:0]
		rest := uint32(0) // a BlockSplitter takes the steps of the window alone
		if o.config.Passes == 0 {
			rest = run
		}
		for from := 0; from < len(content); {
			to := o.partEnd(s, from, partSize)
			rest = o.parsePart(content, from, to, rest)
			from = to
		}
		if o.config.Passes == 0 {
			run = rest
		} else {
			run = o.parseAgain(content, run)
		}
		dst = appendSteps(dst, base, o.steps)
	}
	return dst
}

// parseAgain replaces the steps of the window by those of Passes further parses of each block. It
// takes and returns run as parsePart does.
func (o *Parser) parseAgain(content []byte, run uint32) uint32 {
	b := &o.blocks
	b.ends = b.splitter.Split(b.ends[:0], content, o.steps)
	o.steps = o.steps[:0]
	from := 0
	for _, to := range b.ends {
		for range o.config.Passes {
			done := len(o.steps)
			o.counts = Counts{}
			o.appendPath(content, from, to, 0)
			o.model.Count(&o.counts, o.steps[done:])
			o.steps = o.steps[:done]
			o.model.Price(&o.prices, &o.counts)
			o.shortestPath(content, from, to)
		}
		run = o.appendPath(content, from, to, run)
		from = to
	}
	return run
}

// chooseInitialCounts sets the past counts in front of the first window to the better of two
// guesses. A parse settles on one way to code the content and keeps to it. So chooseInitialCounts
// parses the window with both guesses and compares the costs of the second half.
//
//   - The counts of a greedy parse, with equal counts for all lengths: samples of 16 bits are 0.4%
//     smaller.
//   - Equal counts for all symbols: programs, text and JSON are 0.1–0.2% smaller.
func (o *Parser) chooseInitialCounts(src []byte, s chunk) {
	content := src[s.from:s.to]
	partSize := min(max(len(content)/8, 1<<9), 1<<12) // small, so that prices follow soon
	least := ^uint64(0)
	for _, greedy := range [...]bool{true, false} {
		o.counts = Counts{}
		if greedy {
			o.seedCounts(src, s)
			o.counts.decay(uint(max(bits.Len(uint(len(content)))-13, 0))) // to the weight of 4 to 8 KiB
		} else {
			o.countUniform(content)
		}
		o.past.copyFrom(&o.counts)
		cost := uint64(0)
		for from := 0; from < len(content); {
			to := o.partEnd(s, from, partSize)
			o.steps = o.steps[:0]
			o.parsePart(content, from, to, 0)
			if to > len(content)/2 {
				cost += uint64(o.blocks.costs[from])
			}
			from = to
		}
		if cost < least {
			least = cost
			o.sum.copyFrom(&o.past)
		}
	}
	o.past.copyFrom(&o.sum)
}

// partEnd returns the end of a part of size bytes, at least 1, from from on. It moves an end that
// lies in a match of Nice bytes to the end of that match, since the positions in it have no
// candidates. It does not do so for the last, shorter candidate of a split match.
func (o *Parser) partEnd(s chunk, from, size int) int {
	size += s.from + from
	if size < s.to {
		size = o.skipCovered(o.firstCand, s, size)
	}
	return min(size, s.to) - s.from
}

// countUniform sets equal counts for the literals that occur, and for all other symbols.
func (o *Parser) countUniform(content []byte) {
	const literals, each = 6000, 128 // of all literals, and of each other symbol
	for _, b := range content {
		o.counts.Literals[b] = 1
	}
	used := uint32(0)
	for _, c := range &o.counts.Literals {
		used += c
	}
	for i := range o.counts.Literals {
		o.counts.Literals[i] *= literals / used
	}
	for k := range o.counts.Symbols {
		for i := range o.counts.Symbols[k] {
			o.counts.Symbols[k][i] = each
		}
	}
}

// parsePart parses a part of the window with the prices of the past counts. It appends the steps
// and adds their counts to the past. It takes the number of literals in front of the part, and
// returns the number behind its last match.
func (o *Parser) parsePart(content []byte, from, to int, run uint32) uint32 {
	done := len(o.steps)
	o.model.Price(&o.prices, &o.past)
	o.shortestPath(content, from, to)
	o.counts = Counts{}
	run = o.appendPath(content, from, to, run)
	o.model.Count(&o.counts, o.steps[done:])
	o.past.decay(1)
	o.past.addCounts(&o.counts)
	return run
}

// appendPath appends the steps of the path from one position of the window to another and counts
// its literals. It takes and returns run as parsePart does.
func (o *Parser) appendPath(content []byte, from, to int, run uint32) uint32 {
	links := o.blocks.links[:to]
	for i := from; i < to; {
		l := links[i]
		if l == 0 {
			o.counts.Literals[content[i]]++
			run++
			i++
			continue
		}
		n := l & linkLength
		q := lz77.Sequence{LitLen: run, MatchLen: n, Offset: l >> linkShift}
		o.steps = append(o.steps, Step{q, NewOffset})
		run = 0
		i += int(n)
	}
	return run
}

// shortestPath finds the cheapest path from one position of the window to another. It sets the
// links of the positions on that path.
func (o *Parser) shortestPath(content []byte, from, to int) {
	b := &o.blocks
	p := &b.prices
	for i := range p.Literal {
		p.Literal[i], p.Offset[i] = uint32(o.prices.Literal[i]), uint32(o.prices.Offset[i])
	}
	for n, price := range &o.prices.Match[0][NewOffset] {
		p.Length[n] = uint32(price)
		if n < o.minNew {
			p.Length[n] = kernels.ForbiddenPrice
		}
	}
	p.Rotate()
	b.costs[to] = 0
	for at := to; at > from; {
		next := max(from, at-checkpointStep)
		kernels.PathCosts(p, content, o.firstCand, o.cands, b.costs, next, at, to)
		at = next
		o.checkpoint()
	}
	for i := from; i < to; {
		link := o.cheapestEdge(content[i], i, to)
		b.links[i] = link
		i += max(int(link&linkLength), 1)
	}
}

// cheapestEdge returns the link for position i of a path to position to.
func (o *Parser) cheapestEdge(literal byte, i, to int) (link uint32) {
	p, costs := &o.blocks.prices, o.blocks.costs[i:to+1]
	here := costs[0]
	if costs[1]+p.Literal[literal] == here {
		return 0
	}
	for _, c := range o.cands[o.firstCand[i]:o.firstCand[i+1]] {
		rest := here - p.Offset[c.code()]
		for n := min(c.length(), len(costs)-1); n >= o.minNew; n-- {
			if costs[n]+p.Length[n] == rest {
				return uint32(n) | uint32(c.offset())<<linkShift
			}
		}
	}
	panic("optimal: no edge has the cost of the path")
}

// splitLongMatch makes candidates of at most maxMatch bytes from a match of n bytes at p, whose
// candidate c has Nice bytes. It inserts the positions in the match and returns the last one.
//
// Behind maxMatch bytes at a far offset a nearer match may follow, so that only the nearest offsets
// get more than one candidate.
func (o *Parser) splitLongMatch(
	g *chunkCandidates, src []byte, from, p, n int, c candidate, checkpoint func(),
) int {
	const nearest = 4
	most, end := o.maxMatch, len(src)-finder.Tail
	if c.offset() > nearest {
		n = min(n, most)
	}
	n = min(n, from+o.chunkSize-p, most*(o.config.Nice-1)) // no more candidates than there is room for
	g.cands[len(g.cands)-1] = c.resized(min(n, most))
	o.insertMatch(src, p, n, end, checkpoint)
	for q := 1; q < n; q++ {
		g.firstCand[p-from+q] = uint32(len(g.cands))
		if q%most == 0 && n-q >= o.minNew {
			g.cands = append(g.cands, c.resized(min(n-q, most)))
		}
	}
	return p + n - 1
}
