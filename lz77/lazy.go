package lz77

// A match found one or two positions later must be better by this many bits: it costs a literal more each time.
var lazyCost = [3]int{0, 4, 7}

// parseLazy takes the best match at each position, unless one of the next Lazy positions has a better one. One that does not pay is left out, and the parse goes
// on behind the last position looked at.
func (m *Matcher) parseLazy(dst []Sequence, src []byte, start int) []Sequence {
	m.least = m.params.least(&m.limits)
	if seqs, ok := m.parseRecent(dst, src, start); ok {
		return seqs
	}
	if m.given == nil {
		m.rows.reset(&m.params, len(src))
	}
	reps := repeats{InitialRepeat, InitialRepeat, InitialRepeat}
	end := len(src) - tail
	m.worth.reset(len(dst), start)
	anchor, i := start, start
	for i < end {
		best := m.best(src, i, &reps, 0)
		if best.n == 0 {
			// Long stretches without a match are likely to go on.
			i += min(1+(i-anchor)>>8, maxStep)
			continue
		}
		at := i
		for k := 1; k <= m.params.Lazy && at+k < end && best.n < m.params.Nice; k++ {
			if next := m.best(src, at+k, &reps, best.score+lazyCost[k]); next.score > best.score+lazyCost[k] {
				at += k
				best, k = next, 0
			}
		}
		if best.d != reps[0] && best.d != reps[1] && best.d != reps[2] && !m.worth.pays(dst, src, at, best.n, best.d) {
			i = m.rows.next // behind what was looked at
			continue
		}
		c := at - best.d
		for at > anchor && c > 0 && src[at-1] == src[c-1] {
			at--
			c--
			best.n++
		}
		dst = append(dst, Sequence{uint32(at - anchor), uint32(best.n), uint32(best.d)})
		reps.use(best.d)
		i = at + best.n
		anchor = i
	}
	return dst
}
