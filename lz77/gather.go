package lz77

import "github.com/gopz/compress/simd"

// The first half of a parse by price: the candidates of all positions of a piece, or of a window.

// longMatch is how many bytes of a match taken at once are entered into what finds matches, at each end. What is between them is in it already, at the place that is
// repeated, and zeros would take their time.
const insertEnds = 1 << 12

// passStep is how many positions within a long match there are for one that enters a ladder. With 1 tables were 0.3% larger when there were 6 rungs. Of intervals, where it costs less, tables and XML are 0.4% larger
// with 4.
const insertStride = 4

// passEnd is how many bytes before the end of a long match the search goes on: what reaches beyond it is found there. With 8 tables are 0.3% larger in 0.97 of the
// time, with 24 as large.
const searchTail = 16

// gather sets g to the piece that begins at p. It may run beside the parse of the piece before: of optimal it changes what finds matches, and reads what stays the same in a block, such as params. (least does where there are blocks,
// which is where chain reads it.)
//
// Within a match of Skip bytes no others are looked for, once the matches that were found before it are at their end: until there a better one may follow them.
func (o *optimal) findMatches(g *chunkCandidates, src []byte, p int) {
	s := chunk{from: p}
	size, end, skip := o.chunkSize, len(src)-tail, o.params.SkipInMatch
	g.cands = g.cands[:0]
	reach, before, offset := p, p, 0 // how far matches go, those of other offsets before it, and its offset
	// A position has fewer candidates than Nice. Those of one in a match taken at once go behind them, before they are dropped: there is room for both.
	for ; p < len(src) && p-s.from < size && len(g.cands)+2*o.params.Nice <= o.candLimit; p++ {
		k := len(g.cands)
		g.firstCand[p-s.from] = uint32(k)
		if p >= end {
			continue
		}
		switch o.params.Finder {
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
		if n < o.params.Nice {
			if p+n > reach {
				if d != offset {
					before, offset = reach, d
				}
				reach = p + n
			}
			if skip > 0 && reach-p >= skip && p >= before {
				stop := min(reach-searchTail, end, s.from+size)
				o.insertRange(g, src, p+1, stop)
				for ; p+1 < stop; p++ {
					g.firstCand[p+1-s.from] = uint32(len(g.cands))
				}
			}
			continue
		}
		// Long enough to be taken without a further look. The positions in it stay without candidates.
		n += simd.MatchLen(src[p-d+n:], src[p+n:])
		if o.rules.NewSplitter != nil {
			p = o.splitLongMatch(g, src, s.from, p, n, c)
			continue
		}
		o.insertMatch(g, src, p, n, end)
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

// passMatch enters the positions in a match of n bytes at p behind its first one, as far as end.
func (o *optimal) insertMatch(g *chunkCandidates, src []byte, p, n, end int) {
	if n > 2*insertEnds {
		o.insertRange(g, src, p+1, p+insertEnds)
		o.insertRange(g, src, p+n-insertEnds, min(p+n, end))
	} else {
		o.insertRange(g, src, p+1, min(p+n, end))
	}
}

// pass enters positions in a match, from p to end; with Ladder one in passStep.
func (o *optimal) insertRange(g *chunkCandidates, src []byte, p, end int) {
	switch o.params.Finder {
	case MultiHash:
		for p += -p & (insertStride - 1); p < end; p += insertStride {
			o.multi.insert(src, p)
		}
	case LCPIntervals:
		o.lcp.insertRange(p, end)
	default:
		for ; p < end; p++ {
			o.tree.insert(g.cands, src, p, o.model)
		}
	}
}

// outside returns p, or the end of the match taken at once that p is in: the positions in it have no candidates, and would count as literals.
func (o *optimal) skipCovered(begin []uint32, s chunk, p int) int {
	i := p - s.from
	k, least := begin[i], 0
	if o.rules.NewSplitter != nil { // one is as long as its candidate, and others follow; what has none may go far back
		least = max(0, i-o.params.Nice)
	}
	for i > least && begin[i] == k {
		i--
	}
	if begin[i] == k {
		return p
	}
	// The last position in front of p that has candidates.
	if n := o.cands[k-1].length(); n >= o.params.Nice {
		p = max(p, s.from+i+n)
	}
	return p
}
