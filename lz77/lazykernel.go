package lz77

import (
	"github.com/gopz/compress/lz77/internal/base"
	"github.com/gopz/compress/simd"
)

// parseLazyKernel is parseLazy by a kernel, with the kernel's own kind of rows or with
// m.candidates. It returns false if no kernel can do it.
func (m *Matcher) parseLazyKernel(dst []Sequence, src []byte, start int) ([]Sequence, bool) {
	p, l, r := &m.params, &m.limits, &m.rows
	external := m.candidates != nil
	switch {
	case l.Repeats != 0 && l.Repeats != NewOffset,
		external && !simd.HasCandidates(),
		!external && (!simd.HasRowHash(p.Depth) || len(src) >= 1<<simd.RowHashBits):
		return dst, false
	}
	st := simd.RowHashParse{
		At: start, Anchor: start, End: len(src) - base.Tail,
		Repeats: repeatOffsets{InitialRepeat, InitialRepeat, InitialRepeat}, UseRepeats: l.Repeats,
		Lazy: p.Lazy, Nice: p.Nice, MinRowMatch: m.minMatch,
		MinRepeatMatch: l.MinMatch, MaxOffset: l.MaxOffset,
	}
	if !external {
		log := base.TableLog(p.HashLog, len(src))
		st.Depth, st.Shift, st.HashMask = p.Depth, uint64(32-log), uint64(rowHashMask(p.HashBytes))
		st.Base = r.entries(p.Depth<<log, len(src), m.checkpoint)
	}
	m.costs.reset(len(dst), start)
	for next := start + rowCheckpointBytes; st.At < st.End; {
		dst = m.grow(dst)
		room, valid := dst[len(dst):cap(dst)], m.costs.untilUpdate(dst)
		n := 0
		if external {
			n = simd.ParseCandidates(&st, src, m.candidates, &m.costs.cost, room, valid)
		} else {
			n = simd.ParseRowHash(&st, src, r.positions, &m.costs.cost, room, valid)
		}
		dst = dst[:len(dst)+n]
		if st.PendingLen > 0 {
			m.costs.update(dst, src, m.Checkpoint)
		}
		// The rows take in all positions, also those in matches.
		if at := max(st.NextInsert, min(st.At, next)); at >= next {
			next = at + rowCheckpointBytes
			m.reach(at - start)
		}
	}
	m.badCandidate = st.BadCandidate()
	return dst, true
}
