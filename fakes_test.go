package compress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
)

var errTest = errors.New("test error")

// plain hides what else a reader can do.
type plain struct{ io.Reader }

// plainWriter hides what else a writer can do.
type plainWriter struct{ io.Writer }

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type readerAtFunc func(p []byte, off int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// limitedWriter fails after n bytes: with an error, or with a short count and none.
type limitedWriter struct {
	n     int
	short bool
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	if len(p) <= w.n {
		w.n -= len(p)
		return len(p), nil
	}
	n := w.n
	w.n = 0
	if w.short {
		return n, nil
	}
	return n, errTest
}

// lazyReader never gives anything.
type lazyReader struct{}

func (lazyReader) Read(p []byte) (int, error) { return 0, nil }

// liar says it has moved more than it could.
type liar struct{}

func (liar) Read(p []byte) (int, error) { return len(p) + 1, nil }

func (liar) Write(p []byte) (int, error) { return len(p) + 1, nil }

type chanWriter chan []byte

func (c chanWriter) Write(p []byte) (int, error) {
	c <- bytes.Clone(p)
	return len(p), nil
}

// stalling gives what it has, and then says that it was asked for more.
type stalling struct {
	p     []byte
	asked func()
}

func (s *stalling) Read(p []byte) (int, error) {
	if len(s.p) == 0 {
		s.asked()
		return 0, errTest
	}
	n := copy(p, s.p)
	s.p = s.p[n:]
	return n, nil
}

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("test") }

// panicWriter panics after n calls.
type panicWriter struct{ n int }

func (w *panicWriter) Write(p []byte) (int, error) {
	if w.n--; w.n < 0 {
		panic("writer")
	}
	return len(p), nil
}

// panicAfter panics behind n bytes.
type panicAfter struct {
	r io.Reader
	n int
}

func (r *panicAfter) Read(p []byte) (int, error) {
	if r.n == 0 {
		panic("reader")
	}
	n, err := r.r.Read(p[:min(len(p), r.n)])
	r.n -= n
	return n, err
}

// panicReaderAt panics while it is told to.
type panicReaderAt struct {
	bytes.Reader
	on bool
}

func (r *panicReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if r.on {
		panic("reader")
	}
	return r.Reader.ReadAt(p, off)
}

// countingReaderAt counts how often places are read.
type countingReaderAt struct {
	io.ReaderAt
	calls atomic.Int64
}

func (c *countingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	c.calls.Add(1)
	return c.ReaderAt.ReadAt(p, off)
}

// countingAt counts the bytes that are read.
type countingAt struct {
	*bytes.Reader
	n int64
}

func (c *countingAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// faultyReaderAt fails as long as it is told to.
type faultyReaderAt struct {
	io.ReaderAt
	bad atomic.Bool
}

func (f *faultyReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if f.bad.Load() {
		return 0, errTest
	}
	return f.ReaderAt.ReadAt(p, off)
}

// ctxReaderAt cancels a context with its third read.
type ctxReaderAt struct {
	bytes.Reader
	reads  int
	cancel context.CancelCauseFunc
}

func (r *ctxReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if r.reads++; r.reads == 3 {
		r.cancel(errTest)
	}
	return r.Reader.ReadAt(p, off)
}
