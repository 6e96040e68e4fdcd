package gzfile

import (
	"bytes"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
)

// Decoding ahead. A worker searches a part of the file for the beginning of a block or a member. It
// decodes from there, with symbols in place of the bytes that depend on the unknown window, until
// the part ends and another block or member begins (Knespel and Brunst, "Rapidgzip: Parallel
// Decompression and Seeking in Gzip Files Using Cache Prefetching", HPDC 2023).
//
// Whoever decodes the part in front stops where the worker has started. If the worker has not found
// a place yet, it starts at the first one that the other comes to. As soon as the window there is
// known, the worker goes on with bytes.

const (
	// aheadContent is the most content of a unit that is decoded ahead, in bytes.
	aheadContent = 2 << 20

	// searchMost is how much of a part is searched for a place to start, in bytes. The blocks of
	// most compressors are shorter.
	searchMost = 256 << 10
	// searchStep is how much is searched at once, in bytes.
	searchStep = 16 << 10

	// aheadStep is how much content is decoded ahead at once, in bytes.
	aheadStep = 64 << 10
	// believed is how much content has to be decoded, in bytes, before a place that a search has
	// found is believed. The end of the block suffices too, and the header of the next member.
	believed = 32 << 10
	// doubtMost is how much input may be used for that, in bytes. No codes take as much for so much
	// content.
	doubtMost = 128 << 10
	// wrongMost is how many wrong places a search may find in a part. Compressed data has one in a
	// thousand parts.
	wrongMost = 8
)

// A result is the output of decoding ahead, and where it ended.
type result struct {
	start  place
	walker walker
	output *output
}

// Prepare implements container.SerialDecoder: it decodes the unit's part ahead.
func (d *decoder) Prepare(s *container.Serial) {
	p := d.input.unitPart(s.Unit)
	if p == nil {
		d.yield(s)
		return
	}
	r := reader{&d.input, p}
	defer r.release()
	if !p.ahead {
		d.yield(s)
		return
	}
	o := d.output(s, false)
	s.State = nil
	if o == nil {
		return
	}
	a := scout{dec: d, part: p, result: d.result(), checkpoint: s.Checkpoint}
	a.result.output = o
	a.reader.in = &d.input
	good, watch := false, container.StartWatch()
	defer func() {
		a.reader.release()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.busy.Note(watch.Shared())
		if good {
			d.results = append(d.results, a.result)
		} else {
			d.miss(a.result)
		}
	}()
	if good = a.decode(); good {
		used := a.result.walker.at - a.result.start.bit>>3
		d.ratio.Store(int64(a.result.output.size()) / max(used, 1))
	}
}

// A scout decodes a part ahead.
type scout struct {
	dec        *decoder
	part       *part
	result     *result
	reader     reader
	checkpoint func()
	wrong      int // places that the search has found, and that were wrong
}

// decode decodes the part from the first place that is right. It returns false if there is none.
func (a *scout) decode() bool {
	from := a.part.offset << 3
	for {
		start, given := a.findStart(from)
		if start == noPlace {
			return false
		}
		if a.decodeFrom(start, given) {
			return true
		}
		a.wrong++
		if given || a.wrong >= wrongMost {
			return false
		}
		from = start.bit + 1
	}
}

// findStart returns the first place in the part, from a bit of the file on, where decoding can
// start. It is given if somebody else has come to it.
func (a *scout) findStart(from int64) (start place, given bool) {
	p := a.part
	base := p.offset << 3
	last := base + min(int64(len(p.data)), searchMost)<<3
	if bit := inflate.FindStored(p.data, from-base, last-base); bit >= 0 {
		return place{base + bit, false}, false
	}
	if a.wrong == 0 {
		// The search for a flush compares bytes, and that for a block bits. Behind the first half
		// of the part a flush would leave too much to the worker of the part in front.
		half := 4 * int64(len(p.data))
		if bit := inflate.FindFlush(p.data, from-base, half); bit >= 0 {
			return place{base + bit, false}, false
		}
	}
	for from < last {
		if start = a.given(); start != noPlace {
			if start.bit >= p.endOffset()<<3 {
				return noPlace, true
			}
			return start, true
		}
		to := min(from+searchStep<<3, last)
		found := noPlace
		if bit := inflate.FindBlock(p.data, from-base, to-base); bit >= 0 {
			found = place{base + bit, false}
			to = found.bit
		}
		if at := a.findMember(p.data, (from-base+7)>>3, (to-base+7)>>3); at >= 0 {
			found = place{base + at<<3, true}
		}
		if found != noPlace {
			return found, false
		}
		from = to
		a.step()
	}
	return noPlace, false
}

// given returns the place that the part starts at, if one is known.
func (a *scout) given() place {
	in := &a.dec.input
	in.mu.Lock()
	defer in.mu.Unlock()
	return a.part.start
}

// announce makes start the place that the part starts at. It returns false if that is another one.
func (a *scout) announce(start place) bool {
	in := &a.dec.input
	in.mu.Lock()
	defer in.mu.Unlock()
	if a.part.start == noPlace {
		a.part.start = start
	}
	return a.part.start == start
}

// step is called between two pieces of work.
func (a *scout) step() {
	if a.checkpoint != nil {
		a.checkpoint()
	}
}

// findMember returns the first offset in p, from a byte on and before another, where the header of
// a member seems to begin, −1 if there is none. What looks like a header at first and is none
// counts as a wrong place.
func (a *scout) findMember(p []byte, from, to int64) int64 {
	for from < to && a.wrong < wrongMost {
		n := bytes.Index(p[from:min(int64(len(p)), to+2)], []byte("\x1f\x8b\x08"))
		if n < 0 {
			return -1
		}
		from += int64(n)
		if _, size, err := ParseHeader(p[from:]); err == nil && size > 0 {
			return from
		}
		a.wrong++
		from++
	}
	return -1
}

// decodeFrom decodes the part from a place on. It returns false if the place is wrong.
func (a *scout) decodeFrom(start place, sure bool) bool {
	p, r := a.part, a.result
	w, o := &r.walker, r.output
	r.start, w.rules = start, a.dec.rules
	w.resetAt(start, p.data[start.bit>>3-p.offset:])
	w.inflater.StopAtBlock = true
	switch {
	case start.member:
		o.reset(nil)
	case sure && p.window.Load() != nil:
		o.reset(p.window.Load()[:])
	default:
		if o.symbols == nil {
			o.symbols = a.dec.symbols()
		}
		o.beginUnknown()
	}
	stop := stop{in: &a.dec.input, offset: p.endOffset()}
	behind, ends := *w, 0 // the last place before a trailer
	for !o.full(aheadContent) && len(o.marks) < maxMarks && !(sure && stop.reached(w)) {
		in := a.reader.at(w.at)
		if len(in) == 0 || w.at-p.endOffset() > mostPart || !sure && w.at-start.bit>>3 > doubtMost {
			break
		}
		_, err := w.step(in, o, aheadStep)
		a.step()
		if err != nil {
			if sure && w.state != inBody {
				// What is wrong is for Decode to find.
				*w, o.ends = behind, o.ends[:ends]
			}
			return sure
		}
		if w.state == inTrailer && w.have == 0 {
			behind, ends = *w, len(o.ends)
		}
		if !sure && (w.atBlock || o.size() >= believed || w.state == inBody && w.members > 0) {
			if sure = a.announce(start); !sure {
				return false
			}
		}
		if o.unknown && sure {
			if window := p.window.Load(); window != nil {
				o.know(window)
				a.dec.keepSymbols(o)
			} else {
				o.settle()
			}
		}
	}
	return sure
}
