package ctx

import (
	"math/bits"

	"github.com/gopz/compress/rans/internal/model"
)

// clusters shares contexts out among tables. It works with integers alone, so that every machine comes to the same.
type clusters struct {
	pairs  [contexts][256]uint32 // how often a symbol comes in a context
	totals [contexts]uint32
	// symbols are those that come in a context at all, context by context, up to ends. One more has room.
	symbols [contexts*256 + 1]uint8
	ends    [contexts]uint32
	class   [contexts]uint8
	n       int // tables in use
	sums    [maxTables][256]uint32
	prices  [maxTables][256]uint32 // in costBit units
	cost    uint64                 // of the symbols and of what describes the tables, in costBit units
}

// clusterRounds is how often contexts are shared out anew, by what the tables of the last time make them cost. Later rounds bring less than 0.1%.
const clusterRounds = 4

// count adds the symbols of stream[from:] to the pairs; marks are 1 where the context is a mark.
func (c *clusters) count(m *contextMap, stream, marks []byte, from int) {
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

// add adds the pairs of d.
func (c *clusters) add(d *clusters) {
	for i := range c.pairs {
		p, q := &c.pairs[i], &d.pairs[i]
		for s, n := range q {
			p[s] += n
		}
	}
}

// share finds tables for the pairs, most at the most.
func (c *clusters) share(most int) {
	c.n = 0
	c.list()
	var used [contexts]bool
	// The most frequent contexts are the first tables.
	for c.n < min(most, maxTables) {
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

// list lists the pairs that there are: most contexts have few symbols.
func (c *clusters) list() {
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

// assign gives each context the table that it is cheapest with, and makes the tables anew.
func (c *clusters) assign() {
	for k := range c.n {
		price(&c.prices[k], &c.sums[k])
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
		best, least := 0, ^uint64(0)
		for k := range c.n {
			prices, sum := &c.prices[k], uint64(0)
			for _, s := range symbols {
				sum += uint64(pairs[s]) * uint64(prices[s])
			}
			if sum < least {
				best, least = k, sum
			}
		}
		c.class[i] = uint8(best)
		t := &c.sums[best]
		for _, s := range symbols {
			t[s] += pairs[s]
		}
	}
}

// price sets prices to what symbols cost that are as frequent as counts say; one that does not occur counts as a sixteenth.
func price(prices, counts *[256]uint32) {
	total := uint32(0)
	for _, n := range counts {
		total += n
	}
	all := model.Log2(min(total, 1<<26)*16 + 256)
	for s, n := range counts {
		prices[s] = uint32(all - model.Log2(min(n, 1<<26)*16+1))
	}
}

// tally is what of a table's counts says what it costs.
type tally struct {
	total uint32
	logs  uint64    // the sum of n·log₂ n for all counts n, in costBit units
	used  [4]uint64 // bits of the symbols that occur
}

// tallyOf makes the tally of counts.
func tallyOf(counts *[256]uint32) (t tally) {
	for s, n := range counts {
		if n != 0 {
			t.total += n
			t.logs += product(n)
			t.used[s/64] |= 1 << (s % 64)
		}
	}
	return t
}

// product is n·log₂ n in costBit units; n > 0.
func product(n uint32) uint64 { return uint64(n) * model.Log2(n) }

// size is what the symbols cost with a table of their own, and that table, in costBit units: entropy and tableCost.
func (t *tally) size() uint64 {
	if t.total == 0 {
		return 0
	}
	used := 0
	for _, u := range t.used {
		used += bits.OnesCount64(u)
	}
	return product(t.total) - t.logs + model.DescriptionCost(uint64(used))
}

// with is the tally of the sum of two counts, whose own are t and u. It takes a time that depends on how many symbols are in both: most tables have few.
func (t *tally) with(u *tally, counts, others *[256]uint32) (sum tally) {
	sum = tally{total: t.total + u.total, logs: t.logs + u.logs}
	for k := range sum.used {
		sum.used[k] = t.used[k] | u.used[k]
		for both := t.used[k] & u.used[k]; both != 0; both &= both - 1 {
			s := (64*k + bits.TrailingZeros64(both)) % 256
			sum.logs += product(counts[s]+others[s]) - product(counts[s]) - product(others[s])
		}
	}
	return sum
}

// merge joins tables for as long as that saves more than it costs, and drops those that nobody has.
func (c *clusters) merge() {
	var tallies [maxTables]tally
	var costs [maxTables]uint64
	var gains [maxTables][maxTables]int64 // of two tables, the lower number first
	for k := range c.n {
		tallies[k] = tallyOf(&c.sums[k])
		costs[k] = tallies[k].size()
	}
	gain := func(a, b int) {
		a, b = min(a, b), max(a, b)
		sum := tallies[a].with(&tallies[b], &c.sums[a], &c.sums[b])
		gains[a][b] = int64(costs[a] + costs[b] - sum.size())
	}
	for i := range c.n {
		for j := i + 1; j < c.n; j++ {
			gain(i, j)
		}
	}
	for {
		a, b, most := -1, -1, int64(-1)
		for i := range c.n {
			for j := i + 1; j < c.n; j++ {
				if g := gains[i][j]; g > most {
					a, b, most = i, j, g
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
		costs[a] = tallies[a].size()
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
	c.cost = uint64(contexts*classBits(c.n)+40) * model.CostBit
	for k := range c.n {
		c.cost += costs[k]
	}
}
