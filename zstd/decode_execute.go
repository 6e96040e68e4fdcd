package zstd

import "github.com/gopz/compress/lz77"

// execute carries out sequences whose smallest offset is minOffset, at least 1. Arguments and
// results are those of lz77.ExecuteExact, which takes offsets from lz77.MinOffset on. The other
// sequences are carried out here.
func execute(
	dst []byte, at int, lits []byte, seqs []lz77.Sequence, minOffset uint32,
) (end int, rest []byte, ok bool) {
	if minOffset >= lz77.MinOffset {
		return lz77.ExecuteExact(dst, at, lits, seqs)
	}
	for len(seqs) > 0 {
		n := 0
		for n < len(seqs) && seqs[n].Offset >= lz77.MinOffset {
			n++
		}
		if n > 0 {
			if at, lits, ok = lz77.ExecuteExact(dst, at, lits, seqs[:n]); !ok {
				return 0, nil, false
			}
			seqs = seqs[n:]
		}
		for len(seqs) > 0 && seqs[0].Offset < lz77.MinOffset {
			s := &seqs[0]
			copy(dst[at:], lits[:s.LitLen])
			at += int(s.LitLen)
			lits = lits[s.LitLen:]
			if int(s.Offset) > at {
				return 0, nil, false
			}
			copyNear(dst, at, int(s.Offset), int(s.MatchLen))
			at += int(s.MatchLen)
			seqs = seqs[1:]
		}
	}
	return at, lits, true
}

// copyNear copies a match of n bytes with an offset below 16.
func copyNear(dst []byte, at, offset, n int) {
	from, to := dst[at-offset:at], dst[at:at+n]
	if n <= 8 {
		for i := range to {
			to[i] = from[0]
			from = dst[at-offset+i+1 : at+i+1]
		}
		return
	}
	// The bytes written so far are a whole number of periods, so each copy may double them.
	for k := copy(to, from); k < n; {
		k += copy(to[k:], to[:k])
	}
}
