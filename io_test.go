package compress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress/internal/errs"
)

var errTest = errors.New("test error")

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

func TestFailingWriter(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(6*testBlock + 5)
	size := len(encode(t, content, WithBlockSize(testBlock)))
	for _, workers := range workerCounts {
		for _, short := range []bool{false, true} {
			want := errTest
			if short {
				want = io.ErrShortWrite
			}
			w := newWriter(t, nil, WithBlockSize(testBlock), WithConcurrency(workers))
			for n := 0; n < size; n += 131 {
				deadline(t, fmt.Sprint("writer that fails at byte ", n), func() {
					w.Reset(&limitedWriter{n, short})
					var err error
					for i := 0; i < len(content) && err == nil; i += 1000 {
						_, err = w.Write(content[i:min(i+1000, len(content))])
					}
					if err != nil {
						if _, again := w.Write(content); again != err {
							t.Errorf("Write after %v: %v", err, again)
						}
						if again := w.Flush(); again != err {
							t.Errorf("Flush after %v: %v", err, again)
						}
					}
					cerr := w.Close()
					if cerr != want || err != nil && cerr != err {
						t.Errorf("byte %d: Write %v, Close %v", n, err, cerr)
					}
					if again := w.Close(); again != cerr {
						t.Errorf("second Close: %v", again)
					}
				})
			}
		}
	}
}

func TestFailingReader(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(6*testBlock + 5)
	file := encode(t, content, WithBlockSize(testBlock))
	for _, workers := range workerCounts {
		r := newReader(t, nil, WithConcurrency(workers))
		for n := 0; n < len(file); n += 37 {
			deadline(t, fmt.Sprint("reader that fails at byte ", n), func() {
				r.Reset(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errTest)))
				got, err := io.ReadAll(r)
				if !errors.Is(err, errTest) || !bytes.HasPrefix(content, got) {
					t.Errorf("byte %d: %v", n, err)
				}
				if _, again := r.Read(make([]byte, 1)); again != err {
					t.Errorf("Read after %v: %v", err, again)
				}
			})
		}
	}
	w := newWriter(t, io.Discard)
	if _, err := w.ReadFrom(io.MultiReader(bytes.NewReader(content), iotest.ErrReader(errTest))); !errors.Is(err, errTest) {
		t.Error("ReadFrom:", err)
	}
	if err := w.Close(); err != nil {
		t.Error("Close after ReadFrom of a failing reader:", err)
	}
}

// lazyReader never gives anything.
type lazyReader struct{}

func (lazyReader) Read(p []byte) (int, error) { return 0, nil }

// liar says it has moved more than it could.
type liar struct{}

func (liar) Read(p []byte) (int, error)  { return len(p) + 1, nil }
func (liar) Write(p []byte) (int, error) { return len(p) + 1, nil }

func TestOddReaders(t *testing.T) {
	if _, err := newReader(t, lazyReader{}).Read(make([]byte, 10)); err != io.ErrNoProgress {
		t.Error("Reader:", err)
	}
	if _, err := newWriter(t, io.Discard).ReadFrom(lazyReader{}); err != io.ErrNoProgress {
		t.Error("ReadFrom:", err)
	}
	if _, err := newReader(t, liar{}).Read(make([]byte, 10)); err != errs.BadCount {
		t.Error("Reader of a liar:", err)
	}
	if _, err := newWriter(t, io.Discard).ReadFrom(liar{}); err != errs.BadCount {
		t.Error("ReadFrom of a liar:", err)
	}
	if err := newWriter(t, liar{}).Close(); err != errs.BadCount {
		t.Error("Writer to a liar:", err)
	}
	content := mixedBytes(5*testBlock + 1)
	file := encode(t, content, WithBlockSize(testBlock))
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"one byte": iotest.OneByteReader, "half": iotest.HalfReader, "data with EOF": iotest.DataErrReader,
	} {
		got, err := io.ReadAll(newReader(t, wrap(bytes.NewReader(file))))
		if err != nil {
			t.Fatal(name, err)
		}
		equal(t, got, content, name)
	}
	if err := iotest.TestReader(newReader(t, bytes.NewReader(file)), content); err != nil {
		t.Error(err)
	}
	if err := iotest.TestReader(openAt(t, file), content); err != nil {
		t.Error(err)
	}
	if err := iotest.TestReader(openAt(t, file, memoryFor(t, 1, 1, testBlock), WithConcurrency(1)), content); err != nil {
		t.Error(err)
	}
}

// What was written before a Flush can be read without anything that follows, wherever in a block it ends.
func TestFlush(t *testing.T) {
	checkGoroutines(t)
	for _, size := range []int{1, 100, testBlock - 1, testBlock, testBlock + 1, 2 * testBlock, 5 * testBlock} {
		for _, workers := range workerCounts {
			for _, from := range []bool{false, true} {
				deadline(t, fmt.Sprintf("exchange of %d bytes, %d workers", size, workers), func() {
					pr, pw := io.Pipe()
					// The pipe has no buffer: what the Writer writes waits here.
					lines := make(chan []byte, 1000)
					go func() {
						for p := range lines {
							pw.Write(p)
						}
						pw.Close()
					}()
					w := newWriter(t, chanWriter(lines), WithBlockSize(testBlock), WithConcurrency(workers))
					r := newReader(t, pr, WithConcurrency(workers))
					for i := range 3 {
						p := textBytes(size, uint64(i))
						var err error
						if from {
							_, err = w.ReadFrom(bytes.NewReader(p))
						} else {
							_, err = w.Write(p)
						}
						if err != nil {
							t.Error(err)
						}
						if err := w.Flush(); err != nil {
							t.Error(err)
						}
						if err := w.Flush(); err != nil {
							t.Error(err)
						}
						got := make([]byte, size)
						if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, p) {
							t.Error("exchange:", err)
						}
					}
					if err := w.Close(); err != nil {
						t.Error(err)
					}
					close(lines)
					if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
						t.Error("end:", n, err)
					}
				})
			}
		}
	}
}

