package lz77

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// TestSingleTiers: all tiers give the same sequences, with all settings, limits and windows.
func TestSingleTiers(t *testing.T) {
	limits := append([]Limits{
		{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1},
		{MinMatch: 8, MaxOffset: 64, Repeats: 1},
	}, testLimits...)
	size := 400_000 // more than one call of a kernel takes
	if tiny() {
		size = 150_000
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		for range 8 {
			p := Params{
				Finder: SingleHash, HashLog: uint8(8 + r.IntN(9)),
				HashBytes: uint8(4 + r.IntN(5)), SkipLog: uint8(r.IntN(10)),
			}
			l := limits[r.IntN(len(limits))]
			start := r.IntN(2) * r.IntN(size)
			piece := src[:start+r.IntN(size-start+1)]
			var want []Sequence
			for i, tier := range simd.Tiers() {
				defer simd.SetTier(simd.SetTier(tier))
				var m Matcher
				got := m.ParseFrom(nil, piece, start, &p, l)
				if i == 0 {
					want = got
				} else if !slices.Equal(got, want) {
					t.Fatalf("%s, %d bytes from %d, %+v, %+v: tier %s: %s",
						k.Name, len(piece), start, p, l, tier, differ(got, want))
				}
			}
		}
	}
}

// TestSingleCalls: neither the tier nor the capacity of dst changes the sequences, though both
// decide where calls of a kernel end. With matches as long as these the number of bytes ends a
// call.
func TestSingleCalls(t *testing.T) {
	for seed := range uint64(10) {
		if small() && seed != 4 {
			continue
		}
		r := rand.New(rand.NewPCG(7, seed))
		src := make([]byte, 1000, 1<<20+500)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		for len(src) < 1<<20 {
			for range 8 {
				src = append(src, byte(r.Uint32()))
			}
			at := r.IntN(len(src) - 500)
			src = append(src, src[at:at+300+r.IntN(200)]...)
		}
		for level := 1; level <= 2; level++ {
			var want []Sequence
			for i, tier := range simd.Tiers() {
				defer simd.SetTier(simd.SetTier(tier))
				for _, room := range []int{0, 1000} {
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
