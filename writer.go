package compress

import (
	"fmt"
	"io"

	"github.com/gopz/compress/pipeline"
)

// Writer compresses what is written to it and writes a .pz stream, or what else its pipeline makes (a .gz member, or the frames and seek table of a .zst file), to another
// writer.
//
// It cuts the content into blocks, has them compressed at the same time, and writes them in order. The underlying writer
// is used only inside of the Writer's own methods. A Writer has no goroutines of its own; one that is dropped without
// Close leaks nothing, but its output is incomplete. Methods are for one goroutine at a time. After an error all of them
// return that error.
// Make one with [NewWriter]; the methods of the zero value return an [ErrOption].
type Writer struct {
	opt   options
	plan  plan
	sched *pipeline.Scheduler
	runner

	dst    io.Writer
	cur    *pipeline.Block // being filled; its Src is the content so far, behind what is in front of the block
	before []byte          // the end of the content in front of the current block, as far as matches may reach
	begun  bool            // framing.begin is written
	closed bool
	err    error

	borrowed bool // blocks are parts of the caller's memory

	in     int64 // content accepted
	passed int64 // content of the blocks written
	out    int64 // bytes written
	blocks int64 // submitted
	ended  int64 // blocks written
	frame  framing
	frames framings
	buf    []byte
	probe  [1]byte
}

// NewWriter returns a Writer that writes to w. The caller closes it to complete the stream; w is not closed.
func NewWriter(w io.Writer, opts ...Option) (*Writer, error) {
	o, err := newWriterOptions(opts)
	if err != nil {
		return nil, err
	}
	p, err := o.writerPlan()
	if err != nil {
		return nil, err
	}
	z := &Writer{opt: o, plan: p, sched: o.scheduler()}
	if err := o.check(z.sched, pipeline.Compress, o.pipe, o.checks, o.blockSize); err != nil {
		return nil, err
	}
	z.Reset(w)
	return z, nil
}

// Reset makes the Writer ready for a new stream, to dst, with the options it has. Content not yet written is dropped.
func (w *Writer) Reset(dst io.Writer) {
	if w.opt.pipe == nil {
		return // see ready
	}
	if w.run != nil && w.cur != nil {
		w.run.Put(w.cur)
	}
	w.free()
	w.dst, w.cur, w.begun, w.closed, w.err = dst, nil, false, false, nil
	w.in, w.passed, w.out, w.blocks, w.ended = 0, 0, 0, 0, 0
	w.before = w.before[:0]
	w.frame = w.frames.of(w.opt.pipe.Format)
	w.frame.reset(&w.opt)
}

// content is the number of bytes in the current block.
func (w *Writer) content() int { return len(w.cur.Src) - w.cur.Window }

// Stats returns the statistics of what has been written so far, zero if they were off when it began. They go on after Reset.
func (w *Writer) Stats() SchedulerStats { return w.statistics() }

// fail makes err the Writer's last word.
func (w *Writer) fail(err error) error {
	w.err = err
	w.cur = nil
	w.stop()
	return err
}

