package zstd

import (
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// execute carries out sequences with offsets of at least 1. Arguments and results are those of
// lz77.ExecuteExact, which takes offsets from lz77.MinOffset on.
func execute(
	dst []byte, at int, lits []byte, seqs []lz77.Sequence,
) (end int, rest []byte, ok bool) {
	for len(seqs) > 0 {
		n, end, used, vector := simd.ExecuteNear(dst, at, lits, seqs)
		at, lits, seqs = end, lits[used:], seqs[n:]
		if n > 0 {
			continue
		}
		if n = 1; !vector {
			n = len(seqs)
		}
		if at, lits, ok = executePortable(dst, at, lits, seqs[:n]); !ok {
			return 0, nil, false
		}
		seqs = seqs[n:]
	}
	return at, lits, true
}

// executePortable is the portable twin of simd.ExecuteNear.
func executePortable(
	dst []byte, at int, lits []byte, seqs []lz77.Sequence,
) (end int, rest []byte, ok bool) {
	for len(seqs) > 0 {
		n := 0
		for n < len(seqs) && seqs[n].Offset >= lz77.MinOffset {
			n++
		}
		if at, lits, ok = lz77.ExecuteExact(dst, at, lits, seqs[:n]); !ok {
			return 0, nil, false
		}
		for seqs = seqs[n:]; len(seqs) > 0 && seqs[0].Offset < lz77.MinOffset; seqs = seqs[1:] {
			s := &seqs[0]
			at += copy(dst[at:], lits[:s.LitLen])
			lits = lits[s.LitLen:]
			if int(s.Offset) > at {
				return 0, nil, false
			}
			copyNear(dst, at, int(s.Offset), int(s.MatchLen))
			at += int(s.MatchLen)
		}
	}
	return at, lits, true
}

// copyNear copies a match of n bytes with an offset below 16.
func copyNear(dst []byte, at, offset, n int) {
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
