package lz77

import (
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/simd"
)

// The parser of SingleHash is greedy, with one hash table and one candidate per hash (as LZ4 and
// zstd's "fast" strategy).
//
// It searches two neighbouring positions at a time, so that the loads of one need not wait for
// those of the other. It tries the last offset at the second position first, because a repeat
// offset is likely and cheap. Then it tries one candidate for each position. The step grows while
// nothing matches. Of a match only two positions are inserted: the second and the last but one.
//
// Cost: two cache accesses per pair of positions. kernels.ParseSingle does the same in assembly.

// parseSingle appends the sequences of src[start:] to dst.
func (m *Matcher) parseSingle(dst []Sequence, src []byte, start int) []Sequence {
	table, shift, mask := m.table, m.shift, lowBytesMask(m.params.HashBytes)
	rep := InitialRepeat
	if m.limits.Repeats == 0 {
		rep = len(src) + 1 // farther than any position
	}
	// Insert at least the first position: an entry of 0 may stand for it.
	for p := 0; p < max(start, 1); p += prefixStep {
		x := hashProduct(finder.Load64(src, p), mask)
		table[hashIndex(x, shift)] = tagOf(x, m.tagMask) | uint32(p)
	}
	st := kernels.SingleParse{
		At: max(start, 1), Anchor: start, End: len(src) - finder.Tail, Repeat: rep,
		Mask: mask, Shift: uint64(shift), TagMask: uint64(m.tagMask),
		SkipLog: uint64(m.params.SkipLog & 31), MaxOffset: m.limits.MaxOffset,
		MinMatch: m.limits.MinMatch, UpdateRepeat: m.limits.Repeats,
	}
	for next := st.At + checkpointBytes; st.At < st.End; {
		dst = m.grow(dst)
		n, ok := kernels.ParseSingle(&st, src, table, dst[len(dst):cap(dst)])
		if !ok {
			dst = m.parseSinglePortable(dst, src, &st, min(next, st.End))
		} else {
			dst = dst[:len(dst)+n]
		}
		if st.At >= next {
			next = st.At + checkpointBytes
			m.reach(st.At - start)
		}
	}
	return dst
}

// parseSinglePortable continues a parse from st to position stop or a little farther.
func (m *Matcher) parseSinglePortable(
	dst []Sequence, src []byte, st *kernels.SingleParse, stop int,
) []Sequence {
	table, shift, mask := m.table, m.shift, lowBytesMask(m.params.HashBytes)
	skip := m.params.SkipLog & 31
	maxOffset, minMatch, tagMask := m.limits.MaxOffset, m.limits.MinMatch, m.tagMask
	anchor, i, end, rep := st.Anchor, st.At, st.End, st.Repeat
	for i < stop {
		v, v1 := finder.Load64(src, i), finder.Load64(src, i+1)
		x, x1 := hashProduct(v, mask), hashProduct(v1, mask)
		h, h1 := hashIndex(x, shift), hashIndex(x1, shift)
		tag, tag1 := tagOf(x, tagMask), tagOf(x1, tagMask)
		c, c1 := int(table[h]^tag), int(table[h1]^tag1)
		table[h], table[h1] = tag|uint32(i), tag1|uint32(i+1)
		d, n := rep, 0
		if i+1 >= d && uint32(v1) == finder.Load32(src, i+1-d) {
			i++
			c = i - d
			goto found
		}
		if d = i - c; uint(c) < uint(i) && uint32(v) == finder.Load32(src, c) && d <= maxOffset {
			goto candidate
		}
		c, d = c1, i+1-c1
		if uint(c) <= uint(i) && uint32(v1) == finder.Load32(src, c) && uint(d-1) < uint(maxOffset) {
			i++
			goto candidate
		}
	next:
		i += min(2+(i-anchor)>>skip, maxStep)
		continue

	candidate:
		if d < MinOffset {
			d = int(finder.LeastMultiple[d&(MinOffset-1)])
			if c = i - d; c < 0 || uint32(finder.Load64(src, i)) != finder.Load32(src, c) {
				goto next
			}
		}
	found:
		for n = 4; ; {
			if n > 4+3*finder.InlineBytes || i+n+finder.InlineBytes > len(src) {
				n += simd.MatchLen(src[c+n:], src[i+n:])
				break
			}
			x, k := finder.FirstDifference(finder.Xor8(src, c+n, i+n), finder.Xor8(src, c+n+8, i+n+8))
			n += k
			if x != 0 {
				break
			}
		}
		if n < minMatch {
			goto next
		}
		{
			k := 8
			if c >= 8 {
				k = finder.EqualBefore8(src, c, i, i-anchor)
			}
			if k >= 8 {
				k = finder.EqualBefore(src, c, i, i-anchor)
			}
			i, n = i-k, n+k
		}
		dst = append(dst, Sequence{LitLen: uint32(i - anchor), MatchLen: uint32(n), Offset: uint32(d)})
		if m.limits.Repeats != 0 {
			rep = d
		}
		second := i + 2
		i, anchor = i+n, i+n
		if i >= end {
			break
		}
		for _, p := range [2]int{second, i - 2} {
			x := hashProduct(finder.Load64(src, p), mask)
			table[hashIndex(x, shift)] = tagOf(x, tagMask) | uint32(p)
		}
	}
	st.Anchor, st.At, st.Repeat = anchor, i, rep
	return dst
}
