package lz77

import "github.com/gopz/compress/lz77/internal/base"

// A device may find the candidates of RowHash: the best one of each position, by the definition at
// RowHash, in 32 bits. 0 stands for none. Otherwise the low CandidateOffsetBits bits hold the
// offset and the high bits the length less 4. Lengths end at Nice.
const (
	CandidateOffsetBits = 24
	// CandidateTail is the number of bytes at the end of a block that have no candidates.
	CandidateTail = base.Tail
	// MaxCandidateNice is the greatest Nice that a candidate can express.
	MaxCandidateNice = 1<<(32-CandidateOffsetBits) - 1 + 4
)

// RowHashParams returns the parameters of the hash of RowHash for a block of size bytes, including
// the bytes in front of it. The hash is
//
//	h = low·RowHashMul + (high & mask)·RowHashMulHigh modulo 2³²
//
// low and high are the 4 bytes at the position and the next 4, little-endian. Positions whose h
// agree in the highest rowBits bits share a row. The Depth most recent of them are the candidates
// of a position. One whose h differs in the next RowTagBits bits is among these Depth, but is not
// compared.
func (p *Params) RowHashParams(size int) (rowBits uint8, mask uint32) {
	return base.TableLog(p.HashLog, size), rowHashMask(p.HashBytes)
}

// Constants of the hash; see RowHashParams.
const (
	RowHashMul     = base.Prime32
	RowHashMulHigh = prime32b
	RowTagBits     = 7
)

// CandidatesFit reports whether 32 bits hold every candidate that p finds in a block of size bytes,
// including the bytes in front of it.
func (p *Params) CandidatesFit(size int) bool {
	return p.Finder == RowHash && p.Nice <= MaxCandidateNice && size <= 1<<CandidateOffsetBits
}

// FindCandidates sets best to the candidates of the first len(src) − CandidateTail positions of
// src, for ParseCandidates. params.CandidatesFit(len(src)) must be true.
func (m *Matcher) FindCandidates(best []uint32, src []byte, params *Params, limits Limits) {
	limits.check()
	m.params, m.limits = *params, limits
	src = src[:len(src):len(src)] // as in ParseFrom
	m.rows.reset(&m.params, len(src))
	least := params.minNewMatch(&limits)
	for i := range best {
		if i%rowCheckpointBytes == 0 {
			m.checkpoint()
		}
		best[i] = 0
		// Longer matches look no further than lengths tell apart: without that bound the time for
		// repetitive content is quadratic.
		end := min(len(src), i+params.Nice+base.Tail)
		if n, d := m.find(src[:end:end], i, least); n > 0 {
			best[i] = uint32(d) | uint32(min(n, params.Nice)-4)<<CandidateOffsetBits
		}
	}
}

// ParseCandidates is ParseFrom for params.Finder RowHash with the caller's candidates. best has one
// entry for each of the first len(src) − CandidateTail bytes. ParseCandidates returns false if best
// is too short or if an entry that it read is impossible.
func (m *Matcher) ParseCandidates(
	dst []Sequence, src []byte, start int, params *Params, limits Limits, best []uint32,
) (_ []Sequence, ok bool) {
	limits.check()
	if len(src) < start+base.Tail {
		return dst, true
	}
	if len(best) < len(src)-base.Tail {
		return dst, false
	}
	m.params, m.limits = *params, limits
	src = src[:len(src):len(src)] // as in ParseFrom
	m.candidates, m.badCandidate = best, false
	defer func() { m.candidates, m.position = nil, 0 }()
	return m.parseLazy(dst, src, start), !m.badCandidate
}

// candidate is find for the caller's candidates.
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
