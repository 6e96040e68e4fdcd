package huffman

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// rounds returns n, or less in short mode.
func rounds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// leastBits returns the minimum size under a limit. It tries every number of codes at every depth.
// The counts must be few and sorted, largest first.
func leastBits(counts []uint64, limit int) uint64 {
	const never = 1 << 60
	var from func(next, slots, depth int) uint64
	from = func(next, slots, depth int) uint64 {
		rest := counts[next:]
		if len(rest) == 0 {
			return 0
		}
		if depth > limit || slots > len(rest) {
			return never
		}
		// Each remaining symbol moves one bit deeper; then some of them end here.
		sum := uint64(0)
		for _, c := range rest {
			sum += c
		}
		best := uint64(never)
		for codes := 0; codes <= min(slots, len(rest)); codes++ {
			if codes == slots && codes < len(rest) {
				break
			}
			best = min(best, from(next+codes, 2*(slots-codes), depth+1))
		}
		return sum + best
	}
	return from(0, 2, 1)
}

// coinBits returns the minimum size for many symbols. It solves the coin collector's problem
// directly.
func coinBits(counts []uint64, limit int) uint64 {
	var row []uint64
	for range limit {
		var next []uint64
		for i := 0; i+1 < len(row); i += 2 {
			next = append(next, row[i]+row[i+1])
		}
		row = append(next, counts...)
		slices.Sort(row)
	}
	sum := uint64(0)
	for _, c := range row[:2*len(counts)-2] {
		sum += c
	}
	return sum
}

// randomCounts returns counts of many shapes: flat, steep up to Fibonacci numbers, with and without
// gaps.
func randomCounts(r *rand.Rand, symbols int) []uint32 {
	counts := make([]uint32, symbols)
	kind, spread := r.IntN(4), r.IntN(22)
	a, b := uint32(1), uint32(1)
	for i := range counts {
		switch kind {
		case 0:
			counts[i] = r.Uint32N(1 << r.IntN(spread+1))
		case 1:
			counts[i] = 1 + r.Uint32N(3)
		case 2:
			counts[i] = a
			a, b = b, a+b
			if b > 1<<23 {
				a, b = 1, 1
			}
		case 3:
			counts[i] = 1 << 20 >> (i % (spread + 1))
		}
		if kind%2 == 0 && r.IntN(3) == 0 {
			counts[i] = 0
		}
	}
	r.Shuffle(symbols, func(i, j int) { counts[i], counts[j] = counts[j], counts[i] })
	return counts
}

// bitsOf returns the size of the symbols. It fails the test unless the lengths are those of a
// complete prefix code within the limit.
func bitsOf(t testing.TB, lens []uint8, counts []uint32, limit, longest int) (sum uint64) {
	t.Helper()
	space, greatest := 0, 0
	for i, c := range counts {
		l := int(lens[i])
		if (l == 0) != (c == 0) || l > limit {
			t.Fatalf("symbol %d, %d times: %d bits", i, c, l)
		}
		if l != 0 {
			space += 1 << (MaxBits - l)
		}
		greatest = max(greatest, l)
		sum += uint64(c) * uint64(l)
	}
	if space != 1<<MaxBits {
		t.Fatalf("code takes %d/%d of the space", space, 1<<MaxBits)
	}
	if greatest != longest {
		t.Fatalf("longest code %d, said to be %d", greatest, longest)
	}
	return sum
}

func occurring(counts []uint32) (sorted []uint64) {
	for _, c := range counts {
		if c != 0 {
			sorted = append(sorted, uint64(c))
		}
	}
	slices.Sort(sorted)
	slices.Reverse(sorted)
	return sorted
}

func log2up(n int) (l int) {
	for 1<<l < n {
		l++
	}
	return max(l, 1)
}

func TestLengthsFew(t *testing.T) {
	var b Builder
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds(3000) {
		counts := randomCounts(r, 2+r.IntN(9))
		sorted := occurring(counts)
		if len(sorted) < 2 {
			continue
		}
		limit := log2up(len(sorted)) + r.IntN(5)
		lens := make([]uint8, len(counts))
		longest := b.Lengths(lens, counts, limit)
		got, want := bitsOf(t, lens, counts, limit, longest), leastBits(sorted, limit)
		if got != want {
			t.Fatalf("%v in %d bits: %d bits, but %d are possible", counts, limit, got, want)
		}
	}
}

func TestLengthsMany(t *testing.T) {
	var b Builder
	r := rand.New(rand.NewPCG(3, 4))
	limited, rounds := 0, rounds(2000)
	for range rounds {
		counts := randomCounts(r, 2+r.IntN(MaxSymbols-1))
		sorted := occurring(counts)
		if len(sorted) < 2 {
			continue
		}
		limit := log2up(len(sorted))
		limit += r.IntN(MaxBits - limit + 1)
		lens := make([]uint8, len(counts))
		longest := b.Lengths(lens, counts, limit)
		got, want := bitsOf(t, lens, counts, limit, longest), coinBits(sorted, limit)
		if got != want {
			t.Fatalf("%d symbols in %d bits: %d bits, but %d are possible",
				len(sorted), limit, got, want)
		}
		// The limit must not matter here, or Huffman's own method would not apply.
		if coinBits(sorted, 40) < coinBits(sorted, limit) {
			limited++
		}
	}
	if limited < rounds/20 {
		t.Errorf("the limit mattered %d times only", limited)
	}
}

// TestLengthsTies checks that of equally frequent symbols the first get the longer codes, whatever
// was computed before.
func TestLengthsTies(t *testing.T) {
	var b Builder
	lens := make([]uint8, 6)
	for range 2 {
		b.Lengths(lens, []uint32{7, 7, 7, 7, 7, 0}, 15)
		if fmt.Sprint(lens) != "[3 3 2 2 2 0]" {
			t.Error(lens)
		}
		b.Lengths(make([]uint8, 200), slices.Repeat([]uint32{1, 1000}, 100), 8)
	}
}

func TestLengthsEdges(t *testing.T) {
	var b Builder
	lens := []uint8{9, 9, 9}
	if n := b.Lengths(lens, []uint32{0, 0, 0}, 15); n != 0 || fmt.Sprint(lens) != "[0 0 0]" {
		t.Error("nothing:", n, lens)
	}
	if n := b.Lengths(lens, []uint32{0, 5, 0}, 7); n != 1 || fmt.Sprint(lens) != "[0 1 0]" {
		t.Error("one symbol:", n, lens)
	}
	if n := b.Lengths(lens, []uint32{1<<32 - 3, 1, 1}, 2); n != 2 || fmt.Sprint(lens) != "[1 2 2]" {
		t.Error("large counts:", n, lens)
	}
	if n := b.Lengths(nil, nil, 1); n != 0 {
		t.Error("no symbols:", n)
	}
	// as many symbols as codes
	all := make([]uint8, 256)
	counts := make([]uint32, 256)
	for i := range counts {
		counts[i] = 1 << (i / 12)
	}
	b.Lengths(all, counts, 8)
	if slices.Min(all) != 8 || slices.Max(all) != 8 {
		t.Error("256 symbols in 8 bits:", all)
	}
	for _, limit := range []int{0, 1, 16} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("limit %d for three symbols accepted", limit)
				}
			}()
			b.Lengths(lens, []uint32{1, 1, 1}, limit)
		}()
	}
}
