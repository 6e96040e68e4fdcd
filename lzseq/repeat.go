package lzseq

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/lz77"
)

// A token of layouts Repeat and Dense:
//
//	bits 0–1  literal run; 3: the rest of it is in LitLens
//	bits 2–5  match length less the minimum of its kind; 15: the rest of it is in MatchLens
//	bits 6–7  0, 1, 2: that repeat offset; 3: a new offset
//
// The used offset moves to the front of the repeat offsets. For a new offset let v = offset>>2 + 1
// and e = ⌊log₂ v⌋. Its code is e<<2 | offset&3, and the e low bits of v follow in Extra. The two
// low bits of an offset are worth coding: words and records favour multiples of four. The middle
// bits are as good as random.
const (
	repeatMinMatch    = 4 // minimum of all matches in Repeat
	denseMinRepeat    = 2 // minimum of a match with a repeat offset in Dense
	denseMinNew       = 3 // minimum of a match with a new offset in Dense
	repeatLitEscape   = 3
	repeatMatchEscape = 15
	newOffset         = 3 // kind of a new offset
	offsetKinds       = 4
	maxOffsetCode     = 24<<2 | 3
)

// encodeRepeat fills all streams but Lits. Offsets and lengths have a loop each, so that the state
// of each fits in registers.
//
// The kind of an offset and escapes of lengths are hard to predict. So the loops always write them
// and advance only if they apply.
func encodeRepeat(s *Streams, seqs []lz77.Sequence) {
	tokens := s.Tokens[:len(seqs)]
	s.repeatOffsets(tokens, seqs)
	s.repeatLengths(tokens, seqs)
}

// encodeDense is like encodeRepeat with the match lengths of Dense. It has no kernel for lengths,
// because its parser takes a hundred times as long.
func encodeDense(s *Streams, seqs []lz77.Sequence) {
	tokens := s.Tokens[:len(seqs)]
	s.repeatOffsets(tokens, seqs)
	lits, matches := resize(s.LitLens, len(seqs)+1), resize(s.MatchLens, len(seqs)+1)
	nl, nm := 0, 0
	for len(seqs) > 0 {
		n := min(len(seqs), checkpointSequences)
		lits, matches, nl, nm = putLengths(
			tokens, lits, matches, nl, nm, seqs, n, &denseMinMatches)
		tokens, seqs = tokens[n:], seqs[n:]
		s.checkpoint()
	}
	s.LitLens, s.MatchLens = lits[:nl], matches[:nm]
}

// The minimum match lengths by kind: three repeat offsets and a new one.
var (
	repeatMinMatches = [offsetKinds]uint32{
		repeatMinMatch, repeatMinMatch, repeatMinMatch, repeatMinMatch,
	}
	denseMinMatches = [offsetKinds]uint32{
		denseMinRepeat, denseMinRepeat, denseMinRepeat, denseMinNew,
	}
)

// repeatOffsets sets the tokens to the kinds of the offsets and fills Offsets and Extra.
func (s *Streams) repeatOffsets(tokens []byte, seqs []lz77.Sequence) {
	codes := resize(s.Offsets, len(seqs)+1)
	extra := resize(s.Extra, 3*len(seqs)+8) // 24 bits for each sequence, and one more store
	st := kernels.OffsetState{
		Repeats: [4]uint32{lz77.InitialRepeat, lz77.InitialRepeat, lz77.InitialRepeat},
	}
	nc, ne := 0, 0
	for len(seqs) > 0 {
		n := min(len(seqs), checkpointSequences)
		c, e, ok := kernels.EncodeOffsets(tokens[:n], codes[nc:], extra[ne:], seqs[:n], &st)
		if !ok {
			c, e = putOffsets(tokens[:n], codes[nc:], extra[ne:], seqs[:n], &st)
		}
		nc, ne, tokens, seqs = nc+c, ne+e, tokens[n:], seqs[n:]
		s.checkpoint()
	}
	if st.Have > 0 {
		extra[ne] = byte(st.Acc)
		ne++
	}
	s.Offsets, s.Extra = codes[:nc], extra[:ne]
}

