package optimal

import (
	"github.com/gopz/compress/lz77"
)

// The prices of a chunk are made from the counts of the chunks before it. This file decides whether
// these suit the chunk, and finds counts to start from where they do not.
//
// A greedy parse of the candidates takes about 1% of the time. If its counts diverge from those of
// earlier greedy parses, the parser first parses half of the chunk to learn new prices.

// sample parses and counts the first and the third quarter of a chunk, each from state at.
func (o *Parser) sample(src []byte, s chunk, at state) {
	quarter, begin := (s.to-s.from+3)/4, o.firstCand
	for p := s.from; p < s.to; p += 2 * quarter {
		from := o.skipCovered(begin, s, p)
		o.skipped = from - s.from
		o.firstCand = begin[o.skipped:]
		to := min(from+quarter, s.to)
		o.priceLiterals(src[from:to], from-s.from)
		o.parse(src, chunk{from: from, to: to}, at)
		o.model.Count(&o.counts, o.steps)
	}
	o.firstCand, o.skipped = begin, 0
}

// divergenceLog bounds the divergence of a chunk that is parsed without a sample: 1/2^divergenceLog
// of its entropy. 4 takes 0.8 of the time of sampling every chunk; XML is 0.13% larger.
const divergenceLog = 4

// resemblesPast reports whether a chunk is like those before it, by the counts of greedy parses.
// It adds the chunk to those before, so it must be called once for each chunk but the first.
func (o *Parser) resemblesPast(src []byte, s chunk) bool {
	o.countGreedy(src, s)
	excess, entropy := o.greedyPast.divergence(&o.greedyCounts)
	o.greedyPast.decay(o.decayShift)
	o.greedyPast.addCounts(&o.greedyCounts)
	return excess < entropy>>divergenceLog
}

// seedCounts sets the counts for the first chunk from a greedy parse. It counts every byte as a
// literal besides: literals that are dear at first stay so, since the parser avoids them.
func (o *Parser) seedCounts(src []byte, s chunk) {
	o.countGreedy(src, s)
	o.greedyPast.copyFrom(&o.greedyCounts)
	o.counts.copyFrom(&o.greedyCounts)
	for i, b := range src[s.from:s.to] {
		o.counts.Literals[b]++
		if o.context != nil {
			o.context.countLiteral(i, otherOfRun, b)
		}
	}
	for k := range o.counts.Symbols {
		if o.rules.UniformStart>>k&1 != 0 {
			equalize(o.counts.Symbols[k][:])
		}
	}
}

// countGreedy sets greedyCounts to the counts of a greedy parse of a chunk. At each position it
// takes the longest candidate if that looks worth its offset.
func (o *Parser) countGreedy(src []byte, s chunk) {
	o.steps = o.steps[:0]
	c := &o.greedyCounts
	*c = Counts{}
	run := uint32(0)
	for p := s.from; p < s.to; {
		at := p - s.from
		if cands := o.cands[o.firstCand[at]:o.firstCand[at+1]]; len(cands) > 0 {
			m := cands[len(cands)-1]
			n := min(m.length(), s.to-p)
			if n >= o.minNew && PriceBit*4*n > int(log2Price(uint32(m.offset()))) {
				q := lz77.Sequence{LitLen: run, MatchLen: uint32(n), Offset: uint32(m.offset())}
				o.steps = append(o.steps, Step{q, NewOffset})
				run = 0
				p += n
				continue
			}
		}
		c.Literals[src[p]]++
		run++
		p++
	}
	o.model.Count(c, o.steps)
}

// equalize gives all symbols that occur the same count.
func equalize(counts []uint32) {
	symbols, sum := uint32(0), uint32(0)
	for _, c := range counts {
		sum += c
		symbols += min(c, 1)
	}
	for i, c := range counts {
		if c > 0 {
			counts[i] = sum / symbols
		}
	}
}
