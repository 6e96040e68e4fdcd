package match

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

// TestLimits: all levels keep to all limits, with matches at repeat offsets shorter than the 4
// bytes that are compared at once, and longer ones.
func TestLimits(t *testing.T) {
	src := corpus.ByName("records").Make(3000)
	r := rand.New(rand.NewPCG(5, 6))
	for range 1500 {
		src = append(src, byte(r.UintN(6))) // many short matches at repeat offsets
	}
	for level := 1; level <= MaxLevel; level++ {
		for least := 3; least <= 8; least++ {
			for repeats := 0; repeats <= 3; repeats++ {
				for _, offsets := range [][2]int{
					{0, 32}, {1, 32}, {0, lz77.InitialRepeat}, {1, 255}, {0, finder.MaxOffset},
				} {
					if repeats > 0 && offsets[1] < lz77.InitialRepeat {
						continue
					}
					// In flatModel repeat offsets cost nothing.
					form := otherForm(least, offsets[0], offsets[1])
					form.Repeats = repeats
					testLimitsOf(t, src, level, form)
				}
			}
		}
	}
}

// testLimitsOf tests form with all values of MinRepeat. It changes form.
func testLimitsOf(t *testing.T, src []byte, level int, form *optimal.Form) {
	for again := form.MinMatch; again >= 2; again-- {
		if again < form.MinMatch {
			form.MinRepeat = again
			if form.Repeats == 0 || !Levels[level].Optimal() {
				break
			}
		}
		var m Matcher
		seqs := m.ParseFrom(nil, src, 0, &Levels[level], form)
		if err := valid(src, seqs, form); err != nil {
			t.Fatalf("level %d, limits %+v: %v", level, form.Limits, err)
		}
		if len(seqs) == 0 && form.MaxOffset > 64 {
			t.Errorf("level %d, limits %+v: no sequences", level, form.Limits)
		}
		shortest := func(s lz77.Sequence) bool { return int(s.MatchLen) == again }
		if again < form.MinMatch && form.MaxOffset > 64 && !slices.ContainsFunc(seqs, shortest) {
			t.Errorf("level %d, limits %+v: no match of %d bytes", level, form.Limits, again)
		}
	}
}
