package lzseq

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// A token of the layouts Repeat and Dense:
//
//	bits 0–1  literal run; 3: the rest of it is in LitLens
//	bits 2–5  match length − the least of its kind; 15: the rest of it is in MatchLens
//	bits 6–7  0, 1, 2: that repeat offset; 3: a new one
//
// The offset used moves to the front of the list of repeats. A new offset is v = offset>>2 + 1, e = ⌊log₂ v⌋: the code byte
// is e<<2 | offset&3, and the e bits of v below its highest follow in Extra. The low bits of an offset are worth coding, since
// data made of words and records likes multiples of four; the bits in the middle are as good as random.
const (
	repeatMin     = 4 // of all matches in Repeat
	denseRepeat   = 2 // of one with a repeat offset in Dense
	denseNew      = 3 // of one with a new offset in Dense
	repeatLit     = 3
	repeatMatch   = 15
	newOffset     = 3
	maxOffsetCode = 24<<2 | 3

	// denseThree is the greatest offset of a new match of 3 bytes. XML is 0.2% larger with 1<<12 and more, source 0.4% smaller with 1<<18, programs the same within 0.1%.
	denseThree = 1 << 10
)

// encodeRepeat fills all streams but Lits. Offsets and lengths have a loop each, with registers enough for what it keeps.
//
// Which offset it is and whether a length needs more than the token is hard to predict: what may be of use is always written, and
// counted if it is.
func encodeRepeat(s *Streams, seqs []lz77.Sequence) {
	tokens := s.Tokens[:len(seqs)]
	s.repeatOffsets(tokens, seqs)
	s.repeatLengths(tokens, seqs)
}

// encodeDense is the same with the lengths of Dense, which no kernel knows: what finds the matches takes a hundred times as long.
func encodeDense(s *Streams, seqs []lz77.Sequence) {
	tokens := s.Tokens[:len(seqs)]
	s.repeatOffsets(tokens, seqs)
	lits, matches := resize(s.LitLens, len(seqs)+1), resize(s.MatchLens, len(seqs)+1)
	lits, matches, nl, nm := putLengths(tokens, lits, matches, 0, 0, seqs, len(seqs), &denseLeast)
	s.LitLens, s.MatchLens = lits[:nl], matches[:nm]
}

// The least match lengths, by kind: repeat offsets, and a new one.
var (
	repeatLeast = [lz77.OffsetKinds]uint32{repeatMin, repeatMin, repeatMin, repeatMin}
	denseLeast  = [lz77.OffsetKinds]uint32{denseRepeat, denseRepeat, denseRepeat, denseNew}
)

// repeatOffsets sets the tokens to what they say of offsets, and fills Offsets and Extra.
func (s *Streams) repeatOffsets(tokens []byte, seqs []lz77.Sequence) {
	codes := resize(s.Offsets, len(seqs)+1)
	extra := resize(s.Extra, 3*len(seqs)+8) // 24 bits for each, and a step more
	nc, ne, ok := simd.EncodeOffsets(tokens, codes, extra, seqs, lz77.InitialRepeat)
	if !ok {
		nc, ne = putOffsets(tokens, codes, extra, seqs)
	}
	s.Offsets, s.Extra = codes[:nc], extra[:ne]
}

// putOffsets is the portable twin of simd.EncodeOffsets.
func putOffsets(tokens, codes, extra []byte, seqs []lz77.Sequence) (nc, ne int) {
	r0, r1, r2 := uint32(lz77.InitialRepeat), uint32(lz77.InitialRepeat), uint32(lz77.InitialRepeat)
	var acc uint64
	var have uint
	for i := range seqs {
		off := seqs[i].Offset
		place := uint32(newOffset)
		if off == r2 {
			place = 2
		}
		if off == r1 {
			place = 1
		}
		if off == r0 {
			place = 0
		}
		if place >= 2 {
			r2 = r1
		}
		if place >= 1 {
			r1 = r0
		}
		r0 = off
		tokens[i] = byte(place << 6)

		v := off>>2 + 1
		e := uint(bits.Len32(v)) - 1
		codes[nc] = byte(e<<2) | byte(off&3)
		fresh := uint(place+1) >> 2 // 1 for a new offset
		nc += int(fresh)
		e &= -fresh
		// 7 bits at most are left over from the last one: the whole bytes are always written out.
		acc |= uint64(v&(1<<(e&31)-1)) << (have & 7)
		have += e
		binary.LittleEndian.PutUint64(extra[ne:ne+8:ne+8], acc)
		ne += int(have >> 3)
		acc >>= have &^ 7 & 63
		have &= 7
	}
	if have > 0 {
		extra[ne] = byte(acc)
		ne++
	}
	return nc, ne
}