// ready says whether the Writer can go on.
func (w *Writer) ready() error {
	if w.closed {
		return ErrClosed
	}
	if w.err != nil {
		return w.err
	}
	if w.frame == nil {
		return w.fail(optionError("a Writer that was made without NewWriter"))
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
	if err := w.expect(len(p)); err != nil {
		return 0, w.fail(err)
	}
	for len(p) > 0 {
		if err := w.room(len(p)); err != nil {
			return n, w.fail(err)
		}
		b := w.cur
		m := copy(b.Src[len(b.Src):min(cap(b.Src), b.Window+w.opt.blockSize)], p)
		b.Src = b.Src[:len(b.Src)+m]
		w.in += int64(m)
		n += m
		p = p[m:]
	}
	return n, nil
}

// ReadFrom compresses all that r gives. It reads straight into the blocks' buffers. An error of r is returned and does
// the Writer no harm.
func (w *Writer) ReadFrom(r io.Reader) (n int64, err error) {
	if err := w.ready(); err != nil {
		return 0, err
	}
	empty := 0
	for {
		// A full block waits for the byte after it: see Flush.
		full := w.cur != nil && w.content() == w.opt.blockSize
		p := w.probe[:]
		if !full {
			if err := w.room(readSize); err != nil {
				return n, w.fail(err)
			}
			p = w.cur.Src[len(w.cur.Src):min(cap(w.cur.Src), w.cur.Window+w.opt.blockSize)]
		}
		m, rerr := r.Read(p)
		if m < 0 || m > len(p) {
			return n, errBadCount
		}
		if err := w.expect(m); err != nil {
			return n, w.fail(err)
		}
		if full && m > 0 {
			if err := w.room(1); err != nil {
				return n, w.fail(err)
			}
			w.cur.Src = append(w.cur.Src, p...)
		} else if m > 0 {
			w.cur.Src = w.cur.Src[:len(w.cur.Src)+m]
		}
		w.in += int64(m)
		n += int64(m)
		if m > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads && rerr == nil {
			rerr = io.ErrNoProgress
		}
		if rerr == io.EOF {
			return n, nil
		}
		if rerr != nil {
			return n, rerr
		}
		if err := w.opt.canceled(); err != nil {
			return n, w.fail(err)
		}
	}
}

// readSize is what ReadFrom asks for first, in bytes: enough that small content is read at once.
const readSize = 32 << 10

// expect fails if n more bytes are more than the announced content.
func (w *Writer) expect(n int) error {
	if w.opt.contentSize >= 0 && int64(n) > w.opt.contentSize-w.in {
		return w.sizeError(w.in + int64(n))
	}
	return nil
}

func (w *Writer) sizeError(got int64) error {
	return &Error{Kind: ErrContentSize, Block: -1, Offset: -1,
		Detail: fmt.Sprintf("content of %d bytes written where %d were announced", got, w.opt.contentSize)}
}

// room sees to it that the current block has room for a byte at least, and for n if they fit.
func (w *Writer) room(n int) error {
	if w.cur != nil && w.content() == w.opt.blockSize {
		if err := w.submit(); err != nil {
			return err
		}
	}
	if w.cur == nil {
		b, err := w.get()
		if err != nil {
			return err
		}
		b.Src, b.Window = append(b.Src[:0], w.before...), len(w.before)
		w.cur = b
	}
	w.grow(n)
	return nil
}

// grow makes the current block's buffer hold n more bytes, or a whole block. Buffers double, so that small content takes
// little memory; once a block has been filled they have their full size from the start.
func (w *Writer) grow(n int) {
	b, limit := w.cur, w.cur.Window+w.opt.blockSize
	want := min(len(b.Src)+n, limit)
	if cap(b.Src) >= want {
		return
	}
	size := limit
	if w.blocks == 0 {
		size = min(limit, max(want, 2*cap(b.Src)))
		if rest := w.opt.contentSize - w.in; rest >= 0 {
			size = min(limit, max(want, len(b.Src)+int(min(rest, int64(limit)))))
		}
	}
	p := make([]byte, len(b.Src), size)
	copy(p, b.Src)
	b.Src = p
}

// get returns an empty block, for which it may have to wait for the oldest one and write it.
func (w *Writer) get() (*pipeline.Block, error) {
	if w.run == nil {
		w.start(w.sched, w.opt.config(pipeline.Compress, w.opt.pipe, w.opt.checks, w.plan.inFlight))
	}
	for {
		if b := w.run.Get(); b != nil {
			return b, nil
		}
		b, err := w.run.Next(true)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return nil, errNoBlock
		}
		if err := w.emit(b); err != nil {
			return nil, err
		}
	}
}

