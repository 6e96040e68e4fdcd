package rans

import (
	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// mode says how a segment is coded. The numbers are part of the format.
type mode uint8

const (
	modeStored mode = iota // the bytes themselves
	modeSymbol             // one byte, repeated
	modeCoded              // a frequency table, and symbols in the lanes
	modes
)

// lastSegment is a flag beside the mode: the segment reaches to the end of its stream.
const lastSegment = 4

// segment is a piece of one stream.
type segment struct {
	data []byte // its symbols (encoder) or the place for them (decoder)
	mode mode
	last bool
	// Encoder only: the number of the stream, and where in it the data begin.
	stream, at int
	freq       model.Freqs // only with modeCoded
}

// unit is the distance between places where the encoder may cut, in symbols. A smaller one finds changes better and
// costs time; with 32-lane segments below about 8,192 symbols the tables weigh more than they bring.
const unit = 8192

// UnitSize is the size of the first unit of a stream of n symbols: 8,192, or all if what would be left is not worth it. It is less than 16,384.
func UnitSize(n int) int {
	if n < unit+minSegment {
		return n
	}
	return unit
}

// storedGain is what coding must save, as a shift of the stored size, to be worth decoding: 1/64.
const storedGain = 6

// split cuts a stream into segments where it pays: a unit whose own statistics save more than the cost of a table begins a
// new one.
func (e *Encoder) split(stream []byte) {
	var all, next, both [256]uint32
	start, end := 0, 0
	var allCost uint64
	for end < len(stream) {
		n := UnitSize(len(stream) - end)
		if e.counts == nil {
			next = [256]uint32{}
			simd.Histogram(&next, stream[end:end+n])
		} else {
			for i, c := range e.counts[:256] {
				next[i] = uint32(c)
			}
			e.counts = e.counts[256:]
		}
		cost := model.Entropy(&next, uint32(n)) + model.TableCost(&next)
		for i := range both {
			both[i] = all[i] + next[i]
		}
		bothCost := model.Entropy(&both, uint32(end+n-start)) + model.TableCost(&both)
		if end == start || bothCost <= allCost+cost {
			all, allCost = both, bothCost
		} else {
			e.add(stream[start:end], &all, false)
			start, all, allCost = end, next, cost
		}
		end += n
	}
	if start < end {
		e.add(stream[start:end], &all, true)
	}
}

// grow appends a segment, whose contents are left over from earlier use, so that the large ones are not cleared for nothing.
func grow(segs *[]segment) *segment {
	if len(*segs) < cap(*segs) {
		*segs = (*segs)[:len(*segs)+1]
	} else {
		*segs = append(*segs, segment{})
	}
	return &(*segs)[len(*segs)-1]
}

// add appends a segment in the mode that suits it.
func (e *Encoder) add(data []byte, counts *[256]uint32, last bool) {
	s := grow(&e.segs)
	n := uint32(len(data))
	s.data, s.last, s.mode = data, last, modeStored
	switch {
	case counts[data[0]] == n:
		s.mode = modeSymbol
	case n >= 16:
		s.freq.Normalize(counts, n)
		cost := (s.freq.Cost(counts) + model.TableCost(counts)) / model.CostBit / 8
		if cost < uint64(n-n>>storedGain) {
			s.mode = modeCoded
			e.coded += len(data)
		}
	}
}
