package pipeline

import (
	"slices"

	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// Parse trials. Blocks of layout Dense are parsed optimally, by prices. Prices ignore two costs:
// tables, and literals without matches between them. Tables are much of a small block. So other
// parses are encoded as well, and the smallest result wins: several for small blocks, literals
// alone for large ones. Over 278 small pieces of 25 kinds of data the trials save 1% at level 9.

const (
	trialBlock = 1 << 16 // largest block in bytes that has more than one parse
	smallBlock = 1 << 14 // largest block in bytes that has all of them

	// A block of up to tinyBlock bytes gains nothing by contexts, and hardly anything by the search
	// of level 8 at level 9. Without them it takes less than half of the time.
	tinyBlock = 3 << 9
)

// smallTrials are the parses of small blocks besides that with the level's own settings. The first
// is level 8's search, which may do better than all matches. The others are lazy, so that no match
// is chosen for its price. They have hashes of several lengths, since data differs in its short
// matches.
var smallTrials = [...]match.Params{
	match.Levels[8],
	lazyTrial(4),
	lazyTrial(5),
	lazyTrial(6),
}

// lazyTrials are the parses of small blocks besides that with the level's own settings, at levels
// whose parser is not optimal. The last one has no matches.
var lazyTrials = [...]match.Params{lazyTrial(4), lazyTrial(5), {}}

func lazyTrial(hashBytes uint8) match.Params {
	return match.Params{Params: lz77.Params{
		Finder: lz77.RowHash, HashLog: 10, HashBytes: hashBytes, Depth: 16, Nice: 256, Lazy: 2,
	}}
}

// smallTrialsMemory returns the scratch memory of smallTrials, in bytes, for blocks of up to size
// bytes.
func smallTrialsMemory(size int, form *optimal.Form) int {
	lazy := 0 // they share one table
	for i := range smallTrials[1:] {
		lazy = max(lazy, smallTrials[1+i].Memory(min(size, smallBlock), form))
	}
	return smallTrials[0].Memory(min(size, trialBlock), form) + lazy
}

// matchPriced finds the sequences of a block that has layout Dense and an optimal parser.
func (ws *workspace) matchPriced(b *Block) {
	d, p, form, src := &ws.dense, b.payload, *b.form(), ws.matchInput(b)
	d.fast = false
	if len(src) > tinyBlock {
		form.Contexts = ws.contexts(src)
	}
	p.seqs = ws.matcher.ParseFrom(p.seqs[:0], src, b.Window, b.params(), &form)
	// A sample tells settings apart. A parse that suits little content, or no matches, says nothing
	// of its block.
	sample := b == &ws.tuner.block
	switch {
	case len(src) <= trialBlock:
		ws.tryParses(b, form, sample)
	case !sample && b.run.cfg.Level > 8 && ws.mostlyLiterals(b):
		ws.tryLiterals(b)
	}
}

// tryLazyParses replaces the sequences of a small block, whose parser is not optimal, by those that
// take the fewest bytes in layout Repeat: the level's own, those with shorter hashes, or none. In
// layout Dense each trial would take five times as long.
func (ws *workspace) tryLazyParses(b *Block) {
	d, p, src := &ws.dense, b.payload, ws.matchInput(b)
	size := func(seqs []lz77.Sequence) int {
		ws.streams(p).Encode(lzseq.Repeat, src, seqs)
		b.dst = ws.encodePayload(b.dst[:0], lzseq.Repeat, &p.streams)
		return len(b.dst)
	}
	least := size(p.seqs)
	for i := range lazyTrials {
		d.seqs = d.seqs[:0]
		if lazyTrials[i].HashBytes != 0 {
			d.seqs = ws.matcher.ParseFrom(d.seqs, src, b.Window, &lazyTrials[i], b.form())
		}
		if n := size(d.seqs); n < least {
			p.seqs, least = append(p.seqs[:0], d.seqs...), n
		}
	}
}

// tryParses replaces the sequences of a small block by those of the parse that takes the fewest
// bytes. For a sample it tries one other parse only.
func (ws *workspace) tryParses(b *Block, form optimal.Form, sample bool) {
	d, p, own, contexts := &ws.dense, b.payload, b.params(), form.Contexts
	least := ws.denseSize(b, p.seqs)
	try := func(params *match.Params, contexts *optimal.Contexts) {
		d.seqs = d.seqs[:0]
		if params != nil {
			form.Contexts = contexts
			d.seqs = ws.matcher.ParseFrom(d.seqs, ws.matchInput(b), b.Window, params, &form)
		}
		if slices.Equal(d.seqs, p.seqs) {
			return
		}
		if n := ws.denseSize(b, d.seqs); n < least {
			// Copied, so that each slice keeps its memory: the worker's is for small blocks.
			p.seqs, least = append(p.seqs[:0], d.seqs...), n
		}
	}
	if contexts != nil {
		try(own, nil)
	}
	if sample {
		return
	}
	try(nil, nil)
	if multi := &smallTrials[0]; *multi != *own && contexts != nil {
		try(multi, contexts)
		if len(b.src) <= smallBlock {
			try(multi, nil)
		}
	}
	if len(b.src) <= smallBlock {
		for i := range smallTrials[1:] {
			try(&smallTrials[1+i], nil)
		}
	}
}

// tryLiterals gives a large block no matches if that saves more than 1/256. Coding context-coded
// literals takes as long as a fast parse, so this is for level 9, and only if a fast
// estimate promises to lose no more than 1/32. The estimate is 0.1 to 7% too large.
func (ws *workspace) tryLiterals(b *Block) {
	d, p, content := &ws.dense, b.payload, ws.matchInput(b)
	with := ws.denseSize(b, p.seqs)
	p.encoded = true
	d.marks = resize(d.marks, len(content))
	pieces.Clear(d.marks, ws.check)
	d.marks[0] = 1 // the first of the literal run
	if d.enc.PrepareFast(content, d.marks) >= with+with>>5 {
		return
	}
	if ws.denseSize(b, nil) < with-with>>8 {
		p.seqs = p.seqs[:0]
	} else {
		p.encoded = false
	}
}

// mostlyLiterals reports whether matches cover less than half of the block's content.
func (ws *workspace) mostlyLiterals(b *Block) bool {
	size, matched := len(b.src)-b.Window, 0
	for i := range b.payload.seqs {
		if i%checkpointPositions == 0 {
			ws.checkpoint()
		}
		matched += int(b.payload.seqs[i].MatchLen)
	}
	return matched < size/2
}
