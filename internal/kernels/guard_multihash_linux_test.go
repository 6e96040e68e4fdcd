package kernels

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestGuardPagesMultiHash searches between guard pages, also with arbitrary tables.
func TestGuardPagesMultiHash(t *testing.T) {
	const most = 5000
	content := newGuarded(t, most)
	var tables [MultiHashTables]guarded
	for k := range tables {
		tables[k] = newGuarded(t, 4<<12)
	}
	results, indices := newGuarded(t, 8*(300+MultiHashTables)), newGuarded(t, 4*200)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(79, 80))
		for range scaled(600) {
			c := randomMulti(r,
				content.put(r, randomContent(r, 16+r.IntN([]int{100, most - 16}[r.IntN(2)]))))
			places := rand.New(rand.NewPCG(r.Uint64(), 2))
			words := func(g guarded, n int) []uint32 {
				p := g.put(places, make([]byte, 4*n))
				return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(p))), n)
			}
			c.table = func(kind, n int) []uint32 { return words(tables[kind], n) }
			c.results = func(n, positions int) ([]uint64, []uint32) {
				p := results.put(places, make([]byte, 8*n))
				return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(p))), n),
					words(indices, positions)
			}
			c.compare(t)
			c.arbitrary = true
			c.run(t)
		}
	})
}
