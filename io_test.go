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
