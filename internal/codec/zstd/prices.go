package zstd

import (
	"math/bits"

	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/internal/optimal"
)

// Model prices sequences as zstd blocks, for the optimal parser.
var Model optimal.PriceModel = model{}

// model prices sequences as zstd blocks. Literals cost Huffman codes, all else
// entropies, which are slightly below the real sizes.
type model struct{}

func (model) Rules() optimal.Rules {
	return optimal.Rules{InitialRepeats: initialRepeats, ShiftedRepeats: true, ChunkSize: unitSize}
}

func (model) OffsetCode(offset uint32) uint8 { return uint8(bits.Len32(offset+3)) - 1 }

// Count counts codes by kind.
func (m model) Count(c *optimal.Counts, steps []optimal.Step) {
	for i := range steps {
		s := &steps[i]
		run, _ := litCode(min(s.LitLen, MaxBlock-1))
		match, _ := matchCode(min(s.MatchLen-MinMatch, MaxBlock-1))
		c.Symbols[litLens][run]++
		c.Symbols[matchLens][match]++
		code := uint8(s.Kind+1) >> 1 // of offset values 1, 2 and 3
		if s.Kind == optimal.NewOffset {
			code = m.OffsetCode(s.Offset)
		}
		c.Symbols[offsets][code]++
	}
}

func (model) Price(p *optimal.Prices, c *optimal.Counts) {
	// unseenPrice exceeds the price of the rarest symbol by about its description.
	const unseenPrice = 11 * optimal.PriceBit
	const maxLiteral = huffman.MaxTableBits * optimal.PriceBit
	optimal.SymbolPrices(p.Literal[:], c.Literals[:], optimal.PriceBit, maxLiteral)
	var codes [codeSpace]int32
	optimal.SymbolPrices(codes[:], c.Symbols[litLens][:codeSpace], 0, unseenPrice)
	for n := range p.Run {
		code, extra := litCode(uint32(n))
		p.Run[n] = codes[code%codeSpace] + int32(extra)*optimal.PriceBit
		p.RunClass[n] = 0
	}
	optimal.SymbolPrices(codes[:], c.Symbols[offsets][:codeSpace], 0, unseenPrice)
	var repeat [optimal.NewOffset]int32
	for kind := range repeat {
		code := (kind + 1) >> 1
		repeat[kind] = codes[code] + int32(code)*optimal.PriceBit
	}
	for code := range codes {
		p.Offset[code] = codes[code] + int32(code)*optimal.PriceBit
	}
	optimal.SymbolPrices(codes[:], c.Symbols[matchLens][:codeSpace], 0, unseenPrice)
	for n := MinMatch; n < optimal.PricedLengths; n++ {
		code, extra := matchCode(uint32(n - MinMatch))
		price := codes[code%codeSpace] + int32(extra)*optimal.PriceBit
		row := &p.Match[0]
		row[optimal.NewOffset][n] = price
		for kind, r := range repeat {
			row[kind][n] = price + r
		}
	}
}
