package huffman

import (
	"math/bits"

	"github.com/gopz/compress/fse"
)

// CostBit is the unit of costs: they are in 1/CostBit bit.
const CostBit = fse.CostBit

// Costs sets costs[i] to what symbol i will cost, in units of 1/CostBit, if the symbols occur as often as counts says and codes have limit bits at
// most: the binary logarithm of one in how many it is, between one bit and limit bits. A symbol that does not occur costs as if it did so
// once; the sum of the counts must be less than 2³². This is for parsers, which want to know before there is a code.
func Costs(costs, counts []uint32, limit int) {
	total := uint32(0)
	for _, c := range counts {
		total += c
	}
	all, most := fse.Log2(max(total, 1)), uint32(limit)*CostBit
	for i, c := range counts {
		costs[i] = min(max(all-min(all, fse.Log2(max(c, 1))), CostBit), most)
	}
}

// CodeCosts sets costs[i] to the length of the code of symbol i in units of 1/CostBit, or to none if it has no code.
func CodeCosts(costs []uint32, lens []uint8, none uint32) {
	for i, l := range lens {
		costs[i] = uint32(l) * CostBit
		if l == 0 {
			costs[i] = none
		}
	}
}

// Entropy returns the ideal size of symbols that occur as often as counts says, in units of 1/CostBit. The sum of the counts must be less than 2³².
// A code made by a Builder takes somewhat more: in text half a percent.
func Entropy(counts []uint32) uint64 {
	total, sum := uint32(0), uint64(0)
	for _, c := range counts {
		total += c
		sum += share(c) & shareMask
	}
	all := share(total) & shareMask
	return all - min(all, sum) // logarithms are rounded
}

// EstimateSum returns about what symbols take that occur as often as a and b say together, in units of 1/CostBit, and how many different ones occur.
// There are as many of a as of b, and the sum of all counts must be less than 2³². It is their entropy, but for a symbol that more than half of them
// are: its code cannot be shorter than one bit.
func EstimateSum(a, b []uint32) (cost uint64, used int) {
	total, or, sum := uint32(0), uint32(0), uint64(0)
	b = b[:len(a)]
	//pz:nobce
	for i, c := range a {
		c += b[i]
		total += c
		or |= c // not less than the greatest, and quicker to find
		sum += share(c)
	}
	used = int(sum >> shareBits)
	sum &= shareMask
	if or > total/2 {
		most := uint32(0)
		for i, c := range a {
			most = max(most, c+b[i])
		}
		if most > total/2 {
			// The codes of all others are one bit longer than they would be without it.
			cost = uint64(total) * CostBit
			sum -= share(most) & shareMask
			total -= most
		}
	}
	all := share(total) & shareMask
	return cost + all - min(all, sum), used
}

// share returns c·log2(c) in units of 1/CostBit in the low shareBits bits, and above them 1 if c is not 0. 288 of them can be summed up if the
// sum of the counts is less than 2³².
func share(c uint32) uint64 {
	if c < small {
		return shares[c]
	}
	return largeShare(c)
}

const (
	shareBits = 32 + 5 + 16 // count, logarithm, and its fraction
	shareMask = 1<<shareBits - 1
)

// largeShare needs a logarithm with an error well below one in the number of symbols that a block may have: what is compared are sums over all of them.
func largeShare(c uint32) uint64 {
	n := uint(bits.Len32(c)) - 1
	m := uint64(c) << (31 - n) &^ (1 << 31)
	i, rest := m>>23, m&(1<<23-1)
	log := uint64(n)<<24 + uint64(logs[i]) + uint64(logs[i+1]-logs[i])*rest>>23
	return uint64(c)*log>>8 | 1<<shareBits
}

// logs[i] is log2(1 + i/256) in units of 2⁻²⁴.
var logs = makeLogs()

func makeLogs() (t [257]uint32) {
	for i := range t[:256] {
		// Binary logarithm by repeated squaring of a 1.63 fixed-point number.
		x := uint64(256+i) << 55
		for bit := uint32(1 << 23); bit > 0; bit >>= 1 {
			if x, _ = bits.Mul64(x, x); x >= 1<<63 {
				t[i] += bit
			} else {
				x <<= 1
			}
		}
	}
	t[256] = 1 << 24
	return t
}

// small is the number of counts whose share is tabulated: most of those in a block are below it.
const small = 2048

var shares = makeShares()

func makeShares() (t [small]uint64) {
	for c := uint32(1); c < small; c++ {
		t[c] = largeShare(c)
	}
	return t
}
