package lz77

import (
	"math/bits"
	"sync"

	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/simd"
)

// SingleHash and DoubleHash make no offset below the constant MinOffset. A match of a
// shorter period gets a multiple of the period as its offset, and begins up to 30 bytes late.
// shortenPeriods replaces the multiple by the period and extends the match backwards.
//
// Deflate splits long matches and codes the offset for each part. So shortenPeriods also finds long
// matches that repeat 1 to 4 bytes, and replaces a far offset by that period.
//
// Cost: one or two nanoseconds for each sequence.

const (
	// maxPart is the length in bytes of the longest match that Deflate does not split.
	maxPart = 258
	// maxRunPeriod is the longest period in bytes that replaces a far offset. The first bytes of
	// the match, as many, become literals.
	maxRunPeriod = 4
	// maxAbsorbed is the length in bytes of the longest match that may become part of the next one.
	maxAbsorbed = 1 << 12
)

// periods returns the lists of the divisors of d below MinOffset, in ascending order, at
// d-MinOffset.
var periods = sync.OnceValue(func() *[MinOffset][]int {
	p := new([MinOffset][]int)
	for i := range p {
		for period := 1; period < MinOffset; period++ {
			if (i+MinOffset)%period == 0 {
				p[i] = append(p[i], period)
			}
		}
	}
	return p
})

// shortenPeriods changes seqs[first:], which are the sequences of src[start:]. It returns seqs,
// perhaps with fewer sequences. It does nothing unless the limits allow offsets below the constant
// MinOffset, and with repeat offsets.
func (m *Matcher) shortenPeriods(seqs []Sequence, first int, src []byte, start int) []Sequence {
	least := m.limits.LeastOffset()
	if least >= MinOffset || m.limits.Repeats > 0 {
		return seqs
	}
	at, next, kept := start, start+checkpointBytes, first
	for i := first; i < len(seqs); {
		n, size := withoutPeriod(seqs[i:])
		if kept < i {
			copy(seqs[kept:], seqs[i:i+n])
		}
		i, kept, at = i+n, kept+n, at+size
		if at >= next {
			next = at + checkpointBytes
			m.checkpoint()
		}
		if i < len(seqs) {
			s := seqs[i]
			at += int(s.LitLen + s.MatchLen)
			kept = first + shorten(seqs[first:kept], &s, src, at, &m.limits)
			seqs[kept] = s
			i, kept = i+1, kept+1
		}
	}
	return seqs[:kept]
}

// withoutPeriod returns the number of sequences at the front of seqs that shorten cannot change,
// and the size of their content in bytes. It stops behind checkpointBytes.
func withoutPeriod(seqs []Sequence) (n, size int) {
	for n = range seqs {
		s := &seqs[n]
		if s.Offset-MinOffset < MinOffset || s.MatchLen > maxPart || size >= checkpointBytes {
			return n, size
		}
		size += int(s.LitLen + s.MatchLen)
	}
	return len(seqs), size
}

// shorten gives s the shortest period that suits it. The match of s ends at position end. shorten
// returns how many of the sequences before s stay.
func shorten(before []Sequence, s *Sequence, src []byte, end int, l *Limits) int {
	period, late := 0, 0 // late is the number of bytes that the match begins later
	if s.Offset-MinOffset < MinOffset {
		period = nearPeriod(src, end, s, l.LeastOffset())
	}
	if period == 0 && s.MatchLen > maxPart {
		period = runPeriod(src, end, s, l.LeastOffset())
		late = period
	}
	if period == 0 {
		return len(before)
	}
	s.LitLen += uint32(late)
	s.MatchLen -= uint32(late)
	s.Offset = uint32(period)
	return absorb(before, s, src, end, l.MinMatch)
}

// nearPeriod returns the shortest divisor of q.Offset, from least to MinOffset − 1, that is a
// period which the match of q continues. It returns 0 if there is none. The match ends at position
// end.
func nearPeriod(src []byte, end int, q *Sequence, least int) int {
	begin := end - int(q.MatchLen)
	// Behind the first q.Offset bytes the period follows from that of the bytes before.
	n := int(min(q.MatchLen, q.Offset))
	for _, p := range periods()[q.Offset-MinOffset] {
		if p >= least && src[begin] == src[begin-p] &&
			string(src[begin:begin+n]) == string(src[begin-p:begin-p+n]) {
			return p
		}
	}
	return 0
}

// runPeriod returns the shortest period of the match of q, from least to maxRunPeriod bytes, if it
// saves more than its literals cost. Otherwise it returns 0. The match ends at position end.
func runPeriod(src []byte, end int, q *Sequence, least int) int {
	run := src[end-int(q.MatchLen) : end]
	v := finder.Load64(run, 0)
	for p := least; p <= maxRunPeriod; p++ {
		if (v>>(8*p)^v)<<(8*p) != 0 {
			continue
		}
		parts, saved := (len(run)+maxPart-1)/maxPart, bits.Len32(q.Offset)-p
		if parts*saved <= 8*p || simd.MatchLen(run, run[p:]) < len(run)-p {
			return 0
		}
		return p
	}
	return 0
}

// absorb extends the match of q backwards, into the literals and short matches before it. If less
// than minMatch bytes of a match are left, these become literals of q. The match ends at position
// end. absorb returns the number of the sequences before q that stay.
func absorb(before []Sequence, q *Sequence, src []byte, end, minMatch int) int {
	kept, p := len(before), int(q.Offset)
	for {
		begin := end - int(q.MatchLen)
		n := finder.EqualBefore(src, begin-p, begin, int(q.LitLen))
		q.LitLen -= uint32(n)
		q.MatchLen += uint32(n)
		if q.LitLen > 0 || kept == 0 || before[kept-1].MatchLen > maxAbsorbed {
			return kept
		}
		last := &before[kept-1]
		begin -= n
		n = finder.EqualBefore(src, begin-p, begin, int(last.MatchLen))
		left := int(last.MatchLen) - n
		if left >= minMatch {
			return kept
		}
		q.MatchLen += uint32(n)
		q.LitLen = last.LitLen + uint32(left)
		kept--
	}
}
