package compress

import (
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/pipeline"
)

// Reader decompresses .pz, .gz or .zst data that it reads from another reader: one stream, member
// or frame, or several that follow one another, whose contents it returns as one. In errors about
// .gz members count as streams, and about .zst frames count as blocks. Skippable frames of .zst and
// zeros behind a .gz file are passed over. A .pz stream or a .zst frame that names another dictionary
// than that of [WithDictionary] is an [ErrDictionary]. A frame that needs a window of more than 128 MiB,
// or more than fits in [WithMaxMemory], is an [ErrMemory].
//
// A Reader reads some blocks ahead, inside its own methods only, and has them decompressed at the
// same time. It verifies headers, content and index, and that nothing but streams follows. It
// returns all content in front of a damaged place before it returns the error. Of a .gz member or
// .zst frame that is damaged or cut short it also returns what it has decoded, which no check
// covers. Empty input returns [ErrTruncated].
//
// A Reader has no goroutines of its own; one that is dropped without Close leaks nothing. Methods
// are for one goroutine at a time. After an error, Read and WriteTo return it until Reset. Make one
// with [NewReader]; the methods of the zero value return an [ErrOption].
type Reader struct {
	opt   options
	sched *pipeline.Scheduler
	stream

	src     io.Reader
	memory  []byte                     // in place of src
	head    [container.DetectSize]byte // the first bytes of src
	sources sources
	source  container.Source // nil until the format is known
	format  Format

	// The run was made for this format and spec.
	runFormat Format
	runSpec   container.Spec

	nonBlocking bool        // reading src waits for no other party, so that reading ahead is safe
	ready       func() bool // reports whether one read of src would not wait; nil if unknown
	input       inputState
	unit        container.Unit // valid in state atPayload
	end         error          // of the input, after the blocks in flight

	places []container.Place // of blocks in flight, by Block.Tag
	count  int64             // blocks submitted
	cur    *pipeline.Block
	out    []byte // of cur, not returned yet
	passed int64  // blocks returned
	closed bool
	err    error

	// into returns the caller's memory for the content of a .pz block, or nil. It is nil itself if
	// there is none.
	into func(u *container.Unit) []byte
}

// inputState says what a Reader reads next.
type inputState uint8

const (
	atUnit    inputState = iota // a unit
	atPayload                   // the payload of the unit
	held                        // a unit, but not before all blocks are returned
)

// NewReader returns a Reader that reads from r. It may read r past the end of the compressed data,
// and reads nothing before the first Read.
func NewReader(r io.Reader, opts ...Option) (*Reader, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	z := &Reader{sched: o.scheduler()}
	z.opt = o
	z.Reset(r)
	return z, nil
}

// Reset makes the Reader start over with src and the options that it has, also after an error or
// Close. It reads nothing, so it cannot fail.
func (r *Reader) Reset(src io.Reader) {
	r.release()
	r.src, r.memory = src, nil
	r.source, r.input, r.end, r.err, r.closed, r.passed = nil, atUnit, nil, nil, false, 0
	if o, ok := src.(container.Opener); ok { // package gzip has read the beginning
		r.format = Gzip
		r.source, r.nonBlocking, r.ready = o.Open(&r.opt.limits, r.sched.Workers())
		return
	}
	r.nonBlocking, r.ready = container.IsNonBlocking(src), nil
	if !r.nonBlocking {
		r.ready = container.Readiness(src)
	}
}

// release frees the current block and drops references to the input. It keeps the run for the next
// Reset if all blocks are free, and closes it otherwise.
func (r *Reader) release() {
	r.putBlock()
	r.recycle()
	if r.run == nil {
		r.window = nil
	} else if r.window != nil {
		r.window.Release()
	}
	r.releaseScratch()
	if r.source != nil {
		r.source.Release()
	}
}

// putBlock frees the current block.
func (r *Reader) putBlock() {
	if r.run != nil && r.cur != nil {
		if r.places[r.cur.Tag].CallerOwned {
			r.cur.Src = nil
		}
		r.run.Put(r.cur)
	}
	r.cur, r.out = nil, nil
}

// Stats returns the statistics of what has been read so far, which continue after Reset. It returns
// zero if statistics were off at the start.
func (r *Reader) Stats() SchedulerStats { return r.statistics() }

// fail makes err what all methods return.
func (r *Reader) fail(err error) error {
	r.err = err
	if err == io.EOF {
		r.release()
	} else {
		r.stop()
		r.cur, r.out = nil, nil
	}
	return err
}

// Close ends the Reader and frees what it holds. It does not close the underlying reader and does
// not read it to its end. It returns nil.
func (r *Reader) Close() error {
	if !r.closed {
		r.closed = true
		r.release()
		r.err = ErrClosed
	}
	return nil
}

// Read reads up to len(p) bytes of content into p. It returns [io.EOF] behind the last stream, and an
// error of the input behind all content in front of the damage.
func (r *Reader) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, r.err
	}
	for len(r.out) == 0 { // frames may be empty
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n = copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// WriteTo writes the rest of the content to w, straight from the buffers of the blocks. After an
// error of w the Reader can go on.
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
		m, err := container.WriteFull(w, r.out)
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
		return r.fail(errs.BadOption("a Reader that was made without NewReader"))
	}
	r.err = errs.Panicked // unless advance returns
	r.err = r.advance()
	return r.err
}

