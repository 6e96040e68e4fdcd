package deflate

import (
	"github.com/gopz/compress/internal/optimal"
)

// Model prices sequences as Deflate blocks for optimal parsing. It uses entropies; codes of whole
// bits take some tenths of a percent more.
var Model optimal.PriceModel = model{}

type model struct{}

// Rules gives all lengths the same price in the first pass. In samples of 16 bits the best parse
// has only odd lengths, or only even ones. No parse finds that as long as the others cost the same.
func (model) Rules() optimal.Rules {
	return optimal.Rules{
		ChunkSize: 16 << 10, MaxMatch: MaxMatch, UniformStart: 1 << lengthAlphabet, NewSplitter: newSplitter,
	}
}

func (model) OffsetCode(offset uint32) uint8 { return slotOf(offset - 1) }

// Indices of the alphabets in optimal.Counts.Symbols.
const (
	lengthAlphabet = iota
	offsetAlphabet
)

func (model) Count(c *optimal.Counts, steps []optimal.Step) {
	for i := range steps {
		s := &steps[i]
		slot := slotOf(s.Offset - 1)
		for n := s.MatchLen; ; n -= MaxMatch {
			c.Symbols[offsetAlphabet][slot]++
			c.Symbols[lengthAlphabet][lengthSlot[min(max(n, MinMatch), MaxMatch)]]++
			if n <= MaxMatch {
				break
			}
		}
	}
}

func (model) Price(p *optimal.Prices, c *optimal.Counts) {
	const unseenPrice = 13 * optimal.PriceBit
	// Literals and lengths share an alphabet.
	var counts [maxLitLen]uint32
	var prices [maxLitLen]int32
	copy(counts[:], c.Literals[:])
	copy(counts[firstLength:], c.Symbols[lengthAlphabet][:])
	counts[endOfBlock] = 1
	optimal.SymbolPrices(prices[:], counts[:], optimal.PriceBit, unseenPrice)
	copy(p.Literal[:], prices[:])
	clear(p.Run[:])
	clear(p.RunClass[:])
	offsets := c.Symbols[offsetAlphabet][:maxOffsets]
	optimal.SymbolPrices(p.Offset[:maxOffsets], offsets, optimal.PriceBit, unseenPrice)
	for slot, extra := range offsetExtra[:maxOffsets] {
		p.Offset[slot] += int32(extra) * optimal.PriceBit
	}
	row := &p.Match[0][optimal.NewOffset]
	for n := MinMatch; n < len(row); n++ {
		slot := lengthSlot[min(n, MaxMatch)]
		row[n] = prices[firstLength+int(slot)] + int32(lengthExtra[slot])*optimal.PriceBit
		if n > MaxMatch {
			row[n] += 4 * optimal.PriceBit // the remainder is a second match
		}
	}
}

// IncrementalPrices returns the prices of a block with the fixed codes, which are the best for a
// few hundred bytes.
func IncrementalPrices() *optimal.IncrementalPrices {
	p := new(optimal.IncrementalPrices)
	l := &fixed().lengths
	for b := range p.Literal {
		p.Literal[b] = int32(l.litLen[b]) * optimal.PriceBit
	}
	for n := MinMatch; n < len(p.Length); n++ {
		slot := lengthSlot[min(n, MaxMatch)]
		p.Length[n] = int32(l.litLen[firstLength+int(slot)]+lengthExtra[slot]) * optimal.PriceBit
	}
	for n := 1; n < len(p.Offset); n++ {
		slot := slotOf(min(uint32(1)<<(n-1), MaxOffset-1))
		p.Offset[n] = int32(l.offset[slot]+offsetExtra[slot]) * optimal.PriceBit
	}
	return p
}
