package pipeline

import "github.com/gopz/compress/lz77"

// Blocks of layout Dense are parsed by price, and prices do not tell all: not what tables take, which is much of a small block, nor what literals would cost if there were no matches between them. So other
// ways are tried, and coded: in small blocks several, in large ones having no matches.

// trialBlock is the largest block, in bytes, that is parsed in more than one way, and smallBlock the largest for which all are tried. Of 278 pieces of 500 to 60,000 bytes from 25 kinds of data level 9 makes the geometric mean
// 1% smaller than by price with contexts of literals and without, and up to 18% (spreadsheet): the smaller the piece the more. A table, and what it costs in time, is in docs/exec-plans/active/dense-layout.md.
const (
	trialBlock = 1 << 16
	smallBlock = 1 << 14
)

// smallWays are what small blocks are parsed with besides the level's own settings: level 7's ladder, which may do better than all matches there are, and lazily, by which no match comes for
// the sake of a price. There are rings for as many positions as smallBlock has, and hashes of several lengths, since short matches are what data differs in.
var smallWays = [...]lz77.Params{
	lz77.Levels[7],
	lazyWay(4),
	lazyWay(5),
	lazyWay(6),
}

func lazyWay(hashBytes uint8) lz77.Params {
	return lz77.Params{Finder: lz77.RowHash, HashLog: 10, HashBytes: hashBytes, Depth: 16, Nice: 256, Lazy: 2}
}

// smallWaysMemory is the scratch memory that they take beyond the level's own, in bytes, for blocks of up to size bytes.
func smallWaysMemory(size int, limits *lz77.Limits) int {
	lazy := 0 // they have one table
	for i := range smallWays[1:] {
		lazy = max(lazy, smallWays[1+i].Memory(min(size, smallBlock), limits))
	}
	return smallWays[0].Memory(min(size, trialBlock), limits) + lazy
}

// leaveMatches gives a large block no matches if that saves more than 1/256: chained literals decode at 0.7 to 0.9 of the speed. It takes as long to code them as a fast parse takes, so that it is for levels above 7 alone, whose parse
// takes longer, and only if a look in a hurry promises to lose no more than 1/32: that says 0.1 to 7% more than there is. A made-up image becomes 9% smaller, mr 1%, stereo sound 2%, and other data stays as it is.
func (ws *workspace) leaveMatches(b *Block) {
	d, p, content := &ws.dense, b.payload, ws.matchInput(b)
	with := ws.sizeDense(b, p.seqs)
	p.encoded = true
	d.marks = resize(d.marks, len(content))
	clear(d.marks)
	d.marks[0] = 1 // the first of the run
	if d.enc.PrepareFast(content, d.marks) >= with+with>>5 {
		return
	}
	if ws.sizeDense(b, nil) < with-with>>8 {
		p.seqs = p.seqs[:0]
	} else {
		p.encoded = false
	}
}

// matchDense finds the sequences of a block that has layout Dense.
func (ws *workspace) matchDense(b *Block) {
	ws.filter(b)
	d, p, limits, src := &ws.dense, b.payload, *b.limits(), ws.matchInput(b)
	d.fast = false
	limits.Contexts = ws.contexts(src)
	p.seqs = ws.matcher.ParseFrom(p.seqs[:0], src, b.Window, b.params(), limits)
	// A sample is to tell settings apart: what does well on little content, or without matches, says nothing of its block.
	sample := b == &ws.tuner.block
	switch {
	case len(src) <= trialBlock:
		ws.tryWays(b, limits, sample)
	case !sample && b.run.cfg.Level > 7 && b.mostlyLiterals():
		ws.leaveMatches(b)
	}
}

// tryWays replaces the sequences of a small block by those of the way that takes the fewest bytes.
func (ws *workspace) tryWays(b *Block, limits lz77.Limits, sample bool) {
	d, p, own, contexts := &ws.dense, b.payload, b.params(), limits.Contexts
	least := ws.sizeDense(b, p.seqs)
	offer := func(params *lz77.Params, contexts *lz77.Contexts) {
		if d.seqs = d.seqs[:0]; params != nil {
			limits.Contexts = contexts
			d.seqs = ws.matcher.ParseFrom(d.seqs, ws.matchInput(b), b.Window, params, limits)
		}
		if n := ws.sizeDense(b, d.seqs); n < least {
			p.seqs, least = append(p.seqs[:0], d.seqs...), n // each keeps its memory: the worker's is for small blocks
		}
	}
	offer(own, nil)
	if sample {
		return
	}
	offer(nil, nil)
	if ladder := &smallWays[0]; *ladder != *own {
		offer(ladder, contexts)
		if len(b.Src) <= smallBlock {
			offer(ladder, nil)
		}
	}
	if len(b.Src) <= smallBlock {
		for i := range smallWays[1:] {
			offer(&smallWays[1+i], nil)
		}
	}
}

// mostlyLiterals reports whether matches have less than half of the block's content.
func (b *Block) mostlyLiterals() bool {
	size, matched := len(b.Src)-b.Window, 0
	for i := range b.payload.seqs {
		matched += int(b.payload.seqs[i].MatchLen)
	}
	return matched < size/2
}
