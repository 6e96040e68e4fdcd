package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLoadAhead: whatever is asked for, in the table or far from it, nothing faults, and nothing changes.
func TestLoadAhead(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(91, 92))
		for range scaled(2000) {
			table, at := make([]uint64, r.IntN(100)), make([]uint32, r.IntN(100))
			for i := range table {
				table[i] = r.Uint64()
			}
			for i := range at {
				at[i] = r.Uint32() >> r.IntN(32)
			}
			tableWas, atWas := slices.Clone(table), slices.Clone(at)
			LoadAhead(table, at, r.Uint32())
			LoadAhead(table, at, ^uint32(0))
			if !slices.Equal(table, tableWas) || !slices.Equal(at, atWas) {
				t.Fatal("something has changed")
			}
		}
	})
}

// BenchmarkLoadAhead goes ways through a table that no cache holds, a step of all of them at a time.
func BenchmarkLoadAhead(b *testing.B) {
	const entries = 1 << 26
	table := make([]uint32, entries)
	for i := range table {
		table[i] = uint32(i)*0x9E3779B1 ^ uint32(i)>>15
	}
	benchTiers(b, func(b *testing.B) {
		var ways [128]uint32
		for k := range ways {
			ways[k] = uint32(k) * 12345
		}
		for b.Loop() {
			LoadAhead(table, ways[:], entries-1)
			for k, i := range ways {
				ways[k] = table[i&(entries-1)] + uint32(k)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ways)), "ns/step")
	})
}
