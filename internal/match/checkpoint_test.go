package match

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// checkpointContents returns content of several kinds, of n bytes.
func checkpointContents(n int) map[string][]byte {
	contents := map[string][]byte{}
	for _, name := range []string{"text", "exe", "zeros", "random", "runs"} {
		contents[name] = corpus.ByName(name).Make(n)
	}
	for name, p := range corpus.Adverse(n) {
		switch name {
		case "growing runs", "two symbols", "fibonacci", "zeros, then random":
			contents[name] = p
		}
	}
	return contents
}

// TestCheckpointGap: the number of calls bounds the content between two of them. Where content has
// no long matches, the calls must be as frequent as lz77.Matcher.Checkpoint promises.
func TestCheckpointGap(t *testing.T) {
	const size = 2 << 20
	for _, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		for _, name := range []string{"text", "random"} {
			src := corpus.ByName(name).Make(size)
			for level := 1; level <= MaxLevel; level++ {
				step := 1 << 18
				if p := &Levels[level]; p.Finder == lz77.RowHash || p.Optimal() {
					step = 3 << 14
					if small() {
						continue
					}
				}
				calls := 0
				var m Matcher
				m.Checkpoint = func() { calls++ }
				m.ParseFrom(nil, src[:size/MaxLevel*min(level, 4)], 0, &Levels[level], testForms[1])
				if want := size / MaxLevel * min(level, 4) / step; calls < want {
					t.Errorf("%s, level %d, %s: %d calls, want at least %d",
						tier, level, name, calls, want)
				}
			}
		}
	}
}

// TestCheckpointPanics: a Matcher that a checkpoint has left in the middle of a block parses the
// next block as a new one does. Sequences do not depend on checkpoints.
func TestCheckpointPanics(t *testing.T) {
	const size = 140_000
	times := 4
	if small() {
		times = 1
	}
	contents := checkpointContents(size)
	next := corpus.ByName("mixed").Make(70_000)
	r := rand.New(rand.NewPCG(5, 6))
	eachSetting(func(name string, p *Params, form *optimal.Form) {
		want := new(Matcher).ParseFrom(nil, next, 0, p, form)
		var used Matcher
		for content, src := range contents {
			calls := 0
			used.Checkpoint = func() { calls++ }
			got := used.ParseFrom(nil, src, 0, p, form)
			if !slices.Equal(got, new(Matcher).ParseFrom(nil, src, 0, p, form)) {
				t.Errorf("%s, %s: other sequences with a checkpoint", name, content)
			}
			for range min(times, calls) {
				left := r.IntN(calls)
				abandon(&used, left, func() { used.ParseFrom(nil, src, 0, p, form) })
				if got := used.ParseFrom(nil, next, 0, p, form); !slices.Equal(got, want) {
					t.Fatalf("%s, %s: other sequences after a panic at call %d of %d",
						name, content, left, calls)
				}
			}
		}
	})
}

// abandon runs f with a checkpoint that panics after so many calls, and fails unless it does.
func abandon(m *Matcher, left int, f func()) {
	defer func() {
		m.Checkpoint = nil
		if v := recover(); v != "enough" {
			panic(v)
		}
	}()
	m.Checkpoint = func() {
		left--
		if left < 0 {
			panic("enough")
		}
	}
	f()
	panic("no panic")
}
