package kernels

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// entries16 returns room for n zero entries at one of the two ends.
func (g guarded) entries16(r *rand.Rand, n int) []uint16 {
	p := g.put(r, make([]byte, 2*n))
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(p))), n)
}

// TestGuardPagesTree searches between guard pages, also with arbitrary tables.
func TestGuardPagesTree(t *testing.T) {
	const most = 5000
	content := newGuarded(t, most)
	heads, heads3 := newGuarded(t, 2<<10), newGuarded(t, 4<<TreeHash3Log)
	children, codes := newGuarded(t, 4*most), newGuarded(t, TreeReach+1)
	results, indices := newGuarded(t, 8*(300+64)), newGuarded(t, 4*200)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(73, 74))
		for range scaled(600) {
			c := randomTree(r,
				content.put(r, randomContent(r, 16+r.IntN([]int{100, most - 16}[r.IntN(2)]))))
			places := rand.New(rand.NewPCG(r.Uint64(), 2))
			c.table = func(kind, n int) []uint16 {
				return []guarded{heads, heads3, children}[kind].entries16(places, n)
			}
			c.codes = codes.put(r, make([]byte, TreeReach+1))
			c.results = func(n, positions int) ([]uint64, []uint32) {
				p := results.put(places, make([]byte, 8*n))
				q := indices.put(places, make([]byte, 4*positions))
				return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(p))), n),
					unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(q))), positions)
			}
			c.compare(t)
			c.arbitrary = true
			c.run(t)
		}
	})
}
