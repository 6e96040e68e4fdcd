package lz77

// HashChain weighs short matches as the other lazy parsers do, with three differences. The first
// costs come from the content, because the blocks of standard formats are small. The first updates
// come sooner. And the average cost of a literal bounds the length of the matches to search for:
// tables and DNA have many short matches that save nothing.

const (
	// firstUpdate is the number of sequences before the first update.
	firstUpdate = 64
	// lastUpdate is the greatest number of sequences between updates. Intervals double up to it.
	lastUpdate = 4096
	// estimateBytes is the number of bytes that the first costs come from.
	estimateBytes = 4 << 10
	// leastSaved is what the shortest match saves on average, in units of 1/costBit bit. 100 makes
	// tables 1.6% larger.
	leastSaved = 140
	// sureSaved is the cost of literals that even a match at the farthest offset saves, in units of
	// 1/costBit bit. Matches that save so much on average are not weighed.
	sureSaved = (15 + chainMatchBits) * costBit
	// maxLeast bounds the length of the shortest match in bytes.
	maxLeast = 10
	// maxWeighed bounds the length of the longest match that is weighed, in bytes.
	maxWeighed = 16
)

// estimate is reset with costs from the bytes of src at start.
func (c *literalCosts) estimate(seqs int, src []byte, start int) {
	c.reset(seqs, start)
	c.every, c.most = firstUpdate, lastUpdate
	for _, b := range src[start:min(start+estimateBytes, len(src))] {
		c.counts[b]++
	}
	c.setCosts()
}

// bounds returns the length of the shortest match to search for, at least least, and the least
// length of a match that is not weighed.
func (c *literalCosts) bounds(least int) (minMatch, sure int) {
	total, sum := uint64(0), uint64(0)
	for i, n := range c.counts {
		total += uint64(n)
		sum += uint64(n) * uint64(c.cost[i])
	}
	average := max(int(sum/max(total, 1)), 1)
	minMatch = min(max((leastSaved+average-1)/average, least), maxLeast)
	return minMatch, min((sureSaved+average-1)/average, maxWeighed)
}
