package lz77

import (
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// TestTreeTiers: sequences from search trees do not depend on the tier, also where matches of Nice
// bytes begin and end a chunk, and where a block begins within its window.
func TestTreeTiers(t *testing.T) {
	size := 150_000
	if small() {
		size = 40_000
	}
	contents := worstCases(size)
	for _, name := range []string{"text", "exe", "mixed", "random"} {
		contents[name] = corpus.ByName(name).Make(size)
	}
	farther := testLimits[1]
	farther.Model = nil
	for name, x := range map[string]struct {
		params Params
		limits Limits
	}{
		"blocks": {Params{Finder: BinaryTree, HashLog: 15, Depth: 32, Nice: 96}, blockLimits},
		"chunks": {
			Params{Finder: BinaryTree, HashLog: 14, Depth: 8, Nice: 32, Passes: 1, MaxMisses: 1}, farther,
		},
	} {
		for content, src := range contents {
			for _, start := range []int{0, 33_000} {
				var want []Sequence
				for _, tier := range simd.Tiers() {
					before := simd.SetTier(tier)
					var m Matcher
					got := m.ParseFrom(nil, src, start, &x.params, x.limits)
					simd.SetTier(before)
					if tier == simd.Tiers()[0] {
						want = got
					} else if !slices.Equal(got, want) {
						t.Errorf("%s, %s from %d: other sequences with %s", name, content, start, tier)
					}
				}
			}
		}
	}
}
