package ctx

import "github.com/gopz/compress/rans/internal/model"

// probeUnits is the number of units that noGain examines together. In a shorter sample most pairs
// occur at most once, and noise seems predictable.
const probeUnits = 16

// gainShift sets the minimum gain of contexts: 1/256 byte a symbol. A smaller gain does not justify
// slower decoding.
const gainShift = 8

// pairBias corrects the entropy of contexts, which small counts bias downwards. The bias is
// log₂(e)/2 bits for each pair that occurs (Miller, Note on the Bias of Information Estimates,
// 1955).
const pairBias = model.CostBit * 7213 / 10_000

// noGain reports whether contexts are not expected to reduce the size of stream[from:]. It
// overwrites c.pairs.
//
// The time of clustering grows with the number of distinct pairs, so it is longest for noise.
// noGain avoids it there.
func (c *clusters) noGain(m *contextMap, stream, marks []byte, from int) bool {
	c.pairs = [numContexts][256]uint32{}
	c.count(m, stream, marks, from)
	var all [256]uint32
	linked := uint64(0)
	for i := range c.pairs {
		total := uint32(0)
		for s, n := range &c.pairs[i] {
			if n != 0 {
				all[s] += n
				total += n
				linked += pairBias
			}
		}
		linked += model.Entropy(&c.pairs[i], total)
	}
	n := len(stream) - from
	return linked+uint64(n)*8*model.CostBit>>gainShift >= model.Entropy(&all, uint32(n))
}

// useOneTable assigns all contexts to one table.
func (c *clusters) useOneTable() {
	c.n, c.class = 1, [numContexts]uint8{}
	c.sums[0] = [256]uint32{}
	for i := range c.pairs {
		for s, n := range &c.pairs[i] {
			c.sums[0][s] += n
		}
	}
	t := tallyOf(&c.sums[0])
	c.cost = uint64(numContexts*indexBits(1)+40)*model.CostBit + t.cost()
}

// findTables clusters the contexts, or assigns them to one table if single is true.
func (c *clusters) findTables(single bool) {
	if single {
		c.useOneTable()
	} else {
		c.cluster(maxTables)
	}
}
