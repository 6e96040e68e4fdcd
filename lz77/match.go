package lz77

import (
	"math/bits"

	"github.com/gopz/compress/internal/finder"
)

// match is a match at a given position.
type match struct {
	length, offset int // in bytes
	score          int // bits that the match saves, approximately; see score
}

// find returns length and offset of the best candidate at i by the definition of RowHash. Both are
// 0 if there is none; they may be 0 if the match is shorter than least bytes. Positions must ascend
// from call to call.
func (m *Matcher) find(src []byte, i, least int) (n, offset int) {
	if m.candidates != nil {
		m.rows.next = i + 1
		return m.candidate(src, i)
	}
	return m.rows.find(src, i, least, m.limits.MaxOffset, m.params.Nice)
}

// nearNice bytes of additional match outweigh any difference in offset, less one: offsets differ by
// 22 bits at most.
const nearNice = 5

// minOffsetBits is the number of bits that the least offset takes from a score.
const minOffsetBits = 5

// score returns what n bytes of match save, in bits: 4 bits a byte, as literals of common data
// cost, less the token.
func score(n int) int { return 4 * n }

// repeatOffsets is the list of repeat offsets, the most recent first.
type repeatOffsets = finder.Repeats[int]

// findRepeat returns the longest match at i with a repeat offset.
func (m *Matcher) findRepeat(src []byte, i int, r *repeatOffsets) (best match) {
	best.length = m.limits.MinMatch - 1
	v := finder.Load32(src, i)
	for _, d := range r[:m.limits.Repeats] {
		if c := i - d; c >= 0 && finder.Load32(src, c) == v {
			if n := finder.Extend(src, c, i, 4); n > best.length {
				best.length, best.offset = n, d
			}
		}
	}
	if best.offset == 0 {
		return match{}
	}
	best.score = score(best.length) + 1
	return best
}

// bestMatch returns the match at i with the highest score. It may return a shorter match, or none,
// if no match scores more than bound.
func (m *Matcher) bestMatch(src []byte, i int, reps *repeatOffsets, bound int) (r match) {
	if m.limits.Repeats != 0 {
		if r = m.findRepeat(src, i, reps); r.length >= m.params.Nice {
			return r
		}
	}
	// A candidate that cannot win is passed over, unless it has nearly Nice bytes: RowHash may
	// prefer that one to a farther candidate above Nice, which find would return in its place.
	least := max(m.minMatch, min((max(bound, r.score)+minOffsetBits)/4+1, m.params.Nice-nearNice))
	if n, d := m.find(src, i, least); n > 0 {
		if s := score(n) - bits.Len32(uint32(d)); s > r.score {
			return match{n, d, s}
		}
	}
	return r
}
