package kernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/cpu"
	"github.com/gopz/compress/simd"
)

// TestDecodeLanes compares the kernels with the definition, for few rounds and a rest, and words of
// any length.
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
				want, got = append(want, g), append(got, &copied)
				freqs, dst = append(freqs, f), append(dst, g.Dst, copied.Dst)
			}
			decodeAll(want, freqs)
			if count == 1 {
				DecodeLanes(got[0])
			} else {
				DecodeLanes2(got[0], got[1])
			}
			for i := range want {
				what := fmt.Sprintf("test %d, group %d of %d", round, i, count)
				if len(got[i].Dst) != len(want[i].Dst) || len(got[i].Words) != len(want[i].Words) {
					t.Fatalf("%s: %d bytes and %d words left, want %d and %d", what,
						len(got[i].Dst), len(got[i].Words), len(want[i].Dst), len(want[i].Words))
				}
				if got[i].States != want[i].States {
					t.Fatalf("%s: states differ", what)
				}
				if !bytes.Equal(dst[2*i], dst[2*i+1]) { // includes the bytes behind the last round
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
			// It stops where the words end, and continues when there are more.
			g.Words = want.Words[used:]
			if end = DecodeTail(g, Lanes, end); end != len(out) {
				t.Fatalf("DecodeTail stopped at %d of %d symbols", end, len(out))
			}
		}
		if !bytes.Equal(g.Dst, out) || g.States != want.States {
			t.Fatal("DecodeTail differs from the definition")
		}
	}
}

// TestEncodeLanes compares the kernels with the definition, and decodes the encoded runs.
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
				t.Fatalf("test %d, %d symbols: words differ", round, len(run))
			}
			if got != want {
				t.Fatalf("test %d, %d symbols: states differ", round, len(run))
			}
			for i := p; i < size; i++ {
				if b[i] != byte(i) {
					t.Fatalf("test %d: EncodeLanes wrote behind the words", round)
				}
			}
			tail := start
			if at := EncodeTail(&tail, &tab, Lanes, run, b, p); at != wantAt || tail != want ||
				!bytes.Equal(a[wantAt:p], b[at:p]) {
				t.Fatalf("test %d: EncodeTail of %d symbols differs", round, len(run))
			}
			g := DecodeGroup{
				States: got,
				Table:  new(DecodeTable),
				Dst:    make([]byte, len(run)),
				Words:  append(a[at:p:p], make([]byte, RoundBytes+WordSlack)...),
			}
			g.Table.Build(&f)
			out := g.Dst
			DecodeLanes(&g)
			if !bytes.Equal(out, run) || g.States != start ||
				len(g.Words) != RoundBytes+WordSlack {
				t.Fatalf("test %d, %d symbols: decoded symbols differ", round, len(run))
			}
		}
	})
}

// TestEncodeDivision checks the reciprocals of all frequencies, for states where an error would
// show first.
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
			top := f << (31 - ProbBits) // states from here on write a word first
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
			EncodeLanes(&x, &tab, run, words, len(words))
			if x != want {
				t.Fatalf("frequency %d: %v, want %v", f, x, want)
			}
		}
	})
}

// TestEncodeRoom checks that EncodeLanes panics without room.
func TestEncodeRoom(t *testing.T) {
	var tab EncodeTable
	var states [Lanes]uint32
	for _, c := range []struct{ run, words, p int }{
		{1, 1000, 1000}, {33, 1000, 1000}, {32, 63, 63}, {32, 1000, 63}, {32, 200, 201},
		{0, 0, -1}, {0, 0, 1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("EncodeLanes with %+v: no panic", c)
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
	for _, name := range cpu.Tiers() {
		defer cpu.SetTier(cpu.SetTier(name))
		if n := testing.AllocsPerRun(10, func() {
			ga, gb := *a, *b
			ga.Table.Build(f)
			DecodeLanes2(&ga, &gb)
			DecodeLanes(&ga)
			tab.Build(f)
			s := states
			EncodeLanes(&s, &tab, run, words, len(words))
		}); n != 0 {
			t.Errorf("tier %s: %v allocations, want 0", name, n)
		}
	}
}

// TestLongRuns encodes and decodes more than one call of a kernel does.
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
			if wantAt := encodeNaively(&want, &f, run, naive, len(naive)); at != wantAt ||
				states != want ||
				!bytes.Equal(words[at:], naive[at:]) {
				t.Fatal("EncodeLanes differs from the definition")
			}
			var gs [2]DecodeGroup
			var out [2][]byte
			for i := range gs {
				out[i] = make([]byte, len(run))
				gs[i] = DecodeGroup{
					States: states,
					Table:  new(DecodeTable),
					Dst:    out[i],
					Words: append(
						words[at:len(words):len(words)],
						make([]byte, RoundBytes+WordSlack)...),
				}
				gs[i].Table.Build(&f)
			}
			alone := gs[0]
			alone.Dst = make([]byte, len(run))
			p := alone.Dst
			DecodeLanes2(&gs[0], &gs[1])
			DecodeLanes(&alone)
			if !bytes.Equal(out[0], run) || !bytes.Equal(out[1], run) || !bytes.Equal(p, run) ||
				gs[0].States != start ||
				gs[1].States != start ||
				alone.States != start {
				t.Fatal("decoded symbols differ")
			}
			var counts, byOne [256]uint32
			for _, c := range run {
				byOne[c]++
			}
			simd.Histogram(&counts, run)
			if counts != byOne {
				t.Fatal("Histogram differs")
			}
		}
	})
}
