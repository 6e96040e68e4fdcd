package compress

import (
	"fmt"
	"io"
	"sync"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/cut"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/pipeline"
)

// Writer compresses to .pz, .gz or .zst, depending on [WithFormat]. A .gz file is one member, and a
// .zst file is one frame. [WithSeekable] and [WithRsyncable] make each block of .zst a frame.
//
// A Writer cuts the content into blocks, has them compressed at the same time, and writes them in
// order. It uses the underlying writer only inside its own methods. It has no goroutines of its
// own; one that is dropped without Close leaks nothing, but its output is incomplete. Methods are
// for one goroutine at a time. After an error of the destination, Write, Flush and Close return it
// until Reset. Make one with [NewWriter]; the methods of the zero value return an [ErrOption].
type Writer struct {
	opt    options
	budget budget
	sched  *pipeline.Scheduler
	stream

	dst    io.Writer
	cur    *pipeline.Block // being filled: its Src is its window and the content so far
	window []byte          // the end of the content before the current block, as far as matches reach
	begun  bool            // the framer's header is written
	closed bool
	err    error

	callerOwned bool              // blocks are parts of the caller's memory
	history     *pipeline.History // of blocks that end with a flush; nil until the first one

	cutter cut.Cutter // with WithRsyncable
	atCut  bool       // what follows the current block begins another one

	in     int64 // content accepted, in bytes
	done   span  // the blocks written
	before span  // the part of done that earlier streams have
	blocks int64 // submitted
	ended  int64 // blocks written
	frame  container.Framer
	frames framers
	piece  *Piece // what is written, if that is not a whole file; see Plan
	buf    []byte
	probe  [1]byte
	input  []byte // in place of probe, with WithRsyncable
}

// NewWriter returns a Writer that writes to w. The caller closes it to complete the stream. Close
// does not close w.
func NewWriter(w io.Writer, opts ...WriterOption) (*Writer, error) {
	o, err := newWriterOptions(opts)
	if err != nil {
		return nil, err
	}
	z, err := o.newWriter()
	if err != nil {
		return nil, err
	}
	z.Reset(w)
	return z, nil
}

// newWriter returns a Writer that must be Reset.
func (o *options) newWriter() (*Writer, error) {
	b, err := o.writerBudget(false)
	if err != nil {
		return nil, err
	}
	s := o.scheduler()
	if err := o.checkBackend(s, o.writerConfig()); err != nil {
		return nil, err
	}
	return &Writer{opt: *o, budget: b, sched: s}, nil
}

// Reset makes the Writer ready for a new stream, to dst, with the options that it has. Content not
// yet written is dropped.
func (w *Writer) Reset(dst io.Writer) {
	if w.opt.pipe == nil {
		return // see ready
	}
	if w.run != nil && w.cur != nil {
		w.run.Put(w.cur)
	}
	w.recycle()
	w.dst, w.cur, w.begun, w.closed, w.err = dst, nil, false, false, nil
	w.in, w.done, w.before, w.blocks, w.ended = 0, span{}, span{}, 0, 0
	w.window = w.window[:0]
	w.cutter.Reset(w.opt.blockSize)
	w.atCut = false
	if w.history != nil {
		w.history.Reset()
	}
	w.frame = w.frames.beginFile(&w.opt)
}

// content returns the number of bytes of content in the current block.
func (w *Writer) content() int { return len(w.cur.Src) - w.cur.Window }

// limit returns how long the Src of the current block may become, in bytes. A block behind a flush
// has all content of its frame, or a part of the member, in its window.
func (w *Writer) limit() int { return min(w.cur.Window, w.opt.reach()) + w.opt.blockSize }

// full reports whether the current block has no room.
func (w *Writer) full() bool { return w.cur != nil && len(w.cur.Src) == w.limit() }

// Stats returns the statistics of what has been written so far, which continue after Reset. It
// returns zero if statistics were off at the start: see [Scheduler.EnableStats].
func (w *Writer) Stats() Stats { return statsOf(w.statistics()) }

// fail makes err what all methods return.
func (w *Writer) fail(err error) error {
	w.err = err
	w.cur = nil
	w.stop()
	return err
}

// ready returns an error if the Writer cannot go on.
func (w *Writer) ready() error {
	if w.closed {
		return ErrClosed
	}
	if w.err != nil {
		return w.err
	}
	if w.frame == nil {
		return w.fail(errs.BadOption("a Writer that was made without NewWriter"))
	}
	if err := w.opt.canceled(); err != nil {
		return w.fail(err)
	}
	return nil
}

// Write compresses p. Part of it may stay in memory until Flush or Close.
func (w *Writer) Write(p []byte) (n int, err error) {
	if err := w.ready(); err != nil {
		return 0, err
	}
	if err := w.checkSize(len(p)); err != nil {
		return 0, w.fail(err)
	}
	return w.addContent(p)
}

