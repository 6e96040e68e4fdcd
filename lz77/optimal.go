package lz77

// optimal parses by price: of all ways to say what a piece of the block is, it takes the cheapest that it can find. It goes piece by piece, so that its memory, but for that of what finds
// matches, does not grow with the block: first the candidates of all positions, then a parse or, where content changes, several, each with the prices that the one before makes likely. With Rules.Blocks it goes window by
// window; see blocks.
type optimal struct {
	tree   binaryTree
	multi  multiHash
	lcp    lcpIntervals
	model  PriceModel
	rules  Rules
	params Params
	limits Limits

	chunks    [2]chunkCandidates
	current   int         // which of them is parsed
	cands     []candidate // its own
	firstCand []uint32    // likewise

	helper     Helper // nil is none
	helperBusy bool   // it gathers the other piece
	helperTask func() int
	helperSrc  []byte // for that
	helperFrom int

	minOffset   int
	repeatCache [16]repeatMatch

	best       paths // the cheapest way to each position
	secondBest paths // the next one that comes by a match of another offset

	keepSecond bool // the second ones are looked at

	blocks blockParser

	literalPathCost int32 // of the third way to the position behind the one that has its turn, with a long run

	literalPrices  []int32       // the price of a literal at each position of the piece
	context        *contextState // nil where literals have no contexts; it then has the prices
	contextScratch *contextState // for context; nil until it is used

	steps  []Step
	prices Prices
	counts Counts // of the piece, by its last parse
	past   Counts // of the pieces before it, the farther the less
	sum    Counts

	greedyCounts Counts // what a greedy parse of the piece counts
	greedyPast   Counts // those of the pieces before it, as in past

	minNew, minRepeat int // the shortest new match in the piece, and the shortest with a repeat offset

	skipped      int  // where in the piece the parse begins
	chunkSize    int  // the most content of a piece, in bytes
	maxPositions int  // positions of a piece and the one behind it, at the most
	candLimit    int  // the most candidates of a piece: a matter of the block, not of what there is room for
	decayShift   uint // how much less past weighs with each piece
}

// shortSequence bounds how many sequences there are for MinRepeat's sake, and with them memory: where they stand for fewer bytes than that on average, the next piece has no matches that
// are shorter.
const minSequenceBytes = 4

// MaxPiece is the most content that is parsed by the same prices, in bytes.
const MaxChunk = 1 << 16

// ageSize is about how much content halves the weight of what was before it, in bytes.
const halfLife = 1 << 15

// piece is what is parsed at once: src[from:to], and a match behind it that is fixed.
type chunk struct {
	from, to int
	last     link // without length if there is none
}

func (m *Matcher) parseOptimal(dst []Sequence, src []byte, start int) []Sequence {
	if m.optimal == nil {
		m.optimal = new(optimal)
	}
	o := m.optimal
	o.helper = m.Helper
	defer o.release()
	o.params, o.limits, o.model = m.params, m.limits, m.limits.Model
	if o.model == nil {
		o.model = genericModel{}
	}
	o.rules = o.model.Rules()
	switch o.chunkSize = MaxChunk; {
	case o.rules.NewSplitter != nil:
		o.chunkSize = maxWindow
	case o.rules.ChunkSize != 0:
		o.chunkSize = min(o.chunkSize, o.rules.ChunkSize)
	}
	o.decayShift = uint(max(1, o.chunkSize/halfLife))
	o.minOffset = o.limits.minOffset()
	n := chunkPositions(len(src)-start, &o.rules)
	o.maxPositions, o.candLimit = n, candidateLimit(n)
	o.grow(n)
	switch o.params.Finder {
	case MultiHash:
		o.multi.reset(&o.params, &o.limits, src, start)
	case LCPIntervals:
		o.lcp.reset(&o.params, &o.limits, src, start)
	default:
		o.tree.reset(&o.params, &o.limits, len(src))
		for i := range start {
			o.tree.insert(o.chunks[0].cands[:0], src, i, o.model)
		}
	}
	o.past = Counts{}
	if o.context = nil; o.limits.Contexts != nil {
		if o.contextScratch == nil {
			o.contextScratch = new(contextState)
		}
		o.context = o.contextScratch
		o.context.Contexts = o.limits.Contexts
		o.context.past.clear()
		o.context.grow(n)
	}
	o.setMinMatch(false)
	if o.rules.NewSplitter != nil {
		return o.parseBlocks(dst, src, start)
	}
	at := state{repeats: o.rules.InitialRepeats}
	base := len(dst)
	s, more := o.firstChunk(src, start), true
	for ; more; s, more = o.nextChunk(src, s) {
		o.startHelper(src, s)
		o.setMinMatch((len(dst)-base)*minSequenceBytes > s.from-start)
		o.counts = Counts{}
		if c := o.context; c != nil {
			c.classify(src, s)
			c.counts.clear()
		}
		passes := o.params.Passes
		if s.from == start {
			o.seedCounts(src, s)
			passes++
		} else if passes > 1 && o.resemblesPast(src, s) {
			passes = 1
		}
		var next state
		for pass := range passes {
			o.sum.copyFrom(&o.past)
			o.sum.add(&o.counts)
			o.model.Price(&o.prices, &o.sum)
			o.priceLiterals(src[s.from:s.to])
			o.counts = Counts{}
			if pass < passes-1 {
				o.sample(src, s, at)
				o.sum.copyFrom(&o.counts)
				o.counts.add(&o.sum)
				if c := o.context; c != nil {
					c.counts.add(&c.counts)
				}
				continue
			}
			next = o.parse(src, s, at)
			o.model.Count(&o.counts, o.steps)
		}
		at = next
		o.past.decay(o.decayShift)
		o.past.add(&o.counts)
		if c := o.context; c != nil {
			c.past.decay(o.decayShift)
			c.past.add(&c.counts)
		}
		dst = appendSteps(dst, base, o.steps)
	}
	return dst
}

