package ctx

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// Encoder codes chained streams. The zero value is ready; it keeps its scratch memory from call to call. It is not safe for concurrent use.
type Encoder struct {
	contexts contextMap
	segs     []chainSegment
	freqs    []model.Freqs // the tables of all segments

	stream, class []byte // what is to be coded, and of each symbol the number of its table
	words         []byte // filled from the end
	large         *chainScratch
}

// chainScratch is what a Encoder has only from its first stream on: 1.5 MB.
type chainScratch struct {
	all, next, both *clusters // of the segment so far, of the next unit, of the two together
	tabs            [maxTables]simd.EncodeTable
}

// chainUnit is the distance between places where the encoder may cut, in symbols. With 1<<16 the literals of a Go program are 0.1% larger, its tokens 2.5%; with
// 1<<17 both are larger than without contexts.
const chainUnit = minChainSegment

// coarseUnit is the same for BeginFast, and coarseEvery how much less of a long stream is counted to choose a map. Images, sounds, programs and numbers of 2 to 10 MB as literals alone are up to
// 3% larger than with what Begin does, in 0.15 to 0.7 of the time that coding takes then. With units of 1<<20 another 0 to 6% larger in 0.5 to 0.9 of that time, with 1<<16 0 to 1% smaller in 1.0 to 1.9.
// That was measured with 1<<18. But then the pieces of 64 lanes are a multiple of 4 KiB apart in every segment of whole units, and decoding cannot use the kernel of simd.Deinterleave there. With a bit
// more only segments of 16 units and their multiples are like that.
const (
	coarseUnit  = 1<<18 + 1<<14
	coarseEvery = 4
)

// Begin finds segments and tables for a stream, which must not be empty, and returns about how many bytes Append will add. Marks are as many bytes, 1 where the
// symbol before says nothing of the next, and otherwise 0. The encoder keeps both until the call of Append, and changes marks.
func (e *Encoder) Prepare(stream, marks []byte) (size int) {
	return e.plan(stream, marks, chainUnit, 1)
}

// BeginFast is Begin in less time, for those who are in a hurry: fewer segments are tried.
func (e *Encoder) PrepareFast(stream, marks []byte) (size int) {
	return e.plan(stream, marks, coarseUnit, coarseEvery)
}

func (e *Encoder) plan(stream, marks []byte, unit, every int) (size int) {
	e.begin()
	e.large.learn(&e.contexts, stream, marks, every)
	e.split(stream, marks, unit)
	e.stream, e.class = stream, marks
	return e.classify(stream, marks) + e.contexts.size()
}

func (e *Encoder) begin() {
	if e.large == nil {
		e.large = &chainScratch{all: new(clusters), next: new(clusters), both: new(clusters)}
	}
}

// Append codes the stream of Begin, and appends the result to dst.
func (e *Encoder) Append(dst []byte) []byte {
	stream := e.stream
	dst = binary.AppendUvarint(dst, uint64(len(stream)))
	dst = e.contexts.append(dst)
	tables := e.freqs
	for i := range e.segs {
		n := e.segs[i].tables
		dst = e.segs[i].append(dst, tables[:n])
		tables = tables[n:]
	}
	width := chainWidth(len(stream))
	for g := range width / model.Lanes {
		dst = e.group(dst, stream, g, width)
	}
	e.stream, e.class = nil, nil
	return dst
}

// split cuts a stream into segments where it pays, as Encoder does, at multiples of unit.
func (e *Encoder) split(stream, marks []byte, unit int) {
	e.segs, e.freqs = e.segs[:0], e.freqs[:0]
	l, start, looked, flat := e.large, 0, 0, false
	for at := 0; at < len(stream); {
		n := min(unit, len(stream)-at)
		if len(stream)-at-n < minChainSegment {
			n = len(stream) - at
		}
		if at >= looked {
			looked = min(at+max(lookUnits*chainUnit, unit), len(stream))
			flat = l.both.flat(&e.contexts, stream[:looked], marks, at)
		}
		l.next.pairs = [contexts][256]uint32{}
		l.next.count(&e.contexts, stream[:at+n], marks, at)
		l.next.find(flat)
		if at == start {
			l.all, l.next = l.next, l.all
		} else {
			l.both.pairs = l.all.pairs
			l.both.add(l.next)
			l.both.find(flat && l.all.n == 1)
			if l.both.cost <= l.all.cost+l.next.cost {
				l.all, l.both = l.both, l.all
			} else {
				e.add(at - start)
				start = at
				l.all, l.next = l.next, l.all
			}
		}
		at += n
	}
	e.add(len(stream) - start)
}

