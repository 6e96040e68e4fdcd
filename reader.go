package compress

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

// Reader decompresses .pz, .gz or .zst data that it reads from another reader: one stream, member or frame, or several that follow one another, whose
// contents it gives out as one. In errors about .gz members count as streams, and about .zst frames as blocks. Skippable frames of .zst, and zeros behind a .gz
// file, are passed over. A frame that needs a dictionary is an [ErrVersion], and one that needs a window of more than 128 MiB, or more than fits in
// [WithMaxMemory], an [ErrMemory].
//
// It reads some blocks ahead, inside of its own methods only, and has them decompressed at the same time. It gives out
// all content in front of a damaged place before it returns the error; of a .gz member or a .zst frame that is cut short also what
// there is of it, which no check of the content covers. Everything else is verified: headers, content, index, and that nothing but streams follows. An empty input is no such data: it is [ErrTruncated]. A Reader has no goroutines
// of its own; one that is dropped without Close leaks nothing. Methods are for one goroutine at a time. After an error
// all of them return that error.
// Make one with [NewReader]; the methods of the zero value return an [ErrOption].
type Reader struct {
	opt   options
	sched *pipeline.Scheduler
	runner
	made need // what the run was begun for

	scan    scanner
	known   bool         // the format is
	foreign *foreign     // reads it if it is not .pz; nil if there never was such an input
	other   bool         // foreign does
	quick   bool         // reading does not wait for somebody else, so that reading ahead does no harm
	hold    bool         // do not read ahead before all blocks are given out
	unit    unit         // header read, payload not yet, if ahead is set
	entry   pzfile.Entry // of a unit of .pz
	ahead   bool
	stop    error // what the input ends with, after the blocks that are out

	places []place // of blocks that are out
	count  int64   // blocks submitted
	cur    *pipeline.Block
	out    []byte // of cur, not given out yet
	passed int64  // blocks given out
	closed bool
	err    error

	into func(u *unit) []byte // memory of the caller's for the content of a unit of .pz, or nil; nil itself if there is none
}

// place is where a block comes from.
type place struct {
	stream  int
	block   int64
	offset  int64 // of its header
	end     int64 // of its payload's end
	content int64 // offset of the end of its content
	total   int64 // content there will be, −1 if not known

	borrowed bool // the payload is the caller's memory
}

// NewReader returns a Reader that reads from r, which may be read past the end of the compressed data. Nothing is read before
// the first Read.
func NewReader(r io.Reader, opts ...Option) (*Reader, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	z := &Reader{opt: o, sched: o.scheduler()}
	z.Reset(r)
	return z, nil
}

// Reset makes the Reader begin anew with src and the options it has.
func (r *Reader) Reset(src io.Reader) {
	r.park()
	r.scan.reset(src)
	r.quick = neverWaits(src)
	r.known, r.other, r.hold, r.ahead, r.stop, r.err, r.closed, r.passed = false, false, false, false, nil, nil, false, 0
}

// neverWaits reports whether all of the input is there for the taking.
func neverWaits(src io.Reader) bool {
	switch s := src.(type) {
	case *bytes.Reader, *bytes.Buffer, *strings.Reader:
		return true
	case *os.File:
		info, err := s.Stat()
		return err == nil && info.Mode().IsRegular()
	}
	return false
}

// park leaves the run as it is for the next Reset if it is at rest, else ends it.
func (r *Reader) park() {
	r.put()
	r.free()
	r.rest()
	if r.other {
		r.foreign.forget()
	}
}

// put gives the current block back.
func (r *Reader) put() {
	if r.run != nil && r.cur != nil {
		if r.places[r.cur.Tag].borrowed {
			r.cur.Src = nil
		}
		r.run.Put(r.cur)
	}
	r.cur, r.out = nil, nil
}

// Stats returns the statistics of what has been read so far, zero if they were off when it began. They go on after Reset.
func (r *Reader) Stats() SchedulerStats { return r.statistics() }

// fail makes err the Reader's last word.
func (r *Reader) fail(err error) error {
	r.err = err
	if err == io.EOF {
		r.park()
	} else {
		r.runner.stop()
		r.cur, r.out = nil, nil
	}
	return err
}

// Close ends the Reader and frees what it holds. It does not close the underlying reader and does not read it to its
// end. It returns nil.
func (r *Reader) Close() error {
	if !r.closed {
		r.closed = true
		r.park()
		r.err = ErrClosed
	}
	return nil
}

