package lz77

import (
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/simd"
)

// The lazy parser of DoubleHash has the two hash tables of the greedy one and looks twice for a
// match longer than the one at hand:
//
//   - one byte further on, in the long table, for as long as that finds a longer match;
//   - where the match ends, in the long table. That candidate is moved back by the length of the
//     match, as SpeedBetterCompression of klauspost/compress does.
//
// A match at the last offset one byte further on is taken at once. A match with a new offset that
// saves nothing is left out; see literalCosts. Within a match every second and then every eighth
// position is inserted into both tables.
//
// Cost: two cache accesses per position searched, and up to two more per match found.
// kernels.ParseDoubleLazy does the same in assembly.

// Of the first denseBytes positions of a match, every insertStep-th is inserted into the tables,
// and of the others every sparseStep-th. With insertStep everywhere, text and tables are 0.1%
// smaller and take 3% longer.
const (
	insertStep = 2
	denseBytes = 16
	sparseStep = 8
)

// endSkip is the distance in bytes from the beginning of a match at which the candidate for its end
// is compared. Bytes in front of that are compared backwards.
const endSkip = 3

// parseDoubleLazy appends the sequences of src[start:] to dst.
func (m *Matcher) parseDoubleLazy(dst []Sequence, src []byte, start int) []Sequence {
	st := m.resetDouble(src, start)
	m.costs.reset(len(dst), start)
	if !kernels.HasDouble() {
		for st.At < st.End {
			dst = m.parseDoubleLazyPortable(dst, src, &st, min(st.At+checkpointBytes, st.End))
			m.reach(st.At - start)
		}
		return dst
	}
	st.Nice = m.params.Nice
	for next := st.At + checkpointBytes; st.At < st.End || st.PendingLen > 0; {
		dst = m.grow(dst)
		n := kernels.ParseDoubleLazy(&st, src, m.long, m.table, &m.costs.cost, dst[len(dst):cap(dst)],
			m.costs.untilUpdate(dst))
		dst = dst[:len(dst)+n]
		if st.PendingLen > 0 {
			m.costs.update(dst, src, m.Checkpoint)
		}
		if st.At >= next {
			next = st.At + checkpointBytes
			m.reach(st.At - start)
		}
	}
	return dst
}

// parseDoubleLazyPortable continues a parse from st to position stop or a little farther.
func (m *Matcher) parseDoubleLazyPortable(
	dst []Sequence, src []byte, st *kernels.DoubleParse, stop int,
) []Sequence {
	long, longShift := m.long, uint8(st.LongShift)
	short, shift, mask := m.table, m.shift, lowBytesMask(m.params.HashBytes)
	skip, nice := m.params.SkipLog&31, m.params.Nice
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
		toInsert := i + 1 // the next position that is not in the tables
		c, d := i+1-rep, rep
		if c >= 0 && uint32(v>>8) == finder.Load32(src, c) {
			i++
			toInsert++
			x, k := finder.FirstDifference(finder.Xor8(src, c, i), finder.Xor8(src, c+8, i+8))
			n = k
			if x == 0 {
				n += simd.MatchLen(src[c+finder.InlineBytes:], src[i+finder.InlineBytes:])
			}
			goto found
		}
		// A candidate with another tag lies beyond the block; it is negative on 32-bit machines.
		// A candidate of the long table with the right tag nearly always matches in 8 bytes. The
		// choice between the two takes no branch.
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
			d = int(finder.LeastMultiple[d])
			if c = i - d; c < 0 {
				goto next
			}
		}
		{
			x, k := finder.FirstDifference(v^finder.Load64(src, c), finder.Xor8(src, c+8, i+8))
			if n = k; n < minMatch {
				goto next
			}
			if x == 0 {
				n += simd.MatchLen(src[c+finder.InlineBytes:], src[i+finder.InlineBytes:])
			}
		}
		for n < nice && i+1 < end {
			v := finder.Load64(src, i+1)
			x := hashProduct(v, ^uint64(0))
			hl, tag := hashIndex(x, longShift), tagOf(x, tagMask)
			c1, e := int(long[hl]^tag), tag|uint32(i+1)
			long[hl], short[hash(v, mask, shift)] = e, e
			toInsert = i + 2
			d1 := i + 1 - c1
			if uint(c1) >= uint(i) || d1 == d || uint(d1-MinOffset) > uint(maxOffset-MinOffset) {
				break
			}
			x, n1 := finder.FirstDifference(v^finder.Load64(src, c1), finder.Xor8(src, c1+8, i+9))
			if x == 0 {
				n1 += simd.MatchLen(src[c1+finder.InlineBytes:], src[i+1+finder.InlineBytes:])
			}
			if n1 <= n {
				break
			}
			i, c, d, n = i+1, c1, d1, n1
		}
		if j := i + n; j < end {
			v := finder.Load64(src, j)
			x := hashProduct(v, ^uint64(0))
			c1 := int(long[hashIndex(x, longShift)] ^ tagOf(x, tagMask))
			d1 := j - c1
			at := i + endSkip
			c2 := at - d1
			if uint(c1) < uint(j) && c2 >= 0 && d1 != d && finder.Load32(src, c2) == finder.Load32(src, at) &&
				uint(d1-MinOffset) <= uint(maxOffset-MinOffset) {
				if n1 := finder.Extend(src, c2, at, 4); n1 > n {
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
				k = finder.EqualBefore8(src, c, i, i-anchor)
			}
			if k >= 8 {
				k = finder.EqualBefore(src, c, i, i-anchor)
			}
			if d != rep && !m.costs.pays(dst, src, i-k, n+k, d, m.Checkpoint) {
				i++
				continue
			}
			i -= k
			n += k
		}
		dst = append(dst, Sequence{LitLen: uint32(i - anchor), MatchLen: uint32(n), Offset: uint32(d)})
		if d != rep && m.limits.Repeats != 0 {
			rep, rep2 = d, rep
		}
		i += n
		anchor = i
		if i >= end {
			break
		}
		for p, step, sparse := toInsert, insertStep, toInsert+denseBytes; p < i; p += step {
			if p >= sparse {
				step = sparseStep
			}
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
		continue
	next:
		i += min(1+(i-anchor)>>skip, maxStep)
	}
	st.Anchor, st.At, st.Repeats = anchor, i, [2]int{rep, rep2}
	return dst
}
