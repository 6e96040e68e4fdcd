package lzseq

// MarkRuns sets to 1, in marks that are all 0, one for each literal, those where a literal run begins: what is right behind a match, and the first. Tokens and LitLens
// of the Repeat layout tell; an error, a CorruptError, says that they do not fit the number of literals.
func (s *Streams) MarkRuns(marks []byte) error {
	at, long := uint64(0), 0
	for _, t := range s.Tokens {
		if at >= uint64(len(marks)) {
			break // the runs that are left should be empty, which Decode finds out
		}
		marks[at] = 1
		run := uint32(t & 3)
		if run == repeatLit {
			n, ok := length(s.LitLens, &long)
			if !ok {
				return CorruptError("literal run without a length")
			}
			run += n
		}
		at += uint64(run)
	}
	if at > uint64(len(marks)) {
		return CorruptError("literal runs too long")
	}
	if at < uint64(len(marks)) {
		marks[at] = 1
	}
	return nil
}
