package optimal

import (
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// fakeHelper is a Helper that is free at times.
type fakeHelper struct {
	free    func() bool
	fail    any // value that Wait panics with, if not nil
	done    chan int
	working bool
	helped  int // number of tasks
	refused int
	bytes   int
}

func (h *fakeHelper) Help(f func(checkpoint func()) int) bool {
	if h.working {
		panic("Help during Help")
	}
	if !h.free() {
		h.refused++
		return false
	}
	h.working = true
	h.helped++
	go func() { h.done <- f(func() {}) }()
	return true
}

func (h *fakeHelper) Wait() {
	if !h.working {
		panic("Wait without Help")
	}
	h.bytes += <-h.done
	h.working = false
	if h.fail != nil {
		panic(h.fail)
	}
}

func always() bool { return true }

// oneBlock is a model of a form in blocks, of which each window is one.
type oneBlock struct{ genericModel }

func (oneBlock) Rules() Rules {
	return Rules{NewSplitter: func() BlockSplitter { return equalBlocks(1) }}
}

// TestHelper: a helper does not change the sequences, whenever it is free.
func TestHelper(t *testing.T) {
	chunks := 5
	if small() {
		chunks = 2
	}
	blocks := inBlocks(1, 0, 8, 258)
	blocks.HashLog, blocks.Model = 14, oneBlock{}
	tree := formats[0]
	tree.Finder, tree.HashLog, tree.Depth = BinaryTree, 14, 8
	tree.Nice, tree.Passes, tree.MaxMisses = 64, 1, 1
	for _, x := range []struct {
		name   string
		config config
		chunk  int
	}{
		{"MultiHash", atLevel(7, formats[1]), MaxChunk},
		{"LCPIntervals", atLevel(9, formats[2]), MaxChunk},
		{"BinaryTree", tree, MaxChunk},
		{"blocks", blocks, maxWindow},
	} {
		t.Run(x.name, func(t *testing.T) {
			size := chunks*x.chunk + 1000
			src := slices.Clip(corpus.ByName("mixed").Make(size))
			var alone, o Parser
			want := alone.sequences(src, x.config)
			odd := false
			for name, free := range map[string]func() bool{
				"always":    always,
				"never":     func() bool { return false },
				"sometimes": func() bool { odd = !odd; return odd },
			} {
				h := &fakeHelper{free: free, done: make(chan int, 1)}
				if got := o.parseBlock(nil, src, 0, x.config, h, nil); !slices.Equal(got, want) {
					t.Errorf("%s: other sequences", name)
				}
				if h.working || o.helper != nil {
					t.Errorf("%s: the helper is still in use", name)
				}
				if (h.helped > 0) != (name != "never") || (h.refused > 0) != (name != "always") ||
					(h.bytes > 0) != (h.helped > 0) || h.bytes >= size ||
					name == "always" && h.bytes < size-2*x.chunk { // all but the first chunk
					t.Errorf("%s: helped %d times with %d bytes of %d, refused %d times",
						name, h.helped, h.bytes, size, h.refused)
				}
			}
		})
	}
}

// TestHelperFails: Parse panics with the value of the helper's panic. The Parser works afterwards.
func TestHelperFails(t *testing.T) {
	src := slices.Clip(corpus.ByName("text").Make(2*MaxChunk + 1000))
	c := atLevel(7, formats[1])
	var alone, o Parser
	want := alone.sequences(src, c)
	func() {
		defer func() {
			if v := recover(); v != "bad" {
				t.Errorf("panic with %v, want bad", v)
			}
		}()
		o.parseBlock(nil, src, 0, c, &fakeHelper{free: always, fail: "bad", done: make(chan int, 1)}, nil)
	}()
	if got := o.sequences(src, c); !slices.Equal(got, want) {
		t.Error("other sequences")
	}
}

// failingModel panics when it has counted some times.
type failingModel struct {
	genericModel
	left *int
}

func (m failingModel) Count(c *Counts, steps []Step) {
	*m.left--
	if *m.left < 0 {
		panic("no more")
	}
	m.genericModel.Count(c, steps)
}

// TestParseFails: a parse that panics waits for its helper, which reads the block.
func TestParseFails(t *testing.T) {
	src := slices.Clip(corpus.ByName("text").Make(4*MaxChunk + 1000))
	for _, left := range []int{0, 3, 7} {
		h := &fakeHelper{free: always, done: make(chan int, 1)}
		c := atLevel(7, formats[1])
		c.Model = failingModel{left: &left}
		func() {
			defer func() {
				if v := recover(); v != "no more" {
					t.Errorf("panic with %v, want no more", v)
				}
			}()
			new(Parser).parseBlock(nil, src, 0, c, h, nil)
		}()
		if h.working {
			t.Errorf("after %d counts: the helper still works", left)
		}
	}
}
