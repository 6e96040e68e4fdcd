package match

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
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
	each := func(t *testing.T, p *Params, form *optimal.Form) {
		for _, n := range sizes {
			seqs := make([]lz77.Sequence, 0, n/4)
			var m Matcher
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m.ParseFrom(seqs, data[:n], 0, p, form)
			runtime.ReadMemStats(&after)
			got, bound := int(after.TotalAlloc-before.TotalAlloc), p.Memory(n, form)
			if got > bound+rounding || got < bound/2 {
				t.Errorf("%d bytes: allocated %d, Memory says %d", n, got, bound)
			}
		}
	}
	forEachLevel(t, each)
	t.Run("hash chains", func(t *testing.T) { each(t, hashChains(16, 32), blockForm) })
	t.Run("blocks", func(t *testing.T) {
		each(t, tree(16, 258, 1), blockForm)
	})
}
