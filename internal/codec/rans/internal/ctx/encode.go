package ctx

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
)

// Encoder encodes context-coded streams. The zero value is ready to use and keeps its scratch
// memory between calls. An Encoder must not be used concurrently.
type Encoder struct {
	Checkpoint func() // see rans.ContextEncoder

	contexts contextMap
	segs     []segment
	freqs    []model.Freqs // the tables of all segments, one after the other

	stream, tableOf []byte // the stream given to Prepare and the table number of each symbol
	words           []byte // filled from the end
	scratch         *scratch
}

// scratch is the memory that an Encoder allocates for its first stream, about 1.1 MB.
type scratch struct {
	segment, unit *pairCounts // of the segment so far, and of the next unit
	current, next classes     // of both
	clusters      clusters
	tabs          [maxTables]kernels.EncodeTable
}

// cutUnit is the distance between possible segment boundaries, in symbols. With four times as much
// the tokens of a program become 2.5% larger.
const cutUnit = minSegment

// fastCutUnit is cutUnit for PrepareFast. Streams become 0.5% larger in 0.4 of the time. The extra
// 1<<14 keeps the pieces of 64 lanes from lying a multiple of 4 KiB apart, where
// kernels.Deinterleave cannot use its kernel.
const fastCutUnit = 1<<18 + 1<<14

// Prepare chooses the context map, segments and tables for stream, which must not be empty. It
// returns an estimate of the number of bytes that Append will add. marks has 1 for each marked
// symbol, else 0. The Encoder retains stream and marks until Append and overwrites marks.
func (e *Encoder) Prepare(stream, marks []byte) (size int) {
	return e.plan(stream, marks, cutUnit)
}

// PrepareFast is like Prepare but tries fewer segment boundaries.
func (e *Encoder) PrepareFast(stream, marks []byte) (size int) {
	return e.plan(stream, marks, fastCutUnit)
}

// plan is Prepare for segment boundaries at multiples of unit.
func (e *Encoder) plan(stream, marks []byte, unit int) (size int) {
	e.allocate()
	e.scratch.learn(&e.contexts, stream, marks)
	e.split(stream, marks, unit)
	e.stream, e.tableOf = stream, marks
	return e.assignTables(stream, marks) + e.contexts.encodedSize()
}

func (e *Encoder) allocate() {
	if e.scratch == nil {
		e.scratch = &scratch{segment: new(pairCounts), unit: new(pairCounts)}
		e.scratch.clusters.checkpoint = e.checkpoint
	}
}

// checkpointSymbols is the number of symbols between checkpoints.
const checkpointSymbols = 1 << 18

func (e *Encoder) checkpoint() {
	if e.Checkpoint != nil {
		e.Checkpoint()
	}
}

// Append encodes the stream given to Prepare and appends the result to dst.
func (e *Encoder) Append(dst []byte) []byte {
	stream := e.stream
	dst = binary.AppendUvarint(dst, uint64(len(stream)))
	dst = e.contexts.appendMap(dst)
	tables := e.freqs
	for i := range e.segs {
		n := e.segs[i].numTables
		dst = e.segs[i].appendHead(dst, tables[:n])
		e.checkpoint()
		tables = tables[n:]
	}
	width := laneCount(len(stream))
	for g := range width / model.Lanes {
		dst = e.encodeGroup(dst, stream, g, width)
	}
	e.stream, e.tableOf = nil, nil
	return dst
}

// split cuts a stream into segments at multiples of unit. It begins a new segment where two sets of
// tables cost less than a common one.
func (e *Encoder) split(stream, marks []byte, unit int) {
	e.segs, e.freqs = e.segs[:0], e.freqs[:0]
	s, start, probed, single := e.scratch, 0, 0, false
	for at := 0; at < len(stream); {
		n := min(unit, len(stream)-at)
		if len(stream)-at-n < minSegment {
			n = len(stream) - at
		}
		e.checkpoint()
		counted := at // s.unit has the counts up to there
		if at >= probed {
			probed = min(at+max(probeUnits*cutUnit, unit), len(stream))
			s.unit.countStream(&e.contexts, stream[:probed], marks, at, e.checkpoint)
			single, counted = s.unit.noGain(), probed
		}
		if counted != at+n {
			s.unit.countStream(&e.contexts, stream[:at+n], marks, at, e.checkpoint)
		}
		s.next = *s.clusters.findTables(s.unit, single)
		joined := false
		if at > start {
			s.segment.addCounts(s.unit)
			both := s.clusters.findTables(s.segment, single && s.current.n == 1)
			if joined = both.cost <= s.current.cost+s.next.cost; joined {
				s.current = *both
			} else {
				e.addSegment(at - start)
				start = at
			}
		}
		if !joined {
			s.segment, s.unit = s.unit, s.segment
			s.current = s.next
		}
		at += n
	}
	e.addSegment(len(stream) - start)
}

// addSegment appends a segment of n symbols with the classes in scratch.current.
func (e *Encoder) addSegment(n int) {
	c := &e.scratch.current
	e.segs = append(e.segs, segment{size: n, class: c.class, numTables: c.n})
	for range c.n {
		e.freqs = append(e.freqs, model.Freqs{})
	}
}

