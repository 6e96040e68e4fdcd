package huffman

import (
	"math/bits"
	"sync"

	"github.com/gopz/compress/fse"
)

// CostBit is the cost of one bit. Costs are in units of 1/CostBit bit.
const CostBit = fse.CostBit

// Entropy returns the Shannon entropy of symbols with the given counts, in units of 1/CostBit bit,
// the number of distinct symbols, and the sum of the counts. There may be 256 counts, and their sum
// must be less than 2³². A code of a Builder takes about half a percent more for text.
func Entropy(counts []uint32) (cost uint64, used int, total uint32) {
	sum, t := uint64(0), shares()
	for _, c := range counts {
		total += c
		sum += t.of(c)
	}
	used = int(sum >> shareBits)
	sum &= shareMask
	all := t.of(total) & shareMask
	return all - min(all, sum), used, total // logarithms are rounded
}

// EstimateSum estimates the size of symbols with counts a[i] + b[i] when coded together, in units
// of 1/CostBit bit, and returns the number of distinct symbols. a and b must have the same length,
// and all counts must sum to less than 2³².
//
// The estimate is the entropy, except for a symbol with more than half of the counts, whose code
// cannot be shorter than one bit.
func EstimateSum(a, b []uint32) (cost uint64, used int) {
	total, or, sum, t := uint32(0), uint32(0), uint64(0), shares()
	b = b[:len(a)]
	//pz:nobce
	for i, c := range a {
		c += b[i]
		total += c
		or |= c // at least the maximum, and faster to compute
		sum += t.of(c)
	}
	used = int(sum >> shareBits)
	sum &= shareMask
	if or > total/2 {
		maxCount := uint32(0)
		for i, c := range a {
			maxCount = max(maxCount, c+b[i])
		}
		if maxCount > total/2 {
			// The most frequent symbol takes one bit, and the codes of all others are one bit
			// longer than without it.
			cost = uint64(total) * CostBit
			sum -= t.of(maxCount) & shareMask
			total -= maxCount
		}
	}
	all := t.of(total) & shareMask
	return cost + all - min(all, sum), used
}

// small is the number of counts with a share in the table. Most counts of a block are below it.
const small = 2048

// shareTable has what the shares of counts are made of. It is made when it is first used: small
// content needs none.
type shareTable struct {
	small [small]uint64 // shares of small counts
	logs  [257]uint32   // log₂(1 + i/256) in units of 2⁻²⁴
}

var shares = sync.OnceValue(func() *shareTable {
	t := new(shareTable)
	for i := range t.logs[:256] {
		// Repeated squaring of a 1.63 fixed-point number yields the bits of the logarithm.
		x := uint64(256+i) << 55
		for bit := uint32(1 << 23); bit > 0; bit >>= 1 {
			if x, _ = bits.Mul64(x, x); x >= 1<<63 {
				t.logs[i] += bit
			} else {
				x <<= 1
			}
		}
	}
	t.logs[256] = 1 << 24
	for c := uint32(1); c < small; c++ {
		t.small[c] = t.large(c)
	}
	return t
})

// of returns c·log₂ c in units of 1/CostBit bit in the low shareBits bits, and 1 above them if c is
// not 0. Up to 288 results can be added if the counts sum to less than 2³².
func (t *shareTable) of(c uint32) uint64 {
	if c < small {
		return t.small[c]
	}
	return t.large(c)
}

const (
	shareBits = 32 + 5 + 16 // count, logarithm, fraction
	shareMask = 1<<shareBits - 1
)

// large computes what of returns. The error of the logarithm is well below one in the number of
// symbols of a block, because sums over all of them are compared.
func (t *shareTable) large(c uint32) uint64 {
	n := uint(bits.Len32(c)) - 1
	m := uint64(c) << (31 - n) &^ (1 << 31)
	i, rest := m>>23, m&(1<<23-1)
	log := uint64(n)<<24 + uint64(t.logs[i]) + uint64(t.logs[i+1]-t.logs[i])*rest>>23
	return uint64(c)*log>>8 | 1<<shareBits
}
