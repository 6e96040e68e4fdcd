package rans

import (
	"github.com/gopz/compress/internal/codec/rans/internal/model"
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

// Flags beside the mode.
const (
	lastSegment  = 4 // the segment extends to the end of its stream
	defaultTable = 8 // with modeCoded: the stream's default table takes the place of a table
)

// segment describes one segment of a stream.
type segment struct {
	data []byte // its symbols (encoder) or their destination (decoder)
	mode mode
	last bool
	// Encoder only: the index of the stream, and that of data[0] in it.
	stream, at int
	freq       model.Freqs // valid with modeCoded
	isDefault  bool        // freq is the default table of the stream
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
func (e *Encoder) splitStream(stream []byte, index int) {
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
			e.addSegment(stream[start:end], &all, index, false)
			start, all, allCost = end, next, cost
		}
		if end += n; end%checkpointBytes == 0 {
			e.checkpoint()
		}
	}
	if start < end {
		e.addSegment(stream[start:end], &all, index, true)
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

// addSegment appends a segment of a stream and chooses its mode.
func (e *Encoder) addSegment(data []byte, counts *[256]uint32, index int, last bool) {
	s := growSegments(&e.segs)
	n := uint32(len(data))
	s.data, s.last, s.mode, s.isDefault = data, last, modeStored, false
	if counts[data[0]] == n {
		s.mode = modeSymbol
		return
	}
	stored := uint64(n) * 8 * model.CostBit
	least := uint64(n-n>>gainShift) * 8 * model.CostBit
	if n >= 16 {
		s.freq.Normalize(counts, n)
		if cost := s.freq.Cost(counts) + model.TableCost(counts); cost < least {
			s.mode, least = modeCoded, cost
		}
	}
	if e.Defaults && index < model.Defaults {
		if t := model.Default(index); t.Has(counts) {
			if cost := t.Cost(counts); cost < least {
				s.mode, least = modeCoded, cost
				s.freq, s.isDefault = *t, true
			}
		}
	}
	if s.mode == modeCoded {
		e.coded += len(data)
		e.saved += stored - least
	}
}
