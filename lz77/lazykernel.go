package lz77

import (
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
)

// beginKernel prepares a parse of a block of size bytes by a kernel, with the kernel's own kind of
// rows or with m.candidates. It returns false if no kernel can do it.
func (m *Matcher) beginKernel(st *kernels.RowHashParse, size int) bool {
	p, l, r := &m.params, &m.limits, &m.rows
	external := m.candidates != nil
	switch {
	case l.Repeats != 0 && l.Repeats != maxRepeats,
		external && !kernels.HasCandidates(),
		!external && (!kernels.HasRowHash(p.Depth) || size >= 1<<kernels.RowHashBits):
		return false
	}
	*st = kernels.RowHashParse{
		UseRepeats: l.Repeats, Lazy: p.Lazy, Nice: p.Nice, MinRowMatch: m.minMatch,
		MinRepeatMatch: l.MinMatch, MaxOffset: l.MaxOffset,
	}
	if !external {
		log := finder.TableLog(p.HashLog, size)
		st.Depth, st.Shift, st.HashMask = p.Depth, uint64(32-log), uint64(finder.RowHashMask(p.HashBytes))
		st.Base = r.entries(p.Depth<<log, size, m.checkpoint)
	}
	return true
}

// parseSegmentKernel is parseSegment by a kernel.
func (m *Matcher) parseSegmentKernel(
	dst []Sequence, s *segment, st *kernels.RowHashParse,
) (_ []Sequence, behind int) {
	st.At, st.Anchor, st.End = s.begin, s.begin, s.end
	st.Repeats = repeatOffsets{noRepeat, noRepeat, noRepeat}
	for st.At < st.End {
		dst = m.grow(dst)
		room, valid := dst[len(dst):cap(dst)], m.costs.untilUpdate(dst)
		n := 0
		if m.candidates != nil {
			n = kernels.ParseCandidates(st, s.src, m.candidates, &m.costs.cost, room, valid)
		} else {
			n = kernels.ParseRowHash(st, s.src, m.rows.positions, &m.costs.cost, room, valid)
		}
		dst = dst[:len(dst)+n]
		if st.PendingLen > 0 {
			m.costs.update(dst, s.src, m.Checkpoint)
		}
		// The rows take in all positions, also those in matches.
		next := s.start + m.position + rowCheckpointBytes
		if at := max(st.NextInsert, min(st.At, next)); at >= next {
			m.reach(at - s.start)
		}
	}
	return dst, st.Anchor
}
