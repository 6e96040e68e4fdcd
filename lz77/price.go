package lz77

import (
	"math/bits"

	"github.com/gopz/compress/internal/binlog"
)

// Prices are in units of 1/PriceBit bit. They are integers, so that every machine makes the same choices.
const PriceBit = 1 << 8

// A Model says what sequences will cost in the form that they are to be coded in, so that a parser can choose the cheapest. It must not change while
// it is in use, and may be used concurrently.
type PriceModel interface {
	// Rules are what is fixed.
	Rules() Rules
	// OffsetCode returns the number of an offset's price in Prices.Offset. Offsets of one code cost the same. It may be called during calls of Count and Price: see Helper.
	OffsetCode(offset uint32) uint8
	// Count adds the symbols of steps to c, without those of the literals.
	Count(c *Counts, steps []Step)
	// Price sets p to what things cost if symbols are as frequent as c says. No count is above 2²⁴.
	Price(p *Prices, c *Counts)
}

// Rules are the sides of a coded form that a parser must know and Limits does not tell.
type Rules struct {
	// Repeats is the list of repeat offsets at the beginning of a block.
	InitialRepeats [3]uint32
	// Shifted is set if a match right behind another one has other repeat offsets: the second, the third, and the first less one (RFC 8878,
	// section 3.1.1.5).
	ShiftedRepeats bool
	// Three is the greatest offset of a new match of 3 bytes, where those are possible: they cost more than literals do from there on, or spoil what tables say of others. 0 is
	// for 1<<18.
	MaxOffset3 int
	// Piece is how many bytes of content are parsed with the same prices, at the most; 0 is for as many as there can be. Less is better where tables
	// are for less content.
	ChunkSize int
	// Even has a bit for each alphabet of Counts.Symbols, the lowest for the first, in which all symbols that a greedy parse gives are equally likely at first.
	// What is dear at first may stay so, since hardly any are left.
	UniformStart uint8
	// Blocks makes a Splitter, for a form that is written in blocks with codes of their own; else it is nil. There are then no repeat offsets, Run and Class are all the same, prices are at least 0 and
	// below 1<<16, offsets have 17 bits at the most, matches of more than Nice bytes are several, Piece is less than a block is as a rule, 0 stands for all
	// that is parsed at once, ends that the Splitter gives are not within matches, and Models can be compared.
	NewSplitter func() BlockSplitter
}

// Kinds of offsets: below Fresh it is that repeat offset.
const (
	NewOffset   = 3
	OffsetKinds = 4
)

// Step is a sequence together with the kind of its offset.
type Step struct {
	Sequence
	Kind uint8
}

// Bounds of the tables of Prices: what is longer costs what the last entry says.
const (
	PricedRuns       = 320
	PricedLengths    = 320
	PricedRunClasses = 16
)

// Prices says what the parts of sequences cost. A sequence takes the prices of its literals, Run, Match and, if the offset is fresh, Offset. Where the coded form
// puts run and match into one symbol, Run is what the run costs on average, and Match what the symbol costs beyond that.
type Prices struct {
	Literal [256]int32
	Run     [PricedRuns]int32
	// Class is the first index of Match for a run, below PricedClasses.
	RunClass [PricedRuns]uint8
	Match    [PricedRunClasses][OffsetKinds][PricedLengths]int32
	Offset   [256]int32
}

// Counts says how often symbols occur. What the alphabets besides Literals are is up to the Model.
type Counts struct {
	Literals [256]uint32
	Symbols  [4][256]uint32
}

// age makes what was counted so far weigh less: half as much for each shift.
func (c *Counts) decay(shift uint) {
	for i := range c.Literals {
		c.Literals[i] >>= shift & 31
	}
	for k := range c.Symbols {
		s := &c.Symbols[k]
		for i := range s {
			s[i] >>= shift & 31
		}
	}
}

// set makes c the same as d. An assignment would, too, but with a struct of that size Go 1.26 loses the end of its loop for s390x.
func (c *Counts) copyFrom(d *Counts) {
	copy(c.Literals[:], d.Literals[:])
	for k := range c.Symbols {
		copy(c.Symbols[k][:], d.Symbols[k][:])
	}
}

func (c *Counts) add(d *Counts) {
	for i, n := range &d.Literals {
		c.Literals[i] = min(c.Literals[i]+n, maxCount)
	}
	for k := range c.Symbols {
		s, t := &c.Symbols[k], &d.Symbols[k]
		for i, n := range t {
			s[i] = min(s[i]+n, maxCount)
		}
	}
}

const maxCount = 1 << 24

// astray returns by how much more the symbols of d cost with codes made for those of c than with codes of their own, and what they cost with those, in units of 1/PriceBit bit.
func (c *Counts) divergence(d *Counts) (lost, all int64) {
	lost, all = divergence(&c.Literals, &d.Literals)
	for k := range c.Symbols {
		l, a := divergence(&c.Symbols[k], &d.Symbols[k])
		lost, all = lost+l, all+a
	}
	return lost, all
}

func divergence(c, d *[256]uint32) (lost, all int64) {
	theirs, own := uint32(0), uint32(0)
	for i, n := range d {
		theirs += c[i]
		own += n
	}
	// All have come half a time more than they have: of what never came, a little is known as well.
	more := log2Price(2*theirs+uint32(len(c))) - log2Price(2*own+1)
	for i, n := range d {
		if n == 0 {
			continue
		}
		lost += int64(n) * int64(more+log2Price(2*n)-log2Price(2*c[i]+1))
		all += int64(n) * int64(log2Price(2*own+1)-log2Price(2*n))
	}
	return lost, all
}

// SymbolPrices sets prices[i] to the ideal price of symbol i, between least and most: the binary logarithm of one in how many it is. One that does not occur
// costs as if it had done so half a time.
func SymbolPrices(prices []int32, counts []uint32, least, most int32) {
	total := uint32(0)
	for _, c := range counts {
		total += c
	}
	all := log2Price(2*total + 1)
	for i, c := range counts {
		prices[i] = min(max(all-log2Price(max(2*c, 1)), least), most)
	}
}

// logarithm returns log2(x) in units of 1/PriceBit; x > 0.
func log2Price(x uint32) int32 {
	n := 31 - bits.LeadingZeros32(x)
	return int32(n<<8) + int32(logTable[x<<(31-n)>>20&2047])
}

// logTable[i] is log2(1 + (i+½)/2048) in units of 1/PriceBit, rounded.
var logTable = makeLogTable()

func makeLogTable() (t [2048]uint16) {
	for i := range t {
		t[i] = uint16((binlog.Fraction(i, 11)*(2*PriceBit)/binlog.Unit + 1) / 2)
	}
	return t
}
