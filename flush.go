package compress

import (
	"sync/atomic"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/pipeline"
)

// This file implements Flush and Close, writes blocks, and reports the position.

// Flush compresses the content of all Writes so far and gives it to the underlying writer. A Reader
// can then return that content without more input. Each Flush ends a block. It costs 12 to 24 bytes
// in .pz, where no match reaches across it, because blocks are independent. In .gz and .zst, where
// matches do, it costs about 10 bytes.
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
	if w.opt.pipe.HasHistory() {
		if w.history == nil {
			w.history = new(pipeline.History)
		}
		w.cur.History = w.history
	}
	w.cur.Flushed = true
	if err := w.submit(true); err != nil {
		return err
	}
	return w.drain(true)
}

// keep makes a block that a flush has written the current one again. Its content becomes the window
// of the content behind the flush.
func (w *Writer) keep(b *pipeline.Block) {
	w.cur, b.Flushed, b.Window = b, false, len(b.Src)
	if window := w.opt.reach(); window > 0 && w.limit()-len(b.Src) < w.opt.blockSize/2 {
		b.Window = copy(b.Src, b.Src[len(b.Src)-min(window, len(b.Src)):])
		b.Src = b.Src[:b.Window]
	}
}

// keptBuffer is how much memory of an index stays for the next stream, in bytes.
const keptBuffer = 64 << 10

// Close writes what is left and completes the stream. It does not close the underlying writer.
// Another Close returns the same result and does nothing.
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
	w.releaseScratch()
	if w.finder != nil {
		w.finder.Release()
	}
	return nil
}

func (w *Writer) finish() error {
	if w.cur != nil && w.content() > 0 {
		w.cur.Last = true
		if err := w.submit(true); err != nil {
			return err
		}
	}
	if err := w.drain(true); err != nil {
		return err
	}
	if w.opt.contentSize >= 0 && w.in != w.opt.contentSize {
		return w.sizeError(w.in)
	}
	// Where there are no blocks the header is still to be written, and counts as written.
	p := w.trailer(w.header(0))
	if cap(p) <= keptBuffer {
		w.buf = p
	}
	return w.write(p)
}

// drain writes the blocks that are done, or, if wait is set, all.
func (w *Writer) drain(wait bool) error {
	if w.run == nil {
		return nil
	}
	for {
		b, err := w.run.Next(wait)
		if b == nil || err != nil {
			return err
		}
		if err := w.writeBlock(b); err != nil {
			return err
		}
	}
}

// writeBlock writes a block and frees it.
func (w *Writer) writeBlock(b *pipeline.Block) error {
	if b.Err != nil {
		return blockError(pipeline.Compress, b.Err, w.opt.limits.Context, 0, w.ended, -1)
	}
	info := container.Block{
		Kind: b.Kind, Payload: len(b.Out()), Raw: b.Raw, Sum: b.Sum,
		Continues: b.History != nil && b.Window > 0, Flushed: b.Flushed, Last: b.Last,
	}
	if err := w.limitStream(info.Continues); err != nil {
		return err
	}
	begin, whole := w.done.size, -1
	if b.Last && !b.Flushed {
		whole = b.Raw
	}
	w.buf = w.frame.BlockHeader(w.header(whole), info)
	if err := w.write(w.buf); err != nil {
		return err
	}
	if err := w.write(b.Out()); err != nil {
		return err
	}
	w.buf = w.frame.BlockTrailer(w.buf[:0], info)
	if err := w.write(w.buf); err != nil {
		return err
	}
	if w.piece != nil {
		w.piece.add(info, w.done.size-begin)
	}
	w.done.content += int64(b.Raw)
	w.ended++
	if w.callerOwned {
		b.Src, b.Window = nil, 0
	}
	if b.Flushed && b.History != nil {
		w.keep(b)
	} else {
		w.run.Put(b)
	}
	if w.opt.progress != nil {
		w.opt.progress(Progress{
			Content: w.done.content, Compressed: w.done.size, Total: w.opt.contentSize, Blocks: w.ended,
		})
	}
	return nil
}

// header returns the stream's header if it is not written yet, else an empty slice, in memory to
// append to. whole is the size of the content if the block to write has it all, else −1.
func (w *Writer) header(whole int) []byte {
	if w.begun {
		return w.buf[:0]
	}
	w.begun = true
	w.buf = w.frame.Header(w.buf[:0], whole)
	return w.buf
}

