package main

import (
	"cmp"
	"container/heap"
	"slices"
)

// slowest keeps the blocks with the longest spans, limit of them at most.
type slowest struct {
	limit  int
	blocks blockHeap
}

// offer keeps b if it is slow enough. It returns a block that is not kept, perhaps b, or nil.
func (s *slowest) offer(b *block) *block {
	if len(s.blocks) < s.limit {
		heap.Push(&s.blocks, b)
		return nil
	}
	if s.limit == 0 || b.span() <= s.blocks[0].span() {
		return b
	}
	old := s.blocks[0]
	s.blocks[0] = b
	heap.Fix(&s.blocks, 0)
	return old
}

// sorted returns copies of the blocks, the slowest first.
func (s *slowest) sorted() []block {
	list := make([]block, 0, len(s.blocks))
	for _, b := range s.blocks {
		c := *b
		c.parts = slices.Clone(b.parts)
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b block) int {
		return cmp.Or(cmp.Compare(b.span(), a.span()), cmp.Compare(a.iteration, b.iteration),
			cmp.Compare(a.index, b.index))
	})
	return list
}

// blockHeap is a heap with the fastest block in front.
type blockHeap []*block

func (h blockHeap) Len() int           { return len(h) }
func (h blockHeap) Less(i, j int) bool { return h[i].span() < h[j].span() }
func (h blockHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *blockHeap) Push(x any)        { *h = append(*h, x.(*block)) }
func (h *blockHeap) Pop() any {
	old := *h
	n := len(old)
	b := old[n-1]
	*h = old[:n-1]
	return b
}
