package lzseq

import (
	"math/bits"

	"github.com/gopz/compress/lz77"
)

// Alphabets of the models, as indices of lz77.Counts.Symbols.
const (
	tokenSymbols = iota
	offsetSymbols
	litLenSymbols
	matchLenSymbols
)

// dearest is what a symbol costs that is in no table, about: the least frequency there is, and its description.
const dearest = 12 * lz77.PriceBit

// repeatModel says what the layouts with repeat offsets cost: each stream is coded by itself, with tables of its own.
type repeatModel struct {
	least [lz77.OffsetKinds]uint32
	three int
}

func (m repeatModel) Rules() lz77.Rules {
	return lz77.Rules{InitialRepeats: [3]uint32{lz77.InitialRepeat, lz77.InitialRepeat, lz77.InitialRepeat}, MaxOffset3: m.three}
}

func (repeatModel) OffsetCode(offset uint32) uint8 {
	code, _ := offsetCode(offset)
	return code
}

// offsetCode is the code of a new offset of those layouts, and the number of bits behind it.
func offsetCode(offset uint32) (code uint8, extra uint) {
	extra = uint(bits.Len32(offset>>2+1)) - 1
	return uint8(extra<<2) | uint8(offset&3), extra
}

func (m repeatModel) Count(c *lz77.Counts, steps []lz77.Step) {
	for i := range steps {
		s := &steps[i]
		run := s.LitLen
		if run >= repeatLit {
			c.Symbols[litLenSymbols][min(run-repeatLit, 255)]++
			run = repeatLit
		}
		n := s.MatchLen - m.least[s.Kind%lz77.OffsetKinds]
		if n >= repeatMatch {
			c.Symbols[matchLenSymbols][min(n-repeatMatch, 255)]++
			n = repeatMatch
		}
		c.Symbols[tokenSymbols][run|n<<2|uint32(s.Kind)<<6]++
		if s.Kind == lz77.NewOffset {
			code, _ := offsetCode(s.Offset)
			c.Symbols[offsetSymbols][code]++
		}
	}
}

func (m repeatModel) Price(p *lz77.Prices, c *lz77.Counts) {
	lz77.SymbolPrices(p.Literal[:], c.Literals[:], 0, dearest)

	var runs [4]uint32
	var runPrice [4]int32
	for t, n := range &c.Symbols[tokenSymbols] {
		runs[t&3] += n
	}
	lz77.SymbolPrices(runPrice[:], runs[:], 0, dearest)
	var long [256]int32
	lz77.SymbolPrices(long[:], c.Symbols[litLenSymbols][:], 0, dearest)
	for n := range p.Run {
		class := min(n, repeatLit)
		p.RunClass[n] = uint8(class)
		p.Run[n] = runPrice[class]
		if n >= repeatLit {
			p.Run[n] += escaped(&long, n-repeatLit, 8)
		}
	}

	var token [256]int32
	lz77.SymbolPrices(token[:], c.Symbols[tokenSymbols][:], 0, dearest)
	lz77.SymbolPrices(long[:], c.Symbols[matchLenSymbols][:], 0, dearest)
	for class := range 4 {
		for kind := range lz77.OffsetKinds {
			row, least := &p.Match[class][kind], int(m.least[kind])
			for n := least; n < len(row); n++ {
				l := min(n-least, repeatMatch)
				row[n] = token[class|l<<2|kind<<6] - runPrice[class]
				if l == repeatMatch {
					row[n] += escaped(&long, n-least-repeatMatch, 8)
				}
			}
		}
	}

	lz77.SymbolPrices(p.Offset[:], c.Symbols[offsetSymbols][:], 0, dearest)
	for code := range p.Offset {
		p.Offset[code] += int32(code>>2) * lz77.PriceBit
	}
}

// escaped is the price of a length in a stream of its own, of which the long ones take four bytes more.
func escaped(price *[256]int32, n int, bits int32) int32 {
	if n < 255 {
		return price[n]
	}
	return price[255] + 4*bits*lz77.PriceBit
}

// plainModel says what the Plain layout costs: literals and tokens are coded, the other streams stored.
type plainModel struct{}

func (plainModel) Rules() lz77.Rules { return lz77.Rules{} }

func (plainModel) OffsetCode(uint32) uint8 { return 0 }

func (plainModel) Count(c *lz77.Counts, steps []lz77.Step) {
	for i := range steps {
		s := &steps[i]
		c.Symbols[tokenSymbols][min(s.LitLen, plainLit)|min(s.MatchLen-plainMin, plainMatch)<<4]++
	}
}

func (plainModel) Price(p *lz77.Prices, c *lz77.Counts) {
	const byteBits = 8 * lz77.PriceBit
	lz77.SymbolPrices(p.Literal[:], c.Literals[:], 0, dearest)
	var stored [256]int32
	for i := range stored {
		stored[i] = byteBits
	}
	var runs [16]uint32
	var runPrice [16]int32
	for t, n := range &c.Symbols[tokenSymbols] {
		runs[t&15] += n
	}
	lz77.SymbolPrices(runPrice[:], runs[:], 0, dearest)
	for n := range p.Run {
		class := min(n, plainLit)
		p.RunClass[n] = uint8(class)
		p.Run[n] = runPrice[class]
		if n >= plainLit {
			p.Run[n] += escaped(&stored, n-plainLit, 8)
		}
	}
	var token [256]int32
	lz77.SymbolPrices(token[:], c.Symbols[tokenSymbols][:], 0, dearest)
	for class := range 16 {
		row := &p.Match[class][lz77.NewOffset]
		for n := plainMin; n < len(row); n++ {
			l := min(n-plainMin, plainMatch)
			row[n] = token[class|l<<4] - runPrice[class]
			if l == plainMatch {
				row[n] += escaped(&stored, n-plainMin-plainMatch, 8)
			}
		}
	}
	p.Offset[0] = 2 * byteBits
}
