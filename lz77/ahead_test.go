package lz77

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// willing is a Helper that is free at times.
type willing struct {
	free    func() bool
	fail    any // what it panics with
	done    chan int
	working bool
	helped  int // times
	bytes   int
}

func (w *willing) Help(f func() int) bool {
	if w.working {
		panic("Help during Help")
	}
	if !w.free() {
		return false
	}
	w.working = true
	w.helped++
	go func() { w.done <- f() }()
	return true
}

func (w *willing) Wait() {
	if !w.working {
		panic("Wait without Help")
	}
	w.bytes += <-w.done
	w.working = false
	if w.fail != nil {
		panic(w.fail)
	}
}

// blocky is a Model of a form that is written in blocks.
type blocky struct{ generic }

func (blocky) Rules() Rules { return Rules{Blocks: func() Splitter { return whole{} }} }

type whole struct{}

func (whole) Split(ends []int, content []byte, _ []Step) []int { return append(ends, len(content)) }

// TestHelper: who helps, and when, does not change the sequences.
func TestHelper(t *testing.T) {
	size := 5*MaxPiece + 1000
	if small() {
		size = 2*MaxPiece + 1000
	}
	src := corpus.ByName("mixed").Make(size)
	inBlocks := Limits{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1, Model: blocky{}}
	for _, x := range []struct {
		name   string
		finder Params
		limits Limits
	}{
		{"ladder", Levels[7], testLimits[1]},
		{"intervals", Levels[9], testLimits[2]},
		{"tree", Params{Finder: Tree, HashLog: 14, Depth: 8, Nice: 64, Passes: 1, Misses: 1}, testLimits[0]},
		{"blocks", Params{Finder: Tree, HashLog: 14, Depth: 8, Nice: 258, Passes: 1}, inBlocks},
	} {
		t.Run(x.name, func(t *testing.T) {
			var alone, m Matcher
			want := alone.Parse(nil, src, &x.finder, x.limits)
			rng := rand.New(rand.NewPCG(1, 2))
			for name, free := range map[string]func() bool{
				"always":    func() bool { return true },
				"never":     func() bool { return false },
				"sometimes": func() bool { return rng.IntN(2) == 0 },
			} {
				w := &willing{free: free, done: make(chan int, 1)}
				m.Helper = w
				if got := m.Parse(nil, src, &x.finder, x.limits); !slices.Equal(got, want) {
					t.Errorf("%s: other sequences", name)
				}
				if w.working || m.optimal.helper != nil {
					t.Errorf("%s: the helper is still wanted", name)
				}
				if name == "always" && w.helped == 0 || w.bytes > size || name == "always" && w.bytes < size-blockWindow-MaxPiece {
					t.Errorf("%s: helped %d times, with %d bytes of %d", name, w.helped, w.bytes, size)
				}
			}
		})
	}
}

// TestHelperFails: what a helper panics with comes out, and the matcher does without one afterwards.
func TestHelperFails(t *testing.T) {
	src := corpus.ByName("text").Make(2*MaxPiece + 1000)
	var alone, m Matcher
	want := alone.Parse(nil, src, &Levels[7], testLimits[1])
	func() {
		defer func() {
			if v := recover(); v != "bad" {
				t.Errorf("panic with %v", v)
			}
		}()
		m.Helper = &willing{free: func() bool { return true }, fail: "bad", done: make(chan int, 1)}
		m.Parse(nil, src, &Levels[7], testLimits[1])
	}()
	m.Helper = nil
	if got := m.Parse(nil, src, &Levels[7], testLimits[1]); !slices.Equal(got, want) {
		t.Error("other sequences")
	}
}
