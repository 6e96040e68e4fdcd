package train

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	// stringSize is the size in bytes of the strings that segments are valued by.
	stringSize = 8
	// epochFactor is the number of segments that come from each part of the samples.
	epochFactor = 4
	// leastRound is the part of the dictionary that a pass through the samples must add, as a
	// divisor, for another one to follow.
	leastRound = 32
	// minLog and maxLog bound log2 of the number of counters.
	minLog, maxLog = 16, 20
)

// cover chooses segments of samples.
type cover struct {
	data   []byte   // all samples
	ends   []int    // of each sample in data
	counts []uint32 // by hash: in how many samples a string is, less one
	shift  uint
	slots  []slot // by hash
}

// slot is what a search knows of a string.
type slot struct {
	left   uint32 // its count, unless a segment has it
	window uint32 // how often it is in the current segment
}

func newCover(samples [][]byte) *cover {
	c := &cover{}
	for _, s := range samples {
		c.data = append(c.data, s...)
		c.ends = append(c.ends, len(c.data))
	}
	log := min(max(bits.Len(uint(len(c.data))), minLog), maxLog)
	c.shift = uint(64 - log)
	c.counts, c.slots = make([]uint32, 1<<log), make([]slot, 1<<log)
	seen := make([]uint32, 1<<log) // number of the last sample with the string, from 1
	at := 0
	for i, end := range c.ends {
		for ; at+stringSize <= end; at++ {
			if h := c.hash(at); seen[h] != uint32(i)+1 {
				if seen[h] != 0 {
					c.counts[h]++
				}
				seen[h] = uint32(i) + 1
			}
		}
		at = end
	}
	return c
}

// hash returns the hash of the string at a position.
func (c *cover) hash(at int) uint64 {
	return binary.LittleEndian.Uint64(c.data[at:]) * 0x9E3779B185EBCA87 >> c.shift
}

// segment is a part of data.
type segment struct {
	from, to int
	value    uint64
}

// content returns segments of about n bytes, at most size bytes together. The most valuable ones
// come last: offsets to them are the smallest.
func (c *cover) content(n, size int) []byte {
	for i, n := range c.counts {
		c.slots[i].left = n
	}
	epochs := max(1, size/n/epochFactor)
	step := max(len(c.data)/epochs, 8*n, 1)
	var list []*segment // pointers: Go compiles one sort function for those of all types
	total := 0
	for before := -size; total < size && total-before > size/leastRound; {
		before = total
		for from := 0; from < len(c.data) && total < size; from += step {
			s := c.best(from, min(from+step, len(c.data)), n)
			if s.value > 0 {
				s.from = max(s.from, s.to-(size-total))
				total += s.to - s.from
				list = append(list, &s)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *segment) int {
		switch va, vb := a.value*uint64(b.to-b.from), b.value*uint64(a.to-a.from); {
		case va < vb:
			return -1
		case va > vb:
			return 1
		}
		return 0
	})
	content := make([]byte, 0, total)
	for _, s := range list {
		content = append(content, c.data[s.from:s.to]...)
	}
	return content
}

// best returns the most valuable segment of n bytes between two positions, and takes its strings
// out of the slots.
func (c *cover) best(from, to, n int) (best segment) {
	value, first := uint64(0), from
	to -= stringSize - 1
	for at := from; at < to; at++ {
		s := &c.slots[c.hash(at)]
		s.window++
		if s.window == 1 {
			value += uint64(s.left)
		}
		if at-first > n-stringSize {
			value -= c.remove(first)
			first++
		}
		if value > best.value {
			best = segment{first, at + stringSize, value}
		}
	}
	for ; first < to; first++ {
		c.remove(first)
	}
	if best.value == 0 {
		return best
	}
	// What is worth nothing at either end is left out.
	for c.slots[c.hash(best.from)].left == 0 {
		best.from++
	}
	for c.slots[c.hash(best.to-stringSize)].left == 0 {
		best.to--
	}
	for at := best.from; at+stringSize <= best.to; at++ {
		c.slots[c.hash(at)].left = 0
	}
	return best
}

// remove takes the string at a position out of the window, and returns what the window loses.
func (c *cover) remove(at int) uint64 {
	s := &c.slots[c.hash(at)]
	s.window--
	if s.window == 0 {
		return uint64(s.left)
	}
	return 0
}
