package lzseq

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/lz77"
)

// A token of layout Plain:
//
//	bits 0–3  literal run; 15: the rest of it is in LitLens
//	bits 4–7  match length − 5; 15: the rest of it is in MatchLens
//
// Every sequence has an offset of 16 bits.
const (
	plainMinMatch    = 5
	plainLitEscape   = 15
	plainMatchEscape = 15
)

// encodePlain fills all streams but Lits.
func encodePlain(s *Streams, seqs []lz77.Sequence) {
	tokens := s.Tokens[:len(seqs)]
	s.Offsets = resize(s.Offsets, 2*len(seqs))
	offsets := s.Offsets
	for i := range seqs {
		if i&(checkpointSequences-1) == checkpointSequences-1 {
			s.checkpoint()
		}
		q := &seqs[i]
		token := q.LitLen
		if token >= plainLitEscape {
			token = plainLitEscape
			s.LitLens = appendLength(s.LitLens, q.LitLen-plainLitEscape)
		}
		n := q.MatchLen - plainMinMatch
		if n >= plainMatchEscape {
			s.MatchLens = appendLength(s.MatchLens, n-plainMatchEscape)
			n = plainMatchEscape
		}
		tokens[i] = byte(token | n<<4)
		binary.LittleEndian.PutUint16(offsets[2*i:], uint16(q.Offset))
	}
}

func decodePlain(s *Streams, batch []lz77.Sequence, tokens []byte) bool {
	c := &s.cursor
	batch = batch[:len(tokens)]
	for len(tokens) > 0 {
		r, vector := kernels.DecodeTokensPlain(
			batch, tokens, ahead(s.LitLens, c.litLens), ahead(s.MatchLens, c.matches),
			ahead(s.Offsets, c.offsets))
		c.countProgress(&r)
		batch, tokens = batch[r.Done:], tokens[r.Done:]
		n := len(tokens)
		if vector {
			n = min(n, scalarTokens)
		}
		if !resolvePlain(s, batch[:n], tokens[:n]) {
			return false
		}
		batch, tokens = batch[n:], tokens[n:]
	}
	return c.litLens <= len(s.LitLens) && c.matches <= len(s.MatchLens) &&
		c.offsets <= len(s.Offsets)
}

// resolvePlain is the portable twin of kernels.DecodeTokensPlain, and decodes the tokens that the
// kernel leaves.
func resolvePlain(s *Streams, batch []lz77.Sequence, tokens []byte) bool {
	c := &s.cursor
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
		if lit == plainLitEscape {
			n, ok := length(s.LitLens, &c.litLens)
			if !ok {
				return false
			}
			lit += n
		}
		n := uint32(t>>4) + plainMinMatch
		if n == plainMatchEscape+plainMinMatch {
			more, ok := length(s.MatchLens, &c.matches)
			if !ok {
				return false
			}
			n += more
		}
		lits += uint64(lit)
		matches += uint64(n)
		off := uint32(binary.LittleEndian.Uint16(offsets[2*i:]))
		if off < lz77.MinOffset {
			return false
		}
		q.LitLen, q.MatchLen, q.Offset = lit, n, off
	}
	c.lits += lits
	c.produced += lits + matches
	return true
}
