package model

import (
	"math/bits"

	"github.com/gopz/compress/internal/binlog"
)

// CostBit is the cost of one bit. Costs are integers in units of 1/65536 bit, so that every machine
// makes the same choices.
const CostBit = binlog.Unit

// LogTable returns the table of Log2: log₂(1 + (i+½)/2048) for each i, in units of 1/CostBit bit.
func LogTable() (t [2048]uint32) {
	for i, v := range &binlog.Table11 {
		t[i] = uint32(v)
	}
	return t
}

// Log2 returns log₂ x in units of 1/CostBit bit. x must not be 0. The error is below 0.0004 bits.
func Log2(x uint32) uint64 {
	n := uint(bits.LeadingZeros32(x))
	return uint64(31-n)<<16 + uint64(binlog.Table11[x<<n>>20&2047])
}

// Entropy returns the Shannon entropy of n symbols with the given counts, in units of 1/CostBit
// bit. The counts must sum to n.
func Entropy(counts *[256]uint32, n uint32) uint64 {
	if n == 0 {
		return 0
	}
	logN, sum := Log2(n), uint64(0)
	for _, c := range counts {
		if c != 0 {
			sum += uint64(c) * (max(logN, Log2(c)) - Log2(c))
		}
	}
	return sum
}

// TableCost estimates the size of the description of a table for the given counts, in units of
// 1/CostBit bit.
func TableCost(counts *[256]uint32) uint64 {
	used := uint64(0)
	for _, c := range counts {
		if c != 0 {
			used++
		}
	}
	return DescriptionCost(used)
}

// DescriptionCost estimates the size of the description of a table with used symbols: 9 bits a
// symbol and 32 bits for the runs of zeros between them.
func DescriptionCost(used uint64) uint64 { return (used*9 + 32) * CostBit }