// add appends a segment of n symbols, for which all is.
func (e *Encoder) add(n int) {
	all := e.large.all
	e.segs = append(e.segs, chainSegment{size: n, class: all.class, tables: all.n})
	for range all.n {
		e.freqs = append(e.freqs, model.Freqs{})
	}
}

// classify turns marks into the table of each symbol of the stream, and then finds what the tables are: only now it is known where pieces begin.
func (e *Encoder) classify(stream, marks []byte) (size int) {
	width, at, tables, cost := chainWidth(len(stream)), 0, e.freqs, uint64(0)
	for i := range e.segs {
		s := &e.segs[i]
		end := at + s.size
		s.classify(&e.contexts, marks[at:end], stream[at:end], width)
		sums := &e.large.all.sums
		*sums = [maxTables][256]uint32{}
		for i, c := range stream[at:end] {
			sums[marks[at+i]%maxTables][c]++
		}
		for k := range s.tables {
			f := &tables[k]
			f.Fit(&sums[k])
			cost += f.Cost(&sums[k]) + model.TableCost(&sums[k])
		}
		tables = tables[s.tables:]
		cost += uint64(contexts*classBits(s.tables)+40) * model.CostBit
		at = end
	}
	return int(cost/model.CostBit/8) + 2*(4*model.Lanes+4)
}

// classify turns the marks of a segment's symbols into the tables of these.
func (s *chainSegment) classify(m *contextMap, marks, symbols []byte, width int) {
	n := len(symbols)
	for l := range width {
		a, b := piece(n, l, width), piece(n, l+1, width)
		second := uint(m.second[0])
		for i := a; i < b; i++ {
			ctx, next := uint(markContext), uint(m.second[0])
			if i > a && marks[i] == 0 {
				last := symbols[i-1]
				ctx, next = uint(m.first[last])+second, uint(m.second[last])
			}
			marks[i], second = s.class[ctx], next
		}
	}
}

// append adds the head of a segment.
func (s *chainSegment) append(dst []byte, tables []model.Freqs) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.size))
	dst = append(dst, byte(s.tables))
	w := bitio.Writer{Out: dst}
	if width := classBits(s.tables); width > 0 {
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

// group codes the symbols of a group.
func (e *Encoder) group(dst, stream []byte, group, width int) []byte {
	need := 0
	for i := range e.segs {
		n := e.segs[i].size
		need += 2 * (n/width*model.Lanes + short(n, group, width))
	}
	if cap(e.words) < need {
		e.words = make([]byte, need)
	}
	e.words = e.words[:need]
	p := need
	var states [model.Lanes]uint32
	for l := range states {
		states[l] = model.MinState
	}
	at, tables := len(stream), e.freqs
	for i := len(e.segs) - 1; i >= 0; i-- {
		s := &e.segs[i]
		end := at
		at -= s.size
		own := tables[len(tables)-s.tables:]
		tables = tables[:len(tables)-s.tables]
		for k := range own {
			e.large.tabs[k].Build((*[256]uint16)(&own[k]))
		}
		p = e.part(&states, stream[at:end], e.class[at:end], p, group, width)
	}
	return model.AppendGroup(dst, states[:], e.words[p:])
}

// part codes what of a segment belongs to a group, the last symbol first.
func (e *Encoder) part(states *[model.Lanes]uint32, run, class []byte, p, group, width int) int {
	tabs := &e.large.tabs
	var begin [model.Lanes]int
	for l := range begin {
		begin[l] = piece(len(run), group*model.Lanes+l, width)
	}
	rounds := len(run) / width
	for l := short(len(run), group, width) - 1; l >= 0; l-- {
		i := begin[l] + rounds
		p = tabs[class[i]%maxTables].EncodeSymbol(&states[l], run[i], e.words, p)
	}
	for r := rounds - 1; r >= 0; r-- {
		for l := model.Lanes - 1; l >= 0; l-- {
			i := begin[l] + r
			p = tabs[class[i]%maxTables].EncodeSymbol(&states[l], run[i], e.words, p)
		}
	}
	return p
}
