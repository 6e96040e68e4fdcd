package simd

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

// TestGuardPagesMultiRows searches rows between guard pages, also with arbitrary entries.
func TestGuardPagesMultiRows(t *testing.T) {
	const most = 3000
	content := newGuarded(t, most)
	rows3, rows4 := newGuarded(t, 4<<10), newGuarded(t, 8<<10)
	rows6, rows10 := newGuarded(t, 16<<10), newGuarded(t, 4<<10)
	results := newGuarded(t, 64*64)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(88, 89))
		for range scaled(1500) {
			src := content.put(r, randomContent(r, 16+r.IntN(most-16)))
			p := randomRowParams(r)
			p.run(t, r, src, r.IntN(8))
			var rows MultiRows
			rows.Reset(p.log)
			rows.rows3, rows.rows4 = copied(r, rows3, rows.rows3), copied(r, rows4, rows.rows4)
			rows.rows6, rows.rows10 = copied(r, rows6, rows.rows6), copied(r, rows10, rows.rows10)
			for i := range rows.rows4 {
				rows.rows3[i], rows.rows4[i], rows.rows10[i] = r.Uint32(), r.Uint64(), r.Uint32()
				rows.rows6[i] = [2]uint64{r.Uint64(), r.Uint64()}
			}
			out := copied(r, results, make([]RowMatches, min(64, len(src)-15)))
			rows.Search(src, r.IntN(len(src)-14-len(out)), p.minMatch, p.maxOffset, out)
		}
	})
}

// TestGuardPagesCollect collects candidates between guard pages.
func TestGuardPagesCollect(t *testing.T) {
	const most = 1500
	content, matches := newGuarded(t, most), newGuarded(t, 64*most)
	first, cands := newGuarded(t, 4*(most+3)), newGuarded(t, 8*16*most)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(99, 100))
		for range scaled(2000) {
			c := randomCollect(r, content.put(r, randomContent(r, 16+r.IntN(most-16))))
			c.matches = copied(r, matches, c.matches)
			c.firstCand = copied(r, first, c.firstCand)
			c.cands = copied(r, cands, c.cands)
			c.test(t, r)
		}
	})
}