type chanWriter chan []byte

func (c chanWriter) Write(p []byte) (int, error) {
	c <- bytes.Clone(p)
	return len(p), nil
}

func TestClosed(t *testing.T) {
	var b bytes.Buffer
	w := newWriter(t, &b)
	for range 3 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if b.Len() != 46 {
		t.Error("an empty stream has", b.Len(), "bytes")
	}
	if _, err := w.Write([]byte{1}); err != ErrClosed {
		t.Error("Write:", err)
	}
	if _, err := w.ReadFrom(&b); err != ErrClosed {
		t.Error("ReadFrom:", err)
	}
	if err := w.Flush(); err != ErrClosed {
		t.Error("Flush:", err)
	}
	file := encode(t, mixedBytes(100_000), WithBlockSize(testBlock))
	r := newReader(t, bytes.NewReader(file))
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	for range 3 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Read(make([]byte, 10)); err != ErrClosed {
		t.Error("Read:", err)
	}
	if _, err := r.WriteTo(io.Discard); err != ErrClosed {
		t.Error("WriteTo:", err)
	}
	ra := openAt(t, file)
	ra.Read(make([]byte, 10))
	for range 3 {
		if err := ra.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := ra.ReadAt(make([]byte, 10), 0); err != ErrClosed {
		t.Error("ReadAt:", err)
	}
	if _, err := ra.Read(make([]byte, 10)); err != ErrClosed {
		t.Error("ReaderAt.Read:", err)
	}
}

// Reset in any state, with and without Close, keeps the options.
func TestReset(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(10*testBlock + 9)
	opts := []Option{WithBlockSize(testBlock), WithPipeline("lzr"), WithConcurrency(2), WithChecksum(false)}
	want := encode(t, content, opts...)
	w := newWriter(t, nil, opts...)
	r := newReader(t, nil, opts...)
	for i := range 6 {
		var b bytes.Buffer
		w.Reset(&b)
		part := content[:len(content)*i/5]
		w.Write(part)
		if i%2 == 0 {
			w.Close()
		}
		b.Reset()
		w.Reset(&b)
		w.Write(content)
		w.Close()
		equal(t, b.Bytes(), want, "after Reset")

		r.Reset(&b)
		io.ReadFull(r, make([]byte, len(part)))
		if i%2 == 0 {
			r.Close()
		}
		r.Reset(bytes.NewReader(want))
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, content, "after Reset")
	}
}

func TestCancel(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(20 * testBlock)
	file := encode(t, content, WithBlockSize(testBlock))
	for _, workers := range workerCounts {
		for k := range 20 {
			deadline(t, fmt.Sprint("cancel at block ", k), func() {
				ctx, cancel := context.WithCancelCause(t.Context())
				opts := []Option{WithBlockSize(testBlock), WithConcurrency(workers), WithContext(ctx), WithProgress(func(p Progress) {
					if p.Blocks == int64(k) {
						cancel(errTest)
					}
				})}
				if k == 0 {
					cancel(errTest)
				}
				w := newWriter(t, io.Discard, opts...)
				_, err := w.Write(content)
				if cerr := w.Close(); !errors.Is(cerr, errTest) && !(err == nil && cerr == nil && k > 0) {
					t.Error("Writer:", cerr)
				}
				ctx, cancel = context.WithCancelCause(t.Context())
				opts[2] = WithContext(ctx)
				if k == 0 {
					cancel(errTest)
				}
				if got, err := decode(file, opts...); !errors.Is(err, errTest) || !bytes.HasPrefix(content, got) {
					t.Error("Reader:", err)
				}
				ctx, cancel = context.WithCancelCause(t.Context())
				opts[2] = WithContext(ctx)
				ra := openAt(t, file, opts...)
				cancel(errTest)
				if _, err := ra.ReadAt(make([]byte, 100), 0); !errors.Is(err, errTest) || !errors.Is(err, context.Canceled) {
					t.Error("ReadAt:", err)
				}
				if _, err := ra.WriteTo(io.Discard); !errors.Is(err, errTest) {
					t.Error("WriteTo:", err)
				}
				if _, err := AppendEncode(nil, content, opts...); !errors.Is(err, errTest) {
					t.Error("AppendEncode:", err)
				}
			})
		}
	}
}

// Writers and Readers that nobody closes have no goroutines.
func TestAbandoned(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(20 * testBlock)
	file := encode(t, content, WithBlockSize(testBlock))
	for _, workers := range workerCounts {
		w := newWriter(t, io.Discard, WithBlockSize(testBlock), WithConcurrency(workers))
		w.Write(content)
		r := newReader(t, bytes.NewReader(file), WithConcurrency(workers))
		r.Read(make([]byte, testBlock+1))
		ra, err := NewReaderAt(bytes.NewReader(file), int64(len(file)), WithConcurrency(workers))
		if err != nil {
			t.Fatal(err)
		}
		ra.Read(make([]byte, testBlock+1))
	}
}