// Read reads content.
func (r *Reader) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, r.err
	}
	for len(r.out) == 0 { // there are empty frames
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n = copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// WriteTo writes all content that is left to w, straight from the blocks' buffers. An error of w does the Reader no harm.
func (r *Reader) WriteTo(w io.Writer) (n int64, err error) {
	for {
		for len(r.out) == 0 {
			if err := r.next(); err != nil {
				if err == io.EOF {
					err = nil
				}
				return n, err
			}
		}
		m, err := writeFull(w, r.out)
		r.out = r.out[m:]
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
}

// next makes r.out the content of the next block.
func (r *Reader) next() error {
	if r.err != nil {
		return r.err
	}
	if r.sched == nil {
		return r.fail(optionError("a Reader that was made without NewReader"))
	}
	r.err = errPanicked // unless it comes back
	r.err = r.advance()
	return r.err
}

// advance is next while there is no error. On the way it reads as far ahead as it may.
func (r *Reader) advance() error {
	r.put()
	for {
		if err := r.opt.canceled(); err != nil {
			return r.fail(err)
		}
		more := r.readAhead()
		if r.pending() == 0 {
			if r.stop != nil {
				return r.fail(r.stop)
			}
			r.hold = false
			continue
		}
		// If no more can be read ahead, there is nothing left to do than to wait.
		b, err := r.run.Next(!more)
		if err != nil {
			return r.fail(err)
		}
		if b != nil {
			return r.take(b)
		}
	}
}

// readAhead reads one more block and submits it. It reports whether it is of use to call it again at once.
func (r *Reader) readAhead() bool {
	if r.stop != nil || r.hold {
		return false
	}
	if !r.ahead {
		if err := r.nextUnit(); err != nil {
			return r.pause(err)
		}
		r.ahead = true
	}
	if r.run == nil || !r.made.fits(&r.unit.need) {
		if r.pending() > 0 {
			return false
		}
		if err := r.start(); err != nil {
			r.stop = err
			return false
		}
	}
	b := r.run.Get()
	if b == nil {
		if r.pending() == 0 {
			r.stop = errNoBlock
		}
		return false
	}
	var err error
	if b.Src, err = r.payload(b.Src); err != nil {
		r.run.Put(b)
		r.ahead = false
		return r.pause(err)
	}
	r.submit(b)
	r.hold = r.unit.pause
	return !r.hold
}

// pause is for what comes instead of a block. It returns what readAhead does.
func (r *Reader) pause(err error) bool {
	if err == errStreamEnd {
		r.hold = !r.quick
		return !r.hold
	}
	r.stop = err
	return false
}

// nextUnit goes to the next unit of the input, whatever its format, and compares it with the limit of the content.
func (r *Reader) nextUnit() error {
	s := &r.scan
	if !r.known {
		r.known = true
		if format, known, _ := sniff(s.peek()); known {
			if r.foreign == nil {
				r.foreign = new(foreign)
			}
			r.other = true
			r.foreign.begin(format, s, &r.opt, r.quick)
		}
	}
	if r.other {
		return r.foreign.next(&r.unit)
	}
	e, sum, err := s.next()
	if err != nil {
		return err
	}
	h := &s.hdr
	if limit := r.opt.maxDecoded; limit >= 0 && max(s.raw, h.ContentSize) > limit-s.before {
		return &Error{Kind: ErrTooLarge, Stream: s.stream, Block: s.blocks - 1, Offset: s.at}
	}
	total := int64(-1)
	if h.ContentSize >= 0 {
		total = s.before + h.ContentSize
	}
	r.entry = e
	r.unit = unit{
		need: need{pipe: pipeline.ByID(h.Pipeline), checks: h.Checks && r.opt.checks, size: h.BlockSize}, // the scanner has seen to it that there is one
		kind: pipeline.Kind(e.Kind), raw: e.Raw, sum: sum,
		place: place{s.stream, s.blocks - 1, s.at, s.off + int64(e.Payload), s.before + s.raw, total, s.mem != nil},
		// A writer leaves a block short at the end and where it was flushed. There the next byte may be long in coming.
		pause: !r.quick && e.Raw < h.BlockSize,
	}
	if !r.opt.checks {
		r.unit.sum = 0
	}
	return nil
}

// payload reads what belongs to the unit, into p's memory if it is not in memory already.
func (r *Reader) payload(p []byte) ([]byte, error) {
	if r.other {
		return r.foreign.payload(&r.unit, p)
	}
	return r.scan.payload(p, r.entry.Payload)
}

// start begins a run for the unit.
func (r *Reader) start() (err error) {
	u := &r.unit
	var p plan
	if r.other {
		p, err = r.opt.foreignPlan(&u.need)
	} else {
		p, err = r.opt.readerPlan(u.pipe, u.size)
	}
	if err != nil {
		return err
	}
	cfg := r.opt.config(pipeline.Decompress, u.pipe, u.checks, p.inFlight)
	if err := r.sched.Check(cfg, u.size); err != nil {
		return &Error{Kind: ErrDevice, Block: -1, Offset: -1, Err: err}
	}
	r.runner.start(r.sched, cfg)
	r.made = u.need
	if len(r.places) < p.inFlight {
		r.places = make([]place, p.inFlight)
	}
	return nil
}

// submit gives a block whose payload is read to the workers.
func (r *Reader) submit(b *pipeline.Block) {
	u := &r.unit
	b.Kind, b.Raw, b.Sum, b.Into, b.CallerOwned = u.kind, u.raw, u.sum, nil, u.place.borrowed
	if r.into != nil && !r.other {
		b.Into = r.into(u)
	}
	b.Tag = r.count % int64(len(r.places))
	r.count++
	r.places[b.Tag] = u.place
	r.run.Number(u.place.block)
	r.run.Submit(b)
	r.ahead = false
}

// take makes a block that is done the current one.
func (r *Reader) take(b *pipeline.Block) error {
	at := &r.places[b.Tag]
	if b.Err != nil {
		return r.fail(blockError(pipeline.Decompress, b.Err, r.opt.ctx, at.stream, at.block, at.offset))
	}
	r.cur, r.out = b, b.Out()
	r.passed++
	if r.opt.progress != nil {
		r.opt.progress(Progress{Content: at.content, Compressed: at.end, Total: at.total, Blocks: r.passed})
	}
	return nil
}
