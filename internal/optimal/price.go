package optimal

import (
	"math/bits"

	"github.com/gopz/compress/internal/binlog"
	"github.com/gopz/compress/lz77"
)

// PriceBit is the price of one bit. Prices are integers, so that every machine makes the same
// choices.
const PriceBit = 1 << 8

// PriceModel gives the prices of sequences in a coded form. The optimal parser minimises the sum of
// these prices. A PriceModel must not change while it is in use and must be safe for concurrent
// use.
type PriceModel interface {
	// Rules returns the properties of the coded form.
	Rules() Rules
	// OffsetCode returns the index of an offset's price in Prices.Offset. Offsets of one code cost
	// the same. A Helper may call it during Count and Price.
	OffsetCode(offset uint32) uint8
	// Count adds the symbols of steps to c, except literals.
	Count(c *Counts, steps []Step)
	// Price sets p to the prices of symbols that are as frequent as c says. No count is above 2²⁴.
	Price(p *Prices, c *Counts)
}

// Rules lists the properties of a coded form that the optimal parser must know and lz77.Limits
// lacks.
type Rules struct {
	// InitialRepeats is the list of repeat offsets at the beginning of a block.
	InitialRepeats [3]uint32
	// ShiftedRepeats says that a match without literals in front of it has other repeat offsets:
	// the second, the third, and the first less one (RFC 8878, section 3.1.1.5).
	ShiftedRepeats bool
	// MaxOffset3 is the greatest offset of a new match of 3 bytes; 0 stands for 1<<18. Farther ones
	// cost more than literals do, or make longer matches dearer.
	MaxOffset3 int
	// ChunkSize is the most content in bytes that is parsed with the same prices; 0 stands for the
	// maximum. Smaller chunks suit forms whose tables cover less content.
	ChunkSize int
	// UniformStart has a bit for each alphabet of Counts.Symbols, the lowest for the first, whose
	// occurring symbols start with equal counts. A symbol that is dear at first may stay so, since
	// the parser then avoids it.
	UniformStart uint8
	// NewSplitter makes the splitter of a form that is written in blocks with codes of their own;
	// it is nil for other forms. Such a form has these properties:
	//
	//   - no repeat offsets, equal Run and RunClass for all runs, prices of 0 … 1<<13−1;
	//   - offsets of up to 17 bits, and matches of more than MaxMatch bytes as several sequences;
	//   - models that are comparable with ==.
	//
	// ChunkSize is then less than a block usually has, and 0 stands for a whole window.
	NewSplitter func() BlockSplitter
	// MaxMatch is the greatest length of a sequence in bytes, with NewSplitter. A match that ends a
	// search by its Nice bytes is taken up to that length. 0 stands for Nice.
	MaxMatch int
}

// Kinds of offsets: 0 … 2 are the repeat offsets, the most recent first.
const (
	NewOffset   = 3 // not a repeat offset
	OffsetKinds = 4
)

// Step is a sequence with the kind of its offset.
type Step struct {
	lz77.Sequence
	Kind uint8
}

// Sizes of the tables in Prices. Longer runs and lengths cost what the last entry says.
const (
	PricedRuns       = 320
	PricedLengths    = 320
	PricedRunClasses = 16
)

// Prices holds the prices of the parts of sequences. A sequence costs the sum of its literals, Run,
// Match and, at a new offset, Offset. Where one symbol codes run and match, Run is the average
// price of the run, and Match is the rest of the symbol's price.
type Prices struct {
	Literal [256]int32
	Run     [PricedRuns]int32
	// RunClass is the first index of Match for a run, below PricedRunClasses.
	RunClass [PricedRuns]uint8
	Match    [PricedRunClasses][OffsetKinds][PricedLengths]int32
	Offset   [256]int32
}

// SymbolPrices sets prices[i] to the ideal price of symbol i, −log₂ of its relative frequency,
// bounded by least and most. A symbol that does not occur costs as if it had occurred half a time.
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

// log2Price returns log₂(x) as a price; x > 0.
func log2Price(x uint32) int32 {
	n := 31 - bits.LeadingZeros32(x)
	const half = binlog.Unit / (2 * PriceBit)
	return int32(n<<8) + (int32(binlog.Table11[x<<(31-n)>>20&2047])/half+1)/2
}
