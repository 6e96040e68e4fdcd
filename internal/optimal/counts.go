package optimal

// Counts holds frequencies of symbols. The PriceModel defines the alphabets besides literals.
type Counts struct {
	Literals [256]uint32
	Symbols  [4][256]uint32
}

// decay halves the counts shift times.
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

// copyFrom sets c to d. Go 1.26 for s390x compiles the assignment of a struct of this size wrongly.
func (c *Counts) copyFrom(d *Counts) {
	copy(c.Literals[:], d.Literals[:])
	for k := range c.Symbols {
		copy(c.Symbols[k][:], d.Symbols[k][:])
	}
}

func (c *Counts) addCounts(d *Counts) {
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

// divergence returns what the symbols of d cost beyond their entropy if they are coded with the
// frequencies of c (the Kullback–Leibler divergence), and their entropy. Both are prices.
func (c *Counts) divergence(d *Counts) (excess, entropy int64) {
	excess, entropy = divergence(&c.Literals, &d.Literals)
	for k := range c.Symbols {
		l, a := divergence(&c.Symbols[k], &d.Symbols[k])
		excess, entropy = excess+l, entropy+a
	}
	return excess, entropy
}

func divergence(c, d *[256]uint32) (excess, entropy int64) {
	theirs, own := uint32(0), uint32(0)
	for i, n := range d {
		theirs += c[i]
		own += n
	}
	// Every symbol of c counts half an occurrence more, so that none has probability 0.
	more := log2Price(2*theirs+uint32(len(c))) - log2Price(2*own+1)
	for i, n := range d {
		if n == 0 {
			continue
		}
		excess += int64(n) * int64(more+log2Price(2*n)-log2Price(2*c[i]+1))
		entropy += int64(n) * int64(log2Price(2*own+1)-log2Price(2*n))
	}
	return excess, entropy
}
