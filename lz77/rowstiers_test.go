package lz77

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// TestRowHashTiers: all tiers give the same sequences, with all settings, limits and windows. It
// uses a new Matcher for each block and one for all.
func TestRowHashTiers(t *testing.T) {
	limits := append([]Limits{
		{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1},
		{MinMatch: 8, MaxOffset: 64, Repeats: 1},
		{MinMatch: 6, MaxOffset: 1 << 12, Repeats: maxRepeats},
	}, testLimits...)
	size := 300_000
	if small() {
		size = 60_000
	}
	r := rand.New(rand.NewPCG(7, 8))
	var turns Matcher
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		for range 12 {
			p := Params{
				Finder: RowHash, HashLog: uint8(8 + r.IntN(9)), HashBytes: uint8(4 + r.IntN(5)),
				Depth: 8 << r.IntN(3), Nice: 9 + r.IntN(100), Lazy: r.IntN(3),
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

// TestRowHashBase: a Matcher finds in block after block what a new one finds, until entries have no
// room for positions any more, and after that.
func TestRowHashBase(t *testing.T) {
	src := corpus.ByName("mixed").Make(3000)
	p, l := Levels[5], testLimits[1]
	want := new(Matcher).Parse(nil, src, &p, l)
	var m Matcher
	m.Parse(nil, src, &p, l)
	for i, left := range []int{0, 1, len(src) - 1, len(src), len(src) + 1, 2*len(src) + 1} {
		for k := range 3 {
			if k == 0 && m.rows.base > 0 { // a kernel ran
				m.rows.base = 1<<kernels.RowHashBits - left
			}
			if got := m.Parse(nil, src, &p, l); !slices.Equal(got, want) {
				t.Fatalf("case %d, block %d: %s", i, k, differ(got, want))
			}
		}
	}
}

// TestRowHashReused: earlier blocks of a Matcher make no difference, in any tier, behind sequences
// in dst, and wherever entries run out of room for positions.
func TestRowHashReused(t *testing.T) {
	blocks := 1000
	if small() {
		blocks = 100
	}
	r := rand.New(rand.NewPCG(9, 8))
	tiers, kinds := simd.Tiers(), corpus.Kinds()
	defer simd.SetTier(simd.SetTier(tiers[0]))
	var turns Matcher
	for range blocks {
		kind, most := kinds[r.IntN(len(kinds))], []int{100, 5000, 100_000}[r.IntN(3)]
		src := slices.Clone(kind.Make(1 + r.IntN(most)))
		for range r.IntN(20) { // copies, many of short periods
			at, d := r.IntN(len(src)), 1+r.IntN([]int{8, 40, len(src)}[r.IntN(3)])
			for i := max(at, d); i < min(len(src), at+1+r.IntN(300)); i++ {
				src[i] = src[i-d]
			}
		}
		hashed := 4 + r.IntN(5)
		p := Params{
			Finder: RowHash, HashLog: uint8(6 + r.IntN(13)), HashBytes: uint8(hashed), Depth: 8 << r.IntN(4),
			Nice: hashed + 1 + r.IntN([]int{4, 300}[r.IntN(2)]), Lazy: r.IntN(3),
		}
		l := Limits{
			MinMatch: 3 + r.IntN(6), MaxOffset: []int{64 + r.IntN(100), 1 << 15, finder.MaxOffset}[r.IntN(3)],
			Repeats: []int{0, 0, 3, 3, 3, 1, 2}[r.IntN(7)], MinOffset: r.IntN(17),
		}
		start := r.IntN(2) * r.IntN(len(src))
		before := make([]Sequence, r.IntN(5), 5+r.IntN(100))
		if turns.rows.base > 0 && turns.rows.base < 1<<kernels.RowHashBits && r.IntN(5) == 0 { // a kernel ran
			turns.rows.base = max(turns.rows.base, 1<<kernels.RowHashBits-r.IntN(3*len(src)+1))
		}
		simd.SetTier(tiers[0])
		want := new(Matcher).ParseFrom(slices.Clone(before), src, start, &p, l)
		tier := tiers[r.IntN(len(tiers))]
		simd.SetTier(tier)
		if got := turns.ParseFrom(before, src, start, &p, l); !slices.Equal(got, want) {
			t.Fatalf("%d bytes from %d, %+v, %+v: tier %s: %s",
				len(src), start, p, l, tier, differ(got, want))
		}
	}
}

// TestRowHashLarge: the largest block whose positions a kernel's entries have room for, so that the
// next one clears them, and one that is too large.
func TestRowHashLarge(t *testing.T) {
	testenv.Long(t)
	testenv.Slow(t)
	src, piece := make([]byte, 1<<kernels.RowHashBits), corpus.ByName("mixed").Make(1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(src); {
		i += copy(src[i:], piece[r.IntN(len(piece)/2):])
	}
	tiers := simd.Tiers()
	defer simd.SetTier(simd.SetTier(tiers[0]))
	p, l := Levels[5], testLimits[1]
	var turns Matcher
	for _, n := range []int{len(src) - 1, len(src) - 1, len(src), 1 << 20} {
		simd.SetTier(tiers[0])
		want := new(Matcher).Parse(nil, src[:n], &p, l)
		simd.SetTier(tiers[len(tiers)-1])
		if got := turns.Parse(nil, src[:n], &p, l); !slices.Equal(got, want) {
			t.Fatalf("%d bytes: %s", n, differ(got, want))
		}
	}
}
