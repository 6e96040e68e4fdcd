package rans

// clusters shares contexts out among tables. It works with integers alone, so that every machine comes to the same.
type clusters struct {
	pairs  [contexts][256]uint32 // how often a symbol comes in a context
	totals [contexts]uint32
	class  [contexts]uint8
	n      int // tables in use
	sums   [maxTables][256]uint32
	prices [maxTables][256]uint32 // in costBit units
	cost   uint64                 // of the symbols and of what describes the tables, in costBit units
}

// clusterRounds is how often contexts are shared out anew, by what the tables of the last time make them cost. Later rounds bring less than 0.1%.
const clusterRounds = 4

// count adds the symbols of src to the pairs; marks are 1 where the context is a mark.
func (c *clusters) count(src, marks []byte, before byte) {
	marks = marks[:len(src)]
	for i, s := range src {
		ctx := uint(before)
		if marks[i] != 0 {
			ctx = contexts - 1
		}
		c.pairs[ctx][s]++
		before = s
	}
}

// add adds the pairs of d.
func (c *clusters) add(d *clusters) {
	for i := range c.pairs {
		p, q := &c.pairs[i], &d.pairs[i]
		for s, n := range q {
			p[s] += n
		}
	}
}

// share finds tables for the pairs.
func (c *clusters) share() {
	c.n = 0
	var used [contexts]bool
	for i := range c.pairs {
		c.totals[i] = 0
		for _, n := range &c.pairs[i] {
			c.totals[i] += n
		}
	}
	// The most frequent contexts are the first tables.
	for c.n < maxTables {
		best := -1
		for i, n := range &c.totals {
			if n > 0 && !used[i] && (best < 0 || n > c.totals[best]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		used[best] = true
		c.sums[c.n] = c.pairs[best]
		c.n++
	}
	for range clusterRounds {
		c.assign()
	}
	c.merge()
}

// assign gives each context the table that it is cheapest with, and makes the tables anew.
func (c *clusters) assign() {
	for k := range c.n {
		price(&c.prices[k], &c.sums[k])
		c.sums[k] = [256]uint32{}
	}
	for i := range c.pairs {
		if c.class[i] = 0; c.totals[i] == 0 {
			continue
		}
		pairs := &c.pairs[i]
		best, least := 0, ^uint64(0)
		for k := range c.n {
			prices, sum := &c.prices[k], uint64(0)
			for s, n := range pairs {
				sum += uint64(n) * uint64(prices[s])
			}
			if sum < least {
				best, least = k, sum
			}
		}
		c.class[i] = uint8(best)
		t := &c.sums[best]
		for s, n := range pairs {
			t[s] += n
		}
	}
}

// price sets prices to what symbols cost that are as frequent as counts say; one that does not occur counts as a sixteenth.
func price(prices, counts *[256]uint32) {
	total := uint32(0)
	for _, n := range counts {
		total += n
	}
	all := log2(min(total, 1<<26)*16 + 256)
	for s, n := range counts {
		prices[s] = uint32(all - log2(min(n, 1<<26)*16+1))
	}
}

// tableSize is what symbols with the given counts cost with a table of their own, and that table, in costBit units.
func tableSize(counts *[256]uint32) uint64 {
	total := uint32(0)
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	return entropy(counts, total) + tableCost(counts)
}

// merge joins tables for as long as that saves more than it costs, and drops those that nobody has.
func (c *clusters) merge() {
	var costs [maxTables]uint64
	var sum [256]uint32
	joined := func(a, b int) uint64 {
		for s := range sum {
			sum[s] = c.sums[a][s] + c.sums[b][s]
		}
		return tableSize(&sum)
	}
	for k := range c.n {
		costs[k] = tableSize(&c.sums[k])
	}
	for {
		a, b, gain := -1, -1, int64(-1)
		for i := range c.n {
			for j := i + 1; j < c.n; j++ {
				if g := int64(costs[i] + costs[j] - joined(i, j)); g > gain {
					a, b, gain = i, j, g
				}
			}
		}
		if a < 0 {
			break
		}
		costs[a] = joined(a, b)
		c.sums[a] = sum
		last := c.n - 1
		for i, k := range &c.class {
			switch int(k) {
			case b:
				c.class[i] = uint8(a)
			case last:
				c.class[i] = uint8(b)
			}
		}
		c.sums[b], costs[b] = c.sums[last], costs[last]
		c.n--
	}
	c.cost = uint64(contexts*classBits(c.n)+40) * costBit
	for k := range c.n {
		c.cost += costs[k]
	}
}
