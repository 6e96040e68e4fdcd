package lzseq

import (
	"encoding/binary"

	"github.com/gopz/compress/lz77"
)

// A token of the Plain layout:
//
//	bits 0–3  literal run; 15: the rest of it is in LitLens
//	bits 4–7  match length − 5; 15: the rest of it is in MatchLens
//
// Every sequence has an offset of 16 bits.
const (
	plainMin   = 5
	plainLit   = 15
	plainMatch = 15
)

func encodePlain(s *Streams, src []byte, seqs []lz77.Sequence) {
	for i := range seqs {
		q := &seqs[i]
		s.Lits = append(s.Lits, src[:q.LitLen]...)
		src = src[q.LitLen+q.MatchLen:]
		token := q.LitLen
		if token >= plainLit {
			token = plainLit
			s.LitLens = appendLength(s.LitLens, q.LitLen-plainLit)
		}
		n := q.MatchLen - plainMin
		if n >= plainMatch {
			s.MatchLens = appendLength(s.MatchLens, n-plainMatch)
			n = plainMatch
		}
		s.Tokens = append(s.Tokens, byte(token|n<<4))
		s.Offsets = append(s.Offsets, byte(q.Offset), byte(q.Offset>>8))
	}
	s.Lits = append(s.Lits, src...)
}

func decodePlain(s *Streams, c *cursor, batch []lz77.Sequence, tokens []byte) bool {
	if len(s.Offsets)-c.offsets < 2*len(tokens) {
		return false
	}
	offsets := s.Offsets[c.offsets : c.offsets+2*len(tokens)]
	c.offsets += len(offsets)
	lits, matches := uint64(0), uint64(0)
	batch = batch[:len(tokens)]
	for i, t := range tokens {
		q := &batch[i]
		lit := uint32(t & 15)
		if lit == plainLit {
			n, ok := length(s.LitLens, &c.litLens)
			if !ok {
				return false
			}
			lit += n
		}
		n := uint32(t>>4) + plainMin
		if n == plainMatch+plainMin {
			more, ok := length(s.MatchLens, &c.matches)
			if !ok {
				return false
			}
			n += more
		}
		lits += uint64(lit)
		matches += uint64(n)
		off := uint32(binary.LittleEndian.Uint16(offsets[2*i:]))
		if off < 16 {
			return false
		}
		q.LitLen, q.MatchLen, q.Offset = lit, n, off
	}
	c.lits, c.produced = lits, lits+matches
	return true
}
