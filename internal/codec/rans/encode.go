package rans

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/simd"
)

// Encoder encodes streams. The zero value is ready to use and keeps its scratch memory between
// calls. An Encoder must not be used concurrently.
type Encoder struct {
	// Checkpoint, unless it is nil, is called between pieces of the work, on the caller's
	// goroutine: after at most 1 MiB of the streams, which take less than about 5 ms. It may block.
	// It may panic to abandon the work; the Encoder can then be used again, and refers to the
	// streams until then. The result does not depend on it.
	Checkpoint func()

	// Defaults lets streams have default tables: the first ones in the order of the format. They
	// pay where there is little content, below DefaultsLimit.
	Defaults bool

	segs  []segment
	coded int    // number of symbols in segments of modeCoded
	saved uint64 // what coding them saves, in 1/model.CostBit bits
	tab   kernels.EncodeTable
	words []byte // filled from the end
	work  LaneWork
	// histograms of the units still to come; nil if splitStream has to count. See BeginHistograms.
	histograms []uint16
}

// DefaultsLimit is the content in bytes below which encoders of .pz use default tables. A device
// that compresses whole blocks takes no smaller ones.
const DefaultsLimit = 16 << 10

// groupBits is what a short group costs besides its symbols, in bits: the size of the words, and
// three bytes for each state.
const groupBits = 8 * (2 + 3*smallLanes)

// checkpointBytes is the content in bytes between checkpoints.
const checkpointBytes = 1 << 19

// checkpointSegments is the number of segment heads between checkpoints.
const checkpointSegments = 64

func (e *Encoder) checkpoint() {
	if e.Checkpoint != nil {
		e.Checkpoint()
	}
}

// Append encodes the streams and appends the result to dst. It stores the last stored streams
// without trying to compress them. The Encoder retains no reference to the streams.
func (e *Encoder) Append(dst []byte, stored int, streams ...[]byte) []byte {
	dst = e.appendHeads(dst, stored, streams)
	switch {
	case e.coded == 0:
	case e.coded < model.SmallLimit:
		dst = e.encodeGroup(dst, 0, e.coded, smallLanes)
	default:
		for i := range fullGroups(e.coded) {
			dst = e.encodeGroup(dst, groupEnd(e.coded, i), groupEnd(e.coded, i+1), Lanes)
		}
	}
	return e.appendStored(dst)
}

// appendHeads cuts the streams into segments and appends their heads to dst.
func (e *Encoder) appendHeads(dst []byte, stored int, streams [][]byte) []byte {
	e.segs, e.coded, e.saved = e.segs[:0], 0, 0
	for i, s := range streams {
		first := len(e.segs)
		if i < len(streams)-stored {
			e.splitStream(s, i)
		} else if len(s) > 0 {
			g := growSegments(&e.segs)
			g.data, g.mode, g.last = s, modeStored, true
		}
		at := 0
		for k := range e.segs[first:] {
			s := &e.segs[first+k]
			s.stream, s.at = i, at
			at += len(s.data)
		}
	}
	if e.Defaults && e.saved < groupBits*model.CostBit {
		e.storeAll()
	}
	segs := e.segs
	for i, s := range streams {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		for k := 0; len(segs) > 0 && segs[0].stream == i; k++ {
			dst = segs[0].appendHead(dst)
			if k%checkpointSegments == checkpointSegments-1 {
				e.checkpoint()
			}
			segs = segs[1:]
		}
	}
	return dst
}

// storeAll stores all segments that would be coded.
func (e *Encoder) storeAll() {
	for i := range e.segs {
		if e.segs[i].mode == modeCoded {
			e.segs[i].mode = modeStored
		}
	}
	e.coded = 0
}

// appendStored appends the stored segments to dst and drops all references to the streams.
func (e *Encoder) appendStored(dst []byte) []byte {
	for i := range e.segs {
		if e.segs[i].mode == modeStored {
			dst = pieces.Append(dst, e.segs[i].data, e.Checkpoint)
		}
		e.segs[i].data = nil
	}
	return dst
}

// appendHead appends the head of a segment to dst.
func (s *segment) appendHead(dst []byte) []byte {
	head := byte(s.mode)
	if s.last {
		head |= lastSegment
	}
	byDefault := s.mode == modeCoded && s.isDefault
	if byDefault {
		head |= defaultTable
	}
	dst = append(dst, head)
	if !s.last {
		dst = binary.AppendUvarint(dst, uint64(len(s.data)))
	}
	switch {
	case s.mode == modeSymbol:
		dst = append(dst, s.data[0])
	case s.mode == modeCoded && !byDefault:
		dst = s.freq.Append(dst)
	}
	return dst
}

// encodeGroup encodes the symbols [from, to) of the coded sequence with one lane group.
func (e *Encoder) encodeGroup(dst []byte, from, to, width int) []byte {
	size := 2 * (to - from)
	if cap(e.words) < size {
		e.words = make([]byte, size)
	}
	words := e.words[:size]
	p := size
	var states [Lanes]uint32
	for i := range states {
		states[i] = MinState
	}
	at := e.coded // index of the first symbol behind the segment
	next := to - checkpointBytes
	for i := len(e.segs) - 1; i >= 0 && at > from; i-- {
		s := &e.segs[i]
		if s.mode != modeCoded {
			continue
		}
		begin := at - len(s.data)
		a, b := max(begin, from), min(at, to)
		if a < b {
			if b < next {
				next = b - checkpointBytes
				e.checkpoint()
			}
			tab := e.encodeTable(s)
			run := s.data[a-begin : b-begin]
			whole := 0
			if width == Lanes {
				whole = len(run) &^ (Lanes - 1)
			}
			// The encoder runs backward: the incomplete round at the end comes first.
			p = kernels.EncodeTail(&states, tab, width, run[whole:], words, p)
			for run = run[:whole]; len(run) > checkpointBytes; {
				rest := (len(run) - 1) &^ (checkpointBytes - 1)
				p = kernels.EncodeLanes(&states, tab, run[rest:], words, p)
				run = run[:rest]
				e.checkpoint()
			}
			p = kernels.EncodeLanes(&states, tab, run, words, p)
		}
		at = begin
	}
	return model.AppendGroup(dst, states[:width], words[p:], e.Checkpoint)
}

// Size estimates the size of a stream in the result of Append, in bytes. index is its number in the
// order of the format.
func (e *Encoder) Size(stream []byte, index int) (size int) {
	e.segs, e.coded = e.segs[:0], 0
	e.splitStream(stream, index)
	cost := uint64(0)
	for i := range e.segs {
		s := &e.segs[i]
		if i%checkpointSegments == checkpointSegments-1 {
			e.checkpoint()
		}
		switch s.mode {
		case modeStored:
			size += len(s.data)
		case modeCoded:
			var counts [256]uint32
			left := s.data
			for len(left) > checkpointBytes {
				simd.Histogram(&counts, left[:checkpointBytes])
				left = left[checkpointBytes:]
				e.checkpoint()
			}
			simd.Histogram(&counts, left)
			cost += s.freq.Cost(&counts)
			if !s.isDefault {
				cost += model.TableCost(&counts)
			}
		}
		s.data = nil
		size += 4
	}
	return size + int(cost/model.CostBit/8)
}