// putOffsets is the portable twin of kernels.EncodeOffsets.
func putOffsets(
	tokens, codes, extra []byte, seqs []lz77.Sequence, st *kernels.OffsetState,
) (nc, ne int) {
	r0, r1, r2 := st.Repeats[0], st.Repeats[1], st.Repeats[2]
	acc, have := st.Acc, uint(st.Have)
	for i := range seqs {
		off := seqs[i].Offset
		kind := uint32(newOffset)
		if off == r2 {
			kind = 2
		}
		if off == r1 {
			kind = 1
		}
		if off == r0 {
			kind = 0
		}
		if kind >= 2 {
			r2 = r1
		}
		if kind >= 1 {
			r1 = r0
		}
		r0 = off
		tokens[i] = byte(kind << 6)

		v := off>>2 + 1
		e := uint(bits.Len32(v)) - 1
		codes[nc] = byte(e<<2) | byte(off&3)
		isNew := uint(kind+1) >> 2 // 1 for a new offset
		nc += int(isNew)
		e &= -isNew
		// Up to 7 bits are left from the last offset. The store always writes all whole bytes.
		acc |= uint64(v&(1<<(e&31)-1)) << (have & 7)
		have += e
		binary.LittleEndian.PutUint64(extra[ne:ne+8:ne+8], acc)
		ne += int(have >> 3)
		acc >>= have &^ 7 & 63
		have &= 7
	}
	*st = kernels.OffsetState{Acc: acc, Have: uint64(have), Repeats: [4]uint32{r0, r1, r2}}
	return nc, ne
}

// repeatLengths adds the lengths to the tokens and fills LitLens and MatchLens.
func (s *Streams) repeatLengths(tokens []byte, seqs []lz77.Sequence) {
	lits, matches := resize(s.LitLens, len(seqs)+1), resize(s.MatchLens, len(seqs)+1)
	nl, nm := 0, 0
	next := len(seqs) - checkpointSequences
	for len(seqs) > 0 {
		if len(seqs) < next {
			next -= checkpointSequences
			s.checkpoint()
		}
		n, l, m, vector := kernels.EncodeLengths(tokens, lits[nl:], matches[nm:], seqs)
		nl, nm = nl+l, nm+m
		tokens, seqs = tokens[n:], seqs[n:]
		n = min(len(seqs), checkpointSequences)
		if vector {
			n = min(n, scalarTokens)
		}
		lits, matches, nl, nm = putLengths(
			tokens, lits, matches, nl, nm, seqs, n, &repeatMinMatches)
		tokens, seqs = tokens[n:], seqs[n:]
	}
	s.LitLens, s.MatchLens = lits[:nl], matches[:nm]
}

// putLengths is the portable twin of kernels.EncodeLengths for the first n sequences, and handles
// those that the kernel leaves. The tokens already hold the offset kinds. lits and matches hold nl
// and nm bytes and have room for one byte a sequence.
func putLengths(
	tokens, lits, matches []byte, nl, nm int,
	seqs []lz77.Sequence, n int, minMatch *[offsetKinds]uint32,
) ([]byte, []byte, int, int) {
	for i := range seqs[:n] {
		q := &seqs[i]
		lit, match := q.LitLen, q.MatchLen-minMatch[tokens[i]>>6]
		if lit >= repeatLitEscape+255 {
			lits, nl = appendLong(lits, nl, lit-repeatLitEscape, len(seqs)-i)
			lit = repeatLitEscape
		} else {
			lits[nl] = byte(lit - repeatLitEscape)
			if lit >= repeatLitEscape {
				lit = repeatLitEscape
				nl++
			}
		}
		if match >= repeatMatchEscape+255 {
			matches, nm = appendLong(matches, nm, match-repeatMatchEscape, len(seqs)-i)
			match = repeatMatchEscape
		} else {
			matches[nm] = byte(match - repeatMatchEscape)
			if match >= repeatMatchEscape {
				match = repeatMatchEscape
				nm++
			}
		}
		tokens[i] |= byte(lit | match<<2)
	}
	return lits, matches, nl, nm
}

