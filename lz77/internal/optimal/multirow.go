package optimal

import (
	"github.com/gopz/compress/lz77/internal/base"
	"github.com/gopz/compress/simd"
)

// multiRow finds matches among the last positions with the same hash of 3, 4, 6 and 10 bytes: 2, 4, 8
// and 2 of them. Those of a hash of 3 or 4 bytes are the nearest, and most of them match by no more
// bytes. Those of hashes of 6 and 10 bytes reach farther, for longer matches. It serves small
// windows, where prices of offsets differ little.
//
// It searches a batch of positions at a time, without a branch (simd.MultiRows), and then looks at
// the results.
//
// Cost: 16 comparisons for each position, however many of them match, and one more for each match
// of 8 bytes. Memory: 32 bytes for each row.
type multiRow struct {
	rows    simd.MultiRows
	run     simd.CandidateRun
	batch   [rowBatch]simd.RowMatches
	from    int        // the batch holds the positions [from, next)
	next    int        // first position that is not in the rows
	coded   PriceModel // model that the codes of run belong to
	longest int        // the greatest offset
}

// rowBatch is the number of positions searched at once. Those of a batch that lie in a long match
// are searched in vain.
const rowBatch = 32

// multiRowMemory returns the memory of the rows in bytes.
func multiRowMemory(c *Config, size int) int {
	return simd.MultiRowsMemory(base.TableLog(c.HashLog, size))
}

func (t *multiRow) reset(c *Config, size int, model PriceModel) {
	rules := model.Rules()
	if rules.NewSplitter == nil || c.MinOffset > 1 || c.maxOffset3() < c.MaxOffset || c.MinNew > 8 {
		panic("lz77: MultiRow needs a model with NewSplitter, and matches of 3 to 8 bytes at any offset")
	}
	t.rows.Reset(base.TableLog(c.HashLog, size))
	t.from, t.next = 0, 0
	t.longest = c.MaxOffset
	t.run.Least, t.run.Nice = c.MinNew, c.Nice
	if t.run.SkipInMatch = c.SkipInMatch; c.SkipInMatch == 0 {
		t.run.SkipInMatch = c.Nice
	}
	if t.coded != model {
		if !t.run.SetCodes(model.OffsetCode) {
			panic("lz77: MultiRow needs equal codes of offsets from 128k+1 to 128k+128, for k above 1")
		}
		t.coded = model
	}
}

// insert inserts the positions [p, end), which follow those inserted before. Some of them may be in
// the rows already.
func (t *multiRow) insert(src []byte, p, end int) {
	if p = max(p, t.next); p < end {
		t.rows.Insert(src, p, end)
		t.next = end
	}
}

// find appends the candidates of the positions from p to end, with lengths up to Nice, the shortest
// first. It stops in front of end if it finds a match that the caller has to look at, at the position
// that it returns. It also stops where fewer than rowCandidates more have room below limit.
func (t *multiRow) find(g *chunkCandidates, src []byte, p, end, limit int) (at int, stopped bool) {
	n, cands := len(g.cands), g.cands[:limit]
	for t.run.At, t.run.End = p, end; t.run.At < end && !stopped && n+rowCandidates <= limit; {
		p = t.run.At
		if p >= t.next {
			n := min(rowBatch, end-p)
			t.rows.Search(src, p, t.run.Least, t.longest, t.batch[:n])
			t.from, t.next = p, p+n
		}
		n, stopped = simd.Collect(&t.run, src, t.batch[p-t.from:t.next-t.from],
			g.firstCand[p-g.from:], cands, n)
	}
	g.cands = g.cands[:n]
	return t.run.At, stopped
}

// rowCandidates is the most candidates of a position.
const rowCandidates = 16

// findRows is findMatches with a multiRow.
func (o *Parser) findRows(g *chunkCandidates, src []byte, p int, checkpoint func()) {
	t, nice := &o.rows, o.config.Nice
	g.chunk, g.cands = chunk{from: p}, g.cands[:0]
	t.run.Reach, t.run.Before, t.run.Offset = p, p, 0
	stop := min(p+o.chunkSize, len(src))
	end := min(stop, len(src)-base.Tail) // of positions that may have candidates
	limit := o.candLimit - nice          // a long match may have as many
	next := p + checkpointStep
	for p < end && len(g.cands)+rowCandidates <= limit {
		if p >= next {
			next = p + checkpointStep
			checkpoint()
		}
		stopped := false
		if p, stopped = t.find(g, src, p, min(end, next), limit); !stopped {
			continue
		}
		c := g.cands[len(g.cands)-1]
		if n, d := c.length(), c.offset(); n >= nice {
			n += matchLen(src[p-d+n:], src[p+n:], checkpoint)
			p = o.splitLongMatch(g, src, g.from, p, n, c, checkpoint) + 1
			continue
		}
		searched := max(min(t.run.Reach-searchTail, end), p+1)
		t.insert(src, p+1, searched)
		for p++; p < searched; p++ {
			g.firstCand[p-g.from] = uint32(len(g.cands))
		}
	}
	if p >= end {
		for ; p < stop; p++ {
			g.firstCand[p-g.from] = uint32(len(g.cands))
		}
	}
	g.to = p
	g.firstCand[p-g.from] = uint32(len(g.cands))
}
