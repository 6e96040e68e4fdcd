package lz77

import "math/bits"

// blocks parses by price for a form that is written in blocks with codes of their own, and where literals and matches cost the same wherever they stand, since no offset is repeated and runs are not
// coded. It takes a window of content at once: a parse that goes piece by piece, with prices that follow the content, says where blocks should end, and each of those is parsed again with the
// prices that it has by itself. (libdeflate and zopfli go from blocks to prices and back as well.)
//
// A parse goes from the end to the beginning, so that each position has its turn once: what it costs from there to the end is the least of the ways to go on.
type blockParser struct {
	costs        []uint64 // from each position of the window to the end of what is parsed; see costShift
	links        []uint32 // the best way to go on from each position: 0 is a literal, else it is the lower half of a way
	literalCosts [256]uint64
	lengthCosts  [PricedLengths]uint64
	offsetCosts  [256]uint64 // by code
	ends         []int       // of the blocks of the window
	model        PriceModel  // what splitter is of
	splitter     BlockSplitter
}

// A way is what it costs to go on from a position to the end, and how that begins, in one word, so that the best of several is the least, without any branch:
//
//	bits  0–8   linkLength less the length of a match: of two that cost the same the longer is better; 0 is a literal
//	bits  9–25  offset; a nearer one is better
//	bits 26–    cost, in units of 1/PriceBit bit
const (
	linkShift  = 9
	linkLength = 1<<linkShift - 1
	costShift  = 26
	linkMask   = 1<<costShift - 1

	maxBlocksOffset = linkMask >> linkShift
)

// blockWindow is the most content of a window, in bytes. With 256 KiB files are 0.02% smaller.
const maxWindow = 1 << 17

// blockBytes is what a position takes in blocks and, at the most, in a Splitter.
const windowPositionBytes = 8 + 4 + 2

// A Splitter cuts content into blocks. It takes no more than 2 bytes of memory for each of content, and a few thousand, and is not safe for concurrent use.
type BlockSplitter interface {
	// Split appends to ends where blocks should end, in bytes of content, in ascending order, the last one at its end. What content is left behind the steps is literals. Ends should not
	// be within a match of the steps: its other positions may have no candidates, and what is behind the end would be literals.
	Split(ends []int, content []byte, steps []Step) []int
}

func (b *blockParser) grow(n int) { b.costs, b.links = make([]uint64, n), make([]uint32, n) }

