package lzseq

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/gopz/compress/lz77"
)

// This file holds a second decoder, written from docs/FORMAT.md ("Coded blocks") alone. It uses
// whole lists and single bits. All tests here compare the decoder with it.

// naiveStream is a byte string to read from the front. over reports a read beyond its end.
type naiveStream struct {
	p    []byte
	over bool
}

func (s *naiveStream) byte() int {
	if len(s.p) == 0 {
		s.over = true
		return 0
	}
	c := s.p[0]
	s.p = s.p[1:]
	return int(c)
}

func (s *naiveStream) long() int {
	n := s.byte()
	if n < 255 {
		return n
	}
	n = s.byte() | s.byte()<<8 | s.byte()<<16 | s.byte()<<24
	if n < 255 {
		s.over = true // must fit in one byte
	}
	return n
}

// naiveSequences returns the sequences of the streams, or ok = false if the streams do not fit
// together. It does not check them against a size.
func naiveSequences(l *Layout, s *Streams) (seqs []lz77.Sequence, ok bool) {
	offsets := naiveStream{p: s.Offsets}
	litLens, matchLens := naiveStream{p: s.LitLens}, naiveStream{p: s.MatchLens}
	bit := 0 // index into Extra
	repeats := []int{64, 64, 64}
	for _, t := range s.Tokens {
		var lit, match, offset int
		if l == Plain {
			if lit = int(t & 15); lit == 15 {
				lit += litLens.long()
			}
			if match = int(t>>4) + 5; match == 20 {
				match += matchLens.long()
			}
			offset = offsets.byte() | offsets.byte()<<8
		} else {
			if lit = int(t & 3); lit == 3 {
				lit += litLens.long()
			}
			if match = int(t >> 2 & 15); match == 15 {
				match += matchLens.long()
			}
			place := int(t >> 6)
			switch {
			case l != Dense:
				match += 4
			case place == 3:
				match += 3
			default:
				match += 2
			}
			if place < 3 {
				offset = repeats[place]
				repeats = append(repeats[:place:place], repeats[place+1:]...)
			} else {
				c := offsets.byte()
				e := c >> 2
				if e > 24 {
					return nil, false
				}
				x := 0
				for i := range e {
					if bit/8 >= len(s.Extra) {
						return nil, false
					}
					x |= int(s.Extra[bit/8]>>(bit%8)&1) << i
					bit++
				}
				offset = (1<<e+x-1)*4 + c&3
				repeats = repeats[:2]
			}
			repeats = append([]int{offset}, repeats...)
		}
		if offset < 16 || offsets.over || litLens.over || matchLens.over {
			return nil, false
		}
		seqs = append(seqs, lz77.Sequence{
			LitLen: uint32(lit), MatchLen: uint32(match), Offset: uint32(offset),
		})
	}
	used := len(offsets.p) == 0 && len(litLens.p) == 0 && len(matchLens.p) == 0 &&
		(bit+7)/8 == len(s.Extra)
	return seqs, used
}

// naiveDecode returns the block of size bytes that the streams hold.
func naiveDecode(l *Layout, s *Streams, size int) (out []byte, ok bool) {
	seqs, ok := naiveSequences(l, s)
	if !ok {
		return nil, false
	}
	lits := s.Lits
	for _, q := range seqs {
		lit, match, offset := int(q.LitLen), int(q.MatchLen), int(q.Offset)
		if lit > len(lits) || lit+match > size-len(out) || offset > len(out)+lit {
			return nil, false
		}
		out = append(out, lits[:lit]...)
		lits = lits[lit:]
		for range match {
			out = append(out, out[len(out)-offset])
		}
	}
	out = append(out, lits...)
	return out, len(out) == size
}

// roomy returns a copy of p with the capacity that Decode may use, filled with bytes other than 0.
func roomy(p []byte) []byte {
	q := append(bytes.Clone(p), bytes.Repeat([]byte{0xd7}, lz77.Slack)...)
	return q[:len(p)]
}

// copyOf returns a copy of the streams with the capacity that Decode asks for, by turns with that
// behind all streams or only where needed.
func copyOf(s *Streams) *Streams {
	other := bytes.Clone
	if len(s.Tokens)%2 == 0 {
		other = roomy
	}
	return &Streams{Lits: roomy(s.Lits), Tokens: other(s.Tokens), Offsets: roomy(s.Offsets),
		LitLens: other(s.LitLens), MatchLens: other(s.MatchLens), Extra: roomy(s.Extra)}
}

// streams returns the streams.
func (s *Streams) streams() (all [][]byte) {
	for _, p := range s.All() {
		all = append(all, *p)
	}
	return all
}

// named returns the streams by name.
func (s *Streams) named() map[string]*[]byte {
	return map[string]*[]byte{
		"Lits": &s.Lits, "Tokens": &s.Tokens, "Offsets": &s.Offsets, "LitLens": &s.LitLens,
		"MatchLens": &s.MatchLens, "Extra": &s.Extra}
}

// randomBlock returns a block with n sequences that use all that the layout can express: lengths
// and offsets of all magnitudes, repeat offsets, empty literal runs. Lengths are at most longest.
func randomBlock(r *rand.Rand, l *Layout, n, longest int) (src []byte, seqs []lz77.Sequence) {
	magnitude := func(limit int) int { return r.IntN(1 + r.IntN(1+r.IntN(1+r.IntN(limit)))) }
	literals := func(n int) {
		for range n {
			src = append(src, byte(r.Uint32()))
		}
	}
	recent := []int{64, 64, 64}
	for range n {
		q := lz77.Sequence{LitLen: uint32(magnitude(longest)), MatchLen: uint32(magnitude(longest))}
		if len(src)+int(q.LitLen) < 16 {
			q.LitLen += 16
		}
		literals(int(q.LitLen))
		reach := min(len(src), l.Limits.MaxOffset)
		d := 16 + r.IntN(reach-15)
		if r.IntN(3) == 0 {
			d = 16 + magnitude(reach-15)
		}
		if c := recent[len(recent)-1-r.IntN(4)%3]; r.IntN(2) == 0 && c <= reach {
			d = c
		}
		if at := slices.Index(recent, d); at < 0 {
			recent = append(recent[1:], d)
			q.MatchLen += uint32(l.Limits.MinMatch)
		} else {
			recent = append(slices.Delete(recent, at, at+1), d)
			q.MatchLen += uint32(minRepeat(l))
		}
		q.Offset = uint32(d)
		for range q.MatchLen {
			src = append(src, src[len(src)-d])
		}
		seqs = append(seqs, q)
	}
	literals(magnitude(longest))
	return src, seqs
}
