package kernels

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/cpu"
)

// treeRun is a search of content in pieces.
type treeRun struct {
	src                   []byte
	log                   int // log2 of the number of hashes of 4 bytes
	nice, depth, minMatch int
	reach, reach3         int
	seed                  uint64 // of what is done piece by piece
	arbitrary             bool   // entries of the tables and offsets of roots are arbitrary
	whole                 bool   // all positions are searched
	codes                 []uint8

	table   func(kind, n int) []uint16                  // memory for Heads, Heads3, Children
	results func(n, positions int) ([]uint64, []uint32) // memory for candidates and indices
}

func randomTree(r *rand.Rand, src []byte) *treeRun {
	c := &treeRun{
		src: src, log: 1 + r.IntN(10), nice: 4 + r.IntN(60), depth: 1 + r.IntN(40),
		minMatch: 3 + r.IntN(3), reach: TreeReach, reach3: TreeReach, seed: r.Uint64(),
		codes: make([]uint8, TreeReach+1),
		table: func(_, n int) []uint16 { return make([]uint16, n) },
		results: func(n, positions int) ([]uint64, []uint32) {
			return make([]uint64, n), make([]uint32, positions)
		},
	}
	if r.IntN(3) == 0 {
		c.reach = 1 + r.IntN(TreeReach)
	}
	switch {
	case c.minMatch > 3:
		c.reach3 = 0
	case r.IntN(3) == 0:
		c.reach3 = r.IntN(TreeReach + 1)
	}
	c.reach3 = min(c.reach3, c.reach)
	return c
}

// run searches the content. It returns the indices and the candidates of each piece.
func (c *treeRun) run(t *testing.T) (all []uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(c.seed, 1))
	tree := &Tree{
		Nice: c.nice, Depth: c.depth, MinMatch: c.minMatch, Reach: c.reach, Reach3: c.reach3,
		Shift: uint64(32 - c.log), Heads: c.table(0, 1<<c.log), Heads3: c.table(1, 2<<TreeHash3Log),
		Children: c.table(2, TreeChildren(len(c.src))), Codes: c.codes,
	}
	for i := range tree.Codes {
		tree.Codes[i] = uint8(i * 7 >> 3)
	}
	tree.Reset()
	for tree.At < len(c.src)-treeTail {
		if c.arbitrary {
			roots := tree.roots[:]
			for _, table := range [...][]uint16{tree.Heads, tree.Heads3, tree.Children, roots} {
				for range 1 + len(table)/64 {
					table[r.IntN(len(table))] = uint16(r.Uint32())
				}
			}
		}
		size := 1 + r.IntN(200)
		switch action := r.IntN(8); {
		case c.whole:
		case action == 0:
			InsertTree(tree, c.src, tree.At+size)
			continue
		case action == 1:
			InsertTree(tree, c.src, tree.Hashed)
			if r.IntN(4) == 0 {
				size = r.IntN(1 << r.IntN(18))
			}
			tree.Skip(min(tree.At+size, max(tree.At, len(c.src)-treeTail)))
			continue
		}
		at, most := tree.At, r.IntN(300)
		cands, first := c.results(most+c.nice+1, size)
		cands, found := SearchTree(tree, c.src, at+size, cands[:0], first, most)
		for _, k := range first[:tree.At-at] {
			all = append(all, uint64(k))
		}
		if !c.arbitrary {
			c.verify(t, cands, first[:tree.At-at], at)
		}
		all = append(all, cands...)
		if found {
			all = append(all, 1<<63)
		}
	}
	return all
}

// verify checks that the candidates of positions from at on are matches.
func (c *treeRun) verify(t *testing.T, cands []uint64, first []uint32, at int) {
	t.Helper()
	for k, i := range first {
		end := len(cands)
		if k+1 < len(first) {
			end = int(first[k+1])
		}
		for _, x := range cands[i:end] {
			d, n := int(x&(1<<27-1)), int(x>>27&(1<<21-1))
			if d < 1 || d > min(at+k, c.reach) || n > c.nice || at+k+n > len(c.src) ||
				!bytes.Equal(c.src[at+k:at+k+n], c.src[at+k-d:at+k-d+n]) {
				t.Fatalf("position %d: no match of %d bytes at offset %d", at+k, n, d)
			}
		}
	}
}

// compare compares the results with those of the portable twin.
func (c *treeRun) compare(t *testing.T) {
	t.Helper()
	got := c.run(t)
	before := cpu.SetTier(cpu.Portable.String())
	want := c.run(t)
	cpu.SetTier(before)
	if !slices.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Fatalf("%d bytes, nice %d, depth %d, min %d, reach %d, %d: result %d differs (%d, want %d)",
			len(c.src), c.nice, c.depth, c.minMatch, c.reach, c.reach3, at, len(got), len(want))
	}
}

func TestSearchTree(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(71, 72))
		for i := range scaled(1000) {
			n := r.IntN(300)
			if i%20 == 0 {
				n = r.IntN(200_000)
			}
			randomTree(r, randomContent(r, n)).compare(t)
		}
	})
}

