package lz77

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// TestRecentTiers: every tier finds the same, with all settings, limits and windows, in one Matcher after the other or by turns in the same one.
func TestRecentTiers(t *testing.T) {
	limits := append([]Limits{{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1}, {MinMatch: 8, MaxOffset: 64, Repeats: 1}, {MinMatch: 6, MaxOffset: 1 << 12, Repeats: Fresh}}, testLimits...)
	size := 300_000
	if small() {
		size = 60_000
	}
	r := rand.New(rand.NewPCG(7, 8))
	var turns Matcher
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		for range 12 {
			p := Params{Finder: Recent, HashLog: uint8(8 + r.IntN(9)), HashBytes: uint8(4 + r.IntN(5)), Depth: 8 << r.IntN(3), Nice: 9 + r.IntN(100), Lazy: r.IntN(3)}
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
				m.rows.base = 1<<simd.RecentBits - left
			}
			if got := m.Parse(nil, src, &p, l); !slices.Equal(got, want) {
				t.Fatalf("case %d, block %d: %d sequences, or others, want %d", i, k, len(got), len(want))
			}
		}
	}
}
