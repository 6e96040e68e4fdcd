package lz77

import "github.com/gopz/compress/simd"

// Slack is the number of bytes behind the content that Execute may overwrite, and behind the literals that it may read.
const Slack = simd.CopySlack

// Execute carries out sequences that were checked as a whole: it writes to dst from position at on, reads literals from the front of
// lits, and returns the position behind the last match and the literals that are left.
//
// dst must have Slack bytes more than all sequences write, lits Slack more than they take, and offsets must be 16 or more. An offset that
// reaches back beyond the beginning of dst gives ok = false. Whatever the arguments, nothing outside of the slices is touched.
func Execute(dst []byte, at int, lits []byte, seqs []Sequence) (end int, rest []byte, ok bool) {
	for len(seqs) > 0 {
		n, end, used, vector := simd.Execute(dst, at, lits, seqs)
		at, lits, seqs = end, lits[used:], seqs[n:]
		if n > 0 {
			continue
		}
		n = len(seqs)
		if vector {
			n = min(n, fewSequences)
		}
		if at, lits, ok = execute(dst, at, lits, seqs[:n]); !ok {
			return 0, nil, false
		}
		seqs = seqs[n:]
	}
	return at, lits, true
}

// ExecuteWithin is Execute for a dst without slack: nothing is written but what the sequences say.
func ExecuteExact(dst []byte, at int, lits []byte, seqs []Sequence) (end int, rest []byte, ok bool) {
	for len(seqs) > 0 {
		n, end, used, vector := simd.Execute(dst, at, lits, seqs)
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

// executeLast carries out a sequence near the end of dst.
func executeLast(dst []byte, at int, lits []byte, s *Sequence) (end int, rest []byte, ok bool) {
	n := int(s.LitLen)
	copy(dst[at:at+n], lits[:n])
	at += n
	from := at - int(s.Offset)
	if from < 0 {
		return 0, nil, false
	}
	to := dst[at : at+int(s.MatchLen)]
	// What is there already is a multiple of the offset: it grows by itself.
	for k := copy(to, dst[from:at]); k < len(to); {
		k += copy(to[k:], to[:k])
	}
	return at + len(to), lits[n:], true
}

// fewSequences is how many follow one that the vector kernel did not take, before it is tried again.
const fewSequences = 8

// execute is the portable twin of simd.Execute, and does all that the other leaves.
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

// copyMatch copies n bytes from an earlier place in steps of 16, which may pass the end by 15 bytes.
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
