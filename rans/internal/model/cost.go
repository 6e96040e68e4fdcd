package model

import (
	"math/bits"

	"github.com/gopz/compress/internal/binlog"
)

// Costs are in units of 1/65536 bit, computed with integers so that every machine makes the same choices.
const CostBit = binlog.Unit

// logTable[i] is log2(1 + (i+½)/2048) in costBit units.
var logTable = makeLogTable()

func makeLogTable() (t [2048]uint32) {
	for i := range t {
		t[i] = binlog.Fraction(i, 11)
	}
	return t
}

// Logarithms is the table by which the coder judges, for those who do so elsewhere: of 1 + (i + ½)/2048 for each i, in 1/65536 bit.
func LogTable() [2048]uint32 { return logTable }

// log2 returns the binary logarithm of x in costBit units; x > 0. The error is below 0.0004 bits.
func Log2(x uint32) uint64 {
	n := uint(bits.LeadingZeros32(x))
	return uint64(31-n)<<16 + uint64(logTable[x<<n>>20&2047])
}

// entropy returns the ideal size of n symbols with the given counts, in costBit units.
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

// tableCost estimates the size of the description of a table, in costBit units.
func TableCost(counts *[256]uint32) uint64 {
	used := uint64(0)
	for _, c := range counts {
		if c != 0 {
			used++
		}
	}
	return DescriptionCost(used)
}

// descriptionCost is tableCost for a table of so many symbols.
func DescriptionCost(used uint64) uint64 { return (used*9 + 32) * CostBit }