func decodeRepeat(s *Streams, batch []lz77.Sequence, tokens []byte) bool {
	return s.resolve(batch, tokens, &repeatMinMatches)
}

func decodeDense(s *Streams, batch []lz77.Sequence, tokens []byte) bool {
	return s.resolve(batch, tokens, &denseMinMatches)
}

func (s *Streams) resolve(
	batch []lz77.Sequence, tokens []byte, minMatch *[offsetKinds]uint32,
) bool {
	c := &s.cursor
	batch = batch[:len(tokens)]
	for len(tokens) > 0 {
		r, vector := kernels.DecodeTokensRepeat(
			batch, tokens, ahead(s.LitLens, c.litLens), ahead(s.MatchLens, c.matches),
			ahead(s.Offsets, c.offsets), ahead(s.Extra, 0), &c.extra, &c.repeats, minMatch)
		c.countProgress(&r)
		batch, tokens = batch[r.Done:], tokens[r.Done:]
		n := len(tokens)
		if vector {
			n = min(n, scalarTokens)
		}
		if !resolveRepeat(s, batch[:n], tokens[:n], minMatch) {
			return false
		}
		batch, tokens = batch[n:], tokens[n:]
	}
	return c.litLens <= len(s.LitLens) && c.matches <= len(s.MatchLens) &&
		c.offsets <= len(s.Offsets) && c.extra <= uint(len(s.Extra))*8
}

// resolveRepeat is the portable twin of kernels.DecodeTokensRepeat, and decodes the tokens that the
// kernel leaves.
func resolveRepeat(
	s *Streams, batch []lz77.Sequence, tokens []byte, minMatch *[offsetKinds]uint32,
) bool {
	c := &s.cursor
	r0, r1, r2 := c.repeats[0], c.repeats[1], c.repeats[2]
	codes := s.Offsets // if a kernel went beyond their end, none is left
	extra := s.Extra[:cap(s.Extra)]
	at, bit := c.offsets, c.extra
	lits, matches := uint64(0), uint64(0)
	batch = batch[:len(tokens)]
	for i, t := range tokens {
		q := &batch[i]
		lit := uint32(t & 3)
		if lit == repeatLitEscape {
			n, ok := length(s.LitLens, &c.litLens)
			if !ok {
				return false
			}
			lit += n
		}
		n := uint32(t >> 2 & 15)
		long := n == repeatMatchEscape
		n += minMatch[t>>6]
		if long {
			more, ok := length(s.MatchLens, &c.matches)
			if !ok {
				return false
			}
			n += more
		}
		lits += uint64(lit)
		matches += uint64(n)

		off := r0
		if t >= newOffset<<6 {
			if at >= len(codes) || bit>>3+8 > uint(len(extra)) {
				return false
			}
			code := codes[at]
			at++
			e := uint(code >> 2)
			v := uint32(binary.LittleEndian.Uint64(extra[bit>>3:]) >> (bit & 7))
			v = v&(1<<(e&31)-1) | 1<<(e&31)
			bit += e
			off = (v-1)<<2 | uint32(code&3)
			if code > maxOffsetCode || off < lz77.MinOffset {
				return false
			}
			r2, r1, r0 = r1, r0, off
		} else if t >= 1<<6 {
			if t < 2<<6 {
				off = r1
			} else {
				off = r2
				r2 = r1
			}
			r1, r0 = r0, off
		}
		q.LitLen, q.MatchLen, q.Offset = lit, n, off
	}
	c.repeats = [4]uint32{r0, r1, r2}
	c.offsets, c.extra = at, bit
	c.lits += lits
	c.produced += lits + matches
	return true
}
