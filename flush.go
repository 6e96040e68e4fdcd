package compress

import "github.com/gopz/compress/pipeline"

// This file implements Flush and Close.

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
	if window := w.opt.pipe.Window; window > 0 && w.limit()-len(b.Src) < w.opt.blockSize/2 {
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
	head := w.header()
	p := w.frame.Trailer(head, w.passed, w.out+int64(len(head)))
	if cap(p) <= keptBuffer {
		w.buf = p
	}
	return w.write(p)
}
