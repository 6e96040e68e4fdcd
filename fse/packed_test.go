package fse

import (
	"math/rand/v2"
	"testing"
)

// TestPacked compares packed tables with a DecTable of the same distribution.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var b PackedBuilder
	var want DecTable
	var d Distribution
	values := make([]uint64, 64)
	for i := range values {
		values[i] = r.Uint64() &^ 0xFFFFFF00
	}
	for log := MinLog; log <= MaxLog; log++ {
		for range 50 {
			counts := make([]uint32, 2+r.IntN(min(63, 1<<log-1)))
			for i := range counts {
				counts[i] = r.Uint32N(1 + 1<<r.Uint32N(16))
			}
			counts[0], counts[len(counts)-1] = counts[0]+1, counts[len(counts)-1]+1
			d.Normalize(counts, log, r.IntN(2) == 0)
			cells := make([]uint64, 1<<d.Log)
			b.Build(cells, &d, values)
			want.Build(&d)
			for state, c := range cells {
				symbol, base, n := want.Symbol(uint32(state))
				if w := values[symbol] + uint64(n)<<PackedBits + uint64(base)<<PackedNext; c != w {
					t.Fatalf("log %d, state %d: cell %#x, want %#x", log, state, c, w)
				}
			}
		}
	}
}
