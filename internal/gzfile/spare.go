package gzfile

import (
	"math"
	"slices"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
)

// spare is memory of a decoder for later use. Its lock is that of the decoder.
//
// The units in flight need an output each. A unit that is decoded ahead gives its output to the
// result. If the result waits while the unit has its turn, the unit needs another one. Outputs are
// counted, so that there is at most one more of them than units in flight, for a unit that has its
// turn. Without that one, many results were dropped.
type spare struct {
	spareResults []*result
	spareOutputs []*output
	spareSymbols [][]uint16

	file        int // number of the file
	outputs     int // that the file counts
	mostOutputs int // that decoding ahead may bring about
}

// beginOutputs begins to count the outputs of a file. Those that units of an earlier file have kept
// are counted when they come.
func (d *decoder) beginOutputs() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.file++
	d.outputs, d.mostOutputs = len(d.spareOutputs), math.MaxInt
	for _, o := range d.spareOutputs {
		o.file = d.file
	}
}

// pop returns the last of some spare things, or the zero value.
func pop[T any](from *[]T) (v T) {
	if n := len(*from); n > 0 {
		v, *from = (*from)[n-1], (*from)[:n-1]
	}
	return v
}

// result returns a result without an output.
func (d *decoder) result() *result {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := pop(&d.spareResults); r != nil {
		return r
	}
	return &result{walker: walker{inflater: new(inflate.Decoder)}}
}

// releaseResult keeps the memory of a result. The caller holds d.mu.
func (d *decoder) releaseResult(r *result) {
	d.spareResults = append(d.spareResults, r)
	if o := r.output; o != nil {
		d.spareOutputs = append(d.spareOutputs, o)
		d.dropSymbols(o)
		r.output = nil
	}
}

// output returns the output of a unit, or a spare one. If there is none, and there may be no more,
// output returns nil, or takes that of a result if it must. Units that decode ahead never leave
// fewer outputs than the others need: without one, there is a result.
func (d *decoder) output(s *container.Serial, must bool) *output {
	d.mu.Lock()
	o := d.findOutput(s, must)
	d.mu.Unlock()
	if o != nil {
		o.marking = d.check.marks != nil
	}
	return o
}

// findOutput is output with d.mu held.
func (d *decoder) findOutput(s *container.Serial, must bool) *output {
	o, ok := s.State.(*output)
	if ok && o.file == d.file {
		return o
	}
	if !ok {
		if used := d.outputs - len(d.spareOutputs); used >= d.mostOutputs && !must {
			return nil
		}
		if o = pop(&d.spareOutputs); o != nil {
			return o
		}
		if d.outputs > d.mostOutputs {
			d.dropLast()
			if o = pop(&d.spareOutputs); o != nil {
				return o
			}
		}
		o = new(output)
	}
	o.file = d.file
	d.outputs++
	return o
}

// dropLast drops the result that is needed last. The caller holds d.mu.
func (d *decoder) dropLast() {
	last := -1
	for i, r := range d.results {
		if last < 0 || r.start.bit > d.results[last].start.bit {
			last = i
		}
	}
	if last >= 0 {
		d.releaseResult(d.results[last])
		d.results = slices.Delete(d.results, last, last+1)
	}
}

// yield keeps the output of a unit until its turn, for units that need one before.
func (d *decoder) yield(s *container.Serial) {
	if s.State != nil {
		d.keepOutput(d.output(s, true))
		s.State = nil
	}
}

// keepOutput keeps an output that a unit does not need.
func (d *decoder) keepOutput(o *output) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spareOutputs = append(d.spareOutputs, o)
}

// symbols returns memory for symbols.
func (d *decoder) symbols() []uint16 {
	d.mu.Lock()
	p := pop(&d.spareSymbols)
	d.mu.Unlock()
	if p == nil {
		p = make([]uint16, windowSize+mostContent)
	}
	return p
}

// keepSymbols keeps the memory of the symbols of an output that needs them no more.
func (d *decoder) keepSymbols(o *output) {
	if o.symbols != nil {
		d.mu.Lock()
		d.dropSymbols(o)
		d.mu.Unlock()
	}
}

// dropSymbols is keepSymbols with d.mu held.
func (d *decoder) dropSymbols(o *output) {
	if o.symbols != nil {
		d.spareSymbols = append(d.spareSymbols, o.symbols)
		o.symbols = nil
	}
}
