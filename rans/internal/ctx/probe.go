package ctx

import "github.com/gopz/compress/rans/internal/model"

// lookUnits is how many units are looked at together: with fewer, even symbols without any order seem to have some, since most pairs then come once or not at all.
const lookUnits = 16

// lookGain is what contexts must be expected to save, as a shift of the symbols in bytes, for tables to be looked for: less would not be worth decoding.
const lookGain = 8

// pairCost is what each pair that comes at all makes the entropy of contexts seem less than it is, in costBit units: log₂(e)/2 bits, the correction of Miller (Note on
// the bias of information estimates, 1955).
const pairCost = model.CostBit * 7213 / 10_000

// flat reports whether contexts cannot be expected to save anything in stream[from:]. Finding tables takes a time that depends on how many pairs there are, so that
// it would take longest where there is nothing to find. It destroys the pairs.
func (c *clusters) flat(m *contextMap, stream, marks []byte, from int) bool {
	c.pairs = [contexts][256]uint32{}
	c.count(m, stream, marks, from)
	var all [256]uint32
	linked := uint64(0)
	for i := range c.pairs {
		total := uint32(0)
		for s, n := range &c.pairs[i] {
			if n != 0 {
				all[s] += n
				total += n
				linked += pairCost
			}
		}
		linked += model.Entropy(&c.pairs[i], total)
	}
	n := len(stream) - from
	return linked+uint64(n)*8*model.CostBit>>lookGain >= model.Entropy(&all, uint32(n))
}

// join makes one table of all contexts.
func (c *clusters) join() {
	c.n, c.class = 1, [contexts]uint8{}
	c.sums[0] = [256]uint32{}
	for i := range c.pairs {
		for s, n := range &c.pairs[i] {
			c.sums[0][s] += n
		}
	}
	t := tallyOf(&c.sums[0])
	c.cost = uint64(contexts*classBits(1)+40)*model.CostBit + t.size()
}

// find is share, or join where contexts save nothing.
func (c *clusters) find(flat bool) {
	if flat {
		c.join()
	} else {
		c.share(maxTables)
	}
}
