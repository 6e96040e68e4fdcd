package bbtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
)

// Readers and writers that fail, panic, stall or count.

// ErrTest is the error of the failing readers and writers.
var ErrTest = errors.New("test error")

// OnlyReader offers Read alone.
type OnlyReader struct{ io.Reader }

// OnlyWriter offers Write alone.
type OnlyWriter struct{ io.Writer }

// WriterFunc is a function as a Writer.
type WriterFunc func(p []byte) (int, error)

func (f WriterFunc) Write(p []byte) (int, error) { return f(p) }

// NoWriter fails the test if anything is written.
type NoWriter struct{ T testing.TB }

func (w NoWriter) Write(p []byte) (int, error) {
	w.T.Errorf("%d bytes written, want none", len(p))
	return len(p), nil
}

// ReaderAtFunc is a function as a ReaderAt.
type ReaderAtFunc func(p []byte, off int64) (int, error)

func (f ReaderAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// ChanWriter sends a copy of each write.
type ChanWriter chan []byte

func (c ChanWriter) Write(p []byte) (int, error) {
	c <- bytes.Clone(p)
	return len(p), nil
}

// LimitedWriter fails after n bytes: with ErrTest or, if short is set, with a short count alone.
type LimitedWriter struct {
	N     int
	Short bool
}

func (w *LimitedWriter) Write(p []byte) (int, error) {
	if len(p) <= w.N {
		w.N -= len(p)
		return len(p), nil
	}
	n := w.N
	w.N = 0
	if w.Short {
		return n, nil
	}
	return n, ErrTest
}

// EmptyReader returns neither bytes nor an error.
type EmptyReader struct{}

func (EmptyReader) Read(p []byte) (int, error) { return 0, nil }

// BadCounts returns counts larger than the buffer.
type BadCounts struct{}

func (BadCounts) Read(p []byte) (int, error) { return len(p) + 1, nil }

func (BadCounts) Write(p []byte) (int, error) { return len(p) + 1, nil }

// StallingReader returns p. A read after that calls onStall, which may check the state at the
// moment a real reader would block, and fails.
type StallingReader struct {
	P       []byte
	OnStall func()
}

func (s *StallingReader) Read(p []byte) (int, error) {
	if len(s.P) == 0 {
		s.OnStall()
		return 0, ErrTest
	}
	n := copy(p, s.P)
	s.P = s.P[n:]
	return n, nil
}

// PanicReader panics after n bytes.
type PanicReader struct {
	R io.Reader
	N int
}

func (r *PanicReader) Read(p []byte) (int, error) {
	if r.N == 0 {
		panic("reader")
	}
	n, err := r.R.Read(p[:min(len(p), r.N)])
	r.N -= n
	return n, err
}

// PanicWriter panics after n calls.
type PanicWriter struct{ N int }

func (w *PanicWriter) Write(p []byte) (int, error) {
	w.N--
	if w.N < 0 {
		panic("writer")
	}
	return len(p), nil
}

// PanicReaderAt panics while on is set.
type PanicReaderAt struct {
	bytes.Reader
	On bool
}

func (r *PanicReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if r.On {
		panic("reader")
	}
	return r.Reader.ReadAt(p, off)
}

// CountingReader counts the bytes read.
type CountingReader struct {
	R io.Reader
	N int64
}

func (c *CountingReader) Read(p []byte) (int, error) {
	n, err := c.R.Read(p)
	c.N += int64(n)
	return n, err
}

// CountingReaderAt counts the calls and the bytes read.
type CountingReaderAt struct {
	io.ReaderAt
	Calls, Bytes atomic.Int64
}

func (c *CountingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.Calls.Add(1)
	c.Bytes.Add(int64(n))
	return n, err
}

// FaultyReaderAt fails while bad is set.
type FaultyReaderAt struct {
	io.ReaderAt
	Bad atomic.Bool
}

func (f *FaultyReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if f.Bad.Load() {
		return 0, ErrTest
	}
	return f.ReaderAt.ReadAt(p, off)
}

// CancelingReaderAt cancels a context with its third read.
type CancelingReaderAt struct {
	bytes.Reader
	Reads  int
	Cancel context.CancelCauseFunc
}

func (r *CancelingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	r.Reads++
	if r.Reads == 3 {
		r.Cancel(ErrTest)
	}
	return r.Reader.ReadAt(p, off)
}
