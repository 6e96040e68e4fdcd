package ctx

import (
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/rans/internal/model"
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
		x, y := tallyOf(&a), tallyOf(&b)
		if got, want := x.cost(), size(&a, n); got != want {
			t.Fatalf("%d of %d symbols: %d, want %d", i, n, got, want)
		}
		sum := a
		for s, c := range b {
			sum[s] += c
		}
		both := x.with(&y, &a, &b)
		if both != tallyOf(&sum) || both.cost() != size(&sum, n+m) {
			t.Fatalf("%d and %d symbols: %d, want %d", n, m, both.cost(), size(&sum, n+m))
		}
	}
}
