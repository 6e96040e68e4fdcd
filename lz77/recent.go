package lz77

import (
	"slices"

	"github.com/gopz/compress/simd"
)

// parseRecent is parseLazy by a kernel, which keeps rows in another way, or takes the candidates that are given. It returns false if there is none.
func (m *Matcher) parseRecent(dst []Sequence, src []byte, start int) ([]Sequence, bool) {
	p, l, r := &m.params, &m.limits, &m.rows
	given := m.given != nil
	if l.Repeats != 0 && l.Repeats != NewOffset || given && !simd.HasCandidates() || !given && (!simd.HasRowHash(p.Depth) || len(src) >= 1<<simd.RowHashBits) {
		return dst, false
	}
	st := simd.RowHashParse{At: start, Anchor: start, End: len(src) - tail, Repeats: repeats{InitialRepeat, InitialRepeat, InitialRepeat}, Lazy: p.Lazy, Nice: p.Nice, MinRowMatch: m.least,
		MinRepeatMatch: l.MinMatch, MaxOffset: l.MaxOffset, UseRepeats: l.Repeats}
	if !given {
		log := tableLog(p.HashLog, len(src))
		st.Depth, st.Shift, st.HashMask = p.Depth, uint64(32-log), uint64(mixMask(p.HashBytes))
		st.Base = r.entries(p.Depth<<log, len(src))
	}
	m.worth.reset(len(dst), start)
	for st.At < st.End {
		dst = slices.Grow(dst, 1)
		room, fresh := dst[len(dst):cap(dst)], m.worth.fresh(dst)
		n := 0
		if given {
			n = simd.ParseCandidates(&st, src, m.given, &m.worth.cost, room, fresh)
		} else {
			n = simd.ParseRowHash(&st, src, r.pos, &m.worth.cost, room, fresh)
		}
		dst = dst[:len(dst)+n]
		if st.PendingLen > 0 {
			m.worth.learn(dst, src)
		}
	}
	m.bad = st.BadCandidate()
	return dst, true
}
