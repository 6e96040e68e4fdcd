package compress

import (
	"io"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/hook"
	"github.com/gopz/compress/pipeline"
)

// Reader decompresses .pz, .gz or .zst data that it reads from another reader: one stream, member
// or frame, or several that follow one another, whose contents it returns as one. In errors about
// .gz members count as streams, and about .zst frames count as blocks. Skippable frames of .zst and
// zeros behind a .gz file are passed over. A .pz stream or a .zst frame that names another
// dictionary than that of [WithDictionary] is an [ErrDictionary]. A frame that needs a window of
// more than 128 MiB, or more than fits in [WithMaxMemory], is an [ErrMemory].
//
// A Reader reads some blocks ahead, inside its own methods only, and has them decompressed at the
// same time. It verifies headers, content and index, and that nothing but streams follows. It
// returns all content in front of a damaged place before it returns the error. Of a .gz member or
// .zst frame that is damaged or cut short it also returns what it has decoded, which no check
// covers. Empty input returns [ErrTruncated].
//
// Without [WithReadAhead] a Reader has no goroutine of its own; one that is dropped without Close
// leaks nothing. Methods are for one goroutine at a time. After an error, Read and WriteTo return
// it until Reset. Make one with [NewReader]; the methods of the zero value return an [ErrOption].
type Reader struct {
	opt   options
	sched *pipeline.Scheduler
	stream

	src     io.Reader
	ahead   *container.ReadAhead       // reads the caller's source; nil if the Reader does
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

	places  []container.Place   // of blocks in flight, by Block.Tag
	serials []*container.Serial // not in use
	count   int64               // blocks submitted
	cur     *pipeline.Block
	out     []byte // of cur, not returned yet
	partly  bool   // a part of a .zst frame has been returned, and its end has not
	passed  int64  // blocks returned
	closed  bool
	err     error

	// into returns the caller's memory for the content of a .pz block, or nil. It is nil itself if
	// there is none.
	into func(u *container.Unit) []byte
}

// inputState says what a Reader reads next.
type inputState uint8

const (
	atUnit    inputState = iota // a unit
	atPayload                   // the payload of the unit
	held                        // a unit, but not before all blocks are returned, or input has come
	waiting                     // a unit, but not before all blocks are returned
)

// NewReader returns a Reader that reads from r. It may read r past the end of the compressed data,
// and reads nothing before the first Read.
func NewReader(r io.Reader, opts ...ReaderOption) (*Reader, error) {
	o, err := newOptions(forReader, opts)
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
	r.restart(src)
	r.nonBlocking, r.ready = container.IsNonBlocking(src), nil
	if r.opt.readAhead > 0 && !r.nonBlocking && src != nil {
		r.ahead = container.NewReadAhead(src, r.opt.readAhead)
		r.src = r.ahead
	}
	switch {
	case r.nonBlocking:
	case r.ahead != nil:
		r.ready = r.ahead.Ready
	default:
		r.ready = container.Readiness(src)
	}
}

// resume makes the Reader go on in a .gz file whose beginning another decoder has read.
func (r *Reader) resume(open hook.Open) {
	r.restart(nil)
	r.format = Gzip
	r.source, r.nonBlocking, r.ready = open(&r.opt.limits, r.sched.Workers(), r.opt.readAhead)
}

// restart makes the Reader start over with src, up to the format.
func (r *Reader) restart(src io.Reader) {
	r.release()
	r.src, r.memory = src, nil
	r.source, r.input, r.end, r.err, r.closed, r.passed = nil, atUnit, nil, nil, false, 0
	r.partly = false
}

// release frees the current block and drops references to the input. It keeps the run for the next
// Reset if all blocks are free, and closes it otherwise.
func (r *Reader) release() {
	r.releaseCurrent()
	r.recycle()
	r.releaseScratch()
	if r.source != nil {
		r.source.Release()
	}
	r.stopAhead()
}

// stopAhead has the source read no more.
func (r *Reader) stopAhead() {
	if r.ahead != nil {
		r.ahead.Close()
		r.ahead = nil
	}
}

// releaseCurrent frees the current block.
func (r *Reader) releaseCurrent() {
	if r.run != nil && r.cur != nil {
		r.releaseBlock(r.cur)
	}
	r.cur, r.out = nil, nil
}

// releaseBlock frees a block. It keeps what the decoder of a serial one has left for the next.
func (r *Reader) releaseBlock(b *pipeline.Block) {
	if s, ok := b.Serial.(*container.Serial); ok {
		*s = container.Serial{State: s.State}
		r.serials = append(r.serials, s)
	}
	r.run.Put(b)
}

// Stats returns the statistics of what has been read so far, which continue after Reset. It returns
// zero if statistics were off at the start: see [Scheduler.EnableStats].
func (r *Reader) Stats() Stats { return statsOf(r.statistics()) }

