package compress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestClosed checks that Close may be called again and that other methods then return ErrClosed.
func TestClosed(t *testing.T) {
	var b bytes.Buffer
	w := newWriter(t, &b)
	for range 3 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if b.Len() != 16 {
		t.Errorf("an empty stream has %d bytes, want 16", b.Len())
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

// TestReset checks that Reset works in any state, with and without Close, and keeps the options.
func TestReset(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(10*testBlock + 9)
	opts := []Option{
		WithBlockSize(testBlock),
		WithPipeline("lzr"),
		WithConcurrency(2),
		WithChecksum(false),
	}
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

// TestCancel lets the context end after each number of blocks.
func TestCancel(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(20 * testBlock)
	file := encode(t, content, WithBlockSize(testBlock))
	for _, workers := range workerCounts {
		for k := range 20 {
			mustFinish(t, fmt.Sprint("cancel at block ", k), func() {
				ctx, cancel := context.WithCancelCause(t.Context())
				opts := []Option{
					WithBlockSize(testBlock),
					WithConcurrency(workers),
					WithContext(ctx),
					WithProgress(func(p Progress) {
						if p.Blocks == int64(k) {
							cancel(errTest)
						}
					}),
				}
				if k == 0 {
					cancel(errTest)
				}
				w := newWriter(t, io.Discard, opts...)
				_, err := w.Write(content)
				if closeErr := w.Close(); !errors.Is(closeErr, errTest) &&
					!(err == nil && closeErr == nil && k > 0) {
					t.Error("Writer:", closeErr)
				}
				ctx, cancel = context.WithCancelCause(t.Context())
				opts[2] = WithContext(ctx)
				if k == 0 {
					cancel(errTest)
				}
				if got, err := decode(file, opts...); !errors.Is(err, errTest) ||
					!bytes.HasPrefix(content, got) {
					t.Error("Reader:", err)
				}
				ctx, cancel = context.WithCancelCause(t.Context())
				opts[2] = WithContext(ctx)
				ra := openAt(t, file, opts...)
				cancel(errTest)
				if _, err := ra.ReadAt(make([]byte, 100), 0); !errors.Is(err, errTest) ||
					!errors.Is(err, context.Canceled) {
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

// TestAbandoned checks that Writers and Readers that are never closed leave no goroutines.
func TestAbandoned(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(20 * testBlock)
	file := encode(t, content, WithBlockSize(testBlock))
	for _, workers := range workerCounts {
		w := newWriter(t, io.Discard, WithBlockSize(testBlock), WithConcurrency(workers))
		w.Write(content)
		r := newReader(t, bytes.NewReader(file), WithConcurrency(workers))
		r.Read(make([]byte, testBlock+1))
		ra, err := openFile(file, WithConcurrency(workers))
		if err != nil {
			t.Fatal(err)
		}
		ra.Read(make([]byte, testBlock+1))
	}
}

// TestZeroValues checks that the methods of a zero Writer and Reader name the mistake.
func TestZeroValues(t *testing.T) {
	for name, f := range map[string]func(w *Writer, r *Reader) error{
		"Write": func(w *Writer, _ *Reader) error {
			_, err := w.Write([]byte("x"))
			return err
		},
		"ReadFrom": func(w *Writer, _ *Reader) error {
			_, err := w.ReadFrom(strings.NewReader("x"))
			return err
		},
		"Flush": func(w *Writer, _ *Reader) error { return w.Flush() },
		"Close": func(w *Writer, _ *Reader) error {
			w.Close()
			return w.Close()
		},
		"Writer.Reset": func(w *Writer, _ *Reader) error {
			w.Reset(io.Discard)
			_, err := w.Write(nil)
			return err
		},
		"Read": func(_ *Writer, r *Reader) error {
			_, err := r.Read(make([]byte, 1))
			return err
		},
		"WriteTo": func(_ *Writer, r *Reader) error {
			_, err := r.WriteTo(io.Discard)
			return err
		},
		"Reader.Reset": func(_ *Writer, r *Reader) error {
			r.Reset(strings.NewReader("x"))
			_, err := io.ReadAll(r)
			return err
		},
	} {
		if err := f(new(Writer), new(Reader)); !errors.Is(err, ErrOption) ||
			!strings.Contains(err.Error(), "made without New") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var w Writer
	var r Reader
	w.Stats()
	r.Stats()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestZeroReaderAt checks that methods of a zero ReaderAt name the mistake, or describe an empty file.
func TestZeroReaderAt(t *testing.T) {
	for name, f := range map[string]func(r *ReaderAt) error{
		"ReadAt": func(r *ReaderAt) error {
			_, err := r.ReadAt(make([]byte, 1), 0)
			return err
		},
		"ReaderAt.Read": func(r *ReaderAt) error {
			_, err := r.Read(make([]byte, 1))
			return err
		},
		"Seek": func(r *ReaderAt) error {
			_, err := r.Seek(0, io.SeekStart)
			return err
		},
		"ReaderAt.WriteTo": func(r *ReaderAt) error {
			_, err := r.WriteTo(io.Discard)
			return err
		},
	} {
		if err := f(new(ReaderAt)); !errors.Is(err, ErrOption) ||
			!strings.Contains(err.Error(), "made without New") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var at ReaderAt
	at.Stats()
	if err := at.Close(); err != nil {
		t.Error(err)
	}
	if info := at.Info(); at.Size() != 0 || info.Content != 0 || info.Blocks != 0 {
		t.Errorf("a zero ReaderAt describes %+v", info)
	}
	for b := range at.Blocks() {
		t.Errorf("a zero ReaderAt has block %+v", b)
	}
}
