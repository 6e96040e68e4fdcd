package lz77

import "github.com/gopz/compress/internal/finder"

// CandidatesFit reports whether 32 bits hold every candidate that p finds in a block of size bytes,
// including the bytes in front of it.
func (p *Params) CandidatesFit(size int) bool {
	return p.Finder == RowHash && p.Nice <= finder.MaxCandidateNice &&
		size <= 1<<finder.CandidateOffsetBits
}

// FindCandidates sets best, which has an entry for each position of src but the last 16, to their
// candidates: the best match of each, as RowHash defines it. A candidate is 0 for none. Otherwise
// its low 24 bits hold the offset and its high 8 bits the length less 4, up to Nice.
// params.CandidatesFit(len(src)) must be true.
func (m *Matcher) FindCandidates(best []uint32, src []byte, params *Params, limits Limits) {
	limits.Check()
	m.params, m.limits = *params, limits
	src = src[:len(src):len(src)] // as in ParseFrom
	m.rows.reset(&m.params, len(src))
	least := params.minNewMatch(&limits)
	for i := range best {
		if i%rowCheckpointBytes == 0 {
			m.checkpoint()
		}
		best[i] = 0
		// Longer matches look no further than lengths tell apart: without that bound the time for
		// repetitive content is quadratic.
		end := min(len(src), i+params.Nice+finder.Tail)
		if n, d := m.find(src[:end:end], i, least); n > 0 {
			best[i] = uint32(d) | uint32(min(n, params.Nice)-4)<<finder.CandidateOffsetBits
		}
	}
}

// ParseCandidates is ParseFrom for params.Finder RowHash with the candidates of FindCandidates, or
// those that a device has found. ParseCandidates returns false if best has fewer than
// len(src) − 16 entries, or if an entry that it read is impossible.
func (m *Matcher) ParseCandidates(
	dst []Sequence, src []byte, start int, params *Params, limits Limits, best []uint32,
) (_ []Sequence, ok bool) {
	limits.Check()
	if len(src) < start+finder.Tail {
		return dst, true
	}
	if len(best) < len(src)-finder.Tail {
		return dst, false
	}
	m.params, m.limits = *params, limits
	src = src[:len(src):len(src)] // as in ParseFrom
	m.candidates, m.badCandidate = best, false
	defer func() { m.candidates, m.position = nil, 0 }()
	return m.parseLazy(dst, src, start), !m.badCandidate
}

// candidate is find for the caller's candidates.
func (m *Matcher) candidate(src []byte, i int) (n, offset int) {
	g := m.candidates[i]
	if g == 0 {
		return 0, 0
	}
	n, offset = int(g>>finder.CandidateOffsetBits)+4, int(g&(1<<finder.CandidateOffsetBits-1))
	if offset < MinOffset || offset > i || n > len(src)-i || offset > m.limits.MaxOffset {
		m.badCandidate = true
		return 0, 0
	}
	if n >= m.params.Nice {
		n = finder.Extend(src, i-offset, i, n)
	}
	return n, offset
}
