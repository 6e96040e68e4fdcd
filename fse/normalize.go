package fse

import "math/bits"

// AutoLog chooses an accuracy log for n symbols of which the greatest is maxSymbol, as zstd does: not more than limit, not so much
// that the description outweighs what it saves, not so little that symbols have no room. n > 1; limit is MinLog … MaxLog.
func AutoLog(limit, n, maxSymbol int) int {
	bySize := bits.Len(uint(n-1)) - 3
	least := min(bits.Len(uint(n)), bits.Len(uint(maxSymbol))+1)
	return min(max(min(limit, bySize), least, MinLog), limit)
}

// Normalize scales counts to sum to 1<<log, keeping every count that is not 0. At least two of counts must not be 0, and not more than
// 1<<log; there may be MaxSymbols counts, and their sum must fit in 32 bits. Symbols that deserve one cell or less get LessThanOne if rare is
// set, else 1.
func (d *Distribution) Normalize(counts []uint32, log int, rare bool) {
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	d.Log, d.Len = uint8(log), len(counts)
	total := uint64(0)
	for _, c := range counts {
		total += uint64(c)
	}
	least := int16(1)
	if rare {
		least = LessThanOne
	}
	// Symbols of one cell are settled first. The others share what is left in proportion.
	cells, left, rest := uint64(1)<<log, 1<<log, total
	for i, c := range counts {
		d.Prob[i] = 0
		if c != 0 && uint64(c)*cells <= total {
			d.Prob[i] = least
			left--
			rest -= uint64(c)
		}
	}
	share := uint64(max(left, 0))
	for i, c := range counts {
		if c == 0 || d.Prob[i] != 0 {
			continue
		}
		p := uint64(c) * share / rest
		over := uint64(c)*share - p*rest
		// The share x costs least as p+1 where x > 1/ln(1+1/p); that is p + (3p+1)/(6p+3), to three digits.
		if p == 0 || over*(6*p+3) > rest*(3*p+1) {
			p++
		}
		d.Prob[i] = int16(p)
		left -= int(p)
	}
	prob := d.Prob[:len(counts)]
	for ; left < 0; left++ {
		prob[cheapest(prob, counts)]--
	}
	for ; left > 0; left-- {
		prob[dearest(prob, counts)]++
	}
}

// cheapest is the symbol that loses least by giving up a cell: the loss is about count / (probability − ½).
func cheapest(prob []int16, counts []uint32) (best int) {
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

// dearest is the symbol that gains most from one more cell: the gain is about count / (probability + ½). Those settled as LessThanOne
// stay so: one more would take them to 0.
func dearest(prob []int16, counts []uint32) (best int) {
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
