package lz77

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestMemory holds what a Matcher allocates to what Params.Memory says, from below too: a bound that is far too high costs workers.
func TestMemory(t *testing.T) {
	const sizeClasses = 32 << 10 // what the runtime adds when it rounds a few large allocations up
	sizes := []int{100, 5000, 1<<16 + 1, 1 << 20}
	if small() {
		sizes = sizes[:3]
	}
	// What is allocated depends on the size alone, and what repeats is soon parsed.
	data := bytes.Repeat(corpus.ByName("text").Make(1<<16), 16)
	each := func(t *testing.T, p *Params, l Limits) {
		for _, n := range sizes {
			seqs := make([]Sequence, 0, n/4)
			var m Matcher
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m.Parse(seqs, data[:n], p, l)
			runtime.ReadMemStats(&after)
			got, bound := int(after.TotalAlloc-before.TotalAlloc), p.Memory(n, &l)
			if got > bound+sizeClasses || got < bound/2 {
				t.Errorf("%d bytes: %d allocated, Memory says %d", n, got, bound)
			}
		}
	}
	forEachLevel(t, each)
	t.Run("blocks", func(t *testing.T) {
		each(t, &Params{Finder: BinaryTree, HashLog: 16, Depth: 16, Nice: 258, Passes: 1}, blockLimits)
	})
}
