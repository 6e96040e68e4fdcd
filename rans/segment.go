package rans

import (
	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// mode is the coding of a segment. The values are part of the format.
type mode uint8

const (
	modeStored mode = iota // the bytes themselves
	modeSymbol             // one repeated byte
	modeCoded              // a frequency table; the symbols are in the lane groups
	modes
)

// lastSegment is a flag beside the mode: the segment extends to the end of its stream.
const lastSegment = 4

// segment describes one segment of a stream.
type segment struct {
	data []byte // its symbols (encoder) or their destination (decoder)
	mode mode
	last bool
	// Encoder only: the index of the stream, and that of data[0] in it.
	stream, at int
	freq       model.Freqs // valid with modeCoded
}

// histogramUnit is the distance between possible segment boundaries, in symbols. Below about 8,192
// symbols a table of 32 lanes costs more than it saves.
const histogramUnit = 8192

// HistogramUnit returns the number of leading symbols of a stream of n symbols that share one
// histogram: 8,192, or n if the rest would be too short for a segment. It is below 16,384.
func HistogramUnit(n int) int {
	if n < histogramUnit+minSegment {
		return n
	}
	return histogramUnit
}

// gainShift sets the minimum gain of coding over storing: 1/64 of the size. A smaller gain does not
// justify the time of decoding.
const gainShift = 6

// splitStream cuts a stream into segments. A unit begins a new segment if its own statistics save
// more than the cost of a table.
func (e *Encoder) splitStream(stream []byte) {
	var all, next, both [256]uint32
	start, end := 0, 0
	var allCost uint64
	for end < len(stream) {
		n := HistogramUnit(len(stream) - end)
		if e.histograms == nil {
			next = [256]uint32{}
			simd.Histogram(&next, stream[end:end+n])
		} else {
			for i, c := range e.histograms[:256] {
				next[i] = uint32(c)
			}
			e.histograms = e.histograms[256:]
		}
		cost := model.Entropy(&next, uint32(n)) + model.TableCost(&next)
		for i := range both {
			both[i] = all[i] + next[i]
		}
		bothCost := model.Entropy(&both, uint32(end+n-start)) + model.TableCost(&both)
		if end == start || bothCost <= allCost+cost {
			all, allCost = both, bothCost
		} else {
			e.addSegment(stream[start:end], &all, false)
			start, all, allCost = end, next, cost
		}
		if end += n; end%checkpointBytes == 0 {
			e.checkpoint()
		}
	}
	if start < end {
		e.addSegment(stream[start:end], &all, true)
	}
}

// growSegments appends a segment whose content is left over from earlier use: clearing it would
// cost time.
func growSegments(segs *[]segment) *segment {
	if len(*segs) < cap(*segs) {
		*segs = (*segs)[:len(*segs)+1]
	} else {
		*segs = append(*segs, segment{})
	}
	return &(*segs)[len(*segs)-1]
}

// addSegment appends a segment and chooses its mode.
func (e *Encoder) addSegment(data []byte, counts *[256]uint32, last bool) {
	s := growSegments(&e.segs)
	n := uint32(len(data))
	s.data, s.last, s.mode = data, last, modeStored
	switch {
	case counts[data[0]] == n:
		s.mode = modeSymbol
	case n >= 16:
		s.freq.Normalize(counts, n)
		cost := (s.freq.Cost(counts) + model.TableCost(counts)) / model.CostBit / 8
		if cost < uint64(n-n>>gainShift) {
			s.mode = modeCoded
			e.coded += len(data)
		}
	}
}
