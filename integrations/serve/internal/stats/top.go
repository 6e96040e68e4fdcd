package stats

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"
	"time"
)

// A Cost is what a block or file has cost.
type Cost struct {
	Key   string        `json:"key"`
	Count int64         `json:"count"` // loads of a block, requests for a file
	Bytes int64         `json:"bytes"` // of content
	Time  time.Duration `json:"ns"`
	// Over is by how much Time may be too high: what another key had cost whose place this one
	// took. Count and Bytes begin anew then, so they may be too low.
	Over time.Duration `json:"over_ns,omitempty"`
}

// Top keeps the keys with the highest cost, in memory for a limited number of keys: the algorithm
// Space Saving (Metwally and others, 2005). A key with more than an n-th of the time of all is
// among n keys. Methods may be called from several goroutines at the same time.
type Top[K comparable] struct {
	mu    sync.Mutex
	limit int
	keys  map[K]*entry[K]
	heap  entries[K] // the lowest time first
}

type entry[K comparable] struct {
	key   K
	cost  Cost
	index int // in the heap
}

// NewTop returns a Top that remembers limit keys, at least 1.
func NewTop[K comparable](limit int) *Top[K] {
	return &Top[K]{limit: limit, keys: map[K]*entry[K]{}}
}

// AddCost adds to what a key has cost.
func (t *Top[K]) AddCost(key K, count, bytes int64, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.keys[key]
	switch {
	case e != nil:
	case len(t.heap) < t.limit:
		e = &entry[K]{key: key}
		t.keys[key] = e
		heap.Push(&t.heap, e)
	default:
		e = t.heap[0]
		delete(t.keys, e.key)
		t.keys[key] = e
		e.key, e.cost = key, Cost{Time: e.cost.Time, Over: e.cost.Time}
	}
	e.cost.Count += count
	e.cost.Bytes += bytes
	e.cost.Time += took
	heap.Fix(&t.heap, e.index)
}

// Costs returns the n keys with the highest cost, the highest first.
func (t *Top[K]) Costs(n int, name func(K) string) []Cost {
	t.mu.Lock()
	list := make([]Cost, 0, len(t.heap))
	for _, e := range t.heap {
		c := e.cost
		c.Key = name(e.key)
		list = append(list, c)
	}
	t.mu.Unlock()
	return highest(list, n)
}

// highest sorts costs, the highest first, and returns the first n.
func highest(list []Cost, n int) []Cost {
	slices.SortFunc(list, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Key, b.Key))
	})
	return list[:min(n, len(list))]
}

// entries implements heap.Interface.
type entries[K comparable] []*entry[K]

func (h entries[K]) Len() int           { return len(h) }
func (h entries[K]) Less(i, j int) bool { return h[i].cost.Time < h[j].cost.Time }

func (h entries[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *entries[K]) Push(x any) {
	e := x.(*entry[K])
	e.index = len(*h)
	*h = append(*h, e)
}

func (h *entries[K]) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}
