package lzseq

// Marks sets to 1, in marks that are all 0, one for each literal, those where a literal run begins: what is right behind a match, and the first. Tokens and LitLens
// of the Repeat layout tell; an error, a CorruptError, says that they do not fit the number of literals.
func (s *Streams) Marks(marks []byte) error {
	at, long, lits := uint64(0), 0, s.LitLens
	for _, t := range s.Tokens {
		if at >= uint64(len(marks)) {
			break // the runs that are left should be empty, which Decode finds out
		}
		marks[at] = 1
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
	if at > uint64(len(marks)) {
		return CorruptError("literal runs too long")
	}
	if at < uint64(len(marks)) {
		marks[at] = 1
	}
	return nil
}
