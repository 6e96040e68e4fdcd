// Package lzprice prices sequences in the layouts of package lzseq, for the optimal parser.
package lzprice

import (
	"math/bits"

	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// The forms of the layouts, and their prices.
var (
	Plain  = optimal.Form{Limits: lzseq.Plain.Limits, Model: plainModel{}}
	Repeat = optimal.Form{
		Limits: lzseq.Repeat.Limits,
		Model:  repeatModel{minMatch: [...]uint32{4, 4, 4, 4}},
	}
	Dense = optimal.Form{
		Limits: lzseq.Dense.Limits,
		Model:  repeatModel{minMatch: [...]uint32{2, 2, 2, 3}, maxOffset3: denseMaxOffset3},
	}
)

// denseMaxOffset3 is the greatest new offset of a match of 3 bytes. With 1<<12 XML becomes 0.2%
// larger.
const denseMaxOffset3 = 1 << 10

// From these values of its fields on, a token stands for longer lengths, which continue in streams
// of their own (docs/FORMAT.md).
const (
	repeatLitEscape   = 3
	repeatMatchEscape = 15
	plainLitEscape    = 15
	plainMatchEscape  = 15
)

// plainMinMatch is the length of the shortest match in layout Plain.
const plainMinMatch = 5

// Indices of the alphabets in optimal.Counts.Symbols.
const (
	tokenSymbols = iota
	offsetSymbols
	litLenSymbols
	matchLenSymbols
)

// unseenPrice is the price of a symbol that did not occur: the smallest frequency of a table plus
// its description.
const unseenPrice = 12 * optimal.PriceBit

// repeatModel prices sequences of the layouts with repeat offsets. Each stream is coded with tables
// of its own.
type repeatModel struct {
	minMatch   [optimal.OffsetKinds]uint32 // the shortest match of each kind of offset
	maxOffset3 int
}

func (m repeatModel) Rules() optimal.Rules {
	const r = lz77.InitialRepeat
	return optimal.Rules{InitialRepeats: [3]uint32{r, r, r}, MaxOffset3: m.maxOffset3}
}

func (repeatModel) OffsetCode(offset uint32) uint8 {
	code, _ := offsetCode(offset)
	return code
}

// offsetCode returns the code of a new offset in layouts Repeat and Dense, and the number of extra
// bits.
func offsetCode(offset uint32) (code uint8, extra uint) {
	extra = uint(bits.Len32(offset>>2+1)) - 1
	return uint8(extra<<2) | uint8(offset&3), extra
}

func (m repeatModel) Count(c *optimal.Counts, steps []optimal.Step) {
	for i := range steps {
		s := &steps[i]
		run := s.LitLen
		if run >= repeatLitEscape {
			c.Symbols[litLenSymbols][min(run-repeatLitEscape, 255)]++
			run = repeatLitEscape
		}
		n := s.MatchLen - m.minMatch[s.Kind%optimal.OffsetKinds]
		if n >= repeatMatchEscape {
			c.Symbols[matchLenSymbols][min(n-repeatMatchEscape, 255)]++
			n = repeatMatchEscape
		}
		c.Symbols[tokenSymbols][run|n<<2|uint32(s.Kind)<<6]++
		if s.Kind == optimal.NewOffset {
			code, _ := offsetCode(s.Offset)
			c.Symbols[offsetSymbols][code]++
		}
	}
}

func (m repeatModel) Price(p *optimal.Prices, c *optimal.Counts) {
	optimal.SymbolPrices(p.Literal[:], c.Literals[:], 0, unseenPrice)

	var runs [4]uint32
	var runPrice [4]int32
	for t, n := range &c.Symbols[tokenSymbols] {
		runs[t&3] += n
	}
	optimal.SymbolPrices(runPrice[:], runs[:], 0, unseenPrice)
	var long [256]int32
	optimal.SymbolPrices(long[:], c.Symbols[litLenSymbols][:], 0, unseenPrice)
	for n := range p.Run {
		class := min(n, repeatLitEscape)
		p.RunClass[n] = uint8(class)
		p.Run[n] = runPrice[class]
		if n >= repeatLitEscape {
			p.Run[n] += escapedPrice(&long, n-repeatLitEscape, 8)
		}
	}

	var token [256]int32
	optimal.SymbolPrices(token[:], c.Symbols[tokenSymbols][:], 0, unseenPrice)
	optimal.SymbolPrices(long[:], c.Symbols[matchLenSymbols][:], 0, unseenPrice)
	for class := range 4 {
		for kind := range optimal.OffsetKinds {
			row, minMatch := &p.Match[class][kind], int(m.minMatch[kind])
			for n := minMatch; n < len(row); n++ {
				l := min(n-minMatch, repeatMatchEscape)
				row[n] = token[class|l<<2|kind<<6] - runPrice[class]
				if l == repeatMatchEscape {
					row[n] += escapedPrice(&long, n-minMatch-repeatMatchEscape, 8)
				}
			}
		}
	}

	optimal.SymbolPrices(p.Offset[:], c.Symbols[offsetSymbols][:], 0, unseenPrice)
	for code := range p.Offset {
		p.Offset[code] += int32(code>>2) * optimal.PriceBit
	}
}

// escapedPrice returns the price of a length n in a stream of lengths. From 255 on four bytes of
// bits bits each follow.
func escapedPrice(price *[256]int32, n int, bits int32) int32 {
	if n < 255 {
		return price[n]
	}
	return price[255] + 4*bits*optimal.PriceBit
}

// plainModel prices sequences of layout Plain. Literals and tokens are coded; the other streams are
// stored.
type plainModel struct{}

func (plainModel) Rules() optimal.Rules { return optimal.Rules{} }

func (plainModel) OffsetCode(uint32) uint8 { return 0 }

func (plainModel) Count(c *optimal.Counts, steps []optimal.Step) {
	for i := range steps {
		s := &steps[i]
		run, n := min(s.LitLen, plainLitEscape), min(s.MatchLen-plainMinMatch, plainMatchEscape)
		c.Symbols[tokenSymbols][run|n<<4]++
	}
}

func (plainModel) Price(p *optimal.Prices, c *optimal.Counts) {
	const byteBits = 8 * optimal.PriceBit
	optimal.SymbolPrices(p.Literal[:], c.Literals[:], 0, unseenPrice)
	var stored [256]int32
	for i := range stored {
		stored[i] = byteBits
	}
	var runs [16]uint32
	var runPrice [16]int32
	for t, n := range &c.Symbols[tokenSymbols] {
		runs[t&15] += n
	}
	optimal.SymbolPrices(runPrice[:], runs[:], 0, unseenPrice)
	for n := range p.Run {
		class := min(n, plainLitEscape)
		p.RunClass[n] = uint8(class)
		p.Run[n] = runPrice[class]
		if n >= plainLitEscape {
			p.Run[n] += escapedPrice(&stored, n-plainLitEscape, 8)
		}
	}
	var token [256]int32
	optimal.SymbolPrices(token[:], c.Symbols[tokenSymbols][:], 0, unseenPrice)
	for class := range 16 {
		row := &p.Match[class][optimal.NewOffset]
		for n := plainMinMatch; n < len(row); n++ {
			l := min(n-plainMinMatch, plainMatchEscape)
			row[n] = token[class|l<<4] - runPrice[class]
			if l == plainMatchEscape {
				row[n] += escapedPrice(&stored, n-plainMinMatch-plainMatchEscape, 8)
			}
		}
	}
	p.Offset[0] = 2 * byteBits
}
