package compress

import (
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/pipeline"
)

// This file takes compressed blocks from the run of a Writer and writes them. It implements Flush
// and Close, which write all of them, and has the options for how a stream ends and continues.

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
		return w.writeDone(true)
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
	return w.writeDone(true)
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
	if err := w.endStream(); err != nil {
		return w.fail(err)
	}
	w.releaseScratch()
	return nil
}

// endStream writes what is left of the content, and the trailer.
func (w *Writer) endStream() error {
	if w.cur != nil && w.content() > 0 {
		w.cur.Last = true
		if err := w.submit(true); err != nil {
			return err
		}
	}
	if err := w.writeDone(true); err != nil {
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

// writeDone writes the blocks that are done, or, if wait is set, all.
func (w *Writer) writeDone(wait bool) error {
	for {
		wrote, err := w.writeNext(wait)
		if !wrote || err != nil {
			return err
		}
	}
}

// writeNext writes the oldest block. If that is not done, it waits, or, if wait is unset, writes
// nothing. It reports whether it has written a block.
func (w *Writer) writeNext(wait bool) (wrote bool, err error) {
	if w.run == nil {
		return false, nil
	}
	b, err := w.run.Next(wait)
	if b == nil || err != nil {
		return false, err
	}
	return true, w.writeBlock(b)
}

// writeBlock writes a block and frees it.
func (w *Writer) writeBlock(b *pipeline.Block) error {
	if b.Err != nil {
		return blockError(pipeline.Compress, b.Err, w.opt.limits.Context, 0, w.ended, -1)
	}
	info := container.Block{
		Kind: container.Kind(b.Kind), Payload: len(b.Out()), Raw: b.Raw, Sum: b.Sum,
		Continues: b.Window > 0, Flushed: b.Flushed, Last: b.Last,
	}
	if w.opt.isOneFrame() {
		w.frames.zst.AddContent(b.Src[b.Window:])
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
		w.piece.addBlock(info, w.done.size-begin)
	}
	w.done.content += int64(b.Raw)
	w.ended++
	if b.Flushed && b.History != nil {
		w.keepBlock(b)
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

// keepBlock makes a block that a flush has written the current one again. Its content becomes the
// window of the content behind the flush.
func (w *Writer) keepBlock(b *pipeline.Block) {
	w.cur, b.Flushed, b.Window = b, false, len(b.Src)
	if window := w.opt.reach(); window > 0 && w.limit()-len(b.Src) < w.opt.blockSize/2 {
		b.Window = copy(b.Src, b.Src[len(b.Src)-min(window, len(b.Src)):])
		b.Src = b.Src[:b.Window]
	}
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

// limitStream ends the stream if it has as much content as it may have, in front of a block that
// another one follows. continues says that the block is part of a frame that has begun.
func (w *Writer) limitStream(continues bool) error {
	limit := w.opt.streamSize
	if limit == 0 || !w.begun || continues || w.done.content-w.before.content < limit {
		return nil
	}
	w.buf = w.trailer(w.buf[:0])
	if err := w.write(w.buf); err != nil {
		return err
	}
	w.before, w.begun = w.done, false
	w.frame = w.frames.beginFile(&w.opt)
	return w.opt.endStream()
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

// isOneFrame reports whether a Writer makes one frame of .zst of all content. Otherwise each block
// is a frame, because blocks are read alone, or joined.
func (o *options) isOneFrame() bool {
	return o.pipe.Format == Zstd && !o.frames && !o.rsyncable && !o.planned && o.streamSize == 0
}

// reach returns how far in front of a block matches may reach, in bytes. It is more than 0 if
// several blocks share a frame or a member.
func (o *options) reach() int {
	alone := o.contentSize >= 0 && o.contentSize <= int64(o.blockSize)
	if o.pipe.Format == Zstd && (alone || !o.isOneFrame()) {
		return 0
	}
	return o.pipe.Reach(o.level, o.blockSize)
}
