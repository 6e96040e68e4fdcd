package lz77

import (
	"slices"

	"github.com/gopz/compress/simd"
)

// parseDouble is a greedy parse with two hash tables: one of 8 bytes, whose candidate is looked at if its offset will do, and one of fewer, whose candidate is if not. A match
// of fewer than 32 bytes gives way to a longer one that the first table has for the next position. A match with the last offset one byte on is taken at once.
// simd.ParseDouble does the same, but for the last bytes.
func (m *Matcher) parseDouble(dst []Sequence, src []byte, start int) []Sequence {
	longLog := tableLog(m.params.LongHashLog, len(src))
	m.long = emptyTable(m.long, longLog)
	long, longShift := m.long, 64-longLog
	short, shift, mask := m.table, m.shift, lowBytesMask(m.params.HashBytes)
	skip := m.params.SkipLog & 31
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
	st := simd.DoubleParse{At: max(start, 1), Anchor: start, End: end, Repeats: [2]int{rep, rep2}, LongShift: uint64(longShift), ShortShift: uint64(shift), ShortMask: mask, TagMask: uint64(tagMask),
		SkipLog: uint64(skip), MinMatch: minMatch, MaxOffset: maxOffset, UpdateRepeats: m.limits.Repeats}
	if simd.HasDouble() {
		for st.At < min(end, len(src)-simd.DoubleSlack) || st.CheckRepeat != 0 {
			dst = slices.Grow(dst, 1)
			n := simd.ParseDouble(&st, src, long, short, dst[len(dst):cap(dst)])
			dst = dst[:len(dst)+n]
		}
		rep, rep2 = st.Repeats[0], st.Repeats[1]
	}
	anchor, i := st.Anchor, st.At
	for i < end {
		v := load64(src, i)
		x := hashProduct(v, ^uint64(0))
		hl, hs, tag := hashIndex(x, longShift), hash(v, mask, shift), tagOf(x, tagMask)
		cl, cs := int(long[hl]^tag), int(short[hs]^tag)
		long[hl], short[hs] = tag|uint32(i), tag|uint32(i)
		var n int
		c, d := i+1-rep, rep
		if c >= 0 && uint32(v>>8) == load32(src, c) {
			i++
			n = extend(src, c, i, 4)
			goto found
		}
		c = cs
		if uint(cl) < uint(i) && uint(i-cl-MinOffset) <= uint(maxOffset-MinOffset) {
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
		if n = extend(src, c, i, 0); n < minMatch {
			goto next
		}
		{
			// A longer match one byte on is worth a literal.
			v1 := load64(src, i+1)
			x1 := hashProduct(v1, ^uint64(0))
			h1, tag1 := hashIndex(x1, longShift), tagOf(x1, tagMask)
			c1 := int(long[h1] ^ tag1)
			long[h1] = tag1 | uint32(i+1)
			if d1 := i + 1 - c1; uint(c1) <= uint(i) && uint(d1-MinOffset) <= uint(maxOffset-MinOffset) && n < longEnough {
				if n1 := extend(src, c1, i+1, 0); n1 > n {
					i, c, d, n = i+1, c1, d1, n1
				}
			}
			goto found
		}
	next:
		i += min(1+(i-anchor)>>skip, maxStep)
		continue

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
			i -= k
			n += k
		}
		dst = append(dst, Sequence{uint32(i - anchor), uint32(n), uint32(d)})
		if d != rep && m.limits.Repeats != 0 {
			rep, rep2 = d, rep
		}
		second := i + 2
		i += n
		anchor = i
		if i >= end {
			break
		}
		for _, p := range [2]int{second, i - 2} {
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
	}
	return dst
}

// enough is the length of a match in bytes, at which no longer one is looked for one byte on: what a vector of the kernel compares.
const longEnough = 32
