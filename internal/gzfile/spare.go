package gzfile

import (
	"github.com/gopz/compress/inflate"
	"github.com/gopz/compress/internal/container"
)

// spare is memory of a decoder for later use. Its lock is that of the decoder.
type spare struct {
	spareResults []*result
	spareOutputs []*output
	spareSymbols [][]uint16
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

// recycle keeps the memory of a result. The caller holds d.mu.
func (d *decoder) recycle(r *result) {
	d.spareResults = append(d.spareResults, r)
	if o := r.output; o != nil {
		d.spareOutputs = append(d.spareOutputs, o)
		d.dropSymbols(o)
		r.output = nil
	}
}

// output returns the output of a unit, or a spare one.
func (d *decoder) output(s *container.Serial) *output {
	o, ok := s.State.(*output)
	if !ok {
		d.mu.Lock()
		o = pop(&d.spareOutputs)
		d.mu.Unlock()
	}
	if o == nil {
		o = new(output)
	}
	o.marking = d.check.marks != nil
	return o
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
