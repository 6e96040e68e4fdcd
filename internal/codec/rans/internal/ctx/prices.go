package ctx

import (
	"sync"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
)

// Prices are in units of 1/priceBit bit. They have at most 30 bits, so that 16 bits suffice.
const (
	priceLog   = 10
	priceShift = 16 - priceLog // from costs, in units of 1/CostBit bit
	maxCount   = 1 << 26       // greater counts and sums of counts have the same price
)

// priceTable has the prices of small counts.
type priceTable [4096]uint16

var prices = sync.OnceValue(func() *priceTable {
	t := new(priceTable)
	for n := range t {
		t[n] = logPrice(uint32(n)*16 + 1)
	}
	return t
})

// logPrice returns log₂ x in units of 1/priceBit bit.
func logPrice(x uint32) uint16 { return uint16(model.Log2(x) >> priceShift) }

// of returns the logarithm of a count, in units of 1/priceBit bit: log₂(16n + 1).
func (t *priceTable) of(n uint32) uint64 {
	if n < uint32(len(t)) {
		return uint64(t[n])
	}
	return uint64(logPrice(min(n, maxCount)*16 + 1))
}

// setPrices sets the prices of all symbols for the frequencies in c.sums. A symbol that does not
// occur counts as 1/16. Tables from c.n on are never the cheapest.
func (c *clusters) setPrices() {
	const tables = 4 // of a word
	t := prices()
	for w := range len(c.prices[0]) {
		sums := (*[tables][256]uint32)(c.sums[tables*w:])
		if c.changed>>(tables*w)&(1<<tables-1) == 0 {
			continue
		}
		all := uint64(0) // prices of counts of 1/16
		for k := range sums {
			price := uint64(kernels.MaxCtxPrice)
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
			c.prices[s][w] = all - (t.of(sums[0][s]) | t.of(sums[1][s])<<16 |
				t.of(sums[2][s])<<32 | t.of(sums[3][s])<<48)
		}
	}
}
