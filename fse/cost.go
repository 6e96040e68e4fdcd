package fse

import (
	"math/bits"

	"github.com/gopz/compress/internal/binlog"
)

// CostBit is the cost of one bit. Costs are in units of 1/CostBit bit.
const CostBit = 1 << 16

// log2 returns log₂ x in units of 1/CostBit. x must not be 0. Powers of two are exact; the error is
// below 0.0008 bits.
func log2(x uint32) uint32 {
	n := uint(bits.LeadingZeros32(x))
	if x&(x-1) == 0 {
		return uint32(31-n) << 16
	}
	return uint32(31-n)<<16 + uint32(binlog.Table10[x<<n>>21&1023])
}

// Cost returns the average cost of a symbol over all states, in units of 1/CostBit bit. The symbol
// must have a probability.
func (d *Distribution) Cost(symbol uint8) uint32 {
	return uint32(d.Log)<<16 - log2(uint32(weight(int(d.Prob[symbol]))))
}

// CostOf returns the size of symbols with the given counts, in units of 1/CostBit bit, without the
// description. ok is false if one of them has no probability.
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
