package optimal

import (
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// exactFinders are those that find the nearest match of every length if nothing bounds the search.
var exactFinders = map[string]Finder{"BinaryTree": BinaryTree, "LCPIntervals": LCPIntervals}

// exactCandidates calls f with the candidates of each position in src.
func exactCandidates(src []byte, c config, f func(i int, cands []candidate)) {
	src = src[:len(src):len(src)]
	c.HashLog, c.Depth = 16, 1<<20
	var tree binaryTree
	var lcp lcpIntervals
	if c.Finder == BinaryTree {
		tree.reset(&c, len(src))
	} else {
		lcp.reset(&c, src, 0, func() {})
	}
	cands, first := make([]candidate, 0, c.Nice+1), [1]uint32{}
	for i := range len(src) - finder.Tail {
		if c.Finder == BinaryTree {
			g := chunkCandidates{chunk: chunk{from: i}, cands: cands[:0], firstCand: first[:]}
			tree.find(&g, src, i+1, 0)
			cands = g.cands
		} else {
			cands = lcp.find(cands[:0], src, i, genericModel{})
		}
		f(i, cands)
	}
}

// TestDefinition compares the candidates of every position with their definition.
func TestDefinition(t *testing.T) {
	testenv.Slow(t)
	for name, f := range exactFinders {
		t.Run(name, func(t *testing.T) {
			for _, nice := range []int{4, 5, 6, 7, 40} { // fewer bytes than are compared at once, too
				c := config{
					Params: Params{Finder: f, Nice: nice}, MinOffset: 1, Model: genericModel{},
				}
				c.MinNew, c.MaxOffset = 4, 1<<26
				testDefinition(t, c)
				c.MinNew, c.MaxOffset = 3, 255
				testDefinition(t, c)
			}
		})
	}
}

func testDefinition(t *testing.T, c config) {
	const size = 1200
	found := 0
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		exactCandidates(src, c, func(i int, cands []candidate) {
			longest := c.MinNew - 1
			for d := 1; d <= min(i, c.MaxOffset) && longest < c.Nice; d++ {
				n := equalBytes(src, i, d, c.Nice)
				if n <= longest {
					continue
				}
				longest = n
				found++
				if c.MinNew == 3 && n > 3 && len(cands) > 0 &&
					cands[0] == newCandidate(3, d, genericModel{}) {
					cands = cands[1:] // a tree has a table of its own for 3 bytes
				}
				if len(cands) == 0 || cands[0] != newCandidate(n, d, genericModel{}) {
					t.Fatalf("%s, Nice %d, position %d: want %d bytes, offset %d, next candidates %v",
						k.Name, c.Nice, i, n, d, cands)
				}
				cands = cands[1:]
			}
			for _, x := range cands {
				t.Fatalf("%s, Nice %d, position %d: unexpected candidate of %d bytes, offset %d",
					k.Name, c.Nice, i, x.length(), x.offset())
			}
		})
	}
	if found < 5*size {
		t.Errorf("Nice %d, MinNew %d: only %d candidates: the data is too hard", c.Nice, c.MinNew, found)
	}
}

// TestMinOffset: a match nearer than MinOffset stands for its least multiple that is not. The
// longest matches are still found: any that is longer than all nearer ones, unless one as long
// stands for a nearer one.
func TestMinOffset(t *testing.T) {
	for name, f := range exactFinders {
		t.Run(name, func(t *testing.T) {
			c := config{
				Params: Params{Finder: f, Nice: 40}, MinOffset: lz77.MinOffset, Model: genericModel{},
			}
			c.MinNew, c.MaxOffset = 5, 1<<15
			testMinOffset(t, c)
			c.MinNew, c.MaxOffset = 4, 300
			testMinOffset(t, c)
		})
	}
}

func testMinOffset(t *testing.T, c config) {
	const size = 1200
	found, near := 0, 0
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		exactCandidates(src, c, func(i int, cands []candidate) {
			reach := min(i, c.MaxOffset)
			last := c.MinNew - 1
			for _, x := range cands {
				n, d := x.length(), x.offset()
				if n <= last || d < c.MinOffset || d > reach ||
					x != newCandidate(equalBytes(src, i, d, c.Nice), d, genericModel{}) {
					t.Fatalf("%s, MaxOffset %d, position %d: candidate of %d bytes, offset %d",
						k.Name, c.MaxOffset, i, n, d)
				}
				last = n
			}
			longest := c.MinNew - 1
			for d := 1; d <= reach && longest < c.Nice; d++ {
				n := equalBytes(src, i, d, c.Nice)
				if n <= longest {
					continue
				}
				longest = n
				at := d
				if d < c.MinOffset {
					if at = int(finder.LeastMultiple[d]); at > reach {
						continue
					}
					if n = equalBytes(src, i, at, c.Nice); n < c.MinNew {
						continue
					}
					near++
				}
				found++
				if !slices.ContainsFunc(cands, func(x candidate) bool {
					return x.length() >= n && x.offset() <= max(at, 2*c.MinOffset)
				}) {
					t.Fatalf("%s, MaxOffset %d, position %d: want %d bytes, offset %d, candidates %v",
						k.Name, c.MaxOffset, i, n, at, cands)
				}
			}
		})
	}
	if found < 5*size || near < size {
		t.Errorf("MaxOffset %d: only %d candidates, %d of them nearer than MinOffset",
			c.MaxOffset, found, near)
	}
}
