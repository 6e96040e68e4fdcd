package zstd

import (
	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/huffman"
)

// Content is cut into blocks where its statistics change: a unit begins a new block if both together would take more bytes than each by itself,
// tables included.

// stats counts what a unit or a block is made of.
type stats struct {
	lits  [256]uint32
	codes [kinds][codeSpace]uint32
}

func (s *stats) add(o *stats) {
	for i, c := range &o.lits {
		s.lits[i] += c
	}
	for k := range s.codes {
		for i, c := range &o.codes[k] {
			s.codes[k][i] += c
		}
	}
}

// merge reports whether the unit ahead belongs to the block, and counts it in if it does.
func (e *Encoder) merge() bool {
	e.both = e.block
	e.both.add(&e.ahead)
	cost := e.both.cost()
	if cost > e.blockCost+e.ahead.cost() {
		return false
	}
	e.block, e.blockCost = e.both, cost
	e.ahead = stats{}
	return true
}

// cost estimates the size of a block in units of 1/fse.CostBit, without the bits behind the codes.
func (s *stats) cost() uint64 {
	used := uint64(0)
	cost := uint64(blockFixed)
	for k := range s.codes {
		cost += huffman.Entropy(s.codes[k][:])
		used += distinct(s.codes[k][:])
	}
	used += distinct(s.lits[:])
	total := uint64(0)
	for _, c := range &s.lits {
		total += uint64(c)
	}
	cost += min(huffman.Entropy(s.lits[:]), total*8*fse.CostBit)
	return cost + used*symbolCost
}

// What a block costs besides its symbols, in units of 1/fse.CostBit. These are guesses at the average: on dickens+mr+nci+xml and made-up data
// everything from 10 to 30 bytes and 3 to 6 bits came out within 0.1%.
const (
	blockFixed = 16 * 8 * fse.CostBit
	symbolCost = 3 * fse.CostBit // for each symbol in a table
)

func distinct(counts []uint32) (n uint64) {
	for _, c := range counts {
		if c != 0 {
			n++
		}
	}
	return n
}
