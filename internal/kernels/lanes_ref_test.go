package kernels

import (
	"bytes"
	"math/rand/v2"
)

// randomFreqs returns frequencies that sum to 2048: for few symbols or many, even or dominated by
// one.
func randomFreqs(r *rand.Rand) (f [256]uint16) {
	used := 2 + r.IntN(255)
	if r.IntN(3) == 0 {
		used = 2 + r.IntN(6)
	}
	syms := r.Perm(256)[:used]
	left := slots - used // every symbol has one
	for i, s := range syms {
		f[s] = 1
		n := left
		if i < used-1 {
			n = 0
			switch r.IntN(4) {
			case 0:
				n = r.IntN(left + 1)
			case 1:
				n = min(left, slots/used)
			case 2:
				n = r.IntN(left/4 + 1)
			}
		}
		f[s] += uint16(n)
		left -= n
	}
	return f
}

// randomRun returns n symbols with a frequency above 0, distributed by frequency or evenly.
func randomRun(r *rand.Rand, f *[256]uint16, n int) []byte {
	var all, one []byte
	for s, k := range f {
		if k > 0 {
			one = append(one, byte(s))
			all = append(all, bytes.Repeat([]byte{byte(s)}, int(k))...)
		}
	}
	if r.IntN(3) == 0 {
		all = one
	}
	p := make([]byte, n)
	for i := range p {
		p[i] = all[r.IntN(len(all))]
	}
	return p
}

// step is a symbol, its frequency f, and the sum c of the frequencies before it.
type step struct{ c, f, sym uint32 }

func findSymbol(f *[256]uint16, sym byte) step {
	c := uint32(0)
	for _, n := range f[:sym] {
		c += uint32(n)
	}
	return step{c, uint32(f[sym]), uint32(sym)}
}

func findSlot(f *[256]uint16, slot uint32) step {
	c := uint32(0)
	for s, n := range f {
		if slot < c+uint32(n) {
			return step{c, uint32(n), uint32(s)}
		}
		c += uint32(n)
	}
	panic("frequencies do not sum to 2048")
}

// decodeNaively is the definition of decoding. It returns the number of bytes of words used.
func decodeNaively(states *[Lanes]uint32, f *[256]uint16, dst, words []byte) (used int) {
	for i := range dst {
		x := &states[i%Lanes]
		s := findSlot(f, *x%slots)
		dst[i] = byte(s.sym)
		if *x = s.f*(*x/slots) + *x%slots - s.c; *x < StateMin {
			*x = *x<<16 | uint32(words[used]) | uint32(words[used+1])<<8
			used += 2
		}
	}
	return used
}

// encodeNaively is the definition of encoding.
func encodeNaively(states *[Lanes]uint32, f *[256]uint16, run, words []byte, p int) int {
	for i := len(run) - 1; i >= 0; i-- {
		x := &states[i%Lanes]
		s := findSymbol(f, run[i])
		if *x >= s.f<<(31-ProbBits) {
			p -= 2
			words[p], words[p+1] = byte(*x), byte(*x>>8)
			*x >>= 16
		}
		*x = *x/s.f*slots + *x%s.f + s.c
	}
	return p
}

// randomGroup returns a group with arbitrary states and words.
func randomGroup(r *rand.Rand, rounds, rest, words int) (*DecodeGroup, *[256]uint16) {
	f := randomFreqs(r)
	g := &DecodeGroup{
		Table: new(DecodeTable),
		Dst:   make([]byte, rounds*Lanes+rest),
		Words: make([]byte, words),
	}
	g.Table.Build(&f)
	for i := range g.States {
		g.States[i] = r.Uint32() >> (1 + r.IntN(16))
		if r.IntN(20) == 0 {
			g.States[i] = []uint32{0, StateMin - 1, StateMin, StateMin<<16 - 1}[r.IntN(4)]
		}
	}
	for i := range g.Words {
		g.Words[i] = byte(r.Uint32())
	}
	return g, &f
}

// decodeAll decodes whole rounds of one or two groups by the definition, as far as the kernels must
// go.
func decodeAll(groups []*DecodeGroup, f []*[256]uint16) {
	for {
		for _, g := range groups {
			if len(g.Dst) < Lanes || len(g.Words) < RoundBytes+WordSlack {
				return
			}
		}
		for i, g := range groups {
			used := decodeNaively(&g.States, f[i], g.Dst[:Lanes], g.Words)
			g.Dst, g.Words = g.Dst[Lanes:], g.Words[used:]
		}
	}
}

func buildNaively(f *[256]uint16) *DecodeTable {
	t, i := new(DecodeTable), 0
	for sym, n := range f {
		for k := range n {
			t[i] = uint32(sym) | uint32(n)<<8 | uint32(k)<<19
			i++
		}
	}
	return t
}
