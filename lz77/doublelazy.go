package lz77

import (
	"slices"

	"github.com/gopz/compress/simd"
)

// parseDoubleLazy is a parse with the two hash tables of Double that looks twice for something longer than the match at hand, which is that of the long table
// if there is one: in the long table one byte on, as long as that helps, and for what the long table has where the match ends, moved
// back by its length. The latter is from the encoder of klauspost/compress that is named SpeedBetterCompression. A match with the last offset
// one byte on is taken at once. simd.ParseDoubleLazy does the same.
func (m *Matcher) parseDoubleLazy(dst []Sequence, src []byte, start int) []Sequence {
	longLog := tableLog(m.params.LongHashLog, len(src))
	m.long = emptyTable(m.long, longLog)
	long, longShift := m.long, 64-longLog
	short, shift, mask := m.table, m.shift, lowBytesMask(m.params.HashBytes)
	skip, nice := m.params.SkipLog&31, m.params.Nice
	maxOffset, minMatch := m.limits.MaxOffset, m.limits.MinMatch
	rep, rep2 := InitialRepeat, InitialRepeat
	if m.limits.Repeats == 0 {
		rep, rep2 = len(src)+1, len(src)+1 // farther than any position
	}
	end := len(src) - tail
	tagMask := m.tagMask
	// At least the first position, which counts as entered: an entry of 0 may stand for it.
	for p := 0; p < max(start, 1); p += prefixStep {
		v := load64(src, p)
		x := hashProduct(v, ^uint64(0))
		e := tagOf(x, tagMask) | uint32(p)
		long[hashIndex(x, longShift)], short[hash(v, mask, shift)] = e, e
	}
	m.costs.reset(len(dst), start)
	if simd.HasDouble() {
		st := simd.DoubleParse{At: max(start, 1), Anchor: start, End: end, Repeats: [2]int{rep, rep2}, LongShift: uint64(longShift), ShortShift: uint64(shift), ShortMask: mask, TagMask: uint64(tagMask),
			SkipLog: uint64(skip), MinMatch: minMatch, MaxOffset: maxOffset, UpdateRepeats: m.limits.Repeats, Nice: nice}
		for st.At < end || st.PendingLen > 0 {
			dst = slices.Grow(dst, 1)
			n := simd.ParseDoubleLazy(&st, src, long, short, &m.costs.cost, dst[len(dst):cap(dst)], m.costs.untilUpdate(dst))
			dst = dst[:len(dst)+n]
			if st.PendingLen > 0 {
				m.costs.update(dst, src)
			}
		}
		return dst
	}
	anchor, i := start, max(start, 1)
	for i < end {
		v := load64(src, i)
		x := hashProduct(v, ^uint64(0))
		hl, hs, tag := hashIndex(x, longShift), hash(v, mask, shift), tagOf(x, tagMask)
		cl, cs := int(long[hl]^tag), int(short[hs]^tag)
		long[hl], short[hs] = tag|uint32(i), tag|uint32(i)
		var n int
		enter := i + 1 // the next position that is not in the tables
		c, d := i+1-rep, rep
		if c >= 0 && uint32(v>>8) == load32(src, c) {
			i++
			enter++
			x, k := firstDifference(xor8(src, c, i), xor8(src, c+8, i+8))
			if n = k; x == 0 {
				n += simd.MatchLen(src[c+inlineBytes:], src[i+inlineBytes:])
			}
			goto found
		}
		// Candidates whose tag was another's are beyond the block; on 32 bits they are negative. One whose tag is right in the long table has 8 bytes
		// nearly always: which of the two it is takes no branch.
		c = cs
		if uint(cl) < uint(i) {
			c = cl
		}
		if uint(c) >= uint(i) {
			goto next
		}
		if d = i - c; uint(d-MinOffset) > uint(maxOffset-MinOffset) {
			if d > maxOffset {
				goto next
			}
			d = int(leastMultiple[d])
			if c = i - d; c < 0 {
				goto next
			}
		}
		{
			x, k := firstDifference(v^load64(src, c), xor8(src, c+8, i+8))
			if n = k; n < minMatch {
				goto next
			}
			if x == 0 {
				n += simd.MatchLen(src[c+inlineBytes:], src[i+inlineBytes:])
			}
		}
		for n < nice && i+1 < end {
			v := load64(src, i+1)
			x := hashProduct(v, ^uint64(0))
			hl, tag := hashIndex(x, longShift), tagOf(x, tagMask)
			c1, e := int(long[hl]^tag), tag|uint32(i+1)
			long[hl], short[hash(v, mask, shift)] = e, e
			enter = i + 2
			d1 := i + 1 - c1
			if uint(c1) >= uint(i) || d1 == d || uint(d1-MinOffset) > uint(maxOffset-MinOffset) {
				break
			}
			x, n1 := firstDifference(v^load64(src, c1), xor8(src, c1+8, i+9))
			if x == 0 {
				n1 += simd.MatchLen(src[c1+inlineBytes:], src[i+1+inlineBytes:])
			}
			if n1 <= n {
				break
			}
			i, c, d, n = i+1, c1, d1, n1
		}
		if j := i + n; j < end {
			v := load64(src, j)
			x := hashProduct(v, ^uint64(0))
			c1 := int(long[hashIndex(x, longShift)] ^ tagOf(x, tagMask))
			d1 := j - c1
			at := i + endSkip
			c2 := at - d1
			if uint(c1) < uint(j) && c2 >= 0 && d1 != d && load32(src, c2) == load32(src, at) && uint(d1-MinOffset) <= uint(maxOffset-MinOffset) {
				if n1 := extend(src, c2, at, 4); n1 > n {
					i, c, d, n = at, c2, d1, n1
				}
			}
		}
	found:
		if n < minMatch {
			goto next
		}
		{
			k := 8
			if c >= 8 {
				k = equalBefore8(src, c, i, i-anchor)
			}
			if k >= 8 {
				k = equalBefore(src, c, i, i-anchor)
			}
			if d != rep && !m.costs.pays(dst, src, i-k, n+k, d) {
				i++
				continue
			}
			i -= k
			n += k
		}
		dst = append(dst, Sequence{uint32(i - anchor), uint32(n), uint32(d)})
		if d != rep && m.limits.Repeats != 0 {
			rep, rep2 = d, rep
		}
		i += n
		anchor = i
		if i >= end {
			break
		}
		for p, step, sparse := enter, insertStep, enter+denseBytes; p < i; p += step {
			if p >= sparse {
				step = sparseStep
			}
			v := load64(src, p)
			x := hashProduct(v, ^uint64(0))
			e := tagOf(x, tagMask) | uint32(p)
			long[hashIndex(x, longShift)], short[hash(v, mask, shift)] = e, e
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
			x := hashProduct(v, ^uint64(0))
			e := tagOf(x, tagMask) | uint32(i)
			long[hashIndex(x, longShift)], short[hash(v, mask, shift)] = e, e
			i += n
			anchor = i
		}
		continue
	next:
		i += min(1+(i-anchor)>>skip, maxStep)
	}
	return dst
}

// Of the positions in a match every insertStep-th of the first denseBytes goes into the tables, and every sparseStep-th of the others.
// With insertStep everywhere dickens+mr+nci+xml is 0.1% smaller and takes 3% longer, source 0.3%; with 3 everywhere it is 0.7% larger.
const (
	insertStep = 2
	denseBytes = 16
	sparseStep = 8
)

// endSkip is how many bytes behind the beginning of a match those are that the candidate of its end must have. What it has in front of them is found
// by looking back.
const endSkip = 3
