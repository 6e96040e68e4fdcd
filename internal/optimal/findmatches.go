package optimal

import (
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/simd"
)

// This file is the first half of optimal parsing: it finds the candidates of all positions of a
// chunk.
//
// Two kinds of positions are inserted into the finder without a search, because most of what it
// would find there the parser does not use:
//
//   - in a match of Nice bytes or more, which the parser takes at once;
//   - in a match of SkipInMatch bytes or more, but not near its end, where a match that reaches
//     beyond it may begin. The parser still chooses among the lengths of the match.

// insertEnds is the number of bytes at each end of a long match that are inserted into the finder.
// The bytes between are in it already, at the offset of the match.
const insertEnds = 1 << 12

// insertStride is the distance of the positions within a match that are inserted into a MultiHash.
// In LCPIntervals, tables and XML would be 0.4% larger with 4.
const insertStride = 4

// searchTail is the number of bytes at the end of a skipped match that are searched. With 8, tables
// are 0.3% larger.
const searchTail = 16

// findMatches sets g to the chunk that begins at p. It may run concurrently with the parse of the
// chunk before: it changes the match finder and g, and reads what stays the same within a block.
// It also reads minNew in splitLongMatch, where there are blocks, which do not change it.
func (o *Parser) findMatches(g *chunkCandidates, src []byte, p int, checkpoint func()) {
	g.chunk, g.cands = chunk{from: p}, g.cands[:0]
	next := p + checkpointStep
	end, stop := len(src)-finder.Tail, min(len(src), p+o.chunkSize)
	// Ends of the matches so far, of those before with another offset, and the last one's offset.
	reach, before, offset := p, p, 0
	o.multi.Reach, o.multi.Before, o.multi.Offset = p, p, 0
	// A position has fewer candidates than Nice. Candidates found while a long match is inserted
	// stand behind them for a moment: there is room for both.
	most := o.candLimit - 2*o.config.Nice
	for ; p < stop && len(g.cands) <= most && g.last.length == 0; p++ {
		if p >= next {
			next = p + checkpointStep
			checkpoint()
		}
		k := len(g.cands)
		g.firstCand[p-g.from] = uint32(k)
		if p >= end {
			continue
		}
		switch o.config.Finder {
		case MultiHash:
			found := o.multi.find(g, src, p, min(p+checkpointStep, end, stop), most, o.model)
			p = o.multi.At - 1
			if !found {
				continue
			}
			k = int(g.firstCand[p-g.from])
			reach, before, offset = o.multi.Reach, o.multi.Before, o.multi.Offset
		case LCPIntervals:
			g.cands = o.lcp.find(g.cands, src, p, o.model)
		default:
			found := o.tree.find(g, src, min(p+checkpointStep, end, stop), most)
			p = o.tree.At - 1
			if !found {
				continue
			}
			k = int(g.firstCand[p-g.from])
		}
		if len(g.cands) == k {
			continue
		}
		c := g.cands[len(g.cands)-1]
		n, d := c.length(), c.offset()
		if n >= o.config.Nice {
			p = o.takeLongMatch(g, src, p, checkpoint)
			continue
		}
		if p+n > reach {
			if d != offset {
				before, offset = reach, d
			}
			reach = p + n
		}
		// Until the matches before it end, a better match may follow one of them.
		if skip := o.config.SkipInMatch; skip > 0 && reach-p >= skip && p >= before {
			to := min(reach-searchTail, end, stop)
			o.insertRange(src, p+1, to)
			for ; p+1 < to; p++ {
				g.firstCand[p+1-g.from] = uint32(len(g.cands))
			}
		}
	}
	g.to = p
	g.firstCand[p-g.from] = uint32(len(g.cands))
}

// takeLongMatch makes the last candidate, a match of Nice bytes at p, as long as it is, since the
// parser takes it at once. The other positions in it have no candidates. takeLongMatch inserts them
// and returns the last one. A match that ends behind the chunk ends the chunk at p.
func (o *Parser) takeLongMatch(
	g *chunkCandidates, src []byte, p int, checkpoint func(),
) (last int) {
	end := len(src) - finder.Tail
	c := g.cands[len(g.cands)-1]
	n, d := c.length(), c.offset()
	n += matchLen(src[p-d+n:], src[p+n:], checkpoint)
	if o.rules.NewSplitter != nil {
		return o.splitLongMatch(g, src, g.from, p, n, c, checkpoint)
	}
	o.insertMatch(src, p, n, end, checkpoint)
	if p-g.from+n > o.chunkSize {
		g.cands = g.cands[:g.firstCand[p-g.from]]
		g.last = link{uint32(n), uint32(d)}
		return p - 1
	}
	g.cands[len(g.cands)-1] = c.resized(n)
	for q := p + 1; q < p+n; q++ {
		g.firstCand[q-g.from] = uint32(len(g.cands))
	}
	return p + n - 1
}

// matchLen is simd.MatchLen with checkpoints.
func matchLen(a, b []byte, checkpoint func()) (n int) {
	const piece = 4 << 20
	for len(b) > piece {
		if k := simd.MatchLen(a, b[:piece]); k < piece {
			return n + k
		}
		a, b, n = a[piece:], b[piece:], n+piece
		checkpoint()
	}
	return n + simd.MatchLen(a, b)
}

// insertMatch inserts the positions in a match of n bytes at p behind its first one, up to end.
func (o *Parser) insertMatch(src []byte, p, n, end int, checkpoint func()) {
	if n > 2*insertEnds {
		o.insertPieces(src, p+1, p+insertEnds, checkpoint)
		o.insertPieces(src, p+n-insertEnds, min(p+n, end), checkpoint)
	} else {
		o.insertPieces(src, p+1, min(p+n, end), checkpoint)
	}
}

// insertPieces is insertRange with checkpoints.
func (o *Parser) insertPieces(src []byte, p, end int, checkpoint func()) {
	for ; end-p > checkpointStep; p += checkpointStep {
		o.insertRange(src, p, p+checkpointStep)
		checkpoint()
	}
	o.insertRange(src, p, end)
}

// insertRange inserts the positions [p, end), which lie in a match, without a search.
func (o *Parser) insertRange(src []byte, p, end int) {
	switch o.config.Finder {
	case MultiHash:
		p += -p & (insertStride - 1)
		kernels.InsertMultiHash(&o.multi.MultiHash, src, p, end, insertStride)
	case LCPIntervals:
		o.lcp.insertRange(p, end)
	default:
		o.tree.insertRange(src, p, end)
	}
}

// skipCovered returns the end of the match of Nice bytes or more that p lies in, or p if there is
// none. The positions in such a match have no candidates and would count as literals.
func (o *Parser) skipCovered(begin []uint32, s chunk, p int) int {
	i := p - s.from
	k, least := begin[i], 0
	if o.rules.NewSplitter != nil {
		// A match is as long as its candidate here, and others follow. Positions without
		// candidates may go back far.
		least = max(0, i-o.maxMatch)
	}
	for i > least && begin[i] == k {
		i--
	}
	if begin[i] == k {
		return p
	}
	// The last position in front of p that has candidates.
	if n := o.cands[k-1].length(); n >= o.config.Nice {
		p = max(p, s.from+i+n)
	}
	return p
}
