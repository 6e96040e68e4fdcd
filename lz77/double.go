package lz77

// parseDouble is a greedy parse with two hash tables: one of 8 bytes, whose matches are taken at once, and one of fewer, whose
// matches are taken if the next position has no match of 8.
func (m *Matcher) parseDouble(dst []Sequence, src []byte, start int) []Sequence {
	longLog := tableLog(m.params.LongLog, len(src))
	m.long = table(m.long, longLog)
	long, longShift := m.long, 64-longLog
	short, shift, drop := m.table, m.shift, 64-8*m.params.HashBytes
	skip := m.params.SkipLog & 31
	maxOffset, minMatch := m.limits.MaxOffset, m.limits.MinMatch
	reps := m.limits.Repeats
	rep, rep2 := InitialRepeat, InitialRepeat
	end := len(src) - tail
	for p := 0; p < start; p += windowStep {
		v := load64(src, p)
		long[hash(v, 0, longShift)], short[hash(v, drop, shift)] = int32(p), int32(p)
	}
	anchor, i := start, start
	for i < end {
		v := load64(src, i)
		hl, hs := hash(v, 0, longShift), hash(v, drop, shift)
		cl, cs := int(long[hl]), int(short[hs])
		long[hl], short[hs] = int32(i), int32(i)
		var c, d, n int
		if reps != 0 && i+1 >= rep && uint32(v>>8) == load32(src, i+1-rep) {
			i++
			c, d = i-rep, rep
			n = extend(src, c, i, 4)
			if n >= minMatch {
				goto found
			}
			i--
		}
		if d = i - cl; cl >= 0 && d > 0 && d <= maxOffset {
			c = cl
			if d < MinOffset {
				d = int(farEnough[d])
				c = i - d
			}
			if c >= 0 && v == load64(src, c) {
				n = extend(src, c, i, 8)
				goto found
			}
		}
		if d = i - cs; cs >= 0 && d <= maxOffset {
			c = cs
			if d < MinOffset {
				d = int(farEnough[d])
				c = i - d
			}
			if c >= 0 && uint32(v) == load32(src, c) {
				n = extend(src, c, i, 4)
				// A longer match one byte on is worth a literal.
				v1 := load64(src, i+1)
				h1 := hash(v1, 0, longShift)
				c1 := int(long[h1])
				long[h1] = int32(i + 1)
				if d1 := i + 1 - c1; c1 >= 0 && d1 >= MinOffset && d1 <= maxOffset && v1 == load64(src, c1) {
					if n1 := extend(src, c1, i+1, 8); n1 > n {
						i, c, d, n = i+1, c1, d1, n1
					}
				}
				if n >= minMatch {
					goto found
				}
			}
		}
		i += min(1+(i-anchor)>>skip, maxStep)
		continue

	found:
		for i > anchor && c > 0 && src[i-1] == src[c-1] {
			i--
			c--
			n++
		}
		dst = append(dst, Sequence{uint32(i - anchor), uint32(n), uint32(d)})
		if d != rep {
			rep, rep2 = d, rep
		}
		second := i + 2
		i += n
		anchor = i
		if i >= end {
			break
		}
		for _, p := range [2]int{second, i - 2} {
			v := load64(src, p)
			long[hash(v, 0, longShift)] = int32(p)
			short[hash(v, drop, shift)] = int32(p)
		}
		// Records that differ in one field go back and forth between two offsets.
		for reps > 1 && i < end && i >= rep2 && load32(src, i) == load32(src, i-rep2) {
			n := extend(src, i-rep2, i, 4)
			if n < minMatch {
				break
			}
			dst = append(dst, Sequence{0, uint32(n), uint32(rep2)})
			rep, rep2 = rep2, rep
			v := load64(src, i)
			long[hash(v, 0, longShift)] = int32(i)
			short[hash(v, drop, shift)] = int32(i)
			i += n
			anchor = i
		}
	}
	return dst
}