// addContent adds p to the content.
func (w *Writer) addContent(p []byte) (n int, err error) {
	for len(p) > 0 {
		if err := w.makeRoom(len(p)); err != nil {
			return n, w.fail(err)
		}
		b := w.cur
		m := min(len(p), min(cap(b.Src), w.limit())-len(b.Src))
		if w.opt.rsyncable {
			m, w.atCut = w.cutter.Next(p[:m])
		}
		b.Src = append(b.Src, p[:m]...)
		w.in += int64(m)
		n += m
		p = p[m:]
	}
	return n, nil
}

// keepTogether says that the next n bytes of content will be read together. See package bridge.
func (w *Writer) keepTogether(n int64) {
	if w.cur == nil || w.opt.rsyncable || w.opt.pipe.Format == Gzip || w.opt.isOneFrame() {
		return
	}
	if rest := w.limit() - len(w.cur.Src); n > int64(rest) && rest <= w.opt.blockSize/8 {
		w.atCut = true
	}
}

// readSize is how many bytes ReadFrom asks for first: enough to read small content at once.
const readSize = 32 << 10

// ReadFrom compresses everything that r returns. It reads straight into the buffers of the blocks,
// unless [WithRsyncable] has their ends depend on what it reads. After an error of r the Writer can
// go on.
func (w *Writer) ReadFrom(r io.Reader) (n int64, err error) {
	if err := w.ready(); err != nil {
		return 0, err
	}
	var progress container.ReadProgress
	for {
		// A full block stays until the byte after it has been read: a flush may end the block.
		p, inPlace := w.probe[:], false
		if w.opt.rsyncable {
			if w.input == nil {
				w.input = make([]byte, inputSize)
			}
			p = w.input
		} else if !w.full() {
			inPlace = true
			if err := w.makeRoom(readSize); err != nil {
				return n, w.fail(err)
			}
			p = w.cur.Src[len(w.cur.Src):min(cap(w.cur.Src), w.limit())]
		}
		m, rerr := r.Read(p)
		if m < 0 || m > len(p) {
			return n, errs.BadCount
		}
		if err := w.checkSize(m); err != nil {
			return n, w.fail(err)
		}
		if inPlace {
			w.cur.Src = w.cur.Src[:len(w.cur.Src)+m]
			w.in += int64(m)
		} else if _, err := w.addContent(p[:m]); err != nil {
			return n, err
		}
		n += int64(m)
		switch err := progress.Check(m, rerr); err {
		case nil:
		case io.EOF:
			return n, nil
		default:
			return n, err
		}
		if err := w.opt.canceled(); err != nil {
			return n, w.fail(err)
		}
	}
}

// inputSize is how much ReadFrom reads at once with WithRsyncable, in bytes.
const inputSize = 64 << 10

// checkSize fails if n more bytes are more than the announced content.
func (w *Writer) checkSize(n int) error {
	if w.opt.contentSize >= 0 && int64(n) > w.opt.contentSize-w.in {
		return w.sizeError(w.in + int64(n))
	}
	return nil
}

func (w *Writer) sizeError(got int64) error {
	return errs.New(ErrContentSize,
		fmt.Sprintf("content of %d bytes written where %d were announced", got, w.opt.contentSize))
}

// makeRoom makes room in the current block for at least one byte, and for n if they fit. It submits
// a block that is full or ends at a cut.
func (w *Writer) makeRoom(n int) error {
	switch {
	case w.cur == nil || !w.full() && !w.atCut:
	case w.content() > 0:
		if err := w.submit(false); err != nil {
			return err
		}
	default: // a flush has written the block: the next one begins a frame
		w.setWindow(w.cur)
		w.run.Put(w.cur)
		w.cur = nil
	}
	w.atCut = false
	if w.cur == nil {
		b, err := w.getBlock()
		if err != nil {
			return err
		}
		b.Src, b.Window = append(b.Src[:0], w.window...), len(w.window)
		w.cur = b
	}
	w.grow(n)
	return nil
}

// grow makes the current block's buffer hold n more bytes, or a whole block. Buffers double, so
// that small content takes little memory. Once a block has been filled they have their full size
// from the start.
func (w *Writer) grow(n int) {
	b, limit := w.cur, w.limit()
	want := min(len(b.Src)+n, limit)
	if cap(b.Src) >= want {
		return
	}
	size := limit
	if w.in < int64(w.opt.blockSize) {
		size = min(limit, max(want, 2*cap(b.Src)))
		if rest := w.opt.contentSize - w.in; rest >= 0 {
			size = min(limit, max(want, len(b.Src)+int(min(rest, int64(limit)))))
		}
	}
	p := make([]byte, len(b.Src), size)
	copy(p, b.Src)
	b.Src = p
}

// beginRun begins a run.
func (w *Writer) beginRun() {
	cfg := w.opt.writerConfig()
	cfg.InFlight = w.budget.inFlight
	w.start(w.sched, cfg)
}

