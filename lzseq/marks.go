package lzseq

// Marks sets, in bits that are all 0, one for each of n literals and the least significant one first, those of the literals where a literal run begins: what is right behind a
// match, and the first. Tokens and LitLens of the layouts Repeat and Dense tell; an error, a CorruptError, says that they do not fit the number of literals. Bits behind
// the last literal may be set.
func (s *Streams) Marks(bits []uint64, n int) error {
	at, long, lits := uint64(0), 0, s.LitLens
	if n == 0 {
		bits = nil
	}
	// The bits of a word are put together before they are stored: there are several runs to most words.
	word, here := uint64(0), uint64(0)
	for _, t := range s.Tokens {
		if at>>6 != word {
			if word >= uint64(len(bits)) {
				break
			}
			bits[word] = here
			word, here = at>>6, 0
		}
		here |= 1 << (at & 63)
		// Which run is a long one is hard to predict: there is no branch for most of them.
		run := uint64(t & repeatLit)
		escape := (run + 1) >> 2
		if uint(long) >= uint(len(lits)) {
			if escape != 0 {
				return CorruptError("literal run without a length")
			}
			at += run
			continue
		}
		n := uint64(lits[long]) & -escape
		if n == 255 {
			more, ok := length(lits, &long)
			if !ok {
				return CorruptError("literal run without a length")
			}
			at += run + uint64(more)
			continue
		}
		at += run + n
		long += int(escape)
	}
	if at > uint64(n) {
		return CorruptError("literal runs too long")
	}
	if word < uint64(len(bits)) {
		bits[word] = here
	}
	if at < uint64(n) {
		bits[at>>6] |= 1 << (at & 63)
	}
	return nil
}
