package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// clusterStep is a set of arguments of CheapestTables.
type clusterStep struct {
	ends    []uint32
	symbols []uint8
	counts  []uint16
	prices  *CtxPrices
}

// randomStep returns contexts with up to most symbols each. Few different prices make many tables
// equally cheap.
func randomStep(r *rand.Rand, contexts, most int) *clusterStep {
	s := &clusterStep{prices: new(CtxPrices)}
	for range contexts {
		left := MaxCtxCount
		for range r.IntN(most/2+1) * 2 {
			n := r.IntN(min(left, 1<<15-1) + 1)
			if r.IntN(4) > 0 {
				n = min(n, r.IntN(50))
			}
			left -= n
			s.symbols = append(s.symbols, uint8(r.Uint32()))
			s.counts = append(s.counts, uint16(n))
		}
		s.ends = append(s.ends, uint32(len(s.symbols)))
	}
	greatest := []uint32{1, 5, MaxCtxPrice}[r.IntN(3)]
	for c := range s.prices {
		for w := range s.prices[c] {
			for range 4 {
				s.prices[c][w] = s.prices[c][w]<<16 | uint64(r.Uint32N(greatest+1))
			}
		}
	}
	return s
}

// tables returns the definition of the cheapest tables.
func (s *clusterStep) tables() (tables []uint8) {
	begin := uint32(0)
	for _, end := range s.ends {
		best, lowest := 0, ^uint64(0)
		for k := range MaxCtxTables {
			size := uint64(0)
			for i := begin; i < end; i++ {
				size += uint64(s.counts[i]) * (s.prices[s.symbols[i]][k/4] >> (k % 4 * 16) & 0xffff)
			}
			if size < lowest {
				best, lowest = k, size
			}
		}
		tables = append(tables, uint8(best))
		begin = end
	}
	return tables
}

func (s *clusterStep) check(t *testing.T, tables []uint8) {
	t.Helper()
	CheapestTables(tables, s.ends, s.symbols, s.counts, s.prices)
	if want := s.tables(); !slices.Equal(tables, want) {
		t.Fatalf("tables of %d contexts, %d symbols: %d, want %d",
			len(s.ends), len(s.symbols), tables, want)
	}
}

func TestCheapestTables(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(101, 102))
		for range scaled(3000) {
			s := randomStep(r, r.IntN(20), []int{2, 20, 256}[r.IntN(3)])
			s.check(t, make([]uint8, len(s.ends)))
		}
		s := randomStep(r, 1000, 256) // more contexts than one call of the assembly takes
		s.check(t, make([]uint8, len(s.ends)))
		for c := range s.prices { // the greatest size
			s.prices[c] = [8]uint64{}
			for w := range s.prices[c] {
				s.prices[c][w] = MaxCtxPrice * 0x0001_0001_0001_0001
			}
		}
		s.prices[1][7] -= 1 << 48
		for i := range s.counts {
			s.counts[i], s.symbols[i] = MaxCtxCount/256, uint8(i%2)
		}
		s.check(t, make([]uint8, len(s.ends)))
	})
}

// TestCheapestTablesRange: arguments out of range panic.
func TestCheapestTablesRange(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		symbols, counts, prices := make([]uint8, 4, 9), make([]uint16, 4, 9), new(CtxPrices)
		for name, f := range map[string]func(tables []uint8){
			"odd":     func(k []uint8) { CheapestTables(k, []uint32{1, 2}, symbols, counts, prices) },
			"order":   func(k []uint8) { CheapestTables(k, []uint32{4, 2}, symbols, counts, prices) },
			"few":     func(k []uint8) { CheapestTables(k, []uint32{4}, symbols, counts, prices) },
			"symbols": func(k []uint8) { CheapestTables(k, []uint32{2, 4}, symbols[:2], counts, prices) },
			"counts":  func(k []uint8) { CheapestTables(k, []uint32{2, 4}, symbols, counts[:2], prices) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f(make([]uint8, 2))
			}()
		}
	})
}

func TestNonZero(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(103, 104))
		for range scaled(3000) {
			var counts [256]uint32
			var want [4]uint64
			often := r.IntN(257)
			for s := range counts {
				if r.IntN(256) < often {
					counts[s] = 1 << r.IntN(32)
					want[s/64] |= 1 << (s % 64)
				}
			}
			if got := NonZero(&counts); got != want {
				t.Fatalf("%x, want %x", got, want)
			}
		}
	})
}

func BenchmarkCheapestTables(b *testing.B) {
	s := randomStep(rand.New(rand.NewPCG(105, 106)), 256, 64)
	tables := make([]uint8, len(s.ends))
	b.Logf("%d symbols", len(s.symbols))
	benchTiers(b, func(b *testing.B) {
		b.SetBytes(int64(len(s.symbols)))
		for b.Loop() {
			CheapestTables(tables, s.ends, s.symbols, s.counts, s.prices)
		}
	})
}
