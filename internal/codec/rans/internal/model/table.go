package model

// Freqs is a frequency table. Its entries sum to ProbScale. Each is less than ProbScale: a segment
// of one repeated symbol needs no table.
type Freqs [256]uint16

// Normalize scales counts to a sum of ProbScale and keeps every symbol that occurs. The counts must
// sum to n, and at least two of them must not be 0.
//
// It rounds each share to the nearest slot and then gives or takes single slots where the size of
// the coded symbols changes least.
func (f *Freqs) Normalize(counts *[256]uint32, n uint32) {
	// Symbols with a share below one slot get one. The others share the rest in proportion.
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
		f[f.leastLoss(counts)]--
	}
	for ; total < ProbScale; total++ {
		f[f.mostGain(counts)]++
	}
}

// leastLoss returns the symbol that loses least by giving up a slot. The loss is about count /
// (frequency − ½).
func (f *Freqs) leastLoss(counts *[256]uint32) (best int) {
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

// mostGain returns the symbol that gains most from one more slot. The gain is about count /
// (frequency + ½).
func (f *Freqs) mostGain(counts *[256]uint32) (best int) {
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

// Has reports whether f has all symbols whose counts are not 0.
func (f *Freqs) Has(counts *[256]uint32) bool {
	for i, c := range counts {
		if c != 0 && f[i] == 0 {
			return false
		}
	}
	return true
}

// Cost returns the size of symbols with the given counts when coded with f, in units of 1/CostBit
// bit.
func (f *Freqs) Cost(counts *[256]uint32) uint64 {
	sum := uint64(0)
	for i, c := range counts {
		if c != 0 {
			sum += uint64(c) * (ProbBits*CostBit - Log2(uint32(f[i])))
		}
	}
	return sum
}

// Fit is like Normalize but accepts any counts. If fewer than two symbols occur, the next symbol
// gets the smallest share.
func (f *Freqs) Fit(counts *[256]uint32) {
	total, used, last := uint32(0), 0, 0
	for s, n := range counts {
		total += n
		if n != 0 {
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