// TestTreeAges: a position replaces a node whose child is out of reach. The child must not come
// back when the low 16 bits of its position do.
func TestTreeAges(t *testing.T) {
	src := make([]byte, 70_000)
	for at, last := range map[int]byte{1000: 5, 26_000: 3, 51_000: 3, 1000 + 1<<16: 4} {
		copy(src[at:], []byte{1, 2, 3, 4, last, 6, 7, 8, 9})
	}
	eachTier(t, func(t *testing.T) {
		c := randomTree(rand.New(rand.NewPCG(77, 78)), src)
		c.log, c.nice, c.depth, c.minMatch, c.reach, c.whole = 16, 8, 9, 4, TreeReach, true
		c.compare(t)
	})
}

// TestTreeCandidates compares the candidates with a search of all positions in reach. With one hash
// for everything a tree loses none, unless it is too deep.
func TestTreeCandidates(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(75, 76))
		found := 0
		for range scaled(100) {
			c := randomTree(r, randomContent(r, 16+r.IntN(1000)))
			c.depth, c.minMatch, c.reach3 = len(c.src), max(4, c.minMatch), 0
			tree := &Tree{
				Nice: c.nice, Depth: c.depth, MinMatch: c.minMatch, Reach: c.reach, Shift: 31,
				Heads: make([]uint16, 2), Children: make([]uint16, TreeChildren(len(c.src))),
				Codes: c.codes,
			}
			tree.Reset()
			room, first := make([]uint64, 0, c.nice+1), make([]uint32, 1)
			for i := range len(c.src) - treeTail {
				cands, nice := SearchTree(tree, c.src, i+1, room, first, 0)
				best := c.minMatch - 1
				for d := 1; d <= min(i, c.reach) && best < c.nice; d++ {
					n := 0
					for n < c.nice && i+n < len(c.src) && c.src[i+n] == c.src[i+n-d] {
						n++
					}
					if n <= best {
						continue
					}
					best = n
					found++
					if want := uint64(d) | uint64(n)<<27; len(cands) == 0 || cands[0] != want {
						t.Fatalf("position %d: want %d bytes at %d, got %x", i, n, d, cands)
					}
					cands = cands[1:]
				}
				if len(cands) > 0 || nice != (best == c.nice) {
					t.Fatalf("position %d: %d candidates too many; Nice bytes: %v", i, len(cands), nice)
				}
			}
		}
		if found < 1000 {
			t.Errorf("only %d candidates: the content is too hard", found)
		}
	})
}

// TestTreeRange checks that a search panics if a field is out of range.
func TestTreeRange(t *testing.T) {
	src := make([]byte, 100)
	for i, f := range []func(p *Tree){
		func(p *Tree) {}, // valid; each of the others changes one thing
		func(p *Tree) { p.At = -1 },
		func(p *Tree) { p.At = 1 },
		func(p *Tree) { p.Hashed = treeBatch + 1 },
		func(p *Tree) { p.Nice = 3 },
		func(p *Tree) { p.Depth = 0 },
		func(p *Tree) { p.MinMatch = 2 },
		func(p *Tree) { p.Reach = 0 },
		func(p *Tree) { p.Reach = TreeReach + 1 },
		func(p *Tree) { p.Reach3 = -1 },
		func(p *Tree) { p.Reach3 = TreeReach + 1 },
		func(p *Tree) { p.Shift = 0 },
		func(p *Tree) { p.Shift = 23 },
		func(p *Tree) { p.Shift = 32 },
		func(p *Tree) { p.Heads3 = p.Heads3[1:] },
		func(p *Tree) { p.Children = p.Children[1:] },
		func(p *Tree) { p.Codes = p.Codes[1:] },
		func(p *Tree) { p.Nice = 40 }, // candidates lack room
	} {
		p := Tree{
			Nice: 20, Depth: 10, MinMatch: 3, Reach: TreeReach, Reach3: 1, Shift: 24,
			Heads:    make([]uint16, 256),
			Heads3:   make([]uint16, 2<<TreeHash3Log),
			Children: make([]uint16, TreeChildren(len(src))),
			Codes:    make([]uint8, TreeReach+1),
		}
		f(&p)
		func() {
			defer func() {
				if panicked := recover() != nil; panicked != (i > 0) {
					t.Errorf("case %d: panic %v", i, panicked)
				}
			}()
			SearchTree(&p, src, 50, make([]uint64, 0, 31), make([]uint32, 60), 10)
		}()
	}
}

// treeKernelsRun reports whether all kernels of Tree run.
func treeKernelsRun() (name string, ran bool) {
	src := make([]byte, 100)
	p := Tree{
		Nice: 20, Depth: 10, MinMatch: 3, Reach: TreeReach, Shift: 24, Heads: make([]uint16, 256),
		Children: make([]uint16, TreeChildren(len(src))), Codes: make([]uint8, TreeReach+1),
	}
	p.Reset()
	swept := sweepTreeKernel(p.Heads, 0)
	hashed := hashTreeKernel(&p, src, 10)
	p.Hashed = 10
	_, _, searched := searchTreeKernel(&p, src, 10, make([]uint64, 1), 0, nil, 0)
	if swept != hashed || hashed != searched {
		return "some of SearchTree", !hasKernels()
	}
	return "SearchTree", searched
}
