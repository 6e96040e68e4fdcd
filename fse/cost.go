package fse

import (
	"math/bits"

	"github.com/gopz/compress/internal/binlog"
)

// CostBit is the unit of costs: they are in 1/CostBit bit.
const CostBit = binlog.Unit

// logTable[i] is log2(1 + (i+½)/1024) in units of 1/CostBit.
var logTable = makeLogTable()

func makeLogTable() (t [1024]uint16) {
	for i := range t {
		t[i] = uint16(binlog.Fraction(i, 10))
	}
	return t
}

// Log2 returns the binary logarithm of x in units of 1/CostBit; x > 0. Powers of two are exact, and the error is below 0.0008 bits.
func Log2(x uint32) uint32 {
	n := uint(bits.LeadingZeros32(x))
	if x&(x-1) == 0 {
		return uint32(31-n) << 16
	}
	return uint32(31-n)<<16 + uint32(logTable[x<<n>>21&1023])
}

// Entropy returns the ideal size of symbols with the given counts, in units of 1/CostBit.
func Entropy(counts []uint32) (cost uint64) {
	total := uint32(0)
	for _, c := range counts {
		total += c
	}
	if total == 0 {
		return 0
	}
	all := Log2(total)
	for _, c := range counts {
		if c != 0 {
			cost += uint64(c) * uint64(all-min(all, Log2(c)))
		}
	}
	return cost
}

// Cost returns what one symbol costs, on average over the states, in units of 1/CostBit. The symbol must have a probability.
func (d *Distribution) Cost(symbol uint8) uint32 {
	return uint32(d.Log)<<16 - Log2(uint32(weight(int(d.Prob[symbol]))))
}

// CostOf returns the size of symbols with the given counts, in units of 1/CostBit, without the description. It is not ok if one of them has no
// probability.
func (d *Distribution) CostOf(counts []uint32) (cost uint64, ok bool) {
	for s, c := range counts {
		if c != 0 {
			if s >= d.Len || d.Prob[s] == 0 {
				return 0, false
			}
			cost += uint64(c) * uint64(d.Cost(uint8(s)))
		}
	}
	return cost, true
}
