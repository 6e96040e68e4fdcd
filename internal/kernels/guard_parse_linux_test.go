package kernels

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestGuardPagesParseSingle parses between guard pages.
func TestGuardPagesParseSingle(t *testing.T) {
	const most = 5000
	content, tables := newGuarded(t, most), newGuarded(t, 4<<10)
	seqs := newGuarded(t, most*sequenceBytes)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(37, 38))
		for range scaled(3000) {
			src := content.put(r, randomContent(r, 16+r.IntN([]int{100, most - 16}[r.IntN(2)])))
			p, table := randomParse(r, src)
			room := tables.put(r, make([]byte, 4*len(table)))
			in := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(room))), len(table))
			copy(in, table)
			runParse(t, p, src, in, seqs.sequences(r, r.IntN(len(src)/4)))
		}
	})
}

// TestGuardPagesParseDouble parses between guard pages.
func TestGuardPagesParseDouble(t *testing.T) {
	const most = 5000
	content, seqs := newGuarded(t, most), newGuarded(t, most*sequenceBytes)
	tables := [2]guarded{newGuarded(t, 4<<10), newGuarded(t, 4<<10)}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(63, 64))
		for range scaled(4000) {
			c := randomDouble(r,
				content.put(r, randomContent(r, 16+r.IntN([]int{100, most - 16}[r.IntN(2)]))))
			var in [2][]uint32
			for i, table := range [][]uint32{c.long, c.short} {
				room := tables[i].put(r, make([]byte, 4*len(table)))
				in[i] = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(room))), len(table))
				copy(in[i], table)
			}
			c.run(t, c.src, in[0], in[1], seqs.sequences(r, c.room))
		}
	})
}

// TestGuardPagesRowHash parses between guard pages, also with arbitrary rows and candidates.
func TestGuardPagesRowHash(t *testing.T) {
	const most = 5000
	content, tables := newGuarded(t, most), newGuarded(t, 4*32<<8)
	seqs := newGuarded(t, most*sequenceBytes)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(53, 54))
		for range scaled(3000) {
			c := randomRowHash(r,
				content.put(r, randomContent(r, 16+r.IntN([]int{100, most - 16}[r.IntN(2)]))))
			room := tables.put(r, make([]byte, 4*len(c.rows)))
			in := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(room))), len(c.rows))
			copy(in, c.rows)
			out := seqs.sequences(r, c.room)
			c.run(t, c.src, in, out)
			if HasRowHash(c.p.Depth) {
				for i := range in {
					in[i] = r.Uint32() >> r.IntN(32)
				}
				p := c.p
				ParseRowHash(&p, c.src, in, c.costs, out, c.costsValid)
				if n := max(c.p.End, 0); n <= len(in) {
					candidates := in[len(in)-n:] // ends at the guard page
					p := c.p
					ParseCandidates(&p, c.src, candidates, c.costs, out, c.costsValid)
				}
			}
		}
	})
}
