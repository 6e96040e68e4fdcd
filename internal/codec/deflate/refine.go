package deflate

// searchMargin is the number of literals and tokens that refine examines on each side of a
// boundary. The best boundary should be at most half a unit away.
const searchMargin = 1152

// refine moves the boundaries between blocks from ends of units to single tokens. It chooses the
// token where the symbols around it are cheapest with the codes of both sides. The blocks come from
// mergeUnits; their tokens and literals are at the front of s.
func (e *Encoder) refine(units []unit, s *span) {
	if units[0].next == len(units) {
		return // one block
	}
	left, right := &e.sides[0], &e.sides[1]
	left.build(&e.builder, &units[0].hist)
	tokens, lits := 0, 0
	for i := 0; units[i].next < len(units); i = units[i].next {
		if i%checkpointUnits == 0 {
			e.checkpoint()
		}
		u, v := &units[i], &units[units[i].next]
		right.build(&e.builder, &v.hist)
		e.gains.setGains(left, right)
		boundary := tokens + u.tokens
		for k := e.gains.search(s, boundary, lits+u.lits, u.tokens, v.tokens); k != 0; {
			if k < 0 {
				t := s.tokens[tokens+u.tokens-1]
				end := lits + u.lits
				u.moveToken(v, t, s.lits[end-int(t>>tokenRun):end])
				k++
			} else {
				t := s.tokens[tokens+u.tokens]
				end := lits + u.lits
				v.moveToken(u, t, s.lits[end:end+int(t>>tokenRun)])
				k--
			}
		}
		tokens += u.tokens
		lits += u.lits
		left, right = right, left
	}
}

// moveToken moves a token next to v, with its literals, from u to v.
func (u *unit) moveToken(v *unit, t token, lits []byte) {
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

// gains holds the number of bits that each symbol saves with the codes to the right of a boundary
// over those to the left.
type gains struct {
	litLen [litLenSymbols]int
	offset [offsetSymbols]int
}

func (g *gains) setGains(left, right *lengths) {
	difference(g.litLen[:], left.litLen[:], right.litLen[:])
	difference(g.offset[:], left.offset[:], right.offset[:])
	g.offset[noSlot] = 0
}

// difference sets d to the gains of symbols. A symbol without a code counts as a little longer than
// the longest code, because a new code must be described as well.
func difference(d []int, left, right []uint8) {
	const headerShare = 2
	l, r := int(unseenBits(left))+headerShare, int(unseenBits(right))+headerShare
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

// unseenBits returns the assumed code length of a symbol that did not occur.
func unseenBits(lens []uint8) uint32 {
	longest := uint8(0)
	for _, l := range lens {
		longest = max(longest, l)
	}
	return uint32(min(longest+1, maxBits))
}

// of returns the gain of moving a token to the right side.
func (g *gains) of(t token, lits []byte) (bits int) {
	for _, p := range lits {
		bits += g.litLen[p]
	}
	if length := t >> tokenLength & 511; length != 0 {
		bits += g.litLen[firstLength+int(lengthSlot[length])] + g.offset[t%offsetSymbols]
	}
	return bits
}

// search returns the number of tokens by which to move a boundary, negative for left. boundary is
// the index of the token behind it and lits the number of literals before it. Each side keeps at
// least one of its tokens.
func (g *gains) search(s *span, boundary, lits, left, right int) (best int) {
	bestGain := 8 // bits; a smaller gain is not worth a move
	sum, lit := 0, lits
	for k := 1; k < left && k+lits-lit < searchMargin; k++ {
		t := s.tokens[boundary-k]
		run := int(t >> tokenRun)
		lit -= run
		if sum += g.of(t, s.lits[lit:lit+run]); sum > bestGain {
			bestGain, best = sum, -k
		}
	}
	sum, lit = 0, lits
	for k := 1; k < right && k+lit-lits < searchMargin; k++ {
		t := s.tokens[boundary+k-1]
		run := int(t >> tokenRun)
		if sum -= g.of(t, s.lits[lit:lit+run]); sum > bestGain {
			bestGain, best = sum, k
		}
		lit += run
	}
	return best
}