// getBlock returns an empty block. It may have to wait for the oldest one and write it.
func (w *Writer) getBlock() (*pipeline.Block, error) {
	if w.run == nil {
		w.beginRun()
	}
	for {
		if b := w.run.Get(); b != nil {
			return b, nil
		}
		wrote, err := w.writeNext(true)
		if err != nil {
			return nil, err
		}
		if !wrote {
			return nil, errNoBlock
		}
	}
}

// submit gives the current block to the run, and writes those that are done. With waits set the
// caller waits for the block next.
func (w *Writer) submit(waits bool) error {
	b := w.cur
	if b.History != nil {
		// The blocks of a History follow one another.
		if err := w.writeDone(true); err != nil {
			return err
		}
	}
	b.Offset = w.in - int64(w.content())
	w.cur = nil
	w.blocks++
	if !b.Flushed {
		w.setWindow(b)
	}
	w.run.Number(w.blocks - 1)
	w.submitBlock(b, len(b.Src)-b.Window, waits)
	return w.writeDone(false)
}

// setWindow makes the end of b the window of the next block.
func (w *Writer) setWindow(b *pipeline.Block) {
	if n := min(len(b.Src), w.opt.reach()); n > 0 && !w.callerOwned {
		w.window = append(w.window[:0], b.Src[len(b.Src)-n:]...)
	}
}

// AppendEncode appends src, compressed as a [Writer] would, to dst and returns the extended slice.
// The free capacity of dst must not overlap src. With an error it returns dst as it was; its free
// capacity may have been written to.
//
// Since the size of the content is known, blocks are no larger than they need to be, and the
// headers of .pz and .zst tell the size. Memory is kept for the next call. A .pz stream with up to
// 65,000 bytes of content in one block is 16 to 18 bytes larger than its payload.
//
// The caller's goroutine compresses content below 64 KiB itself and waits for no worker, unless
// [WithDevice] insists on a device. In the steady state such a call allocates nothing if dst has
// the capacity and opts are made once and used again.
//
// Nothing reads src after the call has returned. A device works on a copy.
func AppendEncode(dst, src []byte, opts ...WriterOption) ([]byte, error) {
	pool := &encoders
	if len(src) < smallContent {
		pool = &smallEncoders
	}
	e := pool.Get().(*encoder)
	err := e.encode(dst, src, opts)
	if err == nil {
		dst = e.sink.p
	}
	e.putAway()
	pool.Put(e)
	return dst, err
}

// Encoders are kept for the next call. Those of small content are apart, because they have one
// block.
var (
	encoders      = sync.Pool{New: func() any { return new(encoder) }}
	smallEncoders = sync.Pool{New: func() any { return new(encoder) }}
)

// A sink is a writer that appends.
type sink struct{ p []byte }

// Write appends p. It copies nothing if p lies where it would be appended.
func (s *sink) Write(p []byte) (int, error) {
	if n := len(s.p); len(p) > 0 && cap(s.p)-n >= len(p) && &s.p[:n+1][n] == &p[0] {
		s.p = s.p[:n+len(p)]
		return len(p), nil
	}
	s.p = append(s.p, p...)
	return len(p), nil
}

// An encoder is a Writer whose blocks are parts of the caller's memory.
type encoder struct {
	Writer
	sink sink
}

func (e *encoder) encode(dst, src []byte, opts []WriterOption) (err error) {
	o := &e.opt
	if err := o.setWriter(opts, int64(len(src))); err != nil {
		return err
	}
	small := len(src) < smallContent
	e.budget, err = o.writerBudget(small)
	if err != nil {
		return err
	}
	e.sched, e.sink.p, e.callerOwned = o.scheduler(), dst, true
	if err := o.checkBackend(e.sched, o.writerConfig()); err != nil {
		return err
	}
	e.Reset(&e.sink)
	e.beginRun()
	if err := e.ready(); err != nil {
		return err
	}
	if err := e.checkSize(len(src)); err != nil {
		return err
	}
	for at := 0; at < len(src); {
		n := min(len(src)-at, o.blockSize)
		if o.rsyncable {
			n, _ = e.cutter.Next(src[at : at+n])
		}
		b, err := e.getBlock()
		if err != nil {
			return e.fail(err)
		}
		b.Window = min(at, o.reach())
		b.Src, b.CallerOwned = src[at-b.Window:at+n:at+n], true
		at += n
		b.Last = at == len(src)
		e.cur = b
		e.in += int64(n)
		if err := e.submit(small); err != nil {
			return e.fail(err)
		}
	}
	return e.Close()
}

// putAway makes the encoder ready for the pool, without references to the caller's memory.
func (e *encoder) putAway() {
	e.recycle()
	e.unbind()
	e.opt = options{private: e.opt.private}
	e.sched, e.dst, e.sink.p, e.err = nil, nil, nil, nil
}
