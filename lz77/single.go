package lz77

// parseSingle is a greedy parse with one hash table. Each position looks at one candidate and, one byte on, at the last
// offset; a run without matches is passed over in growing steps.
func (m *Matcher) parseSingle(dst []Sequence, src []byte, start int) []Sequence {
	table, shift, drop := m.table, m.shift, 64-8*m.params.HashBytes
	skip := m.params.SkipLog & 31
	maxOffset, minMatch := m.limits.MaxOffset, m.limits.MinMatch
	rep := InitialRepeat
	if m.limits.Repeats == 0 {
		rep = 0
	}
	end := len(src) - tail
	for p := 0; p < start; p += windowStep {
		table[hash(load64(src, p), drop, shift)] = int32(p)
	}
	anchor, i := start, start
	for i < end {
		v := load64(src, i)
		h := hash(v, drop, shift)
		c := int(table[h])
		table[h] = int32(i)
		// The last offset, one byte on: cheap to code, and likely.
		if rep != 0 && i+1 >= rep && uint32(v>>8) == load32(src, i+1-rep) {
			i++
			n := extend(src, i-rep, i, 4)
			if n >= minMatch {
				for i > anchor && i > rep && src[i-1] == src[i-rep-1] {
					i--
					n++
				}
				dst = append(dst, Sequence{uint32(i - anchor), uint32(n), uint32(rep)})
				i = m.pass(src, i, n)
				anchor = i
				continue
			}
			i--
		}
		if d := i - c; c >= 0 && d <= maxOffset {
			if d < MinOffset {
				d = int(farEnough[d])
				c = i - d
			}
			if c >= 0 && uint32(v) == load32(src, c) {
				n := extend(src, c, i, 4)
				if n >= minMatch {
					for i > anchor && c > 0 && src[i-1] == src[c-1] {
						i--
						c--
						n++
					}
					dst = append(dst, Sequence{uint32(i - anchor), uint32(n), uint32(d)})
					if m.limits.Repeats != 0 {
						rep = d
					}
					i = m.pass(src, i, n)
					anchor = i
					continue
				}
			}
		}
		i += min(1+(i-anchor)>>skip, maxStep)
	}
	return dst
}

// pass goes to the end of a match, and enters two of the positions in it into the table.
func (m *Matcher) pass(src []byte, i, n int) int {
	e := i + n
	if e < len(src)-tail {
		drop := 64 - 8*m.params.HashBytes
		m.table[hash(load64(src, i+2), drop, m.shift)] = int32(i + 2)
		m.table[hash(load64(src, e-2), drop, m.shift)] = int32(e - 2)
	}
	return e
}
