package optimal

import (
	"github.com/gopz/compress/lz77/internal/base"
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
	if o.config.Finder == MultiRow {
		o.findRows(g, src, p, checkpoint)
		return
	}
	s := chunk{from: p}
	next := p + checkpointStep
	size, end, skip := o.chunkSize, len(src)-base.Tail, o.config.SkipInMatch
	g.cands = g.cands[:0]
	// Ends of the matches so far, of those before with another offset, and the last one's offset.
	reach, before, offset := p, p, 0
	// A position has fewer candidates than Nice. Candidates found while a long match is inserted
	// stand behind them for a moment: there is room for both.
	for ; p < len(src) && p-s.from < size && len(g.cands)+2*o.config.Nice <= o.candLimit; p++ {
		if p >= next {
			next = p + checkpointStep
			checkpoint()
		}
		k := len(g.cands)
		g.firstCand[p-s.from] = uint32(k)
		if p >= end {
			continue
		}
		switch o.config.Finder {
		case MultiHash:
			g.cands = o.multi.find(g.cands, src, p, o.model)
		case LCPIntervals:
			g.cands = o.lcp.find(g.cands, src, p, o.model)
		default:
			g.cands = o.tree.insert(g.cands, src, p, o.model)
		}
		if len(g.cands) == k {
			continue
		}
		c := g.cands[len(g.cands)-1]
		n, d := c.length(), c.offset()
		if n < o.config.Nice {
			if p+n > reach {
				if d != offset {
					before, offset = reach, d
				}
				reach = p + n
			}
			// Until the matches before it end, a better match may follow one of them.
			if skip > 0 && reach-p >= skip && p >= before {
				stop := min(reach-searchTail, end, s.from+size)
				o.insertRange(g, src, p+1, stop)
				for ; p+1 < stop; p++ {
					g.firstCand[p+1-s.from] = uint32(len(g.cands))
				}
			}
			continue
		}
		// The parser takes this match at once. The other positions in it have no candidates.
		n += matchLen(src[p-d+n:], src[p+n:], checkpoint)
		if o.rules.NewSplitter != nil {
			p = o.splitLongMatch(g, src, s.from, p, n, c, checkpoint)
			continue
		}
		o.insertMatch(g, src, p, n, end, checkpoint)
		if p-s.from+n > size {
			g.cands = g.cands[:k]
			s.last = link{uint32(n), uint32(d)}
			break
		}
		g.cands[len(g.cands)-1] = c.resized(n)
		for q := p + 1; q < p+n; q++ {
			g.firstCand[q-s.from] = uint32(len(g.cands))
		}
		p += n - 1
	}
	s.to = p
	g.chunk = s
	g.firstCand[p-s.from] = uint32(len(g.cands))
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
func (o *Parser) insertMatch(
	g *chunkCandidates, src []byte, p, n, end int, checkpoint func(),
) {
	if n > 2*insertEnds {
		o.insertPieces(g, src, p+1, p+insertEnds, checkpoint)
		o.insertPieces(g, src, p+n-insertEnds, min(p+n, end), checkpoint)
	} else {
		o.insertPieces(g, src, p+1, min(p+n, end), checkpoint)
	}
}

// insertPieces is insertRange with checkpoints.
func (o *Parser) insertPieces(g *chunkCandidates, src []byte, p, end int, checkpoint func()) {
	for ; end-p > checkpointStep; p += checkpointStep {
		o.insertRange(g, src, p, p+checkpointStep)
		checkpoint()
	}
	o.insertRange(g, src, p, end)
}

// insertRange inserts the positions [p, end), which lie in a match, without a search.
func (o *Parser) insertRange(g *chunkCandidates, src []byte, p, end int) {
	switch o.config.Finder {
	case MultiHash:
		for p += -p & (insertStride - 1); p < end; p += insertStride {
			o.multi.insert(src, p)
		}
	case LCPIntervals:
		o.lcp.insertRange(p, end)
	case MultiRow:
		o.rows.insert(src, p, end)
	default:
		for ; p < end; p++ {
			o.tree.insert(g.cands, src, p, o.model)
		}
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
