package ctx

import (
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
)

// TestTally compares tallies with costs that model computes from the counts.
func TestTally(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 10))
	random := func() (counts [256]uint32, total uint32) {
		share := r.Float64()
		for s := range counts {
			if r.Float64() < share {
				counts[s] = uint32(r.Uint64N(1 << r.IntN(18)))
				total += counts[s]
			}
		}
		return counts, total
	}
	size := func(counts *[256]uint32, total uint32) uint64 {
		if total == 0 {
			return 0
		}
		return model.Entropy(counts, total) + model.TableCost(counts)
	}
	for i := range 2000 {
		a, n := random()
		b, m := random()
		if i < 3 {
			a, n = [256]uint32{}, 0
		}
		var x, y tally
		x.setCounts(&a, usedOf(&a))
		y.setCounts(&b, usedOf(&b))
		if got, want := x.cost(), size(&a, n); got != want {
			t.Fatalf("%d of %d symbols: %d, want %d", i, n, got, want)
		}
		sum := a
		for s, c := range b {
			sum[s] += c
		}
		if got, want := x.costWith(&y, &a, &b), size(&sum, n+m); got != want {
			t.Fatalf("%d and %d symbols: %d, want %d", n, m, got, want)
		}
		// Logarithms are off by up to 0.0004 bits.
		x.setBins(&a)
		y.setBins(&b)
		loss := int64(size(&sum, n+m)-x.cost()-y.cost()) + x.shared(&y)
		if least := x.leastLoss(&y); n > 0 && m > 0 && least > loss+int64(n+m)*model.CostBit/1000 {
			t.Fatalf("%d and %d symbols: loss %d, lower bound %d", n, m, loss, least)
		}
	}
}

func usedOf(counts *[256]uint32) *symbolSet {
	used := new(symbolSet)
	for s, n := range counts {
		if n != 0 {
			used[s/64] |= 1 << (s % 64)
		}
	}
	return used
}
