package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress/internal/errs"
)

// TestFailingWriter lets the underlying writer fail at many bytes. Each method of the Writer must
// return the same error from then on.
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
				mustFinish(t, fmt.Sprint("writer that fails at byte ", n), func() {
					w.Reset(&limitedWriter{n, short})
					var err error
					for i := 0; i < len(content) && err == nil; i += 1000 {
						_, err = w.Write(content[i:min(i+1000, len(content))])
					}
					if err != nil {
						if _, again := w.Write(content); again != err {
							t.Errorf("Write after the error %v: %v", err, again)
						}
						if again := w.Flush(); again != err {
							t.Errorf("Flush after the error %v: %v", err, again)
						}
					}
					closeErr := w.Close()
					if closeErr != want || err != nil && closeErr != err {
						t.Errorf("byte %d: Write: %v; Close: %v; want %v", n, err, closeErr, want)
					}
					if again := w.Close(); again != closeErr {
						t.Errorf("second Close: %v, want %v", again, closeErr)
					}
				})
			}
		}
	}
}

// TestFailingReader lets the underlying reader fail at many bytes. The Reader must return that
// error after the right content, and again from then on.
func TestFailingReader(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(6*testBlock + 5)
	file := encode(t, content, WithBlockSize(testBlock))
	for _, workers := range workerCounts {
		r := newReader(t, nil, WithConcurrency(workers))
		for n := 0; n < len(file); n += 37 {
			mustFinish(t, fmt.Sprint("reader that fails at byte ", n), func() {
				r.Reset(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errTest)))
				got, err := io.ReadAll(r)
				if !errors.Is(err, errTest) || !bytes.HasPrefix(content, got) {
					t.Errorf("byte %d: %v", n, err)
				}
				if _, again := r.Read(make([]byte, 1)); again != err {
					t.Errorf("Read after the error %v: %v", err, again)
				}
			})
		}
	}
	w := newWriter(t, io.Discard)
	if _, err := w.ReadFrom(
		io.MultiReader(bytes.NewReader(content), iotest.ErrReader(errTest)),
	); !errors.Is(err, errTest) {
		t.Error("ReadFrom:", err)
	}
	if err := w.Close(); err != nil {
		t.Error("Close after ReadFrom of a failing reader:", err)
	}
}

// TestUnusualReaders reads from readers that return nothing, wrong counts, or few bytes at a time.
func TestUnusualReaders(t *testing.T) {
	if _, err := newReader(t, emptyReader{}).Read(make([]byte, 10)); err != io.ErrNoProgress {
		t.Error("Reader:", err)
	}
	if _, err := newWriter(t, io.Discard).ReadFrom(emptyReader{}); err != io.ErrNoProgress {
		t.Error("ReadFrom:", err)
	}
	if _, err := newReader(t, badCounts{}).Read(make([]byte, 10)); err != errs.BadCount {
		t.Error("Reader, wrong counts:", err)
	}
	if _, err := newWriter(t, io.Discard).ReadFrom(badCounts{}); err != errs.BadCount {
		t.Error("ReadFrom, wrong counts:", err)
	}
	if err := newWriter(t, badCounts{}).Close(); err != errs.BadCount {
		t.Error("Writer, wrong counts:", err)
	}
	content := mixedBytes(5*testBlock + 1)
	file := encode(t, content, WithBlockSize(testBlock))
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"one byte":      iotest.OneByteReader,
		"half":          iotest.HalfReader,
		"data with EOF": iotest.DataErrReader,
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
	if err := iotest.TestReader(
		openAt(t, file, withCachedBlocks(t, 1, 1, testBlock), WithConcurrency(1)), content,
	); err != nil {
		t.Error(err)
	}
}
