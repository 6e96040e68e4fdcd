package model

// freqs is a frequency table: its entries sum to probScale, and each is less than that, since one symbol alone has a segment mode of its own.
type Freqs [256]uint16

// normalize scales counts, which sum to n and have at least two entries, to sum to probScale, keeping every entry that is not zero.
func (f *Freqs) Normalize(counts *[256]uint32, n uint32) {
	// Symbols below one slot get one. The others share what is left in proportion.
	rest, slots := uint64(n), uint64(ProbScale)
	for i, c := range counts {
		f[i] = 0
		if c != 0 && uint64(c)*ProbScale <= uint64(n) {
			f[i] = 1
			rest -= uint64(c)
			slots--
		}
	}
	total := ProbScale - int(slots)
	for i, c := range counts {
		if c != 0 && f[i] == 0 {
			f[i] = uint16(max(1, (uint64(c)*slots*2+rest)/(2*rest)))
			total += int(f[i])
		}
	}
	for ; total > ProbScale; total-- {
		f[f.cheapest(counts)]--
	}
	for ; total < ProbScale; total++ {
		f[f.dearest(counts)]++
	}
}

// cheapest is the symbol that loses least by giving up a slot: the loss is about count / (frequency − ½).
func (f *Freqs) cheapest(counts *[256]uint32) (best int) {
	num, den := uint64(1)<<32, uint64(1)
	for i, c := range counts {
		if f[i] > 1 {
			if d := 2*uint64(f[i]) - 1; uint64(c)*den < num*d {
				best, num, den = i, uint64(c), d
			}
		}
	}
	return best
}

// dearest is the symbol that gains most from one more slot: the gain is about count / (frequency + ½).
func (f *Freqs) dearest(counts *[256]uint32) (best int) {
	num, den := uint64(0), uint64(1)
	for i, c := range counts {
		if c != 0 {
			if d := 2*uint64(f[i]) + 1; uint64(c)*den > num*d {
				best, num, den = i, uint64(c), d
			}
		}
	}
	return best
}

// cost returns the size of symbols with the given counts when coded with f, in costBit units.
func (f *Freqs) Cost(counts *[256]uint32) uint64 {
	sum := uint64(0)
	for i, c := range counts {
		if c != 0 {
			sum += uint64(c) * (ProbBits*CostBit - Log2(uint32(f[i])))
		}
	}
	return sum
}

// fit is normalize for any counts: where there are not two symbols, another one takes the least share.
func (f *Freqs) Fit(counts *[256]uint32) {
	total, used, last := uint32(0), 0, 0
	for s, n := range counts {
		if total += n; n != 0 {
			used, last = used+1, s
		}
	}
	if used > 1 {
		f.Normalize(counts, total)
		return
	}
	*f = Freqs{}
	f[last] = ProbScale - 1
	f[(last+1)%256] = 1
}
