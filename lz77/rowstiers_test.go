package lz77

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77/internal/base"
	"github.com/gopz/compress/simd"
)

// TestRecentTiers: every tier finds the same, with all settings, limits and windows, in one Matcher after the other or by turns in the same one.
func TestRecentTiers(t *testing.T) {
	limits := append([]Limits{{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1}, {MinMatch: 8, MaxOffset: 64, Repeats: 1}, {MinMatch: 6, MaxOffset: 1 << 12, Repeats: NewOffset}}, testLimits...)
	size := 300_000
	if small() {
		size = 60_000
	}
	r := rand.New(rand.NewPCG(7, 8))
	var turns Matcher
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		for range 12 {
			p := Params{Finder: RowHash, HashLog: uint8(8 + r.IntN(9)), HashBytes: uint8(4 + r.IntN(5)), Depth: 8 << r.IntN(3), Nice: 9 + r.IntN(100), Lazy: r.IntN(3)}
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
						t.Fatalf("%s, %d bytes from %d, %+v, %+v: %s finds %d sequences, or others, %s %d", k.Name, len(piece), start, p, l, tier, len(got), simd.Tiers()[0], len(want))
					}
					if r.IntN(2) == 0 {
						got = turns.ParseFrom(nil, piece, start, &p, l)
					}
				}
			}
		}
	}
}

// TestRecentBase: blocks after blocks find what new matchers find, until positions have no room in an entry any more, and after that.
func TestRecentBase(t *testing.T) {
	src := corpus.ByName("mixed").Make(3000)
	p, l := Levels[5], testLimits[1]
	want := new(Matcher).Parse(nil, src, &p, l)
	var m Matcher
	m.Parse(nil, src, &p, l)
	for i, left := range []int{0, 1, len(src) - 1, len(src), len(src) + 1, 2*len(src) + 1} {
		for k := range 3 {
			if k == 0 && m.rows.base > 0 { // there is a kernel
				m.rows.base = 1<<simd.RowHashBits - left
			}
			if got := m.Parse(nil, src, &p, l); !slices.Equal(got, want) {
				t.Fatalf("case %d, block %d: %d sequences, or others, want %d", i, k, len(got), len(want))
			}
		}
	}
}

// TestRecentTurns: so it is where one Matcher is used for everything, in any tier, behind sequences that are there, and when positions run out at any place.
func TestRecentTurns(t *testing.T) {
	blocks := 1000
	if small() {
		blocks = 100
	}
	r := rand.New(rand.NewPCG(9, 8))
	tiers, kinds := simd.Tiers(), corpus.Kinds()
	defer simd.SetTier(simd.SetTier(tiers[0]))
	var turns Matcher
	for range blocks {
		src := slices.Clone(kinds[r.IntN(len(kinds))].Make(1 + r.IntN([]int{100, 5000, 100_000}[r.IntN(3)])))
		for range r.IntN(20) { // copies, many of short periods
			at, d := r.IntN(len(src)), 1+r.IntN([]int{8, 40, len(src)}[r.IntN(3)])
			for i := max(at, d); i < min(len(src), at+1+r.IntN(300)); i++ {
				src[i] = src[i-d]
			}
		}
		hashed := 4 + r.IntN(5)
		p := Params{Finder: RowHash, HashLog: uint8(6 + r.IntN(13)), HashBytes: uint8(hashed), Depth: 8 << r.IntN(4), Nice: hashed + 1 + r.IntN([]int{4, 300}[r.IntN(2)]), Lazy: r.IntN(3)}
		l := Limits{MinMatch: 3 + r.IntN(6), MaxOffset: []int{64 + r.IntN(100), 1 << 15, base.MaxOffset}[r.IntN(3)], Repeats: []int{0, 0, 3, 3, 3, 1, 2}[r.IntN(7)], MinOffset: r.IntN(17)}
		start := r.IntN(2) * r.IntN(len(src))
		before := make([]Sequence, r.IntN(5), 5+r.IntN(100))
		if turns.rows.base > 0 && turns.rows.base < 1<<simd.RowHashBits && r.IntN(5) == 0 { // there was a kernel
			turns.rows.base = max(turns.rows.base, 1<<simd.RowHashBits-r.IntN(3*len(src)+1))
		}
		simd.SetTier(tiers[0])
		want := new(Matcher).ParseFrom(slices.Clone(before), src, start, &p, l)
		tier := tiers[r.IntN(len(tiers))]
		simd.SetTier(tier)
		if got := turns.ParseFrom(before, src, start, &p, l); !slices.Equal(got, want) {
			t.Fatalf("%d bytes from %d, %+v, %+v: %s finds %d sequences, or others, %s %d", len(src), start, p, l, tier, len(got), tiers[0], len(want))
		}
	}
}

// TestRecentLarge: the greatest block that a kernel has numbers for, so that the next one begins anew, and one that is too large for it.
func TestRecentLarge(t *testing.T) {
	if small() {
		t.Skip("blocks of 32 MiB")
	}
	src, piece := make([]byte, 1<<simd.RowHashBits), corpus.ByName("mixed").Make(1<<20)
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
			t.Fatalf("%d bytes: %d sequences, or others, want %d", n, len(got), len(want))
		}
	}
}
