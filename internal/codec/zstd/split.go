package zstd

import (
	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/internal/kernels"
)

// Block splitting is greedy. The encoder codes one unit of about 16 KiB at a time, behind the units
// of the current block. The unit joins the block unless both together would be larger than each by
// itself, tables included. Then the block is written and the unit begins the next one. The decision
// takes one entropy estimate a unit, needs no search, and never looks back.

// stats counts the symbols of a unit or a block.
type stats struct {
	lits  [256]uint32
	codes kernels.CodeCounts
}

func (s *stats) addStats(o *stats) {
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
	e.merged.addStats(&e.nextUnit)
	cost := e.merged.cost()
	if e.blockCost == 0 {
		e.blockCost = e.block.cost()
	}
	if cost > e.blockCost+blockFixed && cost > e.blockCost+e.nextUnit.cost() {
		return false
	}
	e.block, e.blockCost = e.merged, cost
	e.nextUnit = stats{}
	return true
}

// cost estimates the size of a block, in units of 1/fse.CostBit bit, without extra bits. It is at
// least blockFixed.
func (s *stats) cost() uint64 {
	lits, used, total := huffman.Entropy(s.lits[:])
	cost := blockFixed + min(lits, uint64(total)*8*fse.CostBit)
	for k := range s.codes {
		c, n, _ := huffman.Entropy(s.codes[k][:codeCounts[k]])
		cost += c
		used += n
	}
	return cost + uint64(used)*symbolCost
}

// The costs of a block besides its symbols, in units of 1/fse.CostBit bit. They are not critical:
// from 10 to 30 bytes and 3 to 6 bits sizes change by 0.1%.
const (
	blockFixed = 16 * 8 * fse.CostBit
	symbolCost = 3 * fse.CostBit // for each symbol of a table
)
