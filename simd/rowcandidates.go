package simd

import "math/bits"

// CandidateRun turns the RowMatches of positions that follow each other into the candidates of an
// optimal parser. It finds the ends of matches of 8 bytes and more, and stops at a match that the
// parser treats in another way: one of Nice bytes, or one that is long enough to skip positions in.
//
// Positions are skipped in a match of at least SkipInMatch bytes, unless a match before it, with
// another offset, has not ended yet: a better match may follow that one.
type CandidateRun struct {
	At  int // next position
	End int // first position behind the run; at least 8 bytes follow each position in front of it

	Least       int // length of the shortest match in bytes, 1 … 8
	Nice        int // length where a search ends, at least 9; at most MaxPathLength
	SkipInMatch int // at least 1

	// Ends of the matches so far, of those before with another offset, and the last one's offset.
	Reach, Before, Offset int

	Codes [codeEntries]uint8 // of offsets; see SetCode
}

const (
	nearCodes   = 256 // offsets with a code of their own
	farCodeLog  = 7
	codeEntries = nearCodes + rowWindow>>farCodeLog
)

func codeIndex(d int) int {
	if d <= nearCodes {
		return d - 1
	}
	return nearCodes + (d-1)>>farCodeLog
}

// SetCodes sets the codes of all offsets. It returns false if offsets above 256 with equal
// (offset−1)/128 have different codes: there is one entry for them.
func (c *CandidateRun) SetCodes(codeOf func(offset uint32) uint8) bool {
	for d := 1; d <= rowWindow; d++ {
		code, k := codeOf(uint32(d)), codeIndex(d)
		if (d-1)&(1<<farCodeLog-1) != 0 && d > nearCodes && c.Codes[k] != code {
			return false
		}
		c.Codes[k] = code
	}
	return true
}

// Collect appends the candidates of the positions from At on to cands[:n], with lengths up to Nice,
// the shortest first. matches are what MultiRows.Search has found for these positions. It sets
// firstCand of each position to the number of candidates before. It stops at End, behind the last of
// matches, and where cands has room for fewer than 16 more. It then returns false.
//
// It returns true if it has stopped at a match, at position At, whose candidates are the last ones.
func Collect[C ~uint64](
	c *CandidateRun, src []byte, matches []RowMatches, firstCand []uint32, cands []C, n int,
) (count int, stopped bool) {
	todo := min(len(matches), c.End-c.At, len(firstCand))
	if c.At < 0 || c.At+todo+rowContent-1 > len(src) || uint(n) > uint(len(cands)) ||
		uint(c.Least-1) >= rowContent || c.Nice <= rowContent || c.Nice > MaxPathLength ||
		c.SkipInMatch < 1 {
		panic("simd: Collect out of range")
	}
	if todo <= 0 {
		return n, false
	}
	return c.collect(src, matches[:todo], firstCand, rawCandidates(cands), n)
}

// collect is Collect with arguments in range.
func (c *CandidateRun) collect(
	src []byte, matches []RowMatches, firstCand []uint32, cands []uint64, n int,
) (count int, stopped bool) {
	from := c.At
	n, stopped = collectKernel(c, src, matches, firstCand, cands, n)
	for k := c.At - from; k < len(matches) && !stopped && n+rowEntries <= len(cands); k++ {
		firstCand[k] = uint32(n)
		if m := c.candidates(src, &matches[k], cands[n:]); m > 0 {
			n += m
			length := int(cands[n-1] >> CandidateLengthShift & candidateLengthMask)
			stopped = c.stops(length, int(cands[n-1]&candidateOffsetMask))
		}
		if !stopped {
			c.At++
		}
	}
	return n, stopped
}

// candidates sets cands to the candidates of position At and returns their number.
func (c *CandidateRun) candidates(src []byte, m *RowMatches, cands []uint64) (n int) {
	add := func(length, d int) {
		cands[n] = uint64(d) | uint64(length)<<CandidateLengthShift |
			uint64(c.Codes[codeIndex(d)])<<CandidateCodeShift
		n++
	}
	for k := uint(m.Longer &^ m.Full); k != 0; k &= k - 1 {
		e := bits.TrailingZeros(k) % rowEntries
		add(int(m.Lengths[e]), -int(m.Back[e]))
	}
	best, i := rowContent-1, c.At
	end := min(c.Nice, len(src)-i)
	for k := uint(m.Full); k != 0 && best < end; k &= k - 1 {
		d := -int(m.Back[bits.TrailingZeros(k)%rowEntries])
		if src[i+best] != src[i+best-d] {
			continue
		}
		if length := MatchLen(src[i-d:i-d+end], src[i:i+end]); length > best {
			best = length
			add(length, d)
		}
	}
	return n
}

// stops takes the longest match of position At into account, and reports whether the run stops there.
func (c *CandidateRun) stops(length, d int) bool {
	if length >= c.Nice {
		return true
	}
	if end := c.At + length; end > c.Reach {
		if d != c.Offset {
			c.Before, c.Offset = c.Reach, d
		}
		c.Reach = end
	}
	return c.Reach-c.At >= c.SkipInMatch && c.At >= c.Before
}
