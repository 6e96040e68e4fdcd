package kernels

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestGuardPagesPathCosts computes costs between guard pages, also with arbitrary candidates.
func TestGuardPagesPathCosts(t *testing.T) {
	const most = 600
	content, costs := newGuarded(t, most), newGuarded(t, 4*(most+1+PathSlack))
	first, cands := newGuarded(t, 4*(most+1)), newGuarded(t, 8*most*MaxPathLength)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(86, 87))
		for range scaled(3000) {
			g := randomGraph(r, 1+r.IntN(most))
			g.content = content.put(r, g.content[:g.to])
			g.firstCand = copied(r, first, g.firstCand[:g.to+1])
			g.cands = copied(r, cands, g.cands[:g.firstCand[g.to]])
			c := copied(r, costs, make([]uint32, g.to+1+PathSlack))
			g.run(t, r, c)
			for i := range g.cands {
				g.cands[i] = r.Uint64() >> r.IntN(64)
			}
			for i := range g.firstCand[:g.to] {
				g.firstCand[i] = min(g.firstCand[i]+r.Uint32N(9), uint32(len(g.cands)))
			}
			PathCosts(&g.prices, g.content, g.firstCand, g.cands, c, 0, g.to, g.to)
		}
	})
}

// copied returns a copy of p at one of the two ends of g.
func copied[T any](r *rand.Rand, g guarded, p []T) []T {
	if len(p) == 0 {
		return nil
	}
	size := len(p) * int(unsafe.Sizeof(p[0]))
	room := g.put(r, make([]byte, size))
	q := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(room))), len(p))
	copy(q, p)
	return q
}