// advance does the work of next. It reads as far ahead as it may before it waits for a block.
func (r *Reader) advance() error {
	r.putBlock()
	for {
		if err := r.opt.canceled(); err != nil {
			return r.fail(err)
		}
		more := r.readAhead()
		if r.pending() == 0 {
			if r.end != nil {
				return r.fail(r.end)
			}
			if r.input == held {
				r.input = atUnit
			}
			continue
		}
		// If nothing more can be read ahead, there is nothing left to do but wait.
		b, err := r.run.Next(!more)
		if err != nil {
			return r.fail(err)
		}
		if b != nil {
			return r.deliver(b)
		}
	}
}

// readAhead reads one more block and submits it. It reports whether another call makes sense at
// once.
func (r *Reader) readAhead() bool {
	if r.end != nil || r.input == held && !r.goesOn() {
		return false
	}
	if r.source == nil {
		r.open()
	}
	if r.input == atUnit {
		if err := r.source.Next(&r.unit); err != nil {
			return r.pause(err)
		}
		r.input = atPayload
	}
	if r.run == nil || r.runFormat != r.format || !r.runSpec.Serves(&r.unit.Spec) {
		if r.pending() > 0 {
			return false
		}
		if err := r.startRun(); err != nil {
			r.end = err
			return false
		}
	}
	b := r.run.Get()
	if b == nil {
		if r.pending() == 0 {
			r.end = errNoBlock
		}
		return false
	}
	var err error
	b.Src, err = r.source.Payload(&r.unit, b.Src)
	if err != nil {
		r.run.Put(b)
		r.input = atUnit
		return r.pause(err)
	}
	r.submit(b)
	r.input = atUnit
	if r.unit.Pause {
		r.input = held
	}
	return r.input == atUnit
}

// goesOn releases input that was held if reading on does not block after all. A Source of .gz
// reads no more at once than has come.
func (r *Reader) goesOn() bool {
	if r.ready == nil || r.format != Gzip || !r.ready() {
		return false
	}
	r.input = atUnit
	return true
}

// pause handles what comes in place of a unit, and returns what readAhead does.
func (r *Reader) pause(err error) bool {
	if err == container.ErrNothingYet {
		if !r.nonBlocking {
			r.input = held
		}
		return r.nonBlocking
	}
	r.end = err
	return false
}

// open detects the format of the input and begins to read it.
func (r *Reader) open() {
	var in container.Start
	if r.memory != nil {
		in = container.MemoryStart(r.memory)
	} else {
		in = container.ReadStart(r.src, &r.head, r.nonBlocking)
		in.Ready = r.ready
	}
	var ok bool
	r.format, ok, _ = container.Detect(in.Head)
	if !ok {
		r.format = PZ
	}
	r.source = r.sources.begin(r.format, &in, &r.opt, r.sched.Workers())
}

// startRun begins a run for the unit.
func (r *Reader) startRun() (err error) {
	u := &r.unit
	p, checks := pipelineOf(r.format, u.Pipeline), u.Checks
	var b budget
	if r.format == PZ {
		b, err = r.opt.readerBudget(p, u.Spec)
	} else {
		b, err = r.opt.standardBudget(p, u.Spec)
	}
	if err != nil {
		return err
	}
	cfg := r.opt.config(pipeline.Decompress, p, checks, b.inFlight)
	if r.format == PZ && u.Dictionary == 0 {
		cfg.Dictionary = nil
	}
	r.window = nil
	if u.Window > 0 {
		r.window = pipeline.NewWindow(u.Window, u.BlockSize)
		cfg.LongDistance = pipeline.LongDistance{Sources: u.Sources, Window: r.window}
	}
	if err := r.sched.Check(cfg, u.BlockSize); err != nil {
		return errs.Wrap(ErrDevice, err)
	}
	r.stream.start(r.sched, cfg)
	r.runFormat, r.runSpec = r.format, u.Spec
	if len(r.places) < b.inFlight {
		r.places = make([]container.Place, b.inFlight)
	}
	return nil
}

// submit gives a block whose payload has been read to the workers.
func (r *Reader) submit(b *pipeline.Block) {
	u := &r.unit
	b.Kind, b.Raw, b.Sum = u.Kind, u.Raw, u.Sum
	b.Into, b.CallerOwned = nil, u.Place.CallerOwned
	if r.into != nil && r.format == PZ {
		b.Into = r.into(u)
	}
	b.Serial.Decoder, b.Serial.Unit = u.Decoder, u.Number
	b.Tag = r.count % int64(len(r.places))
	r.count++
	r.places[b.Tag] = u.Place
	r.run.Number(u.Place.Block)
	waits := u.Pause || u.Decoder == nil && u.Place.Content <= smallContent
	r.stream.submit(b, u.Raw, waits)
}

// deliver makes a block that is done the current one.
func (r *Reader) deliver(b *pipeline.Block) error {
	at := &r.places[b.Tag]
	if b.Err != nil {
		ctx := r.opt.limits.Context
		err := blockError(pipeline.Decompress, b.Err, ctx, at.Stream, at.Block, at.Offset)
		if b.Decoded == 0 {
			return r.fail(err)
		}
		out := b.Out()[:b.Decoded]
		r.stop()
		r.out, r.end = out, err
		return nil
	}
	if s := &b.Serial; s.Decoder != nil {
		s.Decoder.Verify(s)
		b.Raw = len(s.Content())
		at.Content, at.End = s.Total, s.Used
		if s.Stop != nil {
			r.end = s.Stop // after the blocks in flight, which are empty
		}
		if b.Raw == 0 {
			r.run.Put(b)
			return nil
		}
	}
	r.cur, r.out = b, b.Out()
	r.passed++
	if r.opt.progress != nil {
		r.opt.progress(Progress{Content: at.Content, Compressed: at.End, Total: at.Total, Blocks: r.passed})
	}
	return nil
}
