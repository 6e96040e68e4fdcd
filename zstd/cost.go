package zstd

import (
	"math/bits"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/huffman"
	"github.com/gopz/compress/lz77"
)

// Costs is what the parts of sequences cost, in units of 1/fse.CostBit, for parsers that choose by cost. The zero value is not of use: see
// Encoder.Costs. It may be used concurrently while it does not change.
type Costs struct {
	// Literal is the cost of each byte as a literal.
	Literal [256]uint32
	codes   [kinds][codeSpace]uint32 // with the bits behind them
}

// Costs sets c to what things cost in content that is like src with these sequences, which are to be as Append has them. What does not occur there
// costs as if it did so once. The frame that was coded last does not matter.
func (e *Encoder) Costs(c *Costs, src []byte, seqs []lz77.Sequence) {
	e.in = newInput(src, seqs)
	e.repeats = firstRepeats
	e.ahead = stats{}
	e.body.truncate()
	for e.unit(MaxBlock) > 0 {
		e.body.lits = e.body.lits[:0]
		e.body.grow(0)
		if e.body.run > MaxBlock-2*unitSize {
			e.body.run = 0 // a block would be full
		}
	}
	e.in = input{}

	huffman.Costs(c.Literal[:], e.ahead.lits[:], huffman.MaxTableBits)
	for k := range c.codes {
		counts := &e.ahead.codes[k]
		total := uint32(1)
		for _, n := range counts {
			total += n
		}
		for i, n := range counts {
			c.codes[k][i] = fse.Log2(total) - fse.Log2(max(n, 1)) + uint32(bitsBehind(k, i))*fse.CostBit
		}
	}
}

// bitsBehind is the number of bits behind a code. Those that there are not have none.
func bitsBehind(k, code int) int {
	switch {
	case k == litLens && code <= maxLitCode:
		return int(litBits[code])
	case k == matchLens && code <= maxMatchCode:
		return int(matchBits[code])
	case k == offsets:
		return code
	}
	return 0
}

// LitLen is the cost of saying that n literals come before a match. n is less than MaxBlock.
func (c *Costs) LitLen(n uint32) uint32 { return c.codes[litLens][uint8(litCode(n))%codeSpace] }

// MatchLen is the cost of saying that a match has n bytes, MinMatch … MaxBlock.
func (c *Costs) MatchLen(n uint32) uint32 {
	return c.codes[matchLens][uint8(matchCode(n-MinMatch))%codeSpace]
}

// Offset is the cost of an offset value: 1, 2 and 3 are repeat offsets (RFC 8878, section 3.1.1.5), others are offsets plus 3.
func (c *Costs) Offset(value uint32) uint32 {
	return c.codes[offsets][uint(bits.Len32(value)-1)%codeSpace]
}
