package fse

import (
	"math"
	"math/bits"
)

// AutoLog chooses an accuracy log for n symbols up to maxSymbol, as zstd does. The result is at
// most limit. It is so low that the description does not outweigh its gain, and so high that every
// symbol gets a cell. n must exceed 1; limit is MinLog to MaxLog.
func AutoLog(limit, n, maxSymbol int) int {
	bySize := bits.Len(uint(n-1)) - 3
	bySymbols := min(bits.Len(uint(n)), bits.Len(uint(maxSymbol))+1)
	return min(max(min(limit, bySize), bySymbols, MinLog), limit)
}

// Normalize scales counts to a sum of 1<<log and keeps every symbol that occurs. At least two
// counts and at most 1<<log of them must not be 0. There may be MaxSymbols counts, and they must
// sum to less than 2³². Symbols with a share of one cell or less get LessThanOne if rare is set,
// else 1.
func (d *Distribution) Normalize(counts []uint32, log int, rare bool) {
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	d.Log, d.Len = uint8(log), len(counts)
	prob := d.Prob[:len(counts)]
	total := uint32(0)
	for _, c := range counts {
		total += c
	}
	rareProb := int16(1)
	if rare {
		rareProb = LessThanOne
	}
	// Symbols of one cell come first. The others share the rest in proportion.
	left, rest, cell := 1<<log, uint64(total), total>>log
	for i, c := range counts {
		prob[i] = 0
		if c-1 < cell { // 0 wraps
			prob[i] = rareProb
			left--
			rest -= uint64(c)
		}
	}
	share, inverse := uint64(max(left, 0)), math.MaxUint64/max(rest, 1)
	for i, c := range counts {
		if c-1 < cell || c == 0 {
			continue
		}
		// p is x / rest. The product with the inverse is that, or one less.
		x := uint64(c) * share
		p, _ := bits.Mul64(x, inverse)
		over := x - p*rest
		if over >= rest {
			p, over = p+1, over-rest
		}
		// Rounding a share x up to p+1 is cheapest for x > 1/ln(1+1/p). That is p + (3p+1)/(6p+3)
		// to three digits.
		if p == 0 || over*(6*p+3) > rest*(3*p+1) {
			p++
		}
		prob[i] = int16(p)
		left -= int(p)
	}
	for ; left < 0; left++ {
		prob[leastLoss(prob, counts)]--
	}
	for ; left > 0; left-- {
		prob[mostGain(prob, counts)]++
	}
}

// leastLoss returns the symbol that loses least by giving up a cell. The loss is about count /
// (probability − ½).
func leastLoss(prob []int16, counts []uint32) (best int) {
	num, den := uint64(1)<<32, uint64(1)
	for i, p := range prob {
		if p > 1 {
			if d := 2*uint64(p) - 1; uint64(counts[i])*den < num*d {
				best, num, den = i, uint64(counts[i]), d
			}
		}
	}
	return best
}

// mostGain returns the symbol that gains most from one more cell. The gain is about count /
// (probability + ½). It leaves symbols with LessThanOne alone: one more would give 0.
func mostGain(prob []int16, counts []uint32) (best int) {
	num, den := uint64(0), uint64(1)
	for i, p := range prob {
		if p > 0 {
			if d := 2*uint64(p) + 1; uint64(counts[i])*den > num*d {
				best, num, den = i, uint64(counts[i]), d
			}
		}
	}
	return best
}