// repeatLengths puts to the tokens what they say of lengths, and fills LitLens and MatchLens.
func (s *Streams) repeatLengths(tokens []byte, seqs []lz77.Sequence) {
	lits, matches := resize(s.LitLens, len(seqs)+1), resize(s.MatchLens, len(seqs)+1)
	nl, nm := 0, 0
	for len(seqs) > 0 {
		n, l, m, vector := simd.EncodeLengths(tokens, lits[nl:], matches[nm:], seqs)
		nl, nm = nl+l, nm+m
		tokens, seqs = tokens[n:], seqs[n:]
		n = len(seqs)
		if vector {
			n = min(n, fewTokens)
		}
		lits, matches, nl, nm = putLengths(tokens, lits, matches, nl, nm, seqs, n, &repeatLeast)
		tokens, seqs = tokens[n:], seqs[n:]
	}
	s.LitLens, s.MatchLens = lits[:nl], matches[:nm]
}

// putLengths is the portable twin of simd.EncodeLengths, for the first n sequences, and does all that the other leaves. The streams hold nl and nm bytes so far, and keep room
// for one of each sequence. What tokens say of offsets is in them.
func putLengths(tokens, lits, matches []byte, nl, nm int, seqs []lz77.Sequence, n int, least *[lz77.OffsetKinds]uint32) ([]byte, []byte, int, int) {
	for i := range seqs[:n] {
		q := &seqs[i]
		lit, match := q.LitLen, q.MatchLen-least[tokens[i]>>6]
		if lit >= repeatLit+255 {
			lits, nl = appendLong(lits, nl, lit-repeatLit, len(seqs)-i)
			lit = repeatLit
		} else {
			lits[nl] = byte(lit - repeatLit)
			if lit >= repeatLit {
				lit = repeatLit
				nl++
			}
		}
		if match >= repeatMatch+255 {
			matches, nm = appendLong(matches, nm, match-repeatMatch, len(seqs)-i)
			match = repeatMatch
		} else {
			matches[nm] = byte(match - repeatMatch)
			if match >= repeatMatch {
				match = repeatMatch
				nm++
			}
		}
		tokens[i] |= byte(lit | match<<2)
	}
	return lits, matches, nl, nm
}

func decodeRepeat(s *Streams, batch []lz77.Sequence, tokens []byte) bool {
	return s.resolve(batch, tokens, &repeatLeast)
}

func decodeDense(s *Streams, batch []lz77.Sequence, tokens []byte) bool {
	return s.resolve(batch, tokens, &denseLeast)
}

func (s *Streams) resolve(batch []lz77.Sequence, tokens []byte, least *[lz77.OffsetKinds]uint32) bool {
	c := &s.cursor
	batch = batch[:len(tokens)]
	for len(tokens) > 0 {
		r, vector := simd.DecodeTokensRepeat(batch, tokens, ahead(s.LitLens, c.litLens), ahead(s.MatchLens, c.matches),
			ahead(s.Offsets, c.offsets), ahead(s.Extra, 0), &c.extra, &c.repeats, least)
		c.count(&r)
		batch, tokens = batch[r.Done:], tokens[r.Done:]
		n := len(tokens)
		if vector {
			n = min(n, fewTokens)
		}
		if !resolveRepeat(s, batch[:n], tokens[:n], least) {
			return false
		}
		batch, tokens = batch[n:], tokens[n:]
	}
	return c.litLens <= len(s.LitLens) && c.matches <= len(s.MatchLens) && c.offsets <= len(s.Offsets) && c.extra <= uint(len(s.Extra))*8
}

// resolveRepeat is the portable twin of simd.DecodeTokensRepeat, and does all that the other leaves.
func resolveRepeat(s *Streams, batch []lz77.Sequence, tokens []byte, least *[lz77.OffsetKinds]uint32) bool {
	c := &s.cursor
	r0, r1, r2 := c.repeats[0], c.repeats[1], c.repeats[2]
	codes := s.Offsets[:cap(s.Offsets)]
	extra := s.Extra[:cap(s.Extra)]
	at, bit := c.offsets, c.extra
	lits, matches := uint64(0), uint64(0)
	batch = batch[:len(tokens)]
	for i, t := range tokens {
		q := &batch[i]
		lit := uint32(t & 3)
		if lit == repeatLit {
			n, ok := length(s.LitLens, &c.litLens)
			if !ok {
				return false
			}
			lit += n
		}
		n := uint32(t >> 2 & 15)
		long := n == repeatMatch
		if n += least[t>>6]; long {
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
			v := uint32(binary.LittleEndian.Uint64(extra[bit>>3:])>>(bit&7))&(1<<(e&31)-1) | 1<<(e&31)
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
