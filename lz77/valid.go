package lz77

// Valid reports whether sequences from elsewhere can be of a block of size bytes and keep to the limits: they do not reach
// beyond its end, nor back beyond its beginning. Whether the matches are true is not checked.
func Valid(seqs []Sequence, size int, limits Limits) bool {
	at := uint64(0)
	for i := range seqs {
		s := &seqs[i]
		at += uint64(s.LitLen)
		if s.MatchLen < uint32(limits.MinMatch) || s.Offset < MinOffset || s.Offset > uint32(limits.MaxOffset) || uint64(s.Offset) > at {
			return false
		}
		at += uint64(s.MatchLen)
		if at > uint64(size) {
			return false
		}
	}
	return at <= uint64(size)
}
