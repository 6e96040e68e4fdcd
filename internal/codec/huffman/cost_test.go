package huffman

import (
	"math"
	"math/rand/v2"
	"testing"
)

// entropy returns the cost of Entropy.
func entropy(counts []uint32) uint64 {
	cost, _, _ := Entropy(counts)
	return cost
}

// TestEntropyCounts checks the other results of Entropy.
func TestEntropyCounts(t *testing.T) {
	if _, used, total := Entropy([]uint32{0, 1, 5000, 0, 3}); used != 3 || total != 5004 {
		t.Errorf("%d symbols, %d in all", used, total)
	}
}

func TestEntropy(t *testing.T) {
	if got := entropy(nil); got != 0 {
		t.Error("nothing:", got)
	}
	if got := entropy([]uint32{0, 1<<32 - 1}); got != 0 {
		t.Error("one symbol:", got)
	}
	got := entropy([]uint32{1 << 31, 1 << 30, 1<<30 - 1})
	if math.Abs(float64(got)/CostBit/(1.5*(1<<32))-1) > 5e-6 {
		t.Error("large counts:", got)
	}
	r := rand.New(rand.NewPCG(11, 12))
	for range rounds(1000) {
		counts := randomCounts(r, 1+r.IntN(300))
		total, want := 0.0, 0.0
		for _, c := range counts {
			total += float64(c)
		}
		for _, c := range counts {
			if c != 0 {
				want += float64(c) * math.Log2(total/float64(c))
			}
		}
		if got := float64(entropy(counts)) / CostBit; math.Abs(got-want) > 1+5e-6*total {
			t.Fatalf("%.1f bits, want %.1f, of %v symbols", got, want, total)
		}
	}
}

func TestEstimateSum(t *testing.T) {
	var h Builder
	r := rand.New(rand.NewPCG(13, 14))
	for round := range rounds(1000) {
		n := 2 + r.IntN(280)
		a, b, both := randomCounts(r, n), randomCounts(r, n), make([]uint32, n)
		if round%3 == 0 {
			a[r.IntN(n)] += 1 << 24
		}
		distinct, total, most := 0, 0.0, uint32(0)
		for i := range both {
			both[i] = a[i] + b[i]
			most = max(most, both[i])
			total += float64(both[i])
			if both[i] != 0 {
				distinct++
			}
		}
		got, used := EstimateSum(a, b)
		if used != distinct {
			t.Fatalf("%d symbols, want %d", used, distinct)
		}
		if distinct < 2 {
			continue
		}
		// No code is smaller, and the optimal one is little larger.
		lens := make([]uint8, n)
		longest := h.Lengths(lens, both, MaxBits)
		size := float64(bitsOf(t, lens, both, MaxBits, longest))
		est := float64(got) / CostBit
		if est > size+1+5e-6*total {
			t.Fatalf("%.0f bits for %d symbols, the code takes %.0f", est, distinct, size)
		}
		if float64(most) > total/2 {
			want := total + float64(entropy(without(both, most)))/CostBit
			if math.Abs(est-want) > 1+5e-6*total {
				t.Fatalf("%.0f bits, want %.0f", est, want)
			}
		} else if want := float64(entropy(both)) / CostBit; math.Abs(est-want) > 1+5e-6*total {
			t.Fatalf("%.0f bits, want %.0f", est, want)
		}
	}
	if cost, used := EstimateSum(make([]uint32, 9), make([]uint32, 9)); cost != 0 || used != 0 {
		t.Error("nothing:", cost, used)
	}
}

// without returns counts without x.
func without(counts []uint32, x uint32) (rest []uint32) {
	for _, c := range counts {
		if c != x {
			rest = append(rest, c)
		}
	}
	return rest
}