// submit gives the current block to the workers, and writes those that are done.
func (w *Writer) submit() error {
	b := w.cur
	w.cur = nil
	w.blocks++
	if n := min(len(b.Src), w.opt.pipe.Window); n > 0 && !w.borrowed {
		w.before = append(w.before[:0], b.Src[len(b.Src)-n:]...)
	}
	w.run.Number(w.blocks - 1)
	w.run.Submit(b)
	return w.drain(false)
}

// drain writes the blocks that are done, or, with wait, all.
func (w *Writer) drain(wait bool) error {
	if w.run == nil {
		return nil
	}
	for {
		b, err := w.run.Next(wait)
		if b == nil || err != nil {
			return err
		}
		if err := w.emit(b); err != nil {
			return err
		}
	}
}

// emit writes a block.
func (w *Writer) emit(b *pipeline.Block) error {
	if b.Err != nil {
		return blockError(pipeline.Compress, b.Err, w.opt.ctx, 0, w.ended, -1)
	}
	w.buf = w.frame.head(w.header(), b)
	if err := w.write(w.buf); err != nil {
		return err
	}
	if err := w.write(b.Out()); err != nil {
		return err
	}
	w.buf = w.frame.foot(w.buf[:0], b)
	if err := w.write(w.buf); err != nil {
		return err
	}
	w.passed += int64(b.Raw)
	w.ended++
	if w.borrowed {
		b.Src, b.Window = nil, 0
	}
	w.run.Put(b)
	if w.opt.progress != nil {
		w.opt.progress(Progress{Content: w.passed, Compressed: w.out, Total: w.opt.contentSize, Blocks: w.ended})
	}
	return nil
}

// header returns what a stream begins with, if that is not written yet, in memory that others may append to.
func (w *Writer) header() []byte {
	if w.begun {
		return w.buf[:0]
	}
	w.begun = true
	w.buf = w.frame.begin(w.buf[:0])
	return w.buf
}

func (w *Writer) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	w.err = errPanicked // unless it comes back
	n, err := writeFull(w.dst, p)
	w.err = nil
	w.out += int64(n)
	return err
}

// Flush ends the current block and writes all blocks, so that a Reader can give out all that was written so far without
// seeing anything that follows. It costs density if it happens often.
func (w *Writer) Flush() error {
	if err := w.ready(); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return w.fail(err)
	}
	return nil
}

func (w *Writer) flush() error {
	if w.cur == nil || w.content() == 0 {
		return w.drain(true)
	}
	// A Reader that meets a full block takes it that more will follow at once, and reads on before it has given that
	// block out. A block that is not full tells it to wait. So the last block before a flush must not be full.
	if n := len(w.cur.Src); w.content() == w.opt.blockSize {
		last := w.cur.Src[n-1]
		w.cur.Src = w.cur.Src[:n-1]
		if err := w.submit(); err != nil {
			return err
		}
		if err := w.room(1); err != nil {
			return err
		}
		w.cur.Src = append(w.cur.Src, last)
	}
	if err := w.submit(); err != nil {
		return err
	}
	return w.drain(true)
}

// keptBuffer is how much memory of an index stays for the next stream, in bytes.
const keptBuffer = 64 << 10

// Close writes what is left and completes the stream. It does not close the underlying writer. Closing again
// returns the same result and does nothing.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	err := w.ready()
	w.closed = true
	if err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return w.fail(err)
	}
	w.rest()
	return nil
}

func (w *Writer) finish() error {
	if w.cur != nil && w.content() > 0 {
		if err := w.submit(); err != nil {
			return err
		}
	}
	if err := w.drain(true); err != nil {
		return err
	}
	if w.opt.contentSize >= 0 && w.in != w.opt.contentSize {
		return w.sizeError(w.in)
	}
	// The header may have been all there was to write: then it counts as written before what follows.
	head := w.header()
	p := w.frame.end(head, w.passed, w.out+int64(len(head)))
	if cap(p) <= keptBuffer {
		w.buf = p
	}
	return w.write(p)
}
