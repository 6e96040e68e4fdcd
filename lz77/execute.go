package lz77

import (
	"github.com/gopz/compress/internal/kernels"
)

// Slack is the number of bytes that Execute may overwrite behind the content and read behind the
// literals.
const Slack = 32

// The kernel needs no more.
const _ = uint(Slack - kernels.CopySlack)

// Execute carries out seqs: it writes to dst from position at on and reads literals from the front
// of lits. It returns the position behind the last match and the literals that are left.
//
// The caller has checked the sums of all lengths: dst must have Slack bytes more than the sequences
// write and lits Slack bytes more than they read. Offsets must be at least 16. Execute returns
// ok = false if an offset reaches back beyond the beginning of dst. It never touches memory outside
// the slices, whatever the arguments; it may panic if they break these rules.
func Execute(dst []byte, at int, lits []byte, seqs []Sequence) (end int, rest []byte, ok bool) {
	for len(seqs) > 0 {
		n, end, used, vector := kernels.Execute(dst, at, lits, seqs)
		at, lits, seqs = end, lits[used:], seqs[n:]
		if n > 0 {
			continue
		}
		n = len(seqs)
		if vector {
			n = min(n, fewSequences)
		}
		at, lits, ok = execute(dst, at, lits, seqs[:n])
		if !ok {
			return 0, nil, false
		}
		seqs = seqs[n:]
	}
	return at, lits, true
}

// ExecuteExact is Execute for a dst without slack: it writes only the bytes that seqs describe.
func ExecuteExact(dst []byte, at int, lits []byte, seqs []Sequence) (end int, rest []byte, ok bool) {
	for len(seqs) > 0 {
		n, end, used, vector := kernels.Execute(dst, at, lits, seqs)
		at, lits, seqs = end, lits[used:], seqs[n:]
		if n > 0 {
			continue
		}
		few := len(seqs)
		if vector {
			few = min(few, fewSequences)
		}
		room := len(dst) - Slack - at
		for n < few && room >= 0 {
			if room -= int(seqs[n].LitLen) + int(seqs[n].MatchLen); room >= 0 {
				n++
			}
		}
		if n > 0 {
			at, lits, ok = execute(dst, at, lits, seqs[:n])
		} else {
			n = 1
			at, lits, ok = executeLast(dst, at, lits, &seqs[0])
		}
		if !ok {
			return 0, nil, false
		}
		seqs = seqs[n:]
	}
	return at, lits, true
}

// executeLast carries out one sequence near the end of dst.
func executeLast(dst []byte, at int, lits []byte, s *Sequence) (end int, rest []byte, ok bool) {
	n := int(s.LitLen)
	copy(dst[at:at+n], lits[:n])
	at += n
	from := at - int(s.Offset)
	if from < 0 {
		return 0, nil, false
	}
	to := dst[at : at+int(s.MatchLen)]
	// The bytes written so far are a whole number of periods, so each copy may double them.
	for k := copy(to, dst[from:at]); k < len(to); {
		k += copy(to[k:], to[:k])
	}
	return at + len(to), lits[n:], true
}

// fewSequences is the number of sequences that the portable code takes before the kernel is tried
// again.
const fewSequences = 8

// execute is the portable twin of kernels.Execute. It takes all sequences, also those that the
// kernel leaves.
func execute(dst []byte, at int, lits []byte, seqs []Sequence) (end int, rest []byte, ok bool) {
	for i := range seqs {
		s := &seqs[i]
		n := int(s.LitLen)
		*(*[16]byte)(dst[at:]) = *(*[16]byte)(lits)
		if n > 16 {
			copy(dst[at+16:at+n], lits[16:n])
		}
		at += n
		lits = lits[n:]

		from := at - int(s.Offset)
		if from < 0 {
			return 0, nil, false
		}
		n = int(s.MatchLen)
		*(*[16]byte)(dst[at:]) = *(*[16]byte)(dst[from:])
		if n > 16 {
			*(*[16]byte)(dst[at+16:]) = *(*[16]byte)(dst[from+16:])
			if n > 32 {
				copyMatch(dst, at+32, from+32, n-32)
			}
		}
		at += n
	}
	return at, lits, true
}

// copyMatch copies n bytes from an earlier position in steps of 16. It may write 15 bytes too many.
func copyMatch(dst []byte, at, from, n int) {
	if at-from >= n {
		copy(dst[at:at+n], dst[from:])
		return
	}
	to := dst[at : at+n+15]
	src := dst[from:]
	for len(to) >= 16 && len(src) >= 16 {
		*(*[16]byte)(to) = *(*[16]byte)(src)
		to, src = to[16:], src[16:]
	}
}
