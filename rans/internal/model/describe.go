package model

import (
	"math/bits"

	"github.com/gopz/compress/internal/bitio"
)

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
func (f *Freqs) Append(dst []byte) []byte {
	w := bitio.Writer{Out: dst}
	sum := 0
	for i := 0; sum < ProbScale; {
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
func (f *Freqs) Read(src []byte) ([]byte, error) {
	const errTable = CorruptError("bad frequency table")
	*f = Freqs{}
	r := bitio.Reader{Data: src} // bits beyond the end are 0, and no class is
	sum := uint32(0)
	for i := 0; sum < ProbScale; {
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
	if sum != ProbScale || !ok {
		return nil, errTable
	}
	return rest, nil
}
