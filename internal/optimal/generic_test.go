package optimal

import (
	"math/bits"

	"github.com/gopz/compress/lz77"
)

// genericModel stands for a missing PriceModel. A symbol gives the number of bits of a run, length
// or offset, and those bits follow.
type genericModel struct{}

func (genericModel) Rules() Rules {
	return Rules{InitialRepeats: [3]uint32{lz77.InitialRepeat, lz77.InitialRepeat, lz77.InitialRepeat}}
}

func (genericModel) OffsetCode(offset uint32) uint8 { return uint8(bits.Len32(offset)) }

func (genericModel) Count(c *Counts, steps []Step) {
	for i := range steps {
		s := &steps[i]
		c.Symbols[0][bits.Len32(s.LitLen)]++
		c.Symbols[1][bits.Len32(s.MatchLen)]++
		code := uint8(s.Kind)
		if s.Kind == NewOffset {
			code += uint8(bits.Len32(s.Offset))
		}
		c.Symbols[2][code]++
	}
}

func (genericModel) Price(p *Prices, c *Counts) {
	const most = 12 * PriceBit
	var codes [33]int32
	SymbolPrices(p.Literal[:], c.Literals[:], 0, most)
	SymbolPrices(codes[:], c.Symbols[0][:len(codes)], 0, most)
	for n := range p.Run {
		l := bits.Len(uint(n))
		p.Run[n] = codes[l] + int32(max(0, l-1))*PriceBit
		p.RunClass[n] = 0
	}
	SymbolPrices(codes[:], c.Symbols[1][:len(codes)], 0, most)
	for n := range p.Match[0][NewOffset] {
		l := bits.Len(uint(n))
		p.Match[0][NewOffset][n] = codes[l] + int32(max(0, l-1))*PriceBit
	}
	var offsets [3 + 33]int32
	SymbolPrices(offsets[:], c.Symbols[2][:len(offsets)], 0, most)
	for k := range NewOffset {
		for n, price := range &p.Match[0][NewOffset] {
			p.Match[0][k][n] = price + offsets[k]
		}
	}
	for l := range 33 {
		p.Offset[l] = offsets[min(3+l, len(offsets)-1)] + int32(max(0, l-1))*PriceBit
	}
}
