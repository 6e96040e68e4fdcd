package simd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// scaled is a number of rounds, fewer of them in short tests.
func scaled(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// randomFreqs returns frequencies that sum to 2048: of a few symbols or many, even ones or one that has nearly all.
func randomFreqs(r *rand.Rand) (f [256]uint16) {
	used := 2 + r.IntN(255)
	if r.IntN(3) == 0 {
		used = 2 + r.IntN(6)
	}
	syms := r.Perm(256)[:used]
	left := slots - used // everyone has one
	for i, s := range syms {
		f[s] = 1
		n := left
		if i < used-1 {
			switch n = 0; r.IntN(4) {
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

// randomRun returns symbols that have a frequency: as often as they should be, or all equally often.
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

// step codes and decodes a symbol by the definition.
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

// decodeNaively is the definition of what a group does with n symbols; it returns what it used of words.
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

// encodeNaively is its reverse.
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

// randomGroup is a group in the middle of its way: any states, any words.
func randomGroup(r *rand.Rand, rounds, rest, words int) (*DecodeGroup, *[256]uint16) {
	f := randomFreqs(r)
	g := &DecodeGroup{Table: new(DecodeTable), Dst: make([]byte, rounds*Lanes+rest), Words: make([]byte, words)}
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

// decodeAll decodes whole rounds of one group or two by the definition, as far as the kernels must go.
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

// TestDecodeLanes holds the kernels to the definition: for all numbers of rounds around those that an unrolled loop might have, with a rest behind them, and with words
// that end anywhere.
func TestDecodeLanes(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for round := range scaled(2000) {
			count := 1 + round%2
			var want, got []*DecodeGroup
			var freqs []*[256]uint16
			var dst [][]byte
			for range count {
				rounds := r.IntN(20)
				words := rounds*RoundBytes + WordSlack + RoundBytes
				if r.IntN(2) == 0 {
					words = r.IntN(words + 1)
				}
				g, f := randomGroup(r, rounds, r.IntN(Lanes), words)
				copied := *g
				copied.Dst = bytes.Clone(g.Dst)
				want, got, freqs, dst = append(want, g), append(got, &copied), append(freqs, f), append(dst, g.Dst, copied.Dst)
			}
			decodeAll(want, freqs)
			if count == 1 {
				DecodeLanes(got[0])
			} else {
				DecodeLanes2(got[0], got[1])
			}
			for i := range want {
				what := fmt.Sprintf("round %d, group %d of %d", round, i, count)
				if len(got[i].Dst) != len(want[i].Dst) || len(got[i].Words) != len(want[i].Words) {
					t.Fatalf("%s: %d bytes and %d words left, want %d and %d", what, len(got[i].Dst), len(got[i].Words), len(want[i].Dst), len(want[i].Words))
				}
				if got[i].States != want[i].States {
					t.Fatalf("%s: states differ", what)
				}
				if !bytes.Equal(dst[2*i], dst[2*i+1]) { // also that nothing is written behind the last round
					t.Fatalf("%s: output differs", what)
				}
			}
		}
	})
}

func TestDecodeTail(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		g, f := randomGroup(r, 2, r.IntN(Lanes), 1000)
		want := *g
		out := make([]byte, len(g.Dst))
		used := decodeNaively(&want.States, f, out, g.Words)
		g.Words = g.Words[:used]
		if end := DecodeTail(g, Lanes, 0); end < len(out) {
			// It stops when nothing is left to look at, and goes on when there is more.
			g.Words = want.Words[used:]
			if end = DecodeTail(g, Lanes, end); end != len(out) {
				t.Fatalf("stopped at %d of %d", end, len(out))
			}
		}
		if !bytes.Equal(g.Dst, out) || g.States != want.States {
			t.Fatal("differs")
		}
	}
}

// TestEncodeLanes holds the kernels to the definition, and the decoders to the encoders.
func TestEncodeLanes(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		var tab EncodeTable
		for round := range scaled(1000) {
			f := randomFreqs(r)
			tab.Build(&f)
			run := randomRun(r, &f, Lanes*r.IntN(20))
			var want [Lanes]uint32
			for i := range want {
				want[i] = StateMin + r.Uint32()>>(1+r.IntN(16))
				want[i] = min(want[i], StateMin<<16-1)
			}
			got := want
			start := want
			behind := r.IntN(100)
			size := 2*len(run) + behind
			a, b := make([]byte, size), make([]byte, size)
			for i := range b {
				b[i] = byte(i)
			}
			p := size - behind
			wantAt := encodeNaively(&want, &f, run, a, p)
			at := EncodeLanes(&got, &tab, run, b, p)
			if at != wantAt || !bytes.Equal(a[wantAt:p], b[at:p]) {
				t.Fatalf("round %d, %d symbols: words differ", round, len(run))
			}
			if got != want {
				t.Fatalf("round %d, %d symbols: states differ", round, len(run))
			}
			for i := p; i < size; i++ {
				if b[i] != byte(i) {
					t.Fatalf("round %d: wrote behind the words", round)
				}
			}
			few := start
			if at := EncodeTail(&few, &tab, Lanes, run, b, p); at != wantAt || few != want || !bytes.Equal(a[wantAt:p], b[at:p]) {
				t.Fatalf("round %d, %d symbols one by one: differs", round, len(run))
			}
			g := DecodeGroup{States: got, Table: new(DecodeTable), Dst: make([]byte, len(run)), Words: append(a[at:p:p], make([]byte, RoundBytes+WordSlack)...)}
			g.Table.Build(&f)
			out := g.Dst
			if DecodeLanes(&g); !bytes.Equal(out, run) || g.States != start || len(g.Words) != RoundBytes+WordSlack {
				t.Fatalf("round %d, %d symbols: what comes back differs", round, len(run))
			}
		}
	})
}

// TestEncodeDivision: the reciprocals are exact for the states where an error would show first, for every frequency.
func TestEncodeDivision(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		var tab EncodeTable
		words := make([]byte, 2*Lanes)
		r := rand.New(rand.NewPCG(11, 12))
		for f := uint32(1); f < slots; f++ {
			sym := byte(r.Uint32N(255))
			freqs := [256]uint16{}
			freqs[sym], freqs[255] = uint16(f), uint16(slots-f)
			tab.Build(&freqs)
			top := f << (31 - ProbBits) // states from here on are shifted first
			var x [Lanes]uint32
			for i := range x {
				switch i % 4 {
				case 0: // ends of the range
					x[i] = top - 1 - uint32(i)/4
				case 1: // multiples and their neighbours
					x[i] = max(StateMin, top-f*uint32(1+r.IntN(4))-1+uint32(r.IntN(3)))
				case 2:
					x[i] = min(top+uint32(r.IntN(3)), 1<<31-1)
				default:
					x[i] = StateMin + r.Uint32N(1<<31-StateMin)
				}
				x[i] = max(x[i], StateMin)
			}
			want := x
			run := bytes.Repeat([]byte{sym}, Lanes)
			encodeNaively(&want, &freqs, run, words, len(words))
			if EncodeLanes(&x, &tab, run, words, len(words)); x != want {
				t.Fatalf("frequency %d: %v, want %v", f, x, want)
			}
		}
	})
}

