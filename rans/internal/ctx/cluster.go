package ctx

import "github.com/gopz/compress/rans/internal/model"

// clusters groups contexts so that each group shares one frequency table.
//
// It is a k-means clustering with coding cost as the distance. The most frequent contexts are the
// first centres. Each round assigns every context to the table that codes it cheapest and then
// recomputes the tables. At the end tables merge while a merger saves more bits than it costs. All
// arithmetic is in integers, so that every machine makes the same choices.
type clusters struct {
	checkpoint func()

	pairs  [numContexts][256]uint32 // pairs[c][s] counts symbol s in context c
	totals [numContexts]uint32
	// symbols lists the symbols that occur in each context; ends[c] is the end of context c. One
	// spare element simplifies listSymbols.
	symbols [numContexts*256 + 1]uint8
	ends    [numContexts]uint32
	class   [numContexts]uint8
	n       int // number of tables in use
	sums    [maxTables][256]uint32
	prices  [maxTables][256]uint32 // in units of 1/CostBit bit
	cost    uint64                 // of symbols and table descriptions, in units of 1/CostBit bit
}

// clusterRounds is the number of rounds of assignment. More rounds save less than 0.1%.
const clusterRounds = 4

// count adds the symbols of stream[from:] to pairs. marks is 1 for marked symbols.
func (c *clusters) count(m *contextMap, stream, marks []byte, from int) {
	for len(stream)-from > checkpointSymbols {
		c.countPiece(m, stream[:from+checkpointSymbols], marks, from)
		from += checkpointSymbols
		c.checkpoint()
	}
	c.countPiece(m, stream, marks, from)
}

func (c *clusters) countPiece(m *contextMap, stream, marks []byte, from int) {
	var a, b byte
	if from > 0 {
		a = stream[from-1]
	}
	if from > 1 && marks[from-1] == 0 {
		b = stream[from-2]
	}
	first, second := uint(m.first[a]), uint(m.second[b])
	marks = marks[:len(stream)]
	for i, s := range stream[from:] {
		ctx := first + second
		second = uint(m.second[a])
		if marks[from+i] != 0 {
			ctx, second = markContext, uint(m.second[0])
		}
		c.pairs[ctx][s]++
		first, a = uint(m.first[s]), s
	}
}

// add adds the pairs of d to those of c.
func (c *clusters) add(d *clusters) {
	for i := range c.pairs {
		p, q := &c.pairs[i], &d.pairs[i]
		for s, n := range q {
			p[s] += n
		}
	}
}

// cluster finds at most limit tables for the pairs.
func (c *clusters) cluster(limit int) {
	c.n = 0
	c.listSymbols()
	var used [numContexts]bool
	// The most frequent contexts become the first tables.
	for c.n < min(limit, maxTables) {
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
		c.checkpoint()
	}
	c.merge()
	c.checkpoint()
}

// listSymbols lists the symbols that occur in each context. Most contexts have few.
func (c *clusters) listSymbols() {
	k := 0
	for i := range c.pairs {
		total := uint32(0)
		for s, n := range &c.pairs[i] {
			c.symbols[k] = uint8(s)
			total += n
			if n != 0 {
				k++
			}
		}
		c.totals[i], c.ends[i] = total, uint32(k)
	}
}

// assign moves each context to its cheapest table and recomputes the tables.
func (c *clusters) assign() {
	for k := range c.n {
		setPrices(&c.prices[k], &c.sums[k])
		c.sums[k] = [256]uint32{}
	}
	begin := uint32(0)
	for i := range c.pairs {
		symbols := c.symbols[begin:c.ends[i]]
		begin = c.ends[i]
		if c.class[i] = 0; len(symbols) == 0 {
			continue
		}
		pairs := &c.pairs[i]
		best, lowest := 0, ^uint64(0)
		for k := range c.n {
			prices, sum := &c.prices[k], uint64(0)
			for _, s := range symbols {
				sum += uint64(pairs[s]) * uint64(prices[s])
			}
			if sum < lowest {
				best, lowest = k, sum
			}
		}
		c.class[i] = uint8(best)
		t := &c.sums[best]
		for _, s := range symbols {
			t[s] += pairs[s]
		}
	}
}

// setPrices sets prices to the cost of each symbol, in units of 1/CostBit bit, for the frequencies
// in counts. A symbol that does not occur counts as 1/16.
func setPrices(prices, counts *[256]uint32) {
	total := uint32(0)
	for _, n := range counts {
		total += n
	}
	all := model.Log2(min(total, 1<<26)*16 + 256)
	for s, n := range counts {
		prices[s] = uint32(all - model.Log2(min(n, 1<<26)*16+1))
	}
}

// merge joins pairs of tables, the best pair first, while that saves more than it costs. Empty
// tables disappear in the process.
func (c *clusters) merge() {
	var tallies [maxTables]tally
	var costs [maxTables]uint64
	// gain of merging tables a < b, in units of 1/CostBit bit
	var gains [maxTables][maxTables]int64
	for k := range c.n {
		tallies[k] = tallyOf(&c.sums[k])
		costs[k] = tallies[k].cost()
	}
	gain := func(a, b int) {
		a, b = min(a, b), max(a, b)
		sum := tallies[a].with(&tallies[b], &c.sums[a], &c.sums[b])
		gains[a][b] = int64(costs[a] + costs[b] - sum.cost())
	}
	for i := range c.n {
		for j := i + 1; j < c.n; j++ {
			gain(i, j)
		}
	}
	for {
		a, b, bestGain := -1, -1, int64(-1)
		for i := range c.n {
			for j := i + 1; j < c.n; j++ {
				if g := gains[i][j]; g > bestGain {
					a, b, bestGain = i, j, g
				}
			}
		}
		if a < 0 {
			break
		}
		for s, n := range &c.sums[b] {
			c.sums[a][s] += n
		}
		tallies[a] = tallyOf(&c.sums[a])
		costs[a] = tallies[a].cost()
		last := c.n - 1
		for i, k := range &c.class {
			switch int(k) {
			case b:
				c.class[i] = uint8(a)
			case last:
				c.class[i] = uint8(b)
			}
		}
		c.n--
		if b < last {
			c.sums[b], tallies[b], costs[b] = c.sums[last], tallies[last], costs[last]
			for k := range c.n {
				gains[min(k, b)][max(k, b)] = gains[k][last]
			}
		}
		for k := range c.n {
			if k != a {
				gain(a, k)
			}
		}
	}
	c.cost = uint64(numContexts*indexBits(c.n)+40) * model.CostBit
	for k := range c.n {
		c.cost += costs[k]
	}
}
