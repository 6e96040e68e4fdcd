package lz77

// Candidates of Recent may come from elsewhere, a GPU for example: the best one of each position, as the definition has it, in 32 bits. 0 stands
// for none; else the low CandidateBits bits are the offset, and the high ones the length less 4, of which no more than Nice bytes count.
const (
	CandidateOffsetBits = 24
	// CandidateTail is the number of bytes at the end of a block where no match begins, and which have no candidates.
	CandidateTail = tail
	// MaxCandidateNice is the greatest Nice that there is room for.
	MaxCandidateNice = 1<<(32-CandidateOffsetBits) - 1 + 4
)

// RowHashParams says how a position is hashed for blocks of size bytes in all, with what is in front of them, so that others can find the
// same candidates: h = low·CandidateMul + (high & mask)·CandidateMulHigh modulo 2³², with the 4 bytes from the position on as low and the next 4
// as high, little-endian. Positions whose h agrees in the highest rowBits bits share a row, of which the Depth latest count. A candidate whose h does
// not agree in the CandidateTagBits bits below them is counted, but passed over.
func (p *Params) RowHashParams(size int) (rowBits uint8, mask uint32) {
	return tableLog(p.HashLog, size), rowHashMask(p.HashBytes)
}

// Parameters of the hash.
const (
	RowHashMul     = prime32
	RowHashMulHigh = prime32b
	RowTagBits     = 7
)

// CandidatesFit reports whether 32 bits hold every candidate that p finds in a block of size bytes, with
// its window.
func (p *Params) CandidatesFit(size int) bool {
	return p.Finder == RowHash && p.Nice <= MaxCandidateNice && size <= 1<<CandidateOffsetBits
}

// FindCandidates sets best to the candidates of the first len(src) − CandidateTail positions of src, for
// ParseCandidates. params.CandidatesFit(len(src)) must be true.
func (m *Matcher) FindCandidates(best []uint32, src []byte, params *Params, limits Limits) {
	limits.check()
	m.params, m.limits = *params, limits
	src = src[:len(src):len(src)] // as in ParseFrom
	m.rows.reset(&m.params, len(src))
	least := params.least(&limits)
	for i := range best {
		best[i] = 0
		if n, d := m.find(src, i, least); n > 0 {
			best[i] = uint32(d) | uint32(min(n, params.Nice)-4)<<CandidateOffsetBits
		}
	}
}

// ParseCandidates is ParseFrom with params.Finder Recent for positions whose best candidates are known; best has one entry for each of the first
// len(src) − CandidateTail bytes. It returns false if one of the entries that it has looked at is impossible.
func (m *Matcher) ParseCandidates(dst []Sequence, src []byte, start int, params *Params, limits Limits, best []uint32) (_ []Sequence, ok bool) {
	limits.check()
	if len(src) < start+tail {
		return dst, true
	}
	if len(best) < len(src)-tail {
		return dst, false
	}
	m.params, m.limits = *params, limits
	src = src[:len(src):len(src)] // as in ParseFrom
	m.candidates, m.badCandidate = best, false
	dst = m.parseLazy(dst, src, start)
	m.candidates = nil
	return dst, !m.badCandidate
}

// candidate is find with what is given.
func (m *Matcher) candidate(src []byte, i int) (n, offset int) {
	g := m.candidates[i]
	if g == 0 {
		return 0, 0
	}
	n, offset = int(g>>CandidateOffsetBits)+4, int(g&(1<<CandidateOffsetBits-1))
	if offset < MinOffset || offset > i || n > len(src)-i || offset > m.limits.MaxOffset {
		m.badCandidate = true
		return 0, 0
	}
	if n >= m.params.Nice {
		n = extend(src, i-offset, i, n)
	}
	return n, offset
}
