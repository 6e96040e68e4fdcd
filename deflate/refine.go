package deflate

// margin is how many literals and tokens on either side of a boundary are looked at, about: a unit has unitSymbols symbols, so that the best
// boundary should not be farther away than half of that, or little more.
const margin = 640

// refine moves the boundaries between blocks, which so far are where units end, to the tokens where the symbols around them take least with the codes
// of both sides. The blocks are those that split has left; their tokens and literals are in front of s.
func (e *Encoder) refine(units []unit, s *span) {
	left, right := &e.sides[0], &e.sides[1]
	left.best(&e.builder, &units[0].hist)
	tokens, lits := 0, 0
	for i := 0; units[i].next < len(units); i = units[i].next {
		u, v := &units[i], &units[units[i].next]
		right.best(&e.builder, &v.hist)
		e.gains.set(left, right)
		boundary := tokens + u.tokens
		for k := e.gains.search(s, boundary, lits+u.lits, u.tokens, v.tokens); k != 0; {
			if k < 0 {
				t := s.tokens[tokens+u.tokens-1]
				end := lits + u.lits
				u.give(v, t, s.lits[end-int(t>>tokenRun):end])
				k++
			} else {
				t := s.tokens[tokens+u.tokens]
				end := lits + u.lits
				v.give(u, t, s.lits[end:end+int(t>>tokenRun)])
				k--
			}
		}
		tokens += u.tokens
		lits += u.lits
		left, right = right, left
	}
}

// give makes a token next to v one of v's.
func (u *unit) give(v *unit, t token, lits []byte) {
	for _, p := range lits {
		u.hist.litLen[p]--
		v.hist.litLen[p]++
	}
	length := int(t >> tokenLength & 511)
	if length != 0 {
		symbol, slot := firstLength+int(lengthSlot[length]), t%offsetSymbols
		u.hist.litLen[symbol]--
		v.hist.litLen[symbol]++
		u.hist.offset[slot]--
		v.hist.offset[slot]++
		extra := uint64(lengthExtra[symbol-firstLength] + offsetExtra[slot])
		u.hist.extra -= extra
		v.hist.extra += extra
	}
	u.tokens--
	v.tokens++
	u.lits -= len(lits)
	v.lits += len(lits)
	u.content -= len(lits) + length
	v.content += len(lits) + length
}

// gains is how many bits symbols take less with the codes on the right of a boundary than with those on its left.
type gains struct {
	litLen [litLenSymbols]int
	offset [offsetSymbols]int
}

func (g *gains) set(left, right *lengths) {
	difference(g.litLen[:], left.litLen[:], right.litLen[:])
	difference(g.offset[:], left.offset[:], right.offset[:])
	g.offset[noSlot] = 0
}

// difference takes symbols that have no code yet for a little dearer than those that have: a code must be described as well.
func difference(d []int, left, right []uint8) {
	const dearer = 2
	l, r := int(unseen(left))+dearer, int(unseen(right))+dearer
	for i := range d {
		a, b := int(left[i]), int(right[i])
		if a == 0 {
			a = l
		}
		if b == 0 {
			b = r
		}
		d[i] = a - b
	}
}

// of returns what is gained by having a token on the right.
func (g *gains) of(t token, lits []byte) (bits int) {
	for _, p := range lits {
		bits += g.litLen[p]
	}
	if length := t >> tokenLength & 511; length != 0 {
		bits += g.litLen[firstLength+int(lengthSlot[length])] + g.offset[t%offsetSymbols]
	}
	return bits
}

// search returns by how many tokens a boundary should move: to the left if that is less than 0. It is before the token of that number, with
// so many literals in front of it, and both sides keep one of their tokens.
func (g *gains) search(s *span, boundary, lits, left, right int) (best int) {
	most := 8 // bits; what is less is not worth the trouble
	sum, lit := 0, lits
	for k := 1; k < left && k+lits-lit < margin; k++ {
		t := s.tokens[boundary-k]
		run := int(t >> tokenRun)
		lit -= run
		if sum += g.of(t, s.lits[lit:lit+run]); sum > most {
			most, best = sum, -k
		}
	}
	sum, lit = 0, lits
	for k := 1; k < right && k+lit-lits < margin; k++ {
		t := s.tokens[boundary+k-1]
		run := int(t >> tokenRun)
		if sum -= g.of(t, s.lits[lit:lit+run]); sum > most {
			most, best = sum, k
		}
		lit += run
	}
	return best
}