// TestEncodeRoom: the kernels write without looking, so what they are given is looked at before.
func TestEncodeRoom(t *testing.T) {
	var tab EncodeTable
	var states [Lanes]uint32
	for _, c := range []struct{ run, words, p int }{
		{1, 1000, 1000}, {33, 1000, 1000}, {32, 63, 63}, {32, 1000, 63}, {32, 200, 201}, {0, 0, -1}, {0, 0, 1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was taken", c)
				}
			}()
			EncodeLanes(&states, &tab, make([]byte, c.run), make([]byte, c.words), c.p)
		}()
	}
}

func TestLanesAllocs(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	a, f := randomGroup(r, 20, 5, 20*RoundBytes+100)
	b, _ := randomGroup(r, 20, 5, 20*RoundBytes+100)
	var tab EncodeTable
	run := randomRun(r, f, 20*Lanes)
	words := make([]byte, 2*len(run))
	var states [Lanes]uint32
	for i := range states {
		states[i] = StateMin
	}
	for _, name := range Tiers() {
		defer SetTier(SetTier(name))
		if n := testing.AllocsPerRun(10, func() {
			ga, gb := *a, *b
			ga.Table.Build(f)
			DecodeLanes2(&ga, &gb)
			DecodeLanes(&ga)
			tab.Build(f)
			s := states
			EncodeLanes(&s, &tab, run, words, len(words))
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestLongRuns: what the kernels take in more than one call.
func TestLongRuns(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(19, 20))
		const most = 300_000
		for range 3 {
			f := randomFreqs(r)
			var tab EncodeTable
			tab.Build(&f)
			run := randomRun(r, &f, most+r.IntN(Lanes*100)&^(Lanes-1))
			var states [Lanes]uint32
			for i := range states {
				states[i] = StateMin
			}
			want, start := states, states
			words, naive := make([]byte, 2*len(run)), make([]byte, 2*len(run))
			at := EncodeLanes(&states, &tab, run, words, len(words))
			if wantAt := encodeNaively(&want, &f, run, naive, len(naive)); at != wantAt || states != want || !bytes.Equal(words[at:], naive[at:]) {
				t.Fatal("encoder differs")
			}
			var gs [2]DecodeGroup
			var out [2][]byte
			for i := range gs {
				out[i] = make([]byte, len(run))
				gs[i] = DecodeGroup{States: states, Table: new(DecodeTable), Dst: out[i], Words: append(words[at:len(words):len(words)], make([]byte, RoundBytes+WordSlack)...)}
				gs[i].Table.Build(&f)
			}
			alone := gs[0]
			alone.Dst = make([]byte, len(run))
			p := alone.Dst
			DecodeLanes2(&gs[0], &gs[1])
			DecodeLanes(&alone)
			if !bytes.Equal(out[0], run) || !bytes.Equal(out[1], run) || !bytes.Equal(p, run) || gs[0].States != start || gs[1].States != start || alone.States != start {
				t.Fatal("what comes back differs")
			}
			var counts, byOne [256]uint32
			for _, c := range run {
				byOne[c]++
			}
			if Histogram(&counts, run); counts != byOne {
				t.Fatal("wrong counts")
			}
		}
	})
}
