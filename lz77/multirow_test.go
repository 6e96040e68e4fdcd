package lz77

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// TestBlocksTiers: all tiers give the same sequences for forms in blocks, with both finders and all
// settings. It uses a new Matcher for each block and one for all.
func TestBlocksTiers(t *testing.T) {
	size := 200_000
	if small() {
		size = 40_000
	}
	r := rand.New(rand.NewPCG(17, 18))
	contents := worstCases(size)
	for _, k := range corpus.Kinds() {
		contents[k.Name] = k.Make(size)
	}
	var turns Matcher
	for name, src := range contents {
		p := Params{
			Finder: MultiRow, HashLog: uint8(8 + r.IntN(8)), HashBytes: uint8(r.IntN(2) * (4 + r.IntN(4))),
			Nice: 16 + r.IntN(240), SkipInMatch: r.IntN(2) * (32 + r.IntN(60)), Passes: r.IntN(2),
		}
		if r.IntN(4) == 0 {
			p.Finder, p.Depth = BinaryTree, 8
		}
		l := blockLimits
		l.MaxOffset >>= r.IntN(2) * r.IntN(8)
		start := r.IntN(2) * r.IntN(size)
		piece := src[:start+r.IntN(size-start+1)]
		var want []Sequence
		for i, tier := range simd.Tiers() {
			defer simd.SetTier(simd.SetTier(tier))
			got := new(Matcher).ParseFrom(nil, piece, start, &p, l)
			if i == 0 {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %d bytes from %d, %+v: tier %s: %s",
					name, len(piece), start, p, tier, differ(got, want))
			}
			if got = turns.ParseFrom(nil, piece, start, &p, l); !slices.Equal(got, want) {
				t.Fatalf("%s, %d bytes from %d, %+v: tier %s, used before: %s",
					name, len(piece), start, p, tier, differ(got, want))
			}
			if !Valid(got, piece, start, l, nil) {
				t.Fatalf("%s, %d bytes from %d, %+v: sequences are not valid", name, len(piece), start, p)
			}
		}
	}
}

// TestMultiRowCheckpoints: the content between two checkpoints is bounded.
func TestMultiRowCheckpoints(t *testing.T) {
	const size = 1 << 19
	for _, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		for name, src := range checkpointContents(size) {
			calls := 0
			m := Matcher{Checkpoint: func() { calls++ }}
			m.Parse(nil, src, rowParams, blockLimits)
			if want := size / (64 << 10); calls < want {
				t.Errorf("%s, %s: %d calls, want at least %d", tier, name, calls, want)
			}
		}
	}
}
