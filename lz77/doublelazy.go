package lz77

import "math/bits"

// parseDoubleLazy is a parse with the two hash tables of Double that takes the better of their matches and the last offset's, unless one of the next Lazy
// positions has a better one.
func (m *Matcher) parseDoubleLazy(dst []Sequence, src []byte, start int) []Sequence {
	m.longShift = 64 - tableLog(m.params.LongLog, len(src))
	m.long = table(m.long, 64-m.longShift)
	long, longShift := m.long, m.longShift
	short, shift, mask := m.table, m.shift, lowBytes(m.params.HashBytes)
	skip := m.params.SkipLog & 31
	maxOffset, minMatch := m.limits.MaxOffset, m.limits.MinMatch
	rep, rep2 := InitialRepeat, InitialRepeat
	if m.limits.Repeats == 0 {
		rep, rep2 = len(src)+1, len(src)+1 // farther than any position
	}
	end := len(src) - tail
	tagMask := m.tagMask
	// At least the first position, which counts as entered: an entry of 0 may stand for it.
	for p := 0; p < max(start, 1); p += windowStep {
		v := load64(src, p)
		x := product(v, ^uint64(0))
		e := tagOf(x, tagMask) | uint32(p)
		long[index(x, longShift)], short[hash(v, mask, shift)] = e, e
	}
	m.worth.reset(len(dst), start)
	anchor, i := start, max(start, 1)
	for i < end {
		v := load64(src, i)
		x := product(v, ^uint64(0))
		hl, hs, tag := index(x, longShift), hash(v, mask, shift), tagOf(x, tagMask)
		cl, cs := int(long[hl]^tag), int(short[hs]^tag)
		long[hl], short[hs] = tag|uint32(i), tag|uint32(i)
		var best match
		if c := i - rep; uint(cl) < uint(i) || uint(cs) < uint(i) || c >= 0 && uint32(v) == load32(src, c) {
			best = choose(src, i, cl, cs, rep, maxOffset)
		}
		if best.n < minMatch {
			i += min(1+(i-anchor)>>skip, maxStep)
			continue
		}
		for k := 1; k <= m.params.Lazy && i+k < end && best.n < m.params.Nice; k++ {
			if next := m.probe(src, i+k, rep); next.n >= minMatch && next.score > best.score+lazyCost[k] {
				i += k
				best, k = next, 0
			}
		}
		n, d := best.n, best.d
		if d != rep && !m.worth.pays(dst, src, i, n, d) {
			i++
			continue
		}
		second := i + 2
		k := 8
		if c := i - d; c >= 8 {
			k = before(src, c, i, i-anchor)
		}
		if k >= 8 {
			k = back(src, i-d, i, i-anchor)
		}
		dst = append(dst, Sequence{uint32(i - k - anchor), uint32(n + k), uint32(d)})
		if d != rep && m.limits.Repeats != 0 {
			rep, rep2 = d, rep
		}
		i += n
		anchor = i
		if i >= end {
			break
		}
		for p := second; p < i; p += insertStep {
			v := load64(src, p)
			x := product(v, ^uint64(0))
			e := tagOf(x, tagMask) | uint32(p)
			long[index(x, longShift)], short[hash(v, mask, shift)] = e, e
		}
		// Records that differ in one field go back and forth between two offsets.
		for i < end && i >= rep2 && load32(src, i) == load32(src, i-rep2) {
			n := extend(src, i-rep2, i, 4)
			if n < minMatch {
				break
			}
			dst = append(dst, Sequence{0, uint32(n), uint32(rep2)})
			rep, rep2 = rep2, rep
			v := load64(src, i)
			x := product(v, ^uint64(0))
			e := tagOf(x, tagMask) | uint32(i)
			long[index(x, longShift)], short[hash(v, mask, shift)] = e, e
			i += n
			anchor = i
		}
	}
	return dst
}

// insertStep is how many positions in a match there are for one that goes into the tables. On dickens+mr+nci+xml 1 is 0.6% smaller and 15% slower than
// 2, and 4 is 1.5% larger and 10% faster.
const insertStep = 2

// probe enters i, and returns the best match there.
func (m *Matcher) probe(src []byte, i, rep int) match {
	v := load64(src, i)
	x := product(v, ^uint64(0))
	hl, hs, tag := index(x, m.longShift), hash(v, lowBytes(m.params.HashBytes), m.shift), tagOf(x, m.tagMask)
	cl, cs := int(m.long[hl]^tag), int(m.table[hs]^tag)
	m.long[hl], m.table[hs] = tag|uint32(i), tag|uint32(i)
	return choose(src, i, cl, cs, rep, m.limits.MaxOffset)
}

// choose returns the better of the matches at i with the last offset and with one candidate: cl if it has 8 bytes, cs otherwise. Those
// whose tag was another's are beyond the block; on 32 bits they are negative.
func choose(src []byte, i, cl, cs, rep, maxOffset int) (best match) {
	v := load64(src, i)
	if c := i - rep; c >= 0 && uint32(v) == load32(src, c) {
		n := extend(src, c, i, 4)
		best = match{n, rep, score(n) + 1}
	}
	c, d, x := cl, i-cl, uint64(1)
	if uint(c) < uint(i) {
		x = v ^ load64(src, c)
	}
	if x != 0 && uint(cs) < uint(i) {
		c, d = cs, i-cs
		x = v ^ load64(src, c)
	}
	if uint32(x) == 0 && uint(d-1) < uint(maxOffset) {
		if d < MinOffset {
			d = int(farEnough[d])
			if c = i - d; c < 0 || uint32(v) != load32(src, c) {
				return best
			}
		}
		n := extend(src, c, i, 4)
		if s := score(n) - bits.Len32(uint32(d)); s > best.score {
			best = match{n, d, s}
		}
	}
	return best
}
