package kernels

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestGuardPages runs the rANS kernels between guard pages. Results must not depend on the memory.
func TestGuardPages(t *testing.T) {
	const rounds = 40
	var dst, words [2]guarded
	for i := range dst {
		dst[i] = newGuarded(t, rounds*Lanes+Lanes)
		words[i] = newGuarded(t, rounds*RoundBytes+RoundBytes)
	}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		for round := range scaled(1500) {
			var want, got [2]*DecodeGroup
			var out [2][2][]byte
			var f [2]*[256]uint16
			for i := range want {
				n := r.IntN(rounds)
				// Enough words, or so few that the kernels use the last one that they may use.
				w := r.IntN(n*RoundBytes + 1)
				if r.IntN(3) == 0 {
					w = r.IntN(2*RoundBytes + 2)
				}
				want[i], f[i] = randomGroup(r, n, r.IntN(Lanes), w)
				g := *want[i]
				got[i] = &g
				g.Dst = dst[i].put(r, g.Dst)
				g.Words = words[i].put(r, g.Words)
				out[i] = [2][]byte{want[i].Dst, g.Dst}
			}
			if round%2 == 0 {
				decodeAll(want[:1], f[:1])
				DecodeLanes(got[0])
			} else {
				decodeAll(want[:], f[:])
				DecodeLanes2(got[0], got[1])
			}
			for i := range want {
				if got[i].States != want[i].States || len(got[i].Words) != len(want[i].Words) ||
					!bytes.Equal(out[i][0], out[i][1]) {
					t.Fatalf("round %d: decoded group %d differs from the definition", round, i)
				}
			}
		}
		var tab EncodeTable
		in, room := dst[0], words[0]
		for range scaled(1500) {
			f := randomFreqs(r)
			tab.Build(&f)
			run := randomRun(r, &f, Lanes*r.IntN(rounds))
			size := 2 * len(run)
			var a, b [Lanes]uint32
			for i := range a {
				a[i] = StateMin + r.Uint32N(1<<31-StateMin)
			}
			b = a
			// As much room as EncodeLanes requires.
			w := room.put(r, make([]byte, size))
			at := EncodeLanes(&a, &tab, in.put(r, run), w, size)
			check := make([]byte, size)
			if want := encodeNaively(&b, &f, run, check, size); at != want || a != b ||
				!bytes.Equal(w[at:], check[at:]) {
				t.Fatal("EncodeLanes differs from the definition")
			}
		}
	})
}

// TestBuild compares decoding tables, between guard pages, with the definition.
func TestBuild(t *testing.T) {
	const size = 4 * slots
	mem := newGuarded(t, size)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(29, 30))
		try := func(f *[256]uint16) {
			p := mem.put(r, make([]byte, size))
			got := (*DecodeTable)(unsafe.Pointer(unsafe.SliceData(p)))
			got.Build(f)
			if *got != *buildNaively(f) {
				t.Fatalf("table for frequencies %v differs", f)
			}
		}
		for range scaled(3000) {
			f := randomFreqs(r)
			try(&f)
		}
		// Steps of eight entries do not fit at the last symbol.
		for n := uint16(1); n < 40; n++ {
			for _, a := range []int{0, 1, 15, 16, 100} {
				var f [256]uint16
				f[a], f[a+1+r.IntN(255-a)] = slots-n, n
				try(&f)
				f = [256]uint16{}
				f[a], f[a+1+r.IntN(255-a)] = n, slots-n
				try(&f)
			}
		}
	})
}

// TestGuardPagesCtx decodes context-coded runs with marks, symbols and words between guard pages.
func TestGuardPagesCtx(t *testing.T) {
	const rounds = 40
	room, bits := newGuarded(t, rounds*CtxRound), newGuarded(t, 8*rounds)
	from := [2]guarded{newGuarded(t, rounds*RoundBytes), newGuarded(t, rounds*RoundBytes)}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(37, 38))
		tab := new(CtxTable)
		for i := range scaled(10_000) {
			if i%50 == 0 {
				randomCtxTable(r, tab)
			}
			words := randomWords(r, rounds*RoundBytes)
			for half := range words {
				words[half] = from[half].put(r, words[half])
			}
			marks := randomMarks(r, r.IntN(rounds+1))
			placed := bits.put(r, make([]byte, 8*len(marks)))
			if len(marks) > 0 {
				own := unsafe.Slice((*uint64)(unsafe.Pointer(&placed[0])), len(marks))
				copy(own, marks)
				marks = own
			}
			tryCtx(t, r, tab, marks, room.put(r, make([]byte, r.IntN(rounds*CtxRound+1))), words)
		}
	})
}
