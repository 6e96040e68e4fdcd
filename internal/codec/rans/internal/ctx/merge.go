package ctx

import (
	"math"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
)

// merger joins pairs of tables while that saves more than it costs.
//
// The gain of merging two tables is the description that it saves less the loss, which is the
// growth of the entropy. The time to compute a loss is in proportion to the symbols that both
// tables have. The merger therefore begins with an upper bound of each gain, and computes a gain
// only where its bound is the greatest of all. Two lower bounds of a loss make that possible:
//
//   - Symbols that are counted together lose less than symbols that are counted apart.
//   - loss(ab, c) + loss(a, b) is the loss of merging three tables, which is at least loss(a, c)
//     and loss(b, c).
type merger struct {
	tallies [maxTables]tally
	costs   [maxTables]uint64
	// For tables a < b, in units of 1/CostBit bit: a lower bound of the loss, and an upper bound of
	// the gain. Bit b of exact[a] tells that both are exact.
	losses, gains [maxTables][maxTables]int64
	exact         [maxTables]uint32
	best          [maxTables]uint8 // the b with the greatest gain for each a
}

// merge merges tables, the best pair first. Empty tables disappear in the process.
func (c *clusters) merge() {
	m := &c.merger
	var used [maxTables]symbolSet
	for i, k := range &c.class {
		used[k%maxTables] = used[k%maxTables].union(&c.pairs.used[i])
	}
	for k := range c.n {
		m.tallies[k].setCounts(&c.sums[k], &used[k])
		m.tallies[k].setBins(&c.sums[k])
		m.costs[k] = m.tallies[k].cost()
		m.exact[k] = 0
	}
	for a := range c.n {
		for b := a + 1; b < c.n; b++ {
			if x, y := &m.tallies[a], &m.tallies[b]; x.common(y) <= numBins {
				m.evaluate(&c.sums, a, b)
			} else {
				m.losses[a][b] = x.leastLoss(y)
				m.gains[a][b] = x.shared(y) - m.losses[a][b]
			}
		}
	}
	for c.n > 1 {
		for a := range c.n - 1 {
			m.findBest(a, c.n)
		}
		a, b := m.bestPair(&c.sums, c.n)
		if m.gains[a][b] < 0 {
			break
		}
		c.join(a, b)
	}
	c.cost = uint64(numContexts*indexBits(c.n)+40) * model.CostBit
	for k := range c.n {
		c.cost += m.costs[k]
	}
}

// evaluate computes the loss and the gain of merging tables a < b.
func (m *merger) evaluate(sums *[maxTables][256]uint32, a, b int) {
	x, y := &m.tallies[a], &m.tallies[b]
	m.gains[a][b] = int64(m.costs[a] + m.costs[b] - x.costWith(y, &sums[a], &sums[b]))
	m.losses[a][b] = x.shared(y) - m.gains[a][b]
	m.exact[a] |= 1 << b
}

// findBest finds the best table behind a, of n tables.
func (m *merger) findBest(a, n int) {
	best, gains := a+1, m.gains[a][:n]
	for b := a + 2; b < len(gains); b++ {
		if gains[b] > gains[best] {
			best = b
		}
	}
	m.best[a] = uint8(best)
}

// bestPair returns the tables whose merger gains most, of n tables.
func (m *merger) bestPair(sums *[maxTables][256]uint32, n int) (a, b int) {
	for {
		a, best := 0, int64(math.MinInt64)
		for i := range n - 1 {
			if g := m.gains[i][m.best[i]%maxTables]; g > best {
				a, best = i, g
			}
		}
		b := int(m.best[a] % maxTables)
		if best < 0 || m.exact[a]>>b&1 != 0 {
			return a, b
		}
		m.evaluate(sums, a, b)
		m.findBest(a, n)
	}
}

// join merges tables a < b into a. The last table gets number b.
func (c *clusters) join(a, b int) {
	m, last := &c.merger, c.n-1
	for s, n := range &c.sums[b] {
		c.sums[a][s] += n
	}
	both := m.tallies[a].used.union(&m.tallies[b].used)
	m.tallies[a].setCounts(&c.sums[a], &both)
	m.costs[a] = m.tallies[a].cost()
	own := m.losses[a][b]
	for k := range c.n {
		if k != a && k != b {
			i, j := min(a, k), max(a, k)
			m.losses[i][j] = max(m.losses[i][j], m.losses[min(b, k)][max(b, k)]) - own
			m.gains[i][j] = m.tallies[a].shared(&m.tallies[k]) - m.losses[i][j]
			m.exact[i] &^= 1 << j
		}
	}
	for i, k := range &c.class {
		switch int(k) {
		case b:
			c.class[i] = uint8(a)
		case last:
			c.class[i] = uint8(b)
		}
	}
	c.n = last
	if b == last {
		return
	}
	c.sums[b], m.tallies[b], m.costs[b] = c.sums[last], m.tallies[last], m.costs[last]
	for k := range last {
		if k != b {
			i, j := min(k, b), max(k, b)
			m.losses[i][j], m.gains[i][j] = m.losses[k][last], m.gains[k][last]
			m.exact[i] = m.exact[i]&^(1<<j) | m.exact[k]>>last&1<<j
		}
	}
}
