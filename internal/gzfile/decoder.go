package gzfile

import (
	"sync"
	"sync/atomic"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

const (
	// roomStep is how much content is decoded between two checkpoints, in bytes.
	roomStep = 256 << 10

	// sumPiece is how much content is resolved or summed between two checkpoints, in bytes.
	sumPiece = 1 << 20

	// After missedMost results in a row that were of no use, two parts of retryAhead are decoded
	// ahead.
	missedMost = 4
	retryAhead = 32
)

// A decoder decodes a .gz file. It is a [container.SerialDecoder].
//
// Decode goes through the file in order. Prepare decodes the part of its unit ahead, if that is
// worth it; see ahead.go. Where Decode comes to the place at which that started, it takes the
// result in place of decoding itself. So a part that was decoded from a wrong place costs time, and
// nothing else.
type decoder struct {
	input  input
	walker walker // of Decode
	reader reader
	checks bool
	rules  Rules

	maxDecoded int64
	content    int64  // of the file so far, in bytes
	cell       int64  // multiple of Marks.Spacing before the last mark, −1 before the first
	window     []byte // the content that what follows may refer to
	err        error  // what follows the content

	used  atomic.Int64 // input used by complete calls of Decode, in bytes
	ratio atomic.Int64 // bytes of content for a byte of input, where that was decoded last
	full  atomic.Bool  // the last call of Decode stopped for lack of room

	mu      sync.Mutex
	results []*result // of parts decoded ahead, that Decode has not taken
	missed  int       // results in a row that were of no use
	busy    container.Busyness
	spare   // memory for later use

	check verifier
}

// errDecoderPanicked is what a decoder returns after a panic.
var errDecoderPanicked = errs.New(errs.Internal, "a decoder panicked")

func newDecoder() *decoder {
	d := &decoder{walker: walker{inflater: new(inflate.Decoder)}}
	d.reader.in = &d.input
	return d
}

// reset begins a file. It keeps memory from file to file.
func (d *decoder) reset(limits *container.Limits) {
	d.reader.release()
	d.input.reset()
	d.rules, d.walker.rules = GzipRules, GzipRules
	d.walker.reset()
	d.checks, d.maxDecoded = limits.Checks, limits.MaxDecoded
	d.content, d.cell, d.window, d.err = 0, -1, d.window[:0], nil
	d.used.Store(0)
	d.ratio.Store(0)
	d.full.Store(false)
	for _, r := range d.results {
		d.releaseResult(r)
	}
	d.results, d.missed, d.busy = d.results[:0], 0, container.Busyness{}
	d.beginOutputs()
	d.check = verifier{checks: limits.Checks}
}

// release drops the references to the caller's memory. No unit is in flight.
func (d *decoder) release() {
	d.reader.release()
	d.input.reset()
	d.check.visit, d.check.err, d.err = nil, nil, nil
}

// pays reports whether it pays to decode the part of a unit ahead. It does not for the first one,
// whose turn has come. If several results in a row were of no use, only some parts are decoded
// ahead, to see whether that has changed.
func (d *decoder) pays(unit int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return unit > 0 && (d.missed < missedMost || unit%retryAhead < 2)
}

// isBusy reports whether the machine is too busy to decode ahead now.
func (d *decoder) isBusy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.busy.Lasts()
}

// partSize returns how long the next part should be that is decoded ahead.
func (d *decoder) partSize() int {
	return int(max(leastPart, min(mostPart, aheadTarget/max(d.ratio.Load(), 1))))
}

// Decode implements container.SerialDecoder.
func (d *decoder) Decode(s *container.Serial) {
	var o *output
	if d.err == nil {
		d.err = errDecoderPanicked // unless decode returns
		o, d.err = d.decode(s)
	} else {
		o = d.output(s, true)
		o.reset(nil)
	}
	s.State, s.Buf, s.History = o, o.buf[:o.to], windowSize
	s.Used, s.Total, s.Stop = d.walker.at, d.content, d.err
	d.used.Store(d.walker.at)
	if d.ratio.Load() == 0 {
		d.ratio.Store(d.content / max(d.walker.at, 1))
	}
}

