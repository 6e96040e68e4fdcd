package lz77

// What is known of a piece before it is parsed: the counts that its first prices are made of.

// sample parses and counts half of a piece, the first and the third quarter, as if the coder were in the same state in front of both.
func (o *optimal) sample(src []byte, s chunk, at state) {
	quarter, begin := (s.to-s.from+3)/4, o.firstCand
	for p := s.from; p < s.to; p += 2 * quarter {
		from := o.skipCovered(begin, s, p)
		o.skipped = from - s.from
		o.firstCand = begin[o.skipped:]
		o.parse(src, chunk{from: from, to: min(from+quarter, s.to)}, at)
		o.model.Count(&o.counts, o.steps)
	}
	o.firstCand, o.skipped = begin, 0
}

// astrayBits says how much more a piece may cost by the counts of what is past than by its own, 1/2^astrayBits, and still be parsed by those at once: a sample would tell nothing new. Both are
// counts of greedy parses, since a better one is not there yet. Level 9, relative to all pieces sampled: dickens, mr and nci the same within 0.03%, xml 0.13% larger; 0.8 of the time.
// With 3 or 5 mr 0.7–1.3% larger and xml 0.1% smaller, which go up and down by that with anything. To judge by how far the piece before went astray: xml 0.3% larger.
const divergenceLog = 4

// steady reports whether a piece that is not the first is like those before it, and counts it among these: once for each.
func (o *optimal) resemblesPast(src []byte, s chunk) bool {
	o.countGreedy(src, s)
	lost, all := o.greedyPast.divergence(&o.greedyCounts)
	o.greedyPast.decay(o.decayShift)
	o.greedyPast.add(&o.greedyCounts)
	return lost < all>>divergenceLog
}

// seed counts what a greedy parse gives, for want of anything better. All bytes count as literals once more: if those seem dear at first, they stay so, since
// hardly any are left.
func (o *optimal) seedCounts(src []byte, s chunk) {
	o.countGreedy(src, s)
	o.greedyPast.copyFrom(&o.greedyCounts)
	o.counts.copyFrom(&o.greedyCounts)
	for i, b := range src[s.from:s.to] {
		o.counts.Literals[b]++
		if o.context != nil {
			o.context.count(i, otherOfRun, b)
		}
	}
	for k := range o.counts.Symbols {
		if o.rules.UniformStart>>k&1 != 0 {
			equalize(o.counts.Symbols[k][:])
		}
	}
}

// greedy counts what a greedy parse of a piece gives: at each position the longest match, if it looks worth its offset.
func (o *optimal) countGreedy(src []byte, s chunk) {
	o.steps = o.steps[:0]
	c := &o.greedyCounts
	*c = Counts{}
	run := uint32(0)
	for p := s.from; p < s.to; {
		at := p - s.from
		if cands := o.cands[o.firstCand[at]:o.firstCand[at+1]]; len(cands) > 0 {
			m := cands[len(cands)-1]
			n := min(m.length(), s.to-p)
			if n >= o.minNew && PriceBit*score(n) > int(log2Price(uint32(m.offset()))) {
				o.steps = append(o.steps, Step{Sequence{run, uint32(n), uint32(m.offset())}, NewOffset})
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

// even gives all symbols that occur the same count.
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
