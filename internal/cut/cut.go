// Package cut finds places to cut content that depend on nothing but the content near them. An edit
// moves the cuts near it, and the others stay with their content.
//
// The method is a gear hash: Wen Xia et al., "Ddelta: A deduplication-inspired fast delta
// compression approach", Performance Evaluation 79, 2014.
package cut

import "sync"

// window is the number of bytes that a hash covers: each step shifts the hash by one of its bits.
const window = 64

// A Cutter cuts content into pieces. The zero value must be Reset before use.
type Cutter struct {
	least, most int    // bytes of a piece
	limit       uint64 // a hash below it is a cut
	size        int    // of the current piece so far, in bytes
	hash        uint64 // of the last window bytes
}

// MinSize is the least size for Reset, in bytes.
const MinSize = 4 * window

// Reset begins new content. Pieces have most bytes at most and, but for the last one, a quarter of
// that at least. On average they have about half of it. most is at least MinSize.
func (c *Cutter) Reset(most int) {
	*c = Cutter{least: most / 4, most: most}
	// Behind the least size, one of so many places is a cut.
	c.limit = 1<<63/uint64(c.least)*2 - 1
}

// Next takes p as the next part of the content, up to the first cut. It returns how many bytes it
// has taken, and whether there is a cut behind them.
func (c *Cutter) Next(p []byte) (n int, found bool) {
	n = min(len(p), max(0, c.least-window-c.size)) // which a hash at the least size does not cover
	h, gear, p := c.hash, gear(), p[:min(len(p), c.most-c.size)]
	for ; n < len(p); n++ {
		h = h<<1 + gear[p[n]]
		if h < c.limit && c.size+n+1 >= c.least {
			c.size, c.hash = 0, 0
			return n + 1, true
		}
	}
	c.size, c.hash = c.size+n, h
	if c.size == c.most {
		c.size, c.hash = 0, 0
		return n, true
	}
	return n, false
}

// gear returns the numbers that bytes add to a hash, from SplitMix64. Output depends on them.
var gear = sync.OnceValue(func() *[256]uint64 {
	t := new([256]uint64)
	for i := range t {
		v := uint64(i+1) * 0x9E3779B97F4A7C15
		v = (v ^ v>>30) * 0xBF58476D1CE4E5B9
		v = (v ^ v>>27) * 0x94D049BB133111EB
		t[i] = v ^ v>>31
	}
	return t
})
