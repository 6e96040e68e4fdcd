package match

import (
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// TestTreeTiers: sequences from search trees do not depend on the tier, also where matches of Nice
// bytes begin and end a chunk, and where a block begins within its window.
func TestTreeTiers(t *testing.T) {
	size := 150_000
	if small() {
		size = 40_000
	}
	contents := corpus.Adverse(size)
	for _, name := range []string{"text", "exe", "mixed", "random"} {
		contents[name] = corpus.ByName(name).Make(size)
	}
	for name, x := range map[string]struct {
		params *Params
		form   *optimal.Form
	}{
		"blocks": {tree(32, 96, 0), blockForm},
		"chunks": {tree(8, 32, 1), testForms[1]},
	} {
		for content, src := range contents {
			for _, start := range []int{0, 33_000} {
				var want []lz77.Sequence
				for _, tier := range simd.Tiers() {
					before := simd.SetTier(tier)
					var m Matcher
					got := m.ParseFrom(nil, src, start, x.params, x.form)
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
