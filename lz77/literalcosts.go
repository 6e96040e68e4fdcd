package lz77

import (
	"math/bits"

	"github.com/gopz/compress/simd"
)

// literalCosts tells short matches that save nothing, such as a few digits among random ones.
//
// A match with a new offset pays if its literals would cost more than its offset and token. The
// cost of a literal follows from the frequencies of the literals that the parse has left so far, so
// every machine makes the same choices. The costs are renewed after c.every sequences, from the
// latest sampleSeqs of them; older counts are halved each time.
type literalCosts struct {
	cost     [256]uint8 // of each literal, in units of 1/costBit bit
	counts   [256]uint32
	every    int // number of sequences between updates
	most     int // the greatest such number; it doubles up to that
	counted  int // number of sequences counted
	position int // end of the content that they cover
}

const (
	// costBit is the cost of one bit.
	costBit = 8
	// initialCost is the cost of a literal before the first update.
	initialCost = 4 * costBit
	// updateEvery is the number of sequences between updates.
	updateEvery = 1024
	// sampleSeqs is the number of sequences counted in an update, the latest ones. Counting all of
	// them changes sizes by less than 0.1%.
	sampleSeqs = 256
	// shortMatch is the length in bytes from which a match always pays.
	shortMatch = 8
	// matchBits is the number of bits that a match takes besides those of its offset. 0 makes JSON
	// with random numbers 3.5% larger; 8 makes text and tables 0.8% larger.
	matchBits = 4
)

// reset begins a block at position start. The first seqs sequences of the result are not counted.
func (c *literalCosts) reset(seqs, start int) {
	for i := range c.cost {
		c.cost[i] = initialCost
	}
	c.every, c.most = updateEvery, updateEvery
	c.counts = [256]uint32{}
	c.counted, c.position = seqs, start
}

// resetSegment is reset for a segment of RowHash. The first costs come from the before bytes of src
// in front of start, unless that is none. The first updates come sooner.
func (c *literalCosts) resetSegment(seqs int, src []byte, start, before int) {
	c.reset(seqs, start)
	c.every = sampleSeqs
	if before > 0 {
		simd.Histogram(&c.counts, src[start-before:start])
		c.setCosts()
		c.counts = [256]uint32{}
	}
}

// untilUpdate returns how many sequences may follow before the next update.
func (c *literalCosts) untilUpdate(seqs []Sequence) int {
	return max(c.every-(len(seqs)-c.counted), 0)
}

// pays reports whether a match of n bytes at i with a new offset pays. seqs holds the sequences in
// front of it.
func (c *literalCosts) pays(
	seqs []Sequence, src []byte, i, n, offset int, checkpoint func(),
) bool {
	if n >= shortMatch {
		return true
	}
	if c.untilUpdate(seqs) == 0 {
		c.update(seqs, src, checkpoint)
	}
	sum := 0
	for _, b := range src[i : i+n] {
		sum += int(c.cost[b])
	}
	return sum > (bits.Len32(uint32(offset))+matchBits)*costBit
}

// update renews the costs from the literals of the latest sequences. These may be most of the
// block: update calls checkpoint, unless it is nil, after each piece of them.
func (c *literalCosts) update(seqs []Sequence, src []byte, checkpoint func()) {
	for i := range c.counts {
		c.counts[i] /= 2
	}
	latest := max(len(seqs)-sampleSeqs, c.counted)
	for _, s := range seqs[c.counted:latest] {
		c.position += int(s.LitLen + s.MatchLen)
	}
	for _, s := range seqs[latest:] {
		lits := src[c.position : c.position+int(s.LitLen)]
		for len(lits) > checkpointBytes && checkpoint != nil {
			c.countLiterals(lits[:checkpointBytes])
			lits = lits[checkpointBytes:]
			checkpoint()
		}
		c.countLiterals(lits)
		c.position += int(s.LitLen + s.MatchLen)
	}
	c.counted = len(seqs)
	c.every = min(2*c.every, c.most)
	c.setCosts()
}

// setCosts sets the costs by the counts.
func (c *literalCosts) setCosts() {
	total := uint32(0)
	for _, n := range c.counts {
		total += n + 1
	}
	for i, n := range c.counts {
		c.cost[i] = uint8(min(log2(total)-log2(n+1), 255))
	}
}

// countLiterals counts literals of a sampled sequence.
func (c *literalCosts) countLiterals(lits []byte) {
	for _, b := range lits {
		c.counts[b] += updateEvery / sampleSeqs
	}
}

// log2 returns the logarithm of v ≥ 1 in units of 1/costBit, linear between powers of two.
func log2(v uint32) uint32 {
	n := uint32(bits.Len32(v)) - 1
	return n*costBit + v<<(31-n)<<1>>29
}
