package kernels

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// entries returns a copy of p at one of the two ends.
func (g guarded) entries(r *rand.Rand, p []int16) []int16 {
	room := g.put(r, make([]byte, 2*len(p)))
	in := unsafe.Slice((*int16)(unsafe.Pointer(unsafe.SliceData(room))), len(p))
	copy(in, p)
	return in
}

// TestGuardPagesHashChain parses and slides tables between guard pages, also with arbitrary
// entries.
func TestGuardPagesHashChain(t *testing.T) {
	const most = 80_000
	content, seqs := newGuarded(t, most), newGuarded(t, most*sequenceBytes)
	tables := [3]guarded{newGuarded(t, 2<<14), newGuarded(t, 2<<14), newGuarded(t, 2*HashChainWindow)}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(85, 86))
		for i := range scaled(1500) {
			n := 16 + r.IntN(4000)
			if i%16 == 0 {
				n = 16 + r.IntN(most-16)
			}
			c := randomHashChain(r, content.put(r, randomContent(r, n)))
			heads3, heads4 := tables[0].entries(r, c.heads3), tables[1].entries(r, c.heads4)
			links := tables[2].entries(r, c.links)
			c.run(t, c.src, heads3, heads4, links, seqs.sequences(r, c.room))
			if !HasHashChain() {
				continue
			}
			for _, entries := range [][]int16{heads3, heads4, links} {
				for i := range entries {
					entries[i] = int16(r.Uint32())
				}
			}
			p := c.p
			ParseHashChain(&p, c.src, heads3, heads4, links, c.costs, seqs.sequences(r, c.room))
			for _, entries := range [][]int16{heads3, heads4, links} {
				SlideHashChain(entries)
			}
		}
	})
}
