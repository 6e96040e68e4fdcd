package ctx

import (
	"math/bits"

	"github.com/gopz/compress/internal/kernels"
)

// classes groups contexts so that each group shares one frequency table.
type classes struct {
	class [numContexts]uint8 // table number of each context, below n
	n     int                // number of tables, at most maxTables
	cost  uint64             // of symbols and descriptions, in units of 1/CostBit bit
}

// clusters finds classes.
//
// It is a k-means clustering with coding cost as the distance. The most frequent contexts are the
// first centres. Each round assigns every context to the table that codes it cheapest and then
// recomputes the tables. At the end tables merge while a merger saves more bits than it costs. All
// arithmetic is in integers, so that every machine makes the same choices.
type clusters struct {
	checkpoint func()

	classes
	pairs  *pairCounts // counts to cluster
	totals [numContexts]uint32
	top    [maxTables]uint16 // the most frequent contexts
	// symbols lists the symbols that occur in each context, and counts their counts, scaled down in
	// contexts with many symbols. ends[c] is the end of context c. A symbol that does not occur
	// makes the number even.
	symbols [numContexts * 256]uint8
	counts  [numContexts * 256]uint16
	ends    [numContexts]uint32

	sums    [maxTables][256]uint32
	changed uint32            // set of tables whose sums have changed
	prices  kernels.CtxPrices // in units of 1/priceBit bit
	merger  merger
}

// clusterRounds is the number of rounds of assignment. More rounds save less than 0.05%.
const clusterRounds = 8

// cluster finds at most limit tables for the pairs.
func (c *clusters) cluster(p *pairCounts, limit int) *classes {
	c.pairs, c.n = p, 0
	c.list()
	// The most frequent contexts become the first tables.
	for _, i := range c.mostFrequent(min(limit, maxTables)) {
		c.sums[c.n] = p.n[i]
		c.n++
	}
	for round := range clusterRounds {
		if !c.assign(round == 0) {
			break
		}
		c.checkpoint()
	}
	c.merge()
	c.checkpoint()
	return &c.classes
}

// mostFrequent returns the limit most frequent contexts that occur, the most frequent first.
func (c *clusters) mostFrequent(limit int) []uint16 {
	top := c.top[:0]
	for i, n := range &c.totals {
		if n == 0 || len(top) == limit && n <= c.totals[top[limit-1]] {
			continue
		}
		if len(top) < limit {
			top = top[:len(top)+1]
		}
		k := len(top) - 1
		for ; k > 0 && n > c.totals[top[k-1]]; k-- {
			top[k] = top[k-1]
		}
		top[k] = uint16(i)
	}
	return top
}

// maxScaled is the greatest count that kernels.CheapestTables takes. Rounding adds less than 1/2 to
// each scaled count, so that a context stays within kernels.MaxCtxCount.
const maxScaled = 1<<15 - 1

// list lists the symbols that occur in each context.
func (c *clusters) list() {
	k := uint(0)
	for i := range &c.pairs.used {
		begin, total, counts := k, uint32(0), &c.pairs.n[i]
		for w, set := range c.pairs.used[i] {
			for ; set != 0; set &= set - 1 {
				s := uint(64*w+bits.TrailingZeros64(set)) % 256
				total += counts[s]
				c.symbols[k], c.counts[k] = uint8(s), uint16(counts[s])
				k++
			}
		}
		if total > maxScaled {
			shift := bits.Len32(total / (maxScaled + 1))
			for j := begin; j < k; j++ {
				n := (counts[c.symbols[j]] + 1<<shift>>1) >> shift
				c.counts[j] = uint16(min(n, maxScaled))
			}
		}
		if k%2 != 0 {
			c.symbols[k], c.counts[k] = c.pairs.used[i].absent(), 0
			k++
		}
		c.totals[i], c.ends[i] = total, uint32(k)
	}
}

// assign moves each context to its cheapest table and recomputes the tables. It reports whether a
// context has changed its table; all do in the first round.
func (c *clusters) assign(first bool) bool {
	if first {
		c.changed = 1<<maxTables - 1
	}
	c.setPrices()
	before := c.class
	end := c.ends[numContexts-1]
	kernels.CheapestTables(c.class[:], c.ends[:], c.symbols[:end], c.counts[:end], &c.prices)
	if first {
		clear(c.sums[:c.n])
	}
	c.changed = 0
	begin := uint32(0)
	for i := range &c.pairs.n {
		symbols := c.symbols[begin:c.ends[i]]
		begin = c.ends[i]
		old, best := before[i]%maxTables, c.class[i]%maxTables
		if best == old && !first {
			continue
		}
		c.changed |= 1<<old | 1<<best
		pairs, t := &c.pairs.n[i], &c.sums[best]
		for _, s := range symbols {
			t[s] += pairs[s]
		}
		if first {
			continue
		}
		t = &c.sums[old]
		for _, s := range symbols {
			t[s] -= pairs[s]
		}
	}
	return first || c.changed != 0
}
