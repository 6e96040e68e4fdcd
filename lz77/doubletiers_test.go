package lz77

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// TestDoubleTiers: all tiers give the same sequences with both parsers of DoubleHash, with all
// settings, limits, windows and capacities of dst, which decide where calls of a kernel end. It
// uses a new Matcher for each block and one for all.
func TestDoubleTiers(t *testing.T) {
	limits := append([]Limits{
		{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1},
		{MinMatch: 8, MaxOffset: 64, Repeats: 1},
		{MinMatch: 6, MaxOffset: 1 << 12, Repeats: maxRepeats},
	}, testLimits...)
	size := 400_000 // more than one call of a kernel takes
	if small() {
		size = 60_000
	}
	r := rand.New(rand.NewPCG(9, 10))
	var turns Matcher
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		for range 12 {
			p := Params{
				Finder: DoubleHash, HashLog: uint8(8 + r.IntN(9)), LongHashLog: uint8(8 + r.IntN(10)),
				HashBytes: uint8(4 + r.IntN(5)), SkipLog: uint8(r.IntN(10)),
				Nice: 9 + r.IntN(60), Lazy: r.IntN(2),
			}
			l := limits[r.IntN(len(limits))]
			start := r.IntN(2) * r.IntN(size)
			n := size - start
			if r.IntN(2) == 0 {
				n = min(n, 200)
			}
			piece, room := src[:start+r.IntN(n+1)], r.IntN(2)*r.IntN(3000)
			var want []Sequence
			for i, tier := range simd.Tiers() {
				defer simd.SetTier(simd.SetTier(tier))
				var m Matcher
				got := m.ParseFrom(make([]Sequence, 0, room), piece, start, &p, l)
				if i == 0 {
					want = got
				}
				for range 2 {
					if !slices.Equal(got, want) {
						t.Fatalf("%s, %d bytes from %d, %+v, %+v: tier %s: %s",
							k.Name, len(piece), start, p, l, tier, differ(got, want))
					}
					if r.IntN(2) == 0 {
						got = turns.ParseFrom(nil, piece, start, &p, l)
					}
				}
			}
		}
	}
}

// TestDoubleCalls: the place where a call of a kernel ends makes no difference. Even seeds have
// matches so long that most calls end within one. Odd seeds have so many matches that alternate
// between two offsets that dst is often full between them.
func TestDoubleCalls(t *testing.T) {
	for seed := range uint64(8) {
		if small() && seed > 1 {
			continue
		}
		r := rand.New(rand.NewPCG(11, seed))
		src := make([]byte, 1000, 1<<20+500)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		for len(src) < 1<<20 {
			if seed%2 == 0 {
				for range 8 {
					src = append(src, byte(r.Uint32()))
				}
				at := r.IntN(len(src) - 500)
				src = append(src, src[at:at+300+r.IntN(200)]...)
				continue
			}
			for range 1 + r.IntN(40) { // matches that alternate between two offsets
				for _, d := range []int{100, 163} {
					at := len(src) - d
					src = append(src, src[at:at+4+r.IntN(20)]...)
				}
			}
			src = append(src, byte(r.Uint32()))
		}
		for level := 3; level <= 4; level++ {
			var want []Sequence
			for i, tier := range simd.Tiers() {
				defer simd.SetTier(simd.SetTier(tier))
				for _, room := range []int{0, 1, 1000} {
					var m Matcher
					got := m.Parse(make([]Sequence, 0, room), src, &Levels[level], testLimits[1])
					if i == 0 && room == 0 {
						want = got
					} else if !slices.Equal(got, want) {
						t.Fatalf("seed %d, level %d, tier %s, capacity %d: %s",
							seed, level, tier, room, differ(got, want))
					}
				}
			}
		}
	}
}
