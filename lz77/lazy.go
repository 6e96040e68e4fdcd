package lz77

import "github.com/gopz/compress/lz77/internal/base"

// The lazy parser takes the best match at each position, unless one of the next Lazy positions has
// a better one (as zlib's deflate_slow does). A match with a new offset that saves nothing is left
// out; see literalCosts.
//
// Cost: one search per position that no match covers, plus up to Lazy searches per match.

// lazyCost[k] is the number of bits by which a match k positions later must be better. Each
// position costs a literal.
var lazyCost = [3]int{0, 4, 7}

// rowCheckpointBytes is the content in bytes between checkpoints of RowHash.
const rowCheckpointBytes = checkpointBytes / 16

// parseLazy appends the sequences of src[start:] to dst, with candidates from rows or from
// m.candidates.
func (m *Matcher) parseLazy(dst []Sequence, src []byte, start int) []Sequence {
	m.minMatch = m.params.minNewMatch(&m.limits)
	if seqs, ok := m.parseLazyKernel(dst, src, start); ok {
		return seqs
	}
	if m.candidates == nil {
		m.rows.reset(&m.params, len(src))
	}
	reps := repeatOffsets{InitialRepeat, InitialRepeat, InitialRepeat}
	end := len(src) - base.Tail
	m.costs.reset(len(dst), start)
	anchor, i := start, start
	next := start + rowCheckpointBytes
	for i < end {
		if i >= next {
			next = i + rowCheckpointBytes
			m.reach(i - start)
		}
		best := m.bestMatch(src, i, &reps, 0)
		if best.length == 0 {
			// Long stretches without a match are likely to go on.
			i += min(1+(i-anchor)>>8, maxStep)
			continue
		}
		at := i
		for k := 1; k <= m.params.Lazy && at+k < end && best.length < m.params.Nice; k++ {
			least := best.score + lazyCost[k]
			if next := m.bestMatch(src, at+k, &reps, least); next.score > least {
				at += k
				best, k = next, 0
			}
		}
		if best.offset != reps[0] && best.offset != reps[1] && best.offset != reps[2] &&
			!m.costs.pays(dst, src, at, best.length, best.offset, m.Checkpoint) {
			i = m.rows.next // behind the last position searched
			continue
		}
		c := at - best.offset
		for at > anchor && c > 0 && src[at-1] == src[c-1] {
			at--
			c--
			best.length++
		}
		dst = append(dst, Sequence{
			LitLen: uint32(at - anchor), MatchLen: uint32(best.length), Offset: uint32(best.offset),
		})
		reps.Use(best.offset)
		i = at + best.length
		anchor = i
	}
	return dst
}