// fail makes err what all methods return.
func (r *Reader) fail(err error) error {
	r.err = err
	if r.partly {
		r.endsUnverified(true)
	}
	if err == io.EOF {
		r.release()
	} else {
		r.stop()
		r.cur, r.out, r.serials = nil, nil, nil
		r.stopAhead()
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

// Read reads up to len(p) bytes of content into p. It returns [io.EOF] behind the last stream, and
// an error of the input behind all content in front of the damage.
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
	r.releaseCurrent()
	for {
		if err := r.opt.canceled(); err != nil {
			return r.fail(err)
		}
		more := r.readAhead()
		if r.pending() == 0 {
			if r.end != nil {
				return r.fail(r.end)
			}
			if r.input >= held {
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

// deliver makes a block that is done the current one.
func (r *Reader) deliver(b *pipeline.Block) error {
	at := &r.places[b.Tag]
	if b.Err != nil {
		ctx := r.opt.limits.Context
		err := blockError(pipeline.Decompress, b.Err, ctx, at.Stream, at.Block, at.Offset)
		if b.Decoded == 0 || r.endsUnverified(false) {
			return r.fail(err)
		}
		out := b.Out()[:b.Decoded]
		r.stop()
		r.out, r.end = out, err
		return nil
	}
	out := b.Out()
	if s, ok := b.Serial.(*container.Serial); ok {
		s.Decoder.Verify(s)
		if s.Damage != nil && !r.partly && r.endsUnverified(false) {
			return r.fail(s.Damage)
		}
		out = s.Content()
		r.partly = s.Partly && (r.partly || len(out) > 0)
		at.Content, at.End = s.Total, s.Used
		switch s.Stop {
		case nil:
		case io.EOF:
			r.end = io.EOF // after the blocks in flight, which are empty
		default:
			r.end = s.Stop
			r.stop() // blocks in flight do not count
			b = nil
		}
		if len(out) == 0 {
			if b != nil {
				r.releaseBlock(b)
			}
			return nil
		}
	}
	r.cur, r.out = b, out
	r.passed++
	if r.opt.progress != nil {
		r.opt.progress(Progress{Content: at.Content, Compressed: at.End, Total: at.Total, Blocks: r.passed})
	}
	return nil
}

// endsUnverified tells the caller that a part of a damaged .zst frame has been returned, or
// reports whether the Reader ends at a damaged frame, and returns nothing of it.
func (r *Reader) endsUnverified(partly bool) bool {
	return r.format == Zstd && r.opt.unverified != nil && r.opt.unverified(partly)
}

// AppendDecode appends the content of src, which a [Reader] could read, to dst and returns the
// extended slice. The free capacity of dst must not overlap src, and may be written to beyond the
// result. With an error it returns the content in front of the damage.
//
// Before content is decoded, dst grows to at most 8 times len(src), if a header announces as much.
// Beyond that it grows with what has been decoded. Some kilobytes can decode to gigabytes: use
// [WithMaxDecodedSize] for input that is not trusted.
//
// The caller's goroutine decompresses the first 64 KiB itself, as a [Reader] does. In the steady
// state a call with less content than that allocates nothing if dst has the capacity and opts are
// made once and used again.
func AppendDecode(dst, src []byte, opts ...ReaderOption) ([]byte, error) {
	d := decoders.Get().(*decoder)
	err := d.decode(dst, src, opts)
	dst = d.sink.p
	d.putAway()
	decoders.Put(d)
	return dst, err
}

// decoders holds decoders for the next call.
var decoders = sync.Pool{New: func() any {
	d := new(decoder)
	d.into = d.destination
	return d
}}

// A decoder is a Reader whose workers decode into the caller's memory.
type decoder struct {
	Reader
	sink  sink
	base  int  // bytes of dst in front of the content
	size  int  // bytes of src
	grown bool // dst has room for the content that the header announces
}

// destination returns where in the caller's memory the content of a unit belongs, nil if that is
// beyond its capacity.
func (d *decoder) destination(u *container.Unit) []byte {
	if !d.grown {
		d.grown = true
		d.makeRoom()
	}
	end := u.Place.Content + int64(d.base)
	if end > int64(cap(d.sink.p)) {
		return nil
	}
	return d.sink.p[:cap(d.sink.p)][end-int64(u.Raw) : end : end]
}

func (d *decoder) decode(dst, src []byte, opts []ReaderOption) error {
	d.sink.p, d.base, d.size, d.grown = dst, len(dst), len(src), false
	if err := d.opt.set(forDecode, opts); err != nil {
		return err
	}
	d.sched = d.opt.scheduler()
	d.Reset(nil)
	d.runSpec = container.Spec{} // the run of the last call has other options
	if src == nil {
		src = []byte{}
	}
	d.memory, d.nonBlocking = src, true
	if err := d.next(); err == io.EOF {
		return nil
	} else if err != nil {
		return err
	}
	d.makeRoom()
	_, err := d.WriteTo(&d.sink)
	return err
}

const (
	// maxHint is the most room to make on the word of a header, in bytes: 256 MiB on 32 bits.
	maxHint = math.MaxInt32 >> (3 * (64 - bits.UintSize) / 32)

	// hintFactor is the most room to make as a multiple of the input. Little content compresses
	// further, so that rooms that are too large are rare and small.
	hintFactor = 8
)

// sizeHint returns how much room to make at once for the content of an input of n bytes: what the
// header announces, as far as it is plausible. More room comes by doubling.
func sizeHint(announced int64, n int) int {
	return int(min(max(announced, 0), hintFactor*int64(n), maxHint))
}

// makeRoom makes room for the content that the header announces, and for the current block.
func (d *decoder) makeRoom() {
	announced := int64(0)
	if d.format == PZ {
		announced = d.sources.pz.ContentSize()
	}
	d.sink.p = slices.Grow(d.sink.p, max(len(d.out), sizeHint(announced, d.size)))
}

// putAway makes the decoder ready for the pool, without references to the caller's memory.
func (d *decoder) putAway() {
	d.release()
	d.unbind()
	d.memory = nil
	d.opt = options{private: d.opt.private}
	d.sched, d.sink.p, d.err, d.end = nil, nil, nil, nil
}
