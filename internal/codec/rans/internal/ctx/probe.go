package ctx

import "github.com/gopz/compress/internal/codec/rans/internal/model"

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

// noGain reports whether the counts show that contexts are not expected to reduce the size.
//
// The time of clustering grows with the number of distinct pairs, so it is longest for noise.
// noGain avoids it there.
func (p *pairCounts) noGain() bool {
	var all [256]uint32
	linked, n := uint64(0), uint32(0)
	for c := range p.used {
		if p.used[c] == (symbolSet{}) {
			continue
		}
		total := uint32(0)
		for s, n := range &p.n[c] {
			all[s] += n
			total += n
		}
		linked += model.Entropy(&p.n[c], total) + uint64(p.used[c].size())*pairBias
		n += total
	}
	return linked+uint64(n)*8*model.CostBit>>gainShift >= model.Entropy(&all, n)
}

// useOneTable assigns all contexts to one table.
func (c *clusters) useOneTable(p *pairCounts) *classes {
	sum, used := &c.sums[0], symbolSet{}
	*sum = [256]uint32{}
	for i := range p.used {
		if p.used[i] == (symbolSet{}) {
			continue
		}
		used = used.union(&p.used[i])
		for s, n := range &p.n[i] {
			sum[s] += n
		}
	}
	t := &c.merger.tallies[0]
	t.setCounts(sum, &used)
	c.classes = classes{n: 1, cost: uint64(numContexts*indexBits(1)+40)*model.CostBit + t.cost()}
	return &c.classes
}

// findTables clusters the contexts, or assigns them to one table if single is true. The result is
// valid until the next call.
func (c *clusters) findTables(p *pairCounts, single bool) *classes {
	if single {
		return c.useOneTable(p)
	}
	return c.cluster(p, maxTables)
}
