package ctx

import (
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
)

// randomPairs fills some contexts, each with up to most of a symbol.
func randomPairs(r *rand.Rand, most uint32) *pairCounts {
	p := new(pairCounts)
	for c := range p.n {
		share := r.Float64() * float64(r.IntN(2))
		for s := range p.n[c] {
			if r.Float64() < share {
				p.n[c][s] = 1 + r.Uint32N(most)>>r.IntN(32)
			}
		}
		if r.IntN(4) == 0 {
			p.n[c] = [256]uint32{}
			p.n[c][c%256] = most
		}
		p.used[c] = kernels.NonZero(&p.n[c])
	}
	return p
}

// TestList checks the lists against the counts and the limits of kernels.CheapestTables.
func TestList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	c := new(clusters)
	for _, most := range []uint32{1, 100, 1<<15 - 1, 1 << 15, 1<<16 - 1, 1 << 16, 1<<22 - 1, 1 << 22} {
		c.pairs = randomPairs(r, most)
		c.list()
		begin := uint32(0)
		for i := range &c.pairs.n {
			left, total, sum := c.pairs.n[i], uint32(0), 0
			for _, n := range &left {
				total += n
			}
			for k := begin; k < c.ends[i]; k++ {
				n, scaled := left[c.symbols[k]], uint32(c.counts[k])
				left[c.symbols[k]] = 0
				sum += int(scaled)
				if total < 1<<15 && scaled != n || scaled >= 1<<15 || scaled > n {
					t.Fatalf("count %d of %d became %d", n, total, scaled)
				}
				share := float64(n)/float64(total) - float64(scaled)/float64(min(total, 1<<15))
				if total >= 1<<15 && (share < -1e-4 || share > 0.51) {
					t.Fatalf("count %d of %d became %d", n, total, scaled)
				}
			}
			if left != [256]uint32{} || (c.ends[i]-begin)%2 != 0 || sum > kernels.MaxCtxCount ||
				c.totals[i] != total {
				t.Fatalf("context %d: symbols %d, scaled counts sum to %d; rest %d",
					i, c.symbols[begin:c.ends[i]], sum, left)
			}
			begin = c.ends[i]
		}
	}
}

// TestSetPrices compares prices with logarithms of frequencies.
func TestSetPrices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 12))
	c := &clusters{classes: classes{n: 30}, changed: 1<<maxTables - 1}
	for k := range c.n {
		for s := range c.sums[k] {
			c.sums[k][s] = r.Uint32N(1<<27) >> r.IntN(28)
		}
	}
	c.sums[0], c.sums[1] = [256]uint32{}, [256]uint32{5: 1 << 31}
	c.setPrices()
	for k := range maxTables {
		total := uint32(0)
		for _, n := range &c.sums[k] {
			total += n
		}
		for s, n := range &c.sums[k] {
			got := int(uint16(c.prices[s][k/4] >> (k % 4 * 16)))
			want := int(model.Log2(min(total, maxCount)*16+256) - model.Log2(min(n, maxCount)*16+1))
			want >>= priceShift
			if k >= c.n {
				want = kernels.MaxCtxPrice
			}
			if got < want-1 || got > want+1 || k < c.n && got == kernels.MaxCtxPrice {
				t.Fatalf("table %d, symbol %d: price %d, want %d", k, s, got, want)
			}
		}
	}
}

// TestAssign checks that sums and prices, which assign only corrects where contexts have moved, are
// those of the classes.
func TestAssign(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 14))
	for range 10 {
		c := &clusters{pairs: randomPairs(r, 1000), classes: classes{n: 20}}
		c.list()
		for k, i := range c.mostFrequent(c.n) {
			c.sums[k] = c.pairs.n[i]
		}
		for round := range 4 {
			c.assign(round == 0)
			if sums := c.sumsOfClasses(); c.sums != sums {
				t.Fatalf("round %d: wrong sums", round)
			}
			changed := c.changed
			c.setPrices()
			prices := c.prices
			c.changed = 1<<maxTables - 1
			c.setPrices()
			if c.prices != prices {
				t.Fatalf("round %d: old prices", round)
			}
			c.changed = changed
		}
	}
}

func (c *clusters) sumsOfClasses() (sums [maxTables][256]uint32) {
	for i, k := range &c.class {
		for s, n := range &c.pairs.n[i] {
			sums[k][s] += n
		}
	}
	return sums
}

// TestMerge compares the merged tables with those of a merger that examines all pairs.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 13))
	differ := 0
	for range 100 {
		c := &clusters{pairs: randomPairs(r, 1<<r.IntN(12)), checkpoint: func() {}}
		c.n = 1 + r.IntN(maxTables)
		for i := range c.class {
			c.class[i] = uint8(r.IntN(c.n))
		}
		c.sums = c.sumsOfClasses()
		sums := c.sums
		want := mergeNaively(sums[:c.n])
		c.merge()
		// Estimates of losses have rounding errors, which may swap mergers that are equally good.
		if c.n != len(want) {
			differ++
			continue
		}
		cost := uint64(numContexts*indexBits(c.n)+40) * model.CostBit
		for k := range want {
			cost += tableCost(&want[k])
		}
		if c.cost > cost+cost/1000 {
			t.Fatalf("%d tables cost %d, want %d", c.n, c.cost, cost)
		}
		clear(c.sums[c.n:])
		if c.sums != c.sumsOfClasses() {
			t.Fatal("tables are not the sums of their contexts")
		}
	}
	if differ > 2 {
		t.Errorf("another number of tables in %d of 100 cases", differ)
	}
}

func tableCost(counts *[256]uint32) uint64 {
	total := uint32(0)
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	return model.Entropy(counts, total) + model.TableCost(counts)
}

// mergeNaively merges the pair with the greatest gain until there is none.
func mergeNaively(tables [][256]uint32) [][256]uint32 {
	for {
		x, y, most, joined := -1, -1, int64(-1), [256]uint32{}
		for a := range tables {
			for b := a + 1; b < len(tables); b++ {
				both := tables[a]
				for s, n := range &tables[b] {
					both[s] += n
				}
				gain := int64(tableCost(&tables[a]) + tableCost(&tables[b]) - tableCost(&both))
				if gain > most {
					x, y, most, joined = a, b, gain, both
				}
			}
		}
		if x < 0 {
			return tables
		}
		tables[x], tables[y] = joined, tables[len(tables)-1]
		tables = tables[:len(tables)-1]
	}
}
