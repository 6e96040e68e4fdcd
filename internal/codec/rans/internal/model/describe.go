package model

import (
	"math/bits"

	"github.com/gopz/compress/internal/bitio"
)

// The description of a table is a bit string, least significant bit first, padded with zeros to a
// whole byte. It describes the symbols in order until the frequencies sum to ProbScale; all further
// symbols have frequency 0. Each description begins with a class of 4 bits:
//
//	1 … 11   the bit length of the frequency; the bits below the leading one follow
//	12 … 14  one, two or three symbols with frequency 0
//	15       4+n symbols with frequency 0; n+1 follows in Elias gamma code: the leading zeros, the
//	         leading one, then the other bits, least significant first
const (
	classZeros = 11 // plus the length of the run
	classRun   = 15
	runBase    = 4 // length of the shortest run of classRun
)

// Append appends the description of f to dst.
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

// Read sets f to the table described at the front of src and returns the rest of src.
func (f *Freqs) Read(src []byte) ([]byte, error) {
	const errTable = CorruptError("bad frequency table")
	*f = Freqs{}
	r := bitio.Reader{Data: src} // bits beyond the end are 0, which is no class
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
				n++
				if n > 7 {
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
