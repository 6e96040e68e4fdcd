package rans

import (
	"math/bits"

	"github.com/gopz/compress/internal/binlog"
	"github.com/gopz/compress/internal/bitio"
)

// Costs are in units of 1/65536 bit, computed with integers so that every machine makes the same choices.
const costBit = binlog.Unit

// logTable[i] is log2(1 + (i+½)/2048) in costBit units.
var logTable = makeLogTable()

func makeLogTable() (t [2048]uint32) {
	for i := range t {
		t[i] = binlog.Fraction(i, 11)
	}
	return t
}

// Logarithms is the table by which the coder judges, for those who do so elsewhere: of 1 + (i + ½)/2048 for each i, in 1/65536 bit.
func Logarithms() [2048]uint32 { return logTable }

// log2 returns the binary logarithm of x in costBit units; x > 0. The error is below 0.0004 bits.
func log2(x uint32) uint64 {
	n := uint(bits.LeadingZeros32(x))
	return uint64(31-n)<<16 + uint64(logTable[x<<n>>20&2047])
}

// entropy returns the ideal size of n symbols with the given counts, in costBit units.
func entropy(counts *[256]uint32, n uint32) uint64 {
	if n == 0 {
		return 0
	}
	logN, sum := log2(n), uint64(0)
	for _, c := range counts {
		if c != 0 {
			sum += uint64(c) * (max(logN, log2(c)) - log2(c))
		}
	}
	return sum
}

// freqs is a frequency table: its entries sum to probScale, and each is less than that, since one symbol alone has a segment mode of its own.
type freqs [256]uint16

// normalize scales counts, which sum to n and have at least two entries, to sum to probScale, keeping every entry that is not zero.
func (f *freqs) normalize(counts *[256]uint32, n uint32) {
	// Symbols below one slot get one. The others share what is left in proportion.
	rest, slots := uint64(n), uint64(probScale)
	for i, c := range counts {
		f[i] = 0
		if c != 0 && uint64(c)*probScale <= uint64(n) {
			f[i] = 1
			rest -= uint64(c)
			slots--
		}
	}
	total := probScale - int(slots)
	for i, c := range counts {
		if c != 0 && f[i] == 0 {
			f[i] = uint16(max(1, (uint64(c)*slots*2+rest)/(2*rest)))
			total += int(f[i])
		}
	}
	for ; total > probScale; total-- {
		f[f.cheapest(counts)]--
	}
	for ; total < probScale; total++ {
		f[f.dearest(counts)]++
	}
}

// cheapest is the symbol that loses least by giving up a slot: the loss is about count / (frequency − ½).
func (f *freqs) cheapest(counts *[256]uint32) (best int) {
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
func (f *freqs) dearest(counts *[256]uint32) (best int) {
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
func (f *freqs) cost(counts *[256]uint32) uint64 {
	sum := uint64(0)
	for i, c := range counts {
		if c != 0 {
			sum += uint64(c) * (probBits*costBit - log2(uint32(f[i])))
		}
	}
	return sum
}

// The description of a table is a string of bits, least significant first, filled up with zeros to a whole byte. Symbols are described
// in order until the frequencies sum to probScale; the rest have none. Each takes a 4-bit class:
//
//	1 … 11   the frequency has that many bits; the bits below the highest follow
//	12 … 14  one, two, three symbols with frequency 0
//	15       a run of 4+n symbols with frequency 0: n in the Elias gamma code of n+1, zero bits first, then
//	         the number from its highest bit down to its lowest, least significant bit first after the leading one
const (
	classZeros = 11 // + length of the run
	classRun   = 15
	runBase    = 4
)

// append adds the description of f to dst.
func (f *freqs) append(dst []byte) []byte {
	w := bitio.Writer{Out: dst}
	sum := 0
	for i := 0; sum < probScale; {
		run := i
		for f[i] == 0 {
			i++
		}
		switch run = i - run; {
		case run >= runBase:
			w.Put(classRun, 4)
			n := uint(bits.Len32(uint32(run-runBase+1))) - 1
			w.Put(1<<n, n+1)
			w.Put(uint64(run-runBase+1)&^(1<<n), n)
		case run > 0:
			w.Put(classZeros+uint64(run), 4)
		}
		v := uint32(f[i])
		n := uint(bits.Len32(v))
		w.Put(uint64(n), 4)
		w.Put(uint64(v&^(1<<(n-1))), n-1)
		sum += int(v)
		i++
	}
	w.Align()
	return w.Out
}

// read takes a description from the front of src and returns what follows it.
func (f *freqs) read(src []byte) ([]byte, error) {
	const errTable = CorruptError("bad frequency table")
	*f = freqs{}
	r := bitio.Reader{Data: src} // bits beyond the end are 0, and no class is
	sum := uint32(0)
	for i := 0; sum < probScale; {
		if i > 255 {
			return nil, errTable
		}
		switch c := r.Take(4); {
		case c == 0:
			return nil, errTable
		case c == classRun:
			n := uint(0)
			for r.Take(1) == 0 {
				if n++; n > 7 {
					return nil, errTable
				}
			}
			i += runBase - 1 + int(r.Take(n)|1<<n)
		case c > classZeros:
			i += int(c - classZeros)
		default:
			v := r.Take(uint(c)-1) | 1<<(c-1)
			f[i] = uint16(v)
			sum += uint32(v)
			i++
		}
	}
	rest, ok := r.Rest()
	if sum != probScale || !ok {
		return nil, errTable
	}
	return rest, nil
}