// trailer appends the trailer of the stream to head, the rest of what is in front of it.
func (w *Writer) trailer(head []byte) []byte {
	return w.frame.Trailer(head, w.done.content-w.before.content, w.done.size+int64(len(head))-w.before.size)
}

// span counts content and the bytes that it is compressed to.
type span struct{ content, size int64 }

// limitStream ends the stream if WithStreamLimit says so, in front of a block that another one follows.
// continues says that the block is part of a frame that has begun.
func (w *Writer) limitStream(continues bool) error {
	limit := w.opt.streamLimit
	if limit == 0 || !w.begun || continues || w.done.content-w.before.content < limit {
		return nil
	}
	w.buf = w.trailer(w.buf[:0])
	if err := w.write(w.buf); err != nil {
		return err
	}
	w.before, w.begun = w.done, false
	w.frame = w.frames.begin(&w.opt)
	if dst, ok := w.dst.(interface{ EndStream() error }); ok {
		return dst.EndStream()
	}
	return nil
}

// WithStreamLimit makes a Writer begin another stream of .pz, or of .zst frames with their seek table,
// as soon as a stream has n bytes of content and there is more. The parts of the file then stand for
// themselves, as package parity needs them. After each stream but the last one the Writer calls the
// method EndStream() error of its destination, if that has one. n is 0, for one stream, or at least 1
// MiB. .gz, [WithLongDistance], [WithSingleFrame] and [NewPlan] exclude this option.
func WithStreamLimit(n int64) Option {
	return func(o *options) error {
		if n != 0 && n < 1<<20 {
			return errs.BadOption("streams of %d bytes: it must be 0, or at least 1 MiB", n)
		}
		o.streamLimit = n
		return nil
	}
}

func (o *options) checkStreamLimit() error {
	switch {
	case o.streamLimit == 0:
	case o.pipe.Format == Gzip:
		return errs.BadOption("WithStreamLimit is not for .gz, which has one member")
	case o.window > 0:
		return errs.BadOption("WithStreamLimit and WithLongDistance exclude each other: " +
			"repeats cannot reach into another stream")
	case o.singleFrame && o.pipe.Format == Zstd:
		return errs.BadOption("WithStreamLimit and WithSingleFrame exclude each other")
	}
	return nil
}

func (w *Writer) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	w.err = errs.Panicked // unless Write returns
	n, err := container.WriteFull(w.dst, p)
	w.err = nil
	w.done.size += int64(n)
	return err
}

// WithSingleFrame makes a Writer of .zst write a single frame and no seek table, because some programs
// stop behind the first frame. Use it for Content-Encoding of HTTP. Other formats ignore this option.
//
// Without a Flush, content that fits a block is a frame that states its size. Other content is cut
// into parts of the block size, 4 MiB at most, each as by a [Writer.Flush]. Workers compress the parts
// one after the other. A decoder needs a window of twice the block size; RFC 9659 allows 8 MiB in HTTP.
// [WithRsyncable], [WithDictionary] and [NewPlan] exclude this option.
func WithSingleFrame(on bool) Option {
	return func(o *options) error {
		o.singleFrame = on
		return nil
	}
}

// setSingleFrame checks and completes the options for WithSingleFrame.
func (o *options) setSingleFrame() error {
	o.singleFrame = o.singleFrame && o.pipe.Format == Zstd
	switch {
	case !o.singleFrame:
	case o.rsyncable:
		return errs.BadOption("WithSingleFrame and WithRsyncable exclude each other: " +
			"blocks of one frame depend on those before them")
	case o.dict != nil:
		return errs.BadOption("WithSingleFrame and WithDictionary exclude each other: " +
			"the window of a long frame passes the dictionary")
	case o.contentSize < 0 || o.contentSize > int64(o.blockSize):
		o.blockSize = min(o.blockSize, o.pipe.MaxBlock/2)
	}
	return nil
}

// reach returns how far in front of a block matches may reach, in bytes.
func (o *options) reach() int {
	if o.singleFrame {
		return o.blockSize
	}
	return o.pipe.Window
}

// WithPosition has a Writer add to n how many bytes of content it has compressed. A large block
// counts part by part while it is compressed, so n grows evenly between two calls of [WithProgress]'s
// function. When a block is written, n counts all of it. The sum goes on after Reset. Any goroutines
// may read n. Blocks on a device count when they are done. Readers ignore this option.
func WithPosition(n *atomic.Int64) Option {
	return func(o *options) error {
		o.position = n
		return nil
	}
}
