package lz77

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestMemory: a Matcher allocates no more than Params.Memory says, and at least half of it. A bound
// that is far too high costs workers.
func TestMemory(t *testing.T) {
	testenv.Measures(t)
	const rounding = 32 << 10 // of the runtime, for a few large allocations
	sizes := []int{100, 5000, 1<<16 + 1, 1 << 20}
	if small() {
		sizes = sizes[:3]
	}
	// Allocations depend on the size only, and repeated content is parsed fast.
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
			if got > bound+rounding || got < bound/2 {
				t.Errorf("%d bytes: allocated %d, Memory says %d", n, got, bound)
			}
		}
	}
	forEachLevel(t, each)
	t.Run("hash chains", func(t *testing.T) { each(t, chainParams, blockLimits) })
	t.Run("blocks", func(t *testing.T) {
		each(t, &Params{Finder: BinaryTree, HashLog: 16, Depth: 16, Nice: 258, Passes: 1}, blockLimits)
	})
}
