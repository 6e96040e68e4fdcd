package kernels

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// copyTo returns a copy of values at one of the two ends of g.
func copyTo[T any](g guarded, r *rand.Rand, values []T) []T {
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))),
		len(values)*int(unsafe.Sizeof(*new(T))))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(g.put(r, raw)))), len(values))
}

// TestGuardPagesClustering runs CheapestTables and NonZero between guard pages.
func TestGuardPagesClustering(t *testing.T) {
	var mem [5]guarded
	for i := range mem {
		mem[i] = newGuarded(t, int(unsafe.Sizeof(CtxPrices{})))
	}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(111, 112))
		for range scaled(2000) {
			s := randomStep(r, r.IntN(20), []int{2, 20, 256}[r.IntN(3)])
			s.ends, s.symbols = copyTo(mem[0], r, s.ends), copyTo(mem[1], r, s.symbols)
			s.counts = copyTo(mem[2], r, s.counts)
			s.prices = &copyTo(mem[3], r, []CtxPrices{*s.prices})[0]
			s.check(t, copyTo(mem[4], r, make([]uint8, len(s.ends))))

			counts := &copyTo(mem[0], r, make([][256]uint32, 1))[0]
			counts[r.IntN(256)] = 1
			if got := NonZero(counts); got != nonZero(counts) {
				t.Fatalf("NonZero: %x, want %x", got, nonZero(counts))
			}
		}
	})
}

// TestGuardPagesEncodeCtx runs EncodeCtx between guard pages, with the least room for words.
func TestGuardPagesEncodeCtx(t *testing.T) {
	const most = 20
	var mem [3]guarded
	for i := range mem {
		mem[i] = newGuarded(t, (most+4)*RoundBytes)
	}
	tabs := newGuarded(t, int(unsafe.Sizeof([MaxCtxTables]EncodeTable{})))
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(113, 114))
		c := newCtxRun(r)
		for range scaled(300) {
			rounds := r.IntN(most + 1)
			c.setSymbols(r, rounds)
			c.tabs = (*[MaxCtxTables]EncodeTable)(copyTo(tabs, r, c.tabs[:]))
			c.symbols, c.tableOf = mem[0].put(r, c.symbols), mem[1].put(r, c.tableOf)
			c.check(t, r, rounds, mem[2].put(r, make([]byte, rounds*RoundBytes)))
		}
	})
}