// decode decodes the content of a unit into an output, or takes that of a result. The error is what
// follows: nil if more may.
func (d *decoder) decode(s *container.Serial) (o *output, err error) {
	most, start, marking := pieceSize, d.content, d.check.marks != nil
	stop := d.nextStop(s.Unit)
	r := d.takeResult()
	if r == nil || s.State != nil { // a new output may cost a result
		o = d.output(s, true)
	}
	if r != nil {
		if o != nil {
			d.keepOutput(o)
		}
		o = d.accept(r)
		if marking {
			d.choose(o, start)
		}
	} else {
		o.reset(d.window)
	}
	if stop.part != nil || o.size() > 0 {
		most = aheadContent
	}
	d.walker.inflater.StopAtBlock = stop.part != nil || marking
	drained := false
	for err == nil && !o.full(most) && !stop.reached(&d.walker) {
		in := d.reader.at(d.walker.at)
		if len(in) == 0 && (drained || d.walker.state != inBody) {
			if end := d.input.ended(d.walker.at); end != nil {
				err = d.walker.endError(end)
			}
			break
		}
		if stop.part == nil {
			stop = d.nextStop(s.Unit) // it may have come meanwhile
			d.walker.inflater.StopAtBlock = stop.part != nil || marking
		}
		before, room := o.size(), min(roomStep, most-o.size())
		_, err = d.walker.step(in, o, room)
		drained = o.size()-before < room
		if n := o.size() - before; d.maxDecoded >= 0 && int64(n) > d.maxDecoded-d.content {
			o.to -= n - int(d.maxDecoded-d.content)
			err = d.walker.fail(errs.TooLarge, errs.PartBlock, d.walker.offset, "")
		}
		d.content += int64(o.size() - before)
		if len(o.marks) > o.chosen {
			d.choose(o, start)
		}
		if s.Checkpoint != nil && err == nil {
			s.Checkpoint()
		}
	}
	d.full.Store(err == nil && o.full(most))
	d.window = d.window[:0]
	if d.walker.state == inBody {
		d.window = append(d.window, o.window()...)
	}
	stop.publish(&d.walker, d.window)
	d.input.used(d.walker.at)
	return o, err
}

// takeResult returns the result of decoding ahead from where the walker is, or nil. It drops
// results that are of no use any more.
func (d *decoder) takeResult() (taken *result) {
	at, ok := d.walker.place()
	d.mu.Lock()
	defer d.mu.Unlock()
	keep := d.results[:0]
	for _, r := range d.results {
		switch {
		case ok && taken == nil && r.start == at && d.suits(r):
			taken, d.missed = r, 0
		case r.start == at, r.start.bit <= d.walker.at<<3:
			d.miss(r)
		default:
			keep = append(keep, r)
		}
	}
	d.results = keep
	return taken
}

// suits reports whether a result that begins at the right place can be used.
func (d *decoder) suits(r *result) bool {
	o := r.output
	if d.maxDecoded >= 0 && int64(o.size()) > d.maxDecoded-d.content {
		return false
	}
	return len(d.window) == windowSize || r.start.member
}

// accept goes to the end of a result, and returns its output.
func (d *decoder) accept(r *result) *output {
	o, w := r.output, r.walker
	r.walker.inflater = d.walker.inflater
	w.members += d.walker.members
	if !r.start.member {
		o.resolveEnd((*[windowSize]byte)(d.window))
		if len(o.ends) > 0 {
			o.ends[0].member = d.walker.offset
		} else if w.state <= inTrailer && w.members == d.walker.members {
			w.offset, w.start = d.walker.offset, d.walker.start
		}
	}
	d.walker = w
	d.content += int64(o.size())
	r.output = nil
	d.mu.Lock()
	d.releaseResult(r)
	d.mu.Unlock()
	return o
}

// miss drops a result. The caller holds d.mu.
func (d *decoder) miss(r *result) {
	d.missed++
	d.releaseResult(r)
}
