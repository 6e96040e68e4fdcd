package compress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
)

// Readers and writers that fail, panic, stall or count.

// errTest is the error of the failing readers and writers.
var errTest = errors.New("test error")

// onlyReader offers Read alone.
type onlyReader struct{ io.Reader }

// onlyWriter offers Write alone.
type onlyWriter struct{ io.Writer }

// writerFunc is a function as a Writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// noWriter fails the test if anything is written.
type noWriter struct{ t testing.TB }

func (w noWriter) Write(p []byte) (int, error) {
	w.t.Errorf("%d bytes written, want none", len(p))
	return len(p), nil
}

// readerAtFunc is a function as a ReaderAt.
type readerAtFunc func(p []byte, off int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// chanWriter sends a copy of each write.
type chanWriter chan []byte

func (c chanWriter) Write(p []byte) (int, error) {
	c <- bytes.Clone(p)
	return len(p), nil
}

// limitedWriter fails after n bytes: with errTest or, if short is set, with a short count alone.
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

// emptyReader returns neither bytes nor an error.
type emptyReader struct{}

func (emptyReader) Read(p []byte) (int, error) { return 0, nil }

// badCounts returns counts larger than the buffer.
type badCounts struct{}

func (badCounts) Read(p []byte) (int, error)  { return len(p) + 1, nil }
func (badCounts) Write(p []byte) (int, error) { return len(p) + 1, nil }

// stallingReader returns p. A read after that calls onStall, which may check the state at the
// moment a real reader would block, and fails.
type stallingReader struct {
	p       []byte
	onStall func()
}

func (s *stallingReader) Read(p []byte) (int, error) {
	if len(s.p) == 0 {
		s.onStall()
		return 0, errTest
	}
	n := copy(p, s.p)
	s.p = s.p[n:]
	return n, nil
}

// panicReader panics after n bytes.
type panicReader struct {
	r io.Reader
	n int
}

func (r *panicReader) Read(p []byte) (int, error) {
	if r.n == 0 {
		panic("reader")
	}
	n, err := r.r.Read(p[:min(len(p), r.n)])
	r.n -= n
	return n, err
}

// panicWriter panics after n calls.
type panicWriter struct{ n int }

func (w *panicWriter) Write(p []byte) (int, error) {
	w.n--
	if w.n < 0 {
		panic("writer")
	}
	return len(p), nil
}

// panicReaderAt panics while on is set.
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

// countingReader counts the bytes read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// countingReaderAt counts the calls and the bytes read.
type countingReaderAt struct {
	io.ReaderAt
	calls, bytes atomic.Int64
}

func (c *countingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.calls.Add(1)
	c.bytes.Add(int64(n))
	return n, err
}

// faultyReaderAt fails while bad is set.
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

// cancelingReaderAt cancels a context with its third read.
type cancelingReaderAt struct {
	bytes.Reader
	reads  int
	cancel context.CancelCauseFunc
}

func (r *cancelingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	r.reads++
	if r.reads == 3 {
		r.cancel(errTest)
	}
	return r.Reader.ReadAt(p, off)
}