// setLeast sets what matches there may be: with many sequences so far none for MinRepeat's sake.
func (o *optimal) setMinMatch(many bool) {
	o.minNew, o.minRepeat = o.params.minNewMatch(&o.limits), o.limits.minRepeat()
	if many && o.limits.MinRepeat > 0 {
		o.minNew, o.minRepeat = max(o.minNew, minSequenceBytes), max(o.minRepeat, minSequenceBytes)
	}
}

// pieceRoom is how many positions there may be in a piece or window of a block of that size, and the one behind it.
func chunkPositions(size int, rules *Rules) int {
	if rules.NewSplitter != nil {
		return min(size, maxWindow) + 1
	}
	return min(size, MaxChunk) + 1
}

// grow makes room for pieces of n positions.
func (o *optimal) grow(n int) {
	if o.rules.NewSplitter != nil {
		if cap(o.blocks.costs) < n {
			o.blocks.grow(n)
		}
	} else if cap(o.literalPrices) < n {
		o.literalPrices = make([]int32, n)
		o.best.grow(n)
		o.secondBest.grow(n)
	}
	o.chunks[0].grow(n, o.candLimit)
	if cap(o.steps) < stepLimit(n, &o.limits) {
		o.steps = make([]Step, 0, stepLimit(n, &o.limits))
	}
}

// maxSteps is how many steps there may be in a piece of that size, with the one behind it.
func stepLimit(size int, limits *Limits) int { return size/limits.minRepeat() + 2 }

// maxCands is how many candidates a piece of that size may have: it ends before there are more. Text has about 3 for each position.
func candidateLimit(size int) int { return 4*size + 2*PricedLengths }

// optimalMemory is what parsing by price takes for blocks of that size, in bytes.
func optimalMemory(params *Params, size int, limits *Limits) int {
	const itself = 200 << 10 // mostly Prices, and what the runtime rounds up
	var rules Rules
	if limits.Model != nil {
		rules = limits.Model.Rules()
	}
	n := chunkPositions(size, &rules)
	ways := 4 + 2*pathBytes
	if rules.NewSplitter != nil {
		ways = windowPositionBytes
	}
	contexts := 0
	if limits.Contexts != nil {
		contexts = contextStateBytes + n*contextPositionBytes
	}
	var finder int
	switch params.Finder {
	case MultiHash:
		finder = multiHashMemory(params, size, limits)
	case LCPIntervals:
		finder = lcpMemory(size)
	default:
		finder = treeMemory(params, size, limits)
	}
	return itself + contexts + finder + n*ways + 16*stepLimit(n, limits) + 2*chunkCandidatesBytes(n)
}

// literals sets the prices of literals at the positions of a piece, whose content is given.
func (o *optimal) priceLiterals(content []byte) {
	c := o.context
	if c == nil {
		lits := o.literalPrices[:len(content)]
		for i, b := range content {
			lits[i] = o.prices.Literal[b]
		}
		return
	}
	c.sum.setSum(&c.past, &c.counts)
	c.counts.clear()
	c.price(&o.sum.Literals)
	for k := range c.literals {
		lits, class := c.literals[k][:len(content)], c.classes[k][:len(content)]
		for i, b := range content {
			lits[i] = c.prices[class[i]][b]
		}
	}
}

// literalPrice is what the literal at position i of what is parsed costs behind run others, without what it adds to the price of the run.
func (o *optimal) literalPrice(i int, run uint32) int32 {
	if c := o.context; c != nil {
		return c.literals[min(run, otherOfRun)][o.skipped+i]
	}
	return o.literalPrices[o.skipped+i]
}

// appendSteps appends the sequences of steps to dst, of which those from base on are of the same block. One that only goes on with the one before it, as
// happens between pieces, becomes part of it.
func appendSteps(dst []Sequence, base int, steps []Step) []Sequence {
	for i := range steps {
		q := steps[i].Sequence
		if k := len(dst) - 1; q.LitLen == 0 && k >= base && dst[k].Offset == q.Offset {
			dst[k].MatchLen += q.MatchLen
			continue
		}
		dst = append(dst, q)
	}
	return dst
}
