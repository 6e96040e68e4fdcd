package lz77

import (
	"slices"

	"github.com/gopz/compress/simd"
)

// parseRecent is parseLazy by a kernel, which keeps rows in another way. It returns false if there is none.
func (m *Matcher) parseRecent(dst []Sequence, src []byte, start int) ([]Sequence, bool) {
	p, l, r := &m.params, &m.limits, &m.rows
	if !simd.HasRecent(p.Depth) || len(src) >= 1<<simd.RecentBits || l.Repeats != 0 && l.Repeats != Fresh {
		return dst, false
	}
	log := tableLog(p.HashLog, len(src))
	st := simd.RecentParse{At: start, Anchor: start, End: len(src) - tail, Repeats: repeats{InitialRepeat, InitialRepeat, InitialRepeat}, Lazy: p.Lazy, Nice: p.Nice, Least: m.least,
		MinMatch: l.MinMatch, MaxOffset: l.MaxOffset, UseRepeats: l.Repeats, Depth: p.Depth, Shift: uint64(32 - log), HashMask: uint64(mixMask(p.HashBytes))}
	st.Base = r.entries(p.Depth<<log, len(src))
	m.worth.reset(len(dst), start)
	for st.At < st.End {
		dst = slices.Grow(dst, 1)
		n := simd.ParseRecent(&st, src, r.pos, &m.worth.cost, dst[len(dst):cap(dst)], m.worth.fresh(dst))
		dst = dst[:len(dst)+n]
		if st.Length > 0 {
			m.worth.learn(dst, src)
		}
	}
	return dst, true
}
