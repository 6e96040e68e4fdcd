package gzfile

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A part is consecutive input of a file, which comes with a unit. If it is worth decoding ahead, a
// worker does that before the unit's turn. That needs a place to start at: the worker finds one, or
// whoever decodes the part in front comes to one first.
type part struct {
	unit   int64 // number of the unit
	offset int64 // of data in the file
	data   []byte
	owned  bool // data is memory of the input's
	pins   int  // parties that read data

	ahead bool
	start place // where decoding ahead starts, noPlace if nobody knows yet
	// window is the content in front of start, nil if that is not known.
	window atomic.Pointer[[windowSize]byte]
}

// endOffset returns the offset of the end of data in the file.
func (p *part) endOffset() int64 { return p.offset + int64(len(p.data)) }

// A place is where a block or a member begins. Decoding can start there.
type place struct {
	bit    int64 // offset in the file, in bits
	member bool
}

var noPlace = place{bit: -1}

// An input has the parts of a file that may still be needed. Parties read them at the same time.
type input struct {
	mu    sync.Mutex
	parts []*part // consecutive
	size  int64   // offset of the end of the last part
	end   error   // what follows it: nil if there may be more, else the read error

	// Memory for later use.
	spare   [][]byte
	windows []*[windowSize]byte
	plain   []*part // that were not decoded ahead: no stop refers to them
}

// reset drops all parts. Nobody reads them any more.
func (in *input) reset() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, p := range in.parts {
		p.pins = 0
	}
	in.dropParts(len(in.parts))
	in.size, in.end = 0, nil
}

// memory returns a buffer of n bytes for the data of a part.
func (in *input) memory(n int) []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, p := range in.spare {
		if cap(p) >= n {
			in.spare = slices.Delete(in.spare, i, i+1)
			return p[:n]
		}
	}
	clear(in.spare) // too small
	in.spare = in.spare[:0]
	return make([]byte, n)
}

// addPart appends a part, and says what follows it.
func (in *input) addPart(data []byte, owned bool, unit int64, ahead bool, end error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	var p *part
	if !ahead {
		p = pop(&in.plain)
	}
	if p == nil {
		p = new(part)
	}
	p.unit, p.offset, p.data, p.owned = unit, in.size, data, owned
	p.ahead, p.start = ahead, noPlace
	in.size, in.end = p.endOffset(), end
	if len(p.data) > 0 {
		in.parts = append(in.parts, p)
	} else {
		in.releasePart(p)
	}
}

// dropParts forgets the first n parts.
func (in *input) dropParts(n int) {
	for _, p := range in.parts[:n] {
		if p.pins == 0 {
			in.releasePart(p)
		}
	}
	in.parts = slices.Delete(in.parts, 0, n)
}

// releasePart keeps the memory of a part.
func (in *input) releasePart(p *part) {
	if p.owned {
		in.spare = append(in.spare, p.data[:0])
	}
	if w := p.window.Swap(nil); w != nil {
		in.windows = append(in.windows, w)
	}
	p.data, p.owned = nil, false
	if !p.ahead {
		in.plain = append(in.plain, p)
	}
}

// used drops the parts in front of an offset.
func (in *input) used(offset int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	n := 0
	for n < len(in.parts) && in.parts[n].endOffset() <= offset {
		n++
	}
	in.dropParts(n)
}

// unitPart returns the part of a unit, pinned, or nil if there is none any more.
func (in *input) unitPart(unit int64) *part {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, p := range in.parts {
		if p.unit == unit {
			p.pins++
			return p
		}
	}
	return nil
}

// ended returns what follows the input. It is nil if there may be more, or is more behind offset.
func (in *input) ended(offset int64) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if offset < in.size {
		return nil
	}
	return in.end
}

// A reader reads the input of a file from any place. It pins the part that it reads.
type reader struct {
	in   *input
	part *part
}

// at returns input that begins at an offset, nil if there is none yet.
func (r *reader) at(offset int64) []byte {
	p := r.part
	if p == nil || offset < p.offset || offset >= p.endOffset() {
		if p = r.move(offset); p == nil {
			return nil
		}
	}
	return p.data[offset-p.offset:]
}

// move pins the part that has the offset, in place of the one before.
func (r *reader) move(offset int64) *part {
	in := r.in
	in.mu.Lock()
	defer in.mu.Unlock()
	r.unpin()
	p := in.find(offset)
	if p != nil {
		p.pins++
	}
	r.part = p
	return p
}

// find returns the part that has an offset, nil if there is none. The caller holds in.mu.
func (in *input) find(offset int64) *part {
	for _, p := range in.parts {
		if p.offset <= offset && offset < p.endOffset() {
			return p
		}
	}
	return nil
}

// unpin gives the part up. The caller holds in.mu.
func (r *reader) unpin() {
	p := r.part
	if p == nil {
		return
	}
	p.pins--
	if p.pins == 0 && !slices.Contains(r.in.parts, p) {
		r.in.releasePart(p)
	}
	r.part = nil
}

// release gives up what the reader has pinned.
func (r *reader) release() {
	r.in.mu.Lock()
	r.unpin()
	r.in.mu.Unlock()
}
