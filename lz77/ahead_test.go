package lz77

import (
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
	refused int
	bytes   int
}

func (w *willing) Help(f func() int) bool {
	if w.working {
		panic("Help during Help")
	}
	if !w.free() {
		w.refused++
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
type blocky struct{ genericModel }

func (blocky) Rules() Rules { return Rules{NewSplitter: func() BlockSplitter { return whole{} }} }

type whole struct{}

func (whole) Split(ends []int, content []byte, _ []Step) []int { return append(ends, len(content)) }

// TestHelper: who helps, and when, does not change the sequences.
func TestHelper(t *testing.T) {
	pieces := 5
	if small() {
		pieces = 2
	}
	inBlocks := Limits{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1, Model: blocky{}}
	for _, x := range []struct {
		name   string
		finder Params
		limits Limits
		piece  int
	}{
		{"ladder", Levels[7], testLimits[1], MaxChunk},
		{"intervals", Levels[9], testLimits[2], MaxChunk},
		{"tree", Params{Finder: BinaryTree, HashLog: 14, Depth: 8, Nice: 64, Passes: 1, MaxMisses: 1}, testLimits[0], MaxChunk},
		{"blocks", Params{Finder: BinaryTree, HashLog: 14, Depth: 8, Nice: 258, Passes: 1}, inBlocks, maxWindow},
	} {
		t.Run(x.name, func(t *testing.T) {
			size := pieces*x.piece + 1000
			src := corpus.ByName("mixed").Make(size)
			var alone, m Matcher
			want := alone.Parse(nil, src, &x.finder, x.limits)
			odd := false
			for name, free := range map[string]func() bool{
				"always":    func() bool { return true },
				"never":     func() bool { return false },
				"sometimes": func() bool { odd = !odd; return odd },
			} {
				w := &willing{free: free, done: make(chan int, 1)}
				m.Helper = w
				if got := m.Parse(nil, src, &x.finder, x.limits); !slices.Equal(got, want) {
					t.Errorf("%s: other sequences", name)
				}
				if w.working || m.optimal.helper != nil {
					t.Errorf("%s: the helper is still wanted", name)
				}
				if (w.helped > 0) != (name != "never") || (w.refused > 0) != (name != "always") || (w.bytes > 0) != (w.helped > 0) ||
					w.bytes >= size || name == "always" && w.bytes < size-2*x.piece { // all but the first piece
					t.Errorf("%s: helped %d times, with %d bytes of %d, refused %d times", name, w.helped, w.bytes, size, w.refused)
				}
			}
		})
	}
}

// TestHelperFails: what a helper panics with comes out, and the matcher does without one afterwards.
func TestHelperFails(t *testing.T) {
	src := corpus.ByName("text").Make(2*MaxChunk + 1000)
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

// countless is a Model that panics when it has counted some times.
type countless struct {
	genericModel
	left *int
}

func (m countless) Count(c *Counts, steps []Step) {
	if *m.left--; *m.left < 0 {
		panic("no more")
	}
	m.genericModel.Count(c, steps)
}

// TestParseFails: a parse that panics waits for its helper, who reads the block.
func TestParseFails(t *testing.T) {
	src := corpus.ByName("text").Make(4*MaxChunk + 1000)
	for _, left := range []int{0, 3, 7} {
		w := &willing{free: func() bool { return true }, done: make(chan int, 1)}
		m := Matcher{Helper: w}
		limits := testLimits[1]
		limits.Model = countless{left: &left}
		func() {
			defer func() {
				if v := recover(); v != "no more" {
					t.Errorf("panic with %v", v)
				}
			}()
			m.Parse(nil, src, &Levels[7], limits)
		}()
		if w.working {
			t.Errorf("after %d counts: the helper is at work", left)
		}
	}
}
