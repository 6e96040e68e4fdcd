package zstd

import (
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/lz77"
)

// execute carries out sequences with offsets of at least 1, also those that reach back to d.before.
// Arguments and results are those of lz77.ExecuteExact, which takes offsets from lz77.MinOffset on.
func (d *Executor) execute(
	dst []byte, at int, lits []byte, seqs []lz77.Sequence,
) (end int, rest []byte, ok bool) {
	for len(seqs) > 0 {
		if d.countNear(at, seqs[:1]) == 0 {
			at, lits, ok = d.executeBefore(dst, at, lits, &seqs[0])
			if !ok {
				return 0, nil, false
			}
			seqs = seqs[1:]
			continue
		}
		n, end, used, vector := kernels.ExecuteNear(dst, at, lits, seqs)
		at, lits, seqs = end, lits[used:], seqs[n:]
		if n > 0 {
			continue
		}
		n = 1
		if !vector {
			n = d.countNear(at, seqs)
		}
		at, lits, ok = executePortable(dst, at, lits, seqs[:n])
		if !ok {
			return 0, nil, false
		}
		seqs = seqs[n:]
	}
	return at, lits, true
}

// countNear returns the number of sequences before the first one whose match begins in d.before.
func (d *Executor) countNear(at int, seqs []lz77.Sequence) int {
	if len(d.before) == 0 {
		return len(seqs)
	}
	for i := range seqs {
		s := &seqs[i]
		if at += int(s.LitLen); int(s.Offset) > at {
			return i
		}
		at += int(s.MatchLen)
	}
	return len(seqs)
}

// executeBefore carries out a sequence whose match begins in d.before.
func (d *Executor) executeBefore(
	dst []byte, at int, lits []byte, s *lz77.Sequence,
) (end int, rest []byte, ok bool) {
	at += copy(dst[at:], lits[:s.LitLen])
	back := int(s.Offset) - at
	if back > len(d.before) {
		return 0, nil, false
	}
	n := int(s.MatchLen)
	m := copy(dst[at:at+n], d.before[len(d.before)-back:])
	at += m
	if n -= m; n > 0 {
		copyPeriod(dst, at, int(s.Offset), n)
	}
	return at + n, lits[s.LitLen:], true
}

// executePortable is the portable twin of kernels.ExecuteNear.
func executePortable(
	dst []byte, at int, lits []byte, seqs []lz77.Sequence,
) (end int, rest []byte, ok bool) {
	for len(seqs) > 0 {
		n := 0
		for n < len(seqs) && seqs[n].Offset >= lz77.MinOffset {
			n++
		}
		at, lits, ok = lz77.ExecuteExact(dst, at, lits, seqs[:n])
		if !ok {
			return 0, nil, false
		}
		for seqs = seqs[n:]; len(seqs) > 0 && seqs[0].Offset < lz77.MinOffset; seqs = seqs[1:] {
			s := &seqs[0]
			at += copy(dst[at:], lits[:s.LitLen])
			lits = lits[s.LitLen:]
			if int(s.Offset) > at {
				return 0, nil, false
			}
			copyPeriod(dst, at, int(s.Offset), int(s.MatchLen))
			at += int(s.MatchLen)
		}
	}
	return at, lits, true
}

// copyPeriod copies a match of n bytes that begins in dst.
func copyPeriod(dst []byte, at, offset, n int) {
	from, to := dst[at-offset:at], dst[at:at+n]
	if n <= 8 {
		for i := range to {
			to[i] = dst[at-offset+i]
		}
		return
	}
	// The bytes written so far are a whole number of periods, so each copy may double them.
	for k := copy(to, from); k < n; {
		k += copy(to[k:], to[:k])
	}
}
