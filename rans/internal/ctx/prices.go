package ctx

import (
	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// Prices are in units of 1/priceBit bit. They have at most 30 bits, so that 16 bits suffice.
const (
	priceLog   = 10
	priceShift = 16 - priceLog // from costs, in units of 1/CostBit bit
	maxCount   = 1 << 26       // greater counts and sums of counts have the same price
)

// smallPrices has logPrice of small counts.
var smallPrices = func() (t [4096]uint16) {
	for n := range t {
		t[n] = logPrice(uint32(n)*16 + 1)
	}
	return t
}()

// logPrice returns log₂ x in units of 1/priceBit bit.
func logPrice(x uint32) uint16 { return uint16(model.Log2(x) >> priceShift) }

// countPrice returns the logarithm of a count, in units of 1/priceBit bit: log₂(16n + 1).
func countPrice(n uint32) uint64 {
	if n < uint32(len(smallPrices)) {
		return uint64(smallPrices[n])
	}
	return uint64(logPrice(min(n, maxCount)*16 + 1))
}

// setPrices sets the prices of all symbols for the frequencies in c.sums. A symbol that does not
// occur counts as 1/16. Tables from c.n on are never the cheapest.
func (c *clusters) setPrices() {
	const tables = 4 // of a word
	for w := range len(c.prices[0]) {
		sums := (*[tables][256]uint32)(c.sums[tables*w:])
		if c.changed>>(tables*w)&(1<<tables-1) == 0 {
			continue
		}
		all := uint64(0) // prices of counts of 1/16
		for k := range sums {
			price := uint64(simd.MaxCtxPrice)
			if tables*w+k < c.n {
				total := uint32(0)
				for _, n := range &sums[k] {
					total += n
				}
				price = uint64(logPrice(min(total, maxCount)*16 + 256))
			} else {
				sums[k] = [256]uint32{}
			}
			all |= price << (16 * k)
		}
		for s := range &c.prices {
			c.prices[s][w] = all - (countPrice(sums[0][s]) | countPrice(sums[1][s])<<16 |
				countPrice(sums[2][s])<<32 | countPrice(sums[3][s])<<48)
		}
	}
}
