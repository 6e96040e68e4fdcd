package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// treeRun is a search of content in pieces.
type treeRun struct {
	src                   []byte
	log                   int // log2 of the number of hashes of 4 bytes
	nice, depth, minMatch int
	reach, reach3         int
	seed                  uint64                           // of the sizes of pieces
	tables                func(n int) []uint16             // memory for a table
	codes                 func() []uint8                   // memory for the codes
	results               func(n int) ([]uint64, []uint32) // memory for candidates and their indices
}

func randomTree(r *rand.Rand, src []byte) *treeRun {
	c := &treeRun{
		src: src, log: 1 + r.IntN(10), nice: 4 + r.IntN(60), depth: 1 + r.IntN(40),
		minMatch: 3 + r.IntN(3), reach: TreeReach, reach3: TreeReach, seed: r.Uint64(),
		tables:  func(n int) []uint16 { return make([]uint16, n) },
		codes:   func() []uint8 { return make([]uint8, TreeReach+1) },
		results: func(n int) ([]uint64, []uint32) { return make([]uint64, n), make([]uint32, n) },
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
	return c
}

// run searches the content and returns all candidates behind the index of each position.
func (c *treeRun) run(t *testing.T) (all []uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(c.seed, 1))
	tree := &Tree{
		Nice: c.nice, Depth: c.depth, MinMatch: c.minMatch, Reach: c.reach, Reach3: c.reach3,
		Shift: uint64(32 - c.log), Heads: c.tables(1 << c.log), Heads3: c.tables(2 << TreeHash3Log),
		Children: c.tables(TreeChildren(len(c.src))), Codes: c.codes(),
	}
	for i := range tree.Codes {
		tree.Codes[i] = uint8(i * 7 >> 3)
	}
	tree.Begin()
	for tree.At < len(c.src)-treeTail {
		size := 1 + r.IntN(200)
		switch r.IntN(8) {
		case 0:
			InsertTree(tree, c.src, tree.At+size)
			continue
		case 1:
			InsertTree(tree, c.src, tree.Hashed)
			if r.IntN(4) == 0 {
				size = r.IntN(1 << r.IntN(18))
			}
			tree.Skip(min(tree.At+size, len(c.src)-treeTail))
			continue
		}
		at, most := tree.At, r.IntN(300)
		cands, first := c.results(most + c.nice + 1)
		if len(first) > size {
			first = first[:size]
		}
		cands, found := SearchTree(tree, c.src, at+len(first), cands[:0], first, most)
		for _, k := range first[:tree.At-at] {
			all = append(all, uint64(k))
		}
		if all = append(all, cands...); found {
			all = append(all, 1<<63)
		}
	}
	return all
}

// compare compares the candidates with those of the portable twin.
func (c *treeRun) compare(t *testing.T) {
	t.Helper()
	got := c.run(t)
	before := SetTier(portable.String())
	want := c.run(t)
	if SetTier(before); !slices.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Fatalf("%d bytes, nice %d, depth %d, min %d, reach %d, %d: %d and %d results, the %d-th differs",
			len(c.src), c.nice, c.depth, c.minMatch, c.reach, c.reach3, len(got), len(want), at)
	}
}

func TestSearchTree(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(71, 72))
		for i := range scaled(2000) {
			n := r.IntN(300)
			if i%20 == 0 {
				n = r.IntN(200_000)
			}
			randomTree(r, randomContent(r, n)).compare(t)
		}
	})
}
