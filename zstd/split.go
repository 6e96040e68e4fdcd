package zstd

import (
	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/huffman"
)

// Block splitting is greedy. The encoder codes one unit of about 16 KiB at a time, behind the units
// of the current block. The unit joins the block unless both together would be larger than each by
// itself, tables included. Then the block is written and the unit begins the next one. The decision
// takes one entropy estimate a unit, needs no search, and never looks back.

// stats counts the symbols of a unit or a block.
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

// mergeUnit adds the next unit to the block if that is cheaper and reports whether it did.
func (e *Encoder) mergeUnit() bool {
	e.merged = e.block
	e.merged.add(&e.nextUnit)
	cost := e.merged.cost()
	if cost > e.blockCost+e.nextUnit.cost() {
		return false
	}
	e.block, e.blockCost = e.merged, cost
	e.nextUnit = stats{}
	return true
}

// cost estimates the size of a block, in units of 1/fse.CostBit bit, without extra bits.
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

// The costs of a block besides its symbols, in units of 1/fse.CostBit bit. They are not critical:
// from 10 to 30 bytes and 3 to 6 bits sizes change by 0.1%.
const (
	blockFixed = 16 * 8 * fse.CostBit
	symbolCost = 3 * fse.CostBit // for each symbol of a table
)

func distinct(counts []uint32) (n uint64) {
	for _, c := range counts {
		if c != 0 {
			n++
		}
	}
	return n
}
