package pipeline

import "github.com/gopz/compress/lz77"

// Blocks of layout Dense are parsed by price, and prices do not tell all: not what tables take, which is much of a small block, nor what literals would cost if there were no matches between them. So other
// ways are tried, and coded: in small blocks several, in large ones having no matches.

// trialBlock is the largest block, in bytes, that is parsed in all ways. Of 270 pieces of 500 to 60,000 bytes from 25 kinds of data level 9 makes the geometric mean 1.2% smaller that way than by price with contexts
// of literals and without, and up to 18% (spreadsheet), in twice the time. Each way has pieces of some kind that are 2% larger without it.
const trialBlock = 1 << 16

// smallWays are what small blocks are parsed with besides the level's own settings. Their tables are for such blocks.
var smallWays = [...]*lz77.Params{
	&lz77.Levels[7],
	{Finder: lz77.Recent, HashLog: 12, HashBytes: 4, Depth: 16, Nice: 256, Lazy: 2},
	{Finder: lz77.Recent, HashLog: 12, HashBytes: 5, Depth: 16, Nice: 256, Lazy: 2},
	{Finder: lz77.Recent, HashLog: 12, HashBytes: 6, Depth: 16, Nice: 256, Lazy: 2},
}

// smallWaysMemory is the scratch memory that they take beyond the level's own, for blocks of up to size bytes.
func smallWaysMemory(size int, limits *lz77.Limits) int {
	size = min(size, trialBlock)
	// Those of one finder share their tables.
	return smallWays[0].Memory(size, limits) + smallWays[1].Memory(size, limits)
}

// literalsGain is what part of a large block must be saved, as a shift, for it to have no matches: chained literals decode at 0.7 to 0.9 of the speed. Of mr that is 1% (0.2 to 2.0% of its blocks at level 7), of a made-up image
// 9%, of stereo sound 2%; of other data nothing.
func (b *Block) literalsGain() int {
	if b.run.cfg.Level < 8 {
		return 6
	}
	return 8
}

// matchDense finds the sequences of a block that has layout Dense.
func (ws *workspace) matchDense(b *Block) {
	ws.filter(b)
	d, p, limits, src := &ws.dense, b.payload, *b.limits(), ws.coded(b)
	d.coarse = false
	own, contexts := b.params(), ws.contexts(src)
	limits.Contexts = contexts
	p.seqs = ws.matcher.ParseFrom(p.seqs[:0], src, b.Window, own, limits)
	if len(src) > trialBlock {
		if b.mostlyLiterals() {
			with := ws.sizeDense(b, p.seqs)
			if ws.sizeDense(b, nil) < with-with>>b.literalsGain() {
				p.seqs = p.seqs[:0]
			}
		}
		return
	}
	least := ws.sizeDense(b, p.seqs)
	offer := func(params *lz77.Params, contexts *lz77.Contexts) {
		if d.seqs = d.seqs[:0]; params != nil {
			limits.Contexts = contexts
			d.seqs = ws.matcher.ParseFrom(d.seqs, src, b.Window, params, limits)
		}
		if n := ws.sizeDense(b, d.seqs); n < least {
			p.seqs, least = append(p.seqs[:0], d.seqs...), n // each keeps its memory: the worker's is for small blocks
		}
	}
	offer(own, nil)
	if b == &ws.tuner.block {
		return // a sample, which is to tell settings apart; what does well on little content says nothing of the block
	}
	offer(nil, nil)
	for _, params := range smallWays {
		if *params == *own {
			continue
		}
		if params.Finder.Priced() {
			offer(params, contexts)
		}
		offer(params, nil)
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