func (o *optimal) parseBlocks(dst []Sequence, src []byte, start int) []Sequence {
	if o.limits.MaxOffset > maxBlocksOffset || o.limits.Repeats > 0 {
		panic("lz77: a form that is written in blocks, with repeat offsets or with offsets of more than 17 bits")
	}
	piece := o.rules.ChunkSize
	switch {
	case piece < 0:
		panic("lz77: a form that is written in blocks, with pieces of less than nothing")
	case piece == 0:
		piece = maxWindow
	}
	b := &o.blocks
	if b.splitter == nil || b.model != o.model {
		b.splitter, b.model = o.rules.NewSplitter(), o.model
	}
	base := len(dst)
	run := uint32(0) // literals in front of what is parsed
	s, more := o.firstChunk(src, start), true
	for ; more; s, more = o.nextChunk(src, s) {
		o.startHelper(src, s)
		content := src[s.from:s.to]
		if s.from == start {
			o.chooseInitialCounts(src, s)
		}
		o.steps = o.steps[:0]
		rest := uint32(0)
		for from := 0; from < len(content); {
			to := o.partEnd(s, from, piece)
			rest = o.parsePart(content, from, to, rest)
			from = to
		}
		b.ends = b.splitter.Split(b.ends[:0], content, o.steps)
		o.steps = o.steps[:0]
		from := 0
		for _, to := range b.ends {
			for range o.params.Passes {
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
		dst = appendSteps(dst, base, o.steps)
	}
	return dst
}

// begins sets what is past where nothing is. There are two ways to begin, and which one is better shows in the second half of the window, when it has been parsed: data settles in one way to say it or
// another, and stays there. To begin with what a greedy parse gives, where all lengths of matches are as likely, is 0.4% smaller on samples of 16 bits; to begin with symbols that are all equally
// likely 0.1–0.2% on programs, text and JSON.
func (o *optimal) chooseInitialCounts(src []byte, s chunk) {
	content := src[s.from:s.to]
	piece := min(max(len(content)/8, 1<<9), 1<<12) // prices are to follow soon
	least := ^uint64(0)
	for _, greedy := range [...]bool{true, false} {
		o.counts = Counts{}
		if greedy {
			o.seedCounts(src, s)
			o.counts.decay(uint(max(bits.Len(uint(len(content)))-13, 0))) // as much as 4 to 8 KiB
		} else {
			o.countUniform(content)
		}
		o.past.copyFrom(&o.counts)
		cost := uint64(0)
		for from := 0; from < len(content); {
			to := o.partEnd(s, from, piece)
			o.steps = o.steps[:0]
			o.parsePart(content, from, to, 0)
			if to > len(content)/2 {
				cost += o.blocks.costs[from] >> costShift
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

// partEnd is the end of a part of so many bytes, at least 1, or of the candidate of Nice bytes that it would be in: from there on the positions in it could only be literals. They still are in the
// last candidate of a chain, which has fewer bytes and looks like any other.
func (o *optimal) partEnd(s chunk, from, size int) int {
	size += s.from + from
	if size < s.to {
		size = o.skipCovered(o.firstCand, s, size)
	}
	return min(size, s.to) - s.from
}

// level counts the literals that occur as if they were equally likely, and all other symbols.
func (o *optimal) countUniform(content []byte) {
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

// follow parses a part of the window with the prices that what is past makes likely, appends its steps, and makes it past. Run is how many literals there are in front of it; it returns how many there
// are behind the last match.
func (o *optimal) parsePart(content []byte, from, to int, run uint32) uint32 {
	done := len(o.steps)
	o.model.Price(&o.prices, &o.past)
	o.shortestPath(content, from, to)
	o.counts = Counts{}
	run = o.appendPath(content, from, to, run)
	o.model.Count(&o.counts, o.steps[done:])
	o.past.decay(1)
	o.past.add(&o.counts)
	return run
}

// walk appends the steps that links say from one position of the window to another, counts the literals, and does with run as follow does.
func (o *optimal) appendPath(content []byte, from, to int, run uint32) uint32 {
	links := o.blocks.links[:to]
	for i := from; i < to; {
		l := links[i]
		if l == 0 {
			o.counts.Literals[content[i]]++
			run++
			i++
			continue
		}
		n := linkLength - l&linkLength
		o.steps = append(o.steps, Step{Sequence{run, n, l >> linkShift}, NewOffset})
		run = 0
		i += int(n)
	}
	return run
}

// cheapest finds the cheapest way from one position of the window to another.
//
// Of a candidate those lengths count that no nearer one has, four at a time from the longest down: how many there are is hard to predict, and some more do no harm.
func (o *optimal) shortestPath(content []byte, from, to int) {
	const never = 1 << 60
	b := &o.blocks
	for i, p := range &o.prices.Literal {
		b.literalCosts[i] = uint64(p) << costShift
	}
	for n, p := range &o.prices.Match[0][NewOffset] {
		if b.lengthCosts[n] = uint64(p)<<costShift | uint64(linkLength-n); n < o.minNew {
			b.lengthCosts[n] = never
		}
	}
	for code, p := range &o.prices.Offset {
		b.offsetCosts[code] = uint64(p) << costShift
	}
	content, begin := content[:to], o.firstCand[:to+1]
	cost, links := b.costs[:to+1], b.links[:to]
	cost[to] = 0
	next := begin[to]
	for i := to - 1; i >= from; i-- {
		best := cost[i+1] + b.literalCosts[content[i]]
		first := begin[i]
		if most := to - i; most >= lanes {
			least := 0 // of a candidate
			for _, c := range o.cands[first:next] {
				n := min(c.length(), most)
				way := b.offsetCosts[c.code()] + uint64(c.offset())<<linkShift
				for k := n + 1 - lanes; ; k -= lanes {
					k = max(k, 0)
					costs, lengths := (*[lanes]uint64)(cost[i+k:]), (*[lanes]uint64)(b.lengthCosts[k:])
					m := min(min(costs[0]+lengths[0], costs[1]+lengths[1]), min(costs[2]+lengths[2], costs[3]+lengths[3]))
					best = min(best, m+way)
					if k <= least {
						break
					}
				}
				least = n + 1
			}
		}
		cost[i], links[i] = best&^linkMask, uint32(best&linkMask)
		next = first
	}
}

// lanes is how many lengths are looked at at a time.
const lanes = 4

// chain makes candidates of a match of n bytes at p, of which c has Nice: a match cannot be longer, and others follow it. It enters the positions in the match and returns the last one.
//
// At an offset that is not among the least another match may follow that is nearer.
func (o *optimal) splitLongMatch(g *chunkCandidates, src []byte, from, p, n int, c candidate) int {
	const nearest = 4
	nice, end := o.params.Nice, len(src)-tail
	if c.offset() > nearest {
		n = nice
	}
	n = min(n, from+o.chunkSize-p, nice*(nice-1)) // no more candidates than there is room for
	g.cands[len(g.cands)-1] = c.resized(min(n, nice))
	o.insertMatch(g, src, p, n, end)
	for q := 1; q < n; q++ {
		g.firstCand[p-from+q] = uint32(len(g.cands))
		if q%nice == 0 && n-q >= o.minNew {
			g.cands = append(g.cands, c.resized(min(n-q, nice)))
		}
	}
	return p + n - 1
}
