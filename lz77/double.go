package lz77

import (
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
)

// The greedy parser of DoubleHash has two hash tables with one candidate per hash, as zstd's
// "double fast" strategy: a long table by 8 bytes and a short one by HashBytes bytes.
//
// It takes the candidate of the long table if there is one in reach, else that of the short table.
// A match of fewer than longEnough bytes gives way to a longer one that the long table has for the
// next position. A match at the last offset one byte further on is taken at once. Behind a match it
// also tries the offset before the last.
//
// Cost: two cache accesses per position searched. kernels.ParseDouble does the same in assembly,
// except for the last kernels.DoubleSlack bytes.

// longEnough is the length of a match in bytes from which the next position is not searched: the
// size of the kernel's vectors.
const longEnough = 32

// resetDouble empties both tables and inserts the positions in front of start. It returns the state
// from which a kernel or the portable code goes on.
func (m *Matcher) resetDouble(src []byte, start int) kernels.DoubleParse {
	longLog := finder.TableLog(m.params.LongHashLog, len(src))
	m.long = finder.EmptyTable(m.long, longLog)
	long, longShift := m.long, 64-longLog
	short, shift, mask := m.table, m.shift, lowBytesMask(m.params.HashBytes)
	// Insert at least the first position: an entry of 0 may stand for it.
	for p := 0; p < max(start, 1); p += prefixStep {
		v := finder.Load64(src, p)
		x := hashProduct(v, ^uint64(0))
		e := tagOf(x, m.tagMask) | uint32(p)
		long[hashIndex(x, longShift)], short[hash(v, mask, shift)] = e, e
	}
	repeats := [2]int{InitialRepeat, InitialRepeat}
	if m.limits.Repeats == 0 {
		repeats = [2]int{len(src) + 1, len(src) + 1} // farther than any position
	}
	return kernels.DoubleParse{
		At: max(start, 1), Anchor: start, End: len(src) - finder.Tail, Repeats: repeats,
		LongShift: uint64(longShift), ShortShift: uint64(shift), ShortMask: mask, TagMask: uint64(m.tagMask),
		SkipLog: uint64(m.params.SkipLog & 31), MinMatch: m.limits.MinMatch,
		MaxOffset: m.limits.MaxOffset, UpdateRepeats: m.limits.Repeats,
	}
}

// parseDouble appends the sequences of src[start:] to dst.
func (m *Matcher) parseDouble(dst []Sequence, src []byte, start int) []Sequence {
	st := m.resetDouble(src, start)
	next := st.At + checkpointBytes
	if kernels.HasDouble() {
		for st.At < min(st.End, len(src)-kernels.DoubleSlack) || st.CheckRepeat != 0 {
			dst = m.grow(dst)
			n := kernels.ParseDouble(&st, src, m.long, m.table, dst[len(dst):cap(dst)])
			dst = dst[:len(dst)+n]
			if st.At >= next {
				next = st.At + checkpointBytes
				m.reach(st.At - start)
			}
		}
	}
	for st.At < st.End {
		dst = m.parseDoublePortable(dst, src, &st, min(st.At+checkpointBytes, st.End))
		m.reach(st.At - start)
	}
	return dst
}

// parseDoublePortable continues a greedy parse from st to position stop or a little farther.
func (m *Matcher) parseDoublePortable(
	dst []Sequence, src []byte, st *kernels.DoubleParse, stop int,
) []Sequence {
	long, longShift := m.long, uint8(st.LongShift)
	short, shift, mask := m.table, m.shift, lowBytesMask(m.params.HashBytes)
	skip := m.params.SkipLog & 31
	maxOffset, minMatch := m.limits.MaxOffset, m.limits.MinMatch
	tagMask := m.tagMask
	rep, rep2 := st.Repeats[0], st.Repeats[1]
	anchor, i, end := st.Anchor, st.At, st.End
	for i < stop {
		v := finder.Load64(src, i)
		x := hashProduct(v, ^uint64(0))
		hl, hs, tag := hashIndex(x, longShift), hash(v, mask, shift), tagOf(x, tagMask)
		cl, cs := int(long[hl]^tag), int(short[hs]^tag)
		long[hl], short[hs] = tag|uint32(i), tag|uint32(i)
		var n int
		c, d := i+1-rep, rep
		if c >= 0 && uint32(v>>8) == finder.Load32(src, c) {
			i++
			n = finder.Extend(src, c, i, 4)
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
			d = int(finder.LeastMultiple[d])
			if c = i - d; c < 0 {
				goto next
			}
		}
		if n = finder.Extend(src, c, i, 0); n < minMatch {
			goto next
		}
		{
			// A longer match one byte further on is worth a literal.
			v1 := finder.Load64(src, i+1)
			x1 := hashProduct(v1, ^uint64(0))
			h1, tag1 := hashIndex(x1, longShift), tagOf(x1, tagMask)
			c1 := int(long[h1] ^ tag1)
			long[h1] = tag1 | uint32(i+1)
			d1 := i + 1 - c1
			if uint(c1) <= uint(i) && uint(d1-MinOffset) <= uint(maxOffset-MinOffset) && n < longEnough {
				if n1 := finder.Extend(src, c1, i+1, 0); n1 > n {
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
				k = finder.EqualBefore8(src, c, i, i-anchor)
			}
			if k >= 8 {
				k = finder.EqualBefore(src, c, i, i-anchor)
			}
			i -= k
			n += k
		}
		dst = append(dst, Sequence{LitLen: uint32(i - anchor), MatchLen: uint32(n), Offset: uint32(d)})
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
			v := finder.Load64(src, p)
			x := hashProduct(v, ^uint64(0))
			e := tagOf(x, tagMask) | uint32(p)
			long[hashIndex(x, longShift)], short[hash(v, mask, shift)] = e, e
		}
		// Records that differ in one field alternate between two offsets.
		for i < end && i >= rep2 && finder.Load32(src, i) == finder.Load32(src, i-rep2) {
			n := finder.Extend(src, i-rep2, i, 4)
			if n < minMatch {
				break
			}
			dst = append(dst, Sequence{MatchLen: uint32(n), Offset: uint32(rep2)})
			rep, rep2 = rep2, rep
			v := finder.Load64(src, i)
			x := hashProduct(v, ^uint64(0))
			e := tagOf(x, tagMask) | uint32(i)
			long[hashIndex(x, longShift)], short[hash(v, mask, shift)] = e, e
			i += n
			anchor = i
		}
	}
	st.Anchor, st.At, st.Repeats = anchor, i, [2]int{rep, rep2}
	return dst
}