// assignTables replaces marks by the table number of each symbol and computes the final tables.
// Only the segment sizes tell where pieces begin, so split could not do so. It returns the
// estimated size of the stream in bytes.
func (e *Encoder) assignTables(stream, marks []byte) (size int) {
	width, at, tables, cost := laneCount(len(stream)), 0, e.freqs, uint64(0)
	for i := range e.segs {
		s := &e.segs[i]
		end := at + s.size
		s.tableNumbers(&e.contexts, marks[at:end], stream[at:end], width, e.checkpoint)
		sums := &e.scratch.clusters.sums
		*sums = [maxTables][256]uint32{}
		for from := at; from < end; from += checkpointSymbols {
			for i, c := range stream[from:min(from+checkpointSymbols, end)] {
				sums[marks[from+i]%maxTables][c]++
			}
			e.checkpoint()
		}
		for k := range s.numTables {
			f := &tables[k]
			f.Fit(&sums[k])
			cost += f.Cost(&sums[k]) + model.TableCost(&sums[k])
		}
		tables = tables[s.numTables:]
		cost += uint64(numContexts*indexBits(s.numTables)+40) * model.CostBit
		at = end
	}
	return int(cost/model.CostBit/8) + groupsSize
}

// groupsSize is what two lane groups add to the symbols of a stream, in bytes: the states, and 4
// bytes for the size of each group.
const groupsSize = 2 * (4*model.Lanes + 4)

// LeastSize is a lower bound in bytes of the size that Prepare and PrepareFast estimate: the lane
// groups, the number of the context map, and the head of a segment.
const LeastSize = groupsSize + 1 + 5

// LeastGain is the number of symbols below which contexts never gain. n tables save at most log₂ n
// bits of a symbol. They cost the lane groups, and in bits 257·log₂ n for the contexts and
// 32·(n − 1) for descriptions. With 32 tables 878 symbols are needed, and with fewer tables more.
// The rest is for the rounding of frequencies.
const LeastGain = 800

// tableNumbers replaces the marks of the segment's symbols by their table numbers.
func (s *segment) tableNumbers(
	m *contextMap, marks, symbols []byte, width int, checkpoint func(),
) {
	n, next := len(symbols), checkpointSymbols
	terms := m.terms()
	var class [512]uint8 // by sum of terms
	for c := range class {
		class[c] = s.class[min(c, markContext)]
	}
	for l := range width {
		a, b := pieceStart(n, l, width), pieceStart(n, l+1, width)
		if b > next { // a lane has up to 1 MiB
			next = b + checkpointSymbols
			checkpoint()
		}
		if a == b {
			continue
		}
		last, second := symbols[a], uint32(m.second[0])
		marks[a] = s.class[markContext]
		own := marks[a+1 : b]
		for i, c := range symbols[a+1 : b] {
			t := terms[uint(last)|uint(own[i]&1)<<8]
			own[i] = class[(t+second)%512]
			second, last = t>>16, c
		}
	}
}

// appendHead appends the head of a segment to dst.
func (s *segment) appendHead(dst []byte, tables []model.Freqs) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.size))
	dst = append(dst, byte(s.numTables))
	w := bitio.Writer{Out: dst}
	if width := indexBits(s.numTables); width > 0 {
		for _, k := range s.class {
			w.Put(uint64(k), uint(width))
		}
	}
	w.Align()
	dst = w.Out
	for k := range tables {
		dst = tables[k].Append(dst)
	}
	return dst
}

// encodeGroup encodes the symbols of one lane group, from the last one to the first.
func (e *Encoder) encodeGroup(dst, stream []byte, group, width int) []byte {
	size := 0
	for i := range e.segs {
		n := e.segs[i].size
		size += 2 * (n/width*model.Lanes + tailLanes(n, group, width))
	}
	if cap(e.words) < size {
		e.words = make([]byte, size)
	}
	e.words = e.words[:size]
	p := size
	var states [model.Lanes]uint32
	for l := range states {
		states[l] = model.MinState
	}
	at, tables := len(stream), e.freqs
	for i := len(e.segs) - 1; i >= 0; i-- {
		s := &e.segs[i]
		end := at
		at -= s.size
		own := tables[len(tables)-s.numTables:]
		tables = tables[:len(tables)-s.numTables]
		for k := range own {
			e.scratch.tabs[k].Build((*[256]uint16)(&own[k]))
		}
		p = e.encodeSegment(&states, stream[at:end], e.tableOf[at:end], p, group, width)
	}
	return model.AppendGroup(dst, states[:], e.words[p:], e.Checkpoint)
}

// encodeSegment encodes one group's symbols of a segment, from the last one to the first. p is the
// index of the last word written to e.words; encodeSegment returns the new one.
func (e *Encoder) encodeSegment(
	states *[model.Lanes]uint32, symbols, tableOf []byte, p, group, width int,
) int {
	tabs := &e.scratch.tabs
	var begin [model.Lanes]int
	for l := range begin {
		begin[l] = pieceStart(len(symbols), group*model.Lanes+l, width)
	}
	rounds := len(symbols) / width
	for l := tailLanes(len(symbols), group, width) - 1; l >= 0; l-- {
		i := begin[l] + rounds
		p = tabs[tableOf[i]%maxTables].EncodeSymbol(&states[l], symbols[i], e.words, p)
	}
	for end := rounds; end > 0; {
		from := max(0, end-checkpointSymbols/model.Lanes)
		p = kernels.EncodeCtx(states, tabs, symbols, tableOf, &begin, from, end, e.words, p)
		end = from
		e.checkpoint()
	}
	return p
}
