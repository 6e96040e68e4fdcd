package lz77

import (
	"slices"

	"github.com/gopz/compress/simd"
)

// parseSingle is a greedy parse with one hash table. It looks at positions in pairs, so that the loads of one need not wait for those of the
// other: at the last offset for the second of them, which is cheap to code and likely, and then at one candidate for each. A run without matches is passed over
// in growing steps. simd.ParseSingle does the same, and leaves nothing.
func (m *Matcher) parseSingle(dst []Sequence, src []byte, start int) []Sequence {
	table, shift, mask := m.table, m.shift, lowBytesMask(m.params.HashBytes)
	skip := m.params.SkipLog & 31
	maxOffset, minMatch := m.limits.MaxOffset, m.limits.MinMatch
	rep := InitialRepeat
	if m.limits.Repeats == 0 {
		rep = len(src) + 1 // farther than any position
	}
	end := len(src) - tail
	tagMask := m.tagMask
	// At least the first position, which counts as entered: an entry of 0 may stand for it.
	for p := 0; p < max(start, 1); p += prefixStep {
		x := hashProduct(load64(src, p), mask)
		table[hashIndex(x, shift)] = tagOf(x, tagMask) | uint32(p)
	}
	st := simd.SingleParse{At: max(start, 1), Anchor: start, Repeat: rep, End: end, Mask: mask, Shift: uint64(shift), TagMask: uint64(tagMask), SkipLog: uint64(skip),
		MaxOffset: maxOffset, MinMatch: minMatch, UpdateRepeat: m.limits.Repeats}
	for st.At < end {
		dst = slices.Grow(dst, 1)
		n, ok := simd.ParseSingle(&st, src, table, dst[len(dst):cap(dst)])
		if !ok {
			break
		}
		dst = dst[:len(dst)+n]
	}
	anchor, i := st.Anchor, st.At
	rep = st.Repeat
	for i < end {
		v, v1 := load64(src, i), load64(src, i+1)
		x, x1 := hashProduct(v, mask), hashProduct(v1, mask)
		h, h1, tag, tag1 := hashIndex(x, shift), hashIndex(x1, shift), tagOf(x, tagMask), tagOf(x1, tagMask)
		c, c1 := int(table[h]^tag), int(table[h1]^tag1)
		table[h], table[h1] = tag|uint32(i), tag1|uint32(i+1)
		d, n := rep, 0
		if i+1 >= d && uint32(v1) == load32(src, i+1-d) {
			i++
			c = i - d
			goto found
		}
		if d = i - c; uint(c) < uint(i) && uint32(v) == load32(src, c) && d <= maxOffset {
			goto candidate
		}
		c, d = c1, i+1-c1
		if uint(c) <= uint(i) && uint32(v1) == load32(src, c) && uint(d-1) < uint(maxOffset) {
			i++
			goto candidate
		}
	next:
		i += min(2+(i-anchor)>>skip, maxStep)
		continue

	candidate:
		if d < MinOffset {
			d = int(leastMultiple[d&(MinOffset-1)])
			if c = i - d; c < 0 || uint32(load64(src, i)) != load32(src, c) {
				goto next
			}
		}
	found:
		for n = 4; ; {
			if n > 4+3*inlineBytes || i+n+inlineBytes > len(src) {
				n += simd.MatchLen(src[c+n:], src[i+n:])
				break
			}
			x, k := firstDifference(xor8(src, c+n, i+n), xor8(src, c+n+8, i+n+8))
			if n += k; x != 0 {
				break
			}
		}
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
		if m.limits.Repeats != 0 {
			rep = d
		}
		second := i + 2
		i += n
		anchor = i
		if i >= end {
			break
		}
		for _, p := range [2]int{second, i - 2} {
			x := hashProduct(load64(src, p), mask)
			table[hashIndex(x, shift)] = tagOf(x, tagMask) | uint32(p)
		}
	}
	return dst
}
