package lz77

import "math/bits"

// hash4 is the hash of the chains.
func hash4(v uint32, shift uint8) uint32 { return v * prime32 >> (shift & 31) }

// insert enters the positions up to and including i into the chains.
func (m *Matcher) insert(src []byte, i int) {
	table, chain, shift := m.table, m.chain, m.shift-32
	for p := m.next; p <= i; p++ {
		h := hash4(load32(src, p), shift)
		chain[p] = table[h]
		table[h] = int32(p)
	}
	m.next = max(m.next, i+1)
}

// match is a way to go on from a position.
type match struct {
	n, d  int // length and offset in bytes
	score int // bits saved, about; see score
}

// find returns the best of the candidates at i as Chain defines them, with n = 0 if there is none of at least 4 bytes.
func (m *Matcher) find(src []byte, i int) (best match) {
	m.insert(src, i)
	maxOffset, nice := m.limits.MaxOffset, m.params.Nice
	best.n = m.limits.MinMatch - 1
	c := int(m.chain[i])
	for k := m.params.Depth; c >= 0 && k > 0; k-- {
		d := i - c
		at := c
		if d < 16 {
			d = int(farEnough[d])
			at = i - d
		}
		if d > maxOffset {
			break
		}
		if at >= 0 && src[at+best.n] == src[i+best.n] && load32(src, at) == load32(src, i) {
			if n := extend(src, at, i, 4); n > best.n {
				best.n, best.d = n, d
				if n >= nice || i+n >= len(src) {
					break
				}
			}
		}
		c = int(m.chain[c])
	}
	if best.d == 0 {
		return match{}
	}
	best.score = score(best.n) - bits.Len32(uint32(best.d))
	return best
}

// score is what n bytes of match are worth, in bits: four bits a byte is what a literal costs on common data, less the token.
func score(n int) int { return 4 * n }

// repeats is the list of recent offsets, the latest first.
type repeats [3]int

func (r *repeats) use(d int) {
	switch d {
	case r[0]:
	case r[1]:
		r[0], r[1] = d, r[0]
	default:
		r[0], r[1], r[2] = d, r[0], r[1]
	}
}

// findRepeat returns the longest match at i with one of the recent offsets.
func (m *Matcher) findRepeat(src []byte, i int, r *repeats) (best match) {
	best.n = m.limits.MinMatch - 1
	v := load32(src, i)
	for _, d := range r[:m.limits.Repeats] {
		if c := i - d; c >= 0 && load32(src, c) == v {
			if n := extend(src, c, i, 4); n > best.n {
				best.n, best.d = n, d
			}
		}
	}
	if best.d == 0 {
		return match{}
	}
	best.score = score(best.n) + 1
	return best
}
