package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/errs"
)

// TestClosed checks that Close may be called again and that other methods then return ErrClosed.
func TestClosed(t *testing.T) {
	var b bytes.Buffer
	w := bbtest.NewWriter(t, &b)
	for range 3 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if b.Len() != 16 {
		t.Errorf("an empty stream has %d bytes, want 16", b.Len())
	}
	if _, err := w.Write([]byte{1}); err != compress.ErrClosed {
		t.Error("Write:", err)
	}
	if _, err := w.ReadFrom(&b); err != compress.ErrClosed {
		t.Error("ReadFrom:", err)
	}
	if err := w.Flush(); err != compress.ErrClosed {
		t.Error("Flush:", err)
	}
	file := bbtest.Encode(t, bbtest.MixedBytes(100_000), compress.WithBlockSize(bbtest.BlockSize))
	r := bbtest.NewReader(t, bytes.NewReader(file))
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	for range 3 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Read(make([]byte, 10)); err != compress.ErrClosed {
		t.Error("Read:", err)
	}
	if _, err := r.WriteTo(io.Discard); err != compress.ErrClosed {
		t.Error("WriteTo:", err)
	}
	ra := bbtest.OpenAt(t, file)
	ra.Read(make([]byte, 10))
	for range 3 {
		if err := ra.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := ra.ReadAt(make([]byte, 10), 0); err != compress.ErrClosed {
		t.Error("ReadAt:", err)
	}
	if _, err := ra.Read(make([]byte, 10)); err != compress.ErrClosed {
		t.Error("ReaderAt.Read:", err)
	}
}

// TestReset checks that Reset works in any state, with and without Close, and keeps the options.
func TestReset(t *testing.T) {
	bbtest.CheckGoroutines(t)
	content := bbtest.MixedBytes(10*bbtest.BlockSize + 9)
	both := []compress.Option{compress.WithConcurrency(2), compress.WithChecksum(false)}
	opts := append(bbtest.ForWriter(both...), compress.WithBlockSize(bbtest.BlockSize),
		bridge.Pipeline("lzr"))
	want := bbtest.Encode(t, content, opts...)
	w := bbtest.NewWriter(t, nil, opts...)
	r := bbtest.NewReader(t, nil, bbtest.ForReader(both...)...)
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
		bbtest.Equal(t, b.Bytes(), want, "after Reset")

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
		bbtest.Equal(t, got, content, "after Reset")
	}
}

// TestCancel lets the context end after each number of blocks.
func TestCancel(t *testing.T) {
	bbtest.CheckGoroutines(t)
	content := bbtest.MixedBytes(20 * bbtest.BlockSize)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	for _, workers := range bbtest.WorkerCounts {
		for k := range 20 {
			bbtest.MustFinish(t, fmt.Sprint("cancel at block ", k), func() {
				ctx, cancel := context.WithCancelCause(t.Context())
				opts := []compress.Option{
					compress.WithContext(ctx),
					compress.WithConcurrency(workers),
					compress.WithProgress(func(p compress.Progress) {
						if p.Blocks == int64(k) {
							cancel(bbtest.ErrTest)
						}
					}),
				}
				if k == 0 {
					cancel(bbtest.ErrTest)
				}
				w := bbtest.NewWriter(t, io.Discard,
					append(bbtest.ForWriter(opts...), compress.WithBlockSize(bbtest.BlockSize))...)
				_, err := w.Write(content)
				if closeErr := w.Close(); !errors.Is(closeErr, bbtest.ErrTest) &&
					!(err == nil && closeErr == nil && k > 0) {
					t.Error("Writer:", closeErr)
				}
				ctx, cancel = context.WithCancelCause(t.Context())
				opts[0] = compress.WithContext(ctx)
				if k == 0 {
					cancel(bbtest.ErrTest)
				}
				got, err := bbtest.Decode(file, bbtest.ForReader(opts...)...)
				if !errors.Is(err, bbtest.ErrTest) || !bytes.HasPrefix(content, got) {
					t.Error("Reader:", err)
				}
				ctx, cancel = context.WithCancelCause(t.Context())
				opts[0] = compress.WithContext(ctx)
				ra := bbtest.OpenAt(t, file, bbtest.ForReader(opts...)...)
				cancel(bbtest.ErrTest)
				if _, err := ra.ReadAt(make([]byte, 100), 0); !errors.Is(err, bbtest.ErrTest) ||
					!errors.Is(err, context.Canceled) {
					t.Error("ReadAt:", err)
				}
				if _, err := ra.WriteTo(io.Discard); !errors.Is(err, bbtest.ErrTest) {
					t.Error("WriteTo:", err)
				}
				_, err = compress.AppendEncode(nil, content,
					append(bbtest.ForWriter(opts...), compress.WithBlockSize(bbtest.BlockSize))...)
				if !errors.Is(err, bbtest.ErrTest) {
					t.Error("AppendEncode:", err)
				}
			})
		}
	}
}

// TestAbandoned checks that Writers and Readers that are never closed leave no goroutines.
func TestAbandoned(t *testing.T) {
	bbtest.CheckGoroutines(t)
	content := bbtest.MixedBytes(20 * bbtest.BlockSize)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	for _, workers := range bbtest.WorkerCounts {
		w := bbtest.NewWriter(t, io.Discard, compress.WithBlockSize(bbtest.BlockSize),
			compress.WithConcurrency(workers))
		w.Write(content)
		r := bbtest.NewReader(t, bytes.NewReader(file), compress.WithConcurrency(workers))
		r.Read(make([]byte, bbtest.BlockSize+1))
		ra, err := bbtest.OpenFile(file, compress.WithConcurrency(workers))
		if err != nil {
			t.Fatal(err)
		}
		ra.Read(make([]byte, bbtest.BlockSize+1))
	}
}

// TestZeroValues checks that the methods of a zero Writer and Reader name the mistake.
func TestZeroValues(t *testing.T) {
	for name, f := range map[string]func(w *compress.Writer, r *compress.Reader) error{
		"Write": func(w *compress.Writer, _ *compress.Reader) error {
			_, err := w.Write([]byte("x"))
			return err
		},
		"ReadFrom": func(w *compress.Writer, _ *compress.Reader) error {
			_, err := w.ReadFrom(strings.NewReader("x"))
			return err
		},
		"Flush": func(w *compress.Writer, _ *compress.Reader) error { return w.Flush() },
		"Close": func(w *compress.Writer, _ *compress.Reader) error {
			w.Close()
			return w.Close()
		},
		"Writer.Reset": func(w *compress.Writer, _ *compress.Reader) error {
			w.Reset(io.Discard)
			_, err := w.Write(nil)
			return err
		},
		"Read": func(_ *compress.Writer, r *compress.Reader) error {
			_, err := r.Read(make([]byte, 1))
			return err
		},
		"WriteTo": func(_ *compress.Writer, r *compress.Reader) error {
			_, err := r.WriteTo(io.Discard)
			return err
		},
		"Reader.Reset": func(_ *compress.Writer, r *compress.Reader) error {
			r.Reset(strings.NewReader("x"))
			_, err := io.ReadAll(r)
			return err
		},
	} {
		if err := f(new(compress.Writer), new(compress.Reader)); !errors.Is(err, compress.ErrOption) ||
			!strings.Contains(err.Error(), "made without New") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var w compress.Writer
	var r compress.Reader
	w.Stats()
	r.Stats()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestZeroReaderAt checks that methods of a zero ReaderAt name the mistake, or describe an empty
// file.
func TestZeroReaderAt(t *testing.T) {
	for name, f := range map[string]func(r *compress.ReaderAt) error{
		"ReadAt": func(r *compress.ReaderAt) error {
			_, err := r.ReadAt(make([]byte, 1), 0)
			return err
		},
		"ReaderAt.Read": func(r *compress.ReaderAt) error {
			_, err := r.Read(make([]byte, 1))
			return err
		},
		"Seek": func(r *compress.ReaderAt) error {
			_, err := r.Seek(0, io.SeekStart)
			return err
		},
		"ReaderAt.WriteTo": func(r *compress.ReaderAt) error {
			_, err := r.WriteTo(io.Discard)
			return err
		},
	} {
		if err := f(new(compress.ReaderAt)); !errors.Is(err, compress.ErrOption) ||
			!strings.Contains(err.Error(), "made without New") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var at compress.ReaderAt
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

// TestFailingWriter lets the underlying writer fail at many bytes. Each method of the Writer must
// return the same error from then on.
func TestFailingWriter(t *testing.T) {
	bbtest.CheckGoroutines(t)
	content := bbtest.MixedBytes(6*bbtest.BlockSize + 5)
	size := len(bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize)))
	for _, workers := range bbtest.WorkerCounts {
		for _, short := range []bool{false, true} {
			want := bbtest.ErrTest
			if short {
				want = io.ErrShortWrite
			}
			w := bbtest.NewWriter(t, nil, compress.WithBlockSize(bbtest.BlockSize),
				compress.WithConcurrency(workers))
			for n := 0; n < size; n += 131 {
				bbtest.MustFinish(t, fmt.Sprint("writer that fails at byte ", n), func() {
					w.Reset(&bbtest.LimitedWriter{N: n, Short: short})
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
	bbtest.CheckGoroutines(t)
	content := bbtest.MixedBytes(6*bbtest.BlockSize + 5)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	for _, workers := range bbtest.WorkerCounts {
		r := bbtest.NewReader(t, nil, compress.WithConcurrency(workers))
		for n := 0; n < len(file); n += 37 {
			bbtest.MustFinish(t, fmt.Sprint("reader that fails at byte ", n), func() {
				r.Reset(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(bbtest.ErrTest)))
				got, err := io.ReadAll(r)
				if !errors.Is(err, bbtest.ErrTest) || !bytes.HasPrefix(content, got) {
					t.Errorf("byte %d: %v", n, err)
				}
				if _, again := r.Read(make([]byte, 1)); again != err {
					t.Errorf("Read after the error %v: %v", err, again)
				}
			})
		}
	}
	w := bbtest.NewWriter(t, io.Discard)
	if _, err := w.ReadFrom(
		io.MultiReader(bytes.NewReader(content), iotest.ErrReader(bbtest.ErrTest)),
	); !errors.Is(err, bbtest.ErrTest) {
		t.Error("ReadFrom:", err)
	}
	if err := w.Close(); err != nil {
		t.Error("Close after ReadFrom of a failing reader:", err)
	}
}

// TestUnusualReaders reads from readers that return nothing, wrong counts, or few bytes at a time.
func TestUnusualReaders(t *testing.T) {
	if _, err := bbtest.NewReader(t, bbtest.EmptyReader{}).Read(make([]byte, 10)); err != io.ErrNoProgress {
		t.Error("Reader:", err)
	}
	if _, err := bbtest.NewWriter(t, io.Discard).ReadFrom(bbtest.EmptyReader{}); err != io.ErrNoProgress {
		t.Error("ReadFrom:", err)
	}
	if _, err := bbtest.NewReader(t, bbtest.BadCounts{}).Read(make([]byte, 10)); err != errs.BadCount {
		t.Error("Reader, wrong counts:", err)
	}
	if _, err := bbtest.NewWriter(t, io.Discard).ReadFrom(bbtest.BadCounts{}); err != errs.BadCount {
		t.Error("ReadFrom, wrong counts:", err)
	}
	if err := bbtest.NewWriter(t, bbtest.BadCounts{}).Close(); err != errs.BadCount {
		t.Error("Writer, wrong counts:", err)
	}
	content := bbtest.MixedBytes(5*bbtest.BlockSize + 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"one byte":      iotest.OneByteReader,
		"half":          iotest.HalfReader,
		"data with EOF": iotest.DataErrReader,
	} {
		got, err := io.ReadAll(bbtest.NewReader(t, wrap(bytes.NewReader(file))))
		if err != nil {
			t.Fatal(name, err)
		}
		bbtest.Equal(t, got, content, name)
	}
	if err := iotest.TestReader(bbtest.NewReader(t, bytes.NewReader(file)), content); err != nil {
		t.Error(err)
	}
	if err := iotest.TestReader(bbtest.OpenAt(t, file), content); err != nil {
		t.Error(err)
	}
	if err := iotest.TestReader(
		bbtest.OpenAt(t, file, bbtest.WithCachedBlocks(t, 1, 1, bbtest.BlockSize),
			compress.WithConcurrency(1)), content,
	); err != nil {
		t.Error(err)
	}
}

// endsNoter is a destination that notes where streams end.
type endsNoter struct {
	bytes.Buffer
	ends []int
}

func (e *endsNoter) endStream() error {
	e.ends = append(e.ends, e.Len())
	return nil
}

// TestStreams checks that a Writer begins another stream when one has enough content. Each is then
// a file of its own, and the bytes do not depend on threads and Writes.
func TestStreams(t *testing.T) {
	const limit = 1 << 20
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		for _, size := range []int{0, 1000, limit - 1, limit, limit + 1, limit + 100_000, 3*limit + 99} {
			name := fmt.Sprintf("%v, %d bytes", format, size)
			content := bbtest.MixedBytes(size)
			var file endsNoter
			opts := []compress.WriterOption{
				compress.WithFormat(format), compress.WithBlockSize(1 << 16),
				bridge.Streams(limit, file.endStream),
			}
			w := bbtest.NewWriter(t, &file, append(opts, compress.WithConcurrency(2),
				compress.WithContentSize(int64(size)))...)
			w.ReadFrom(iotest.OneByteReader(bytes.NewReader(content[:min(10, size)])))
			w.Write(content[min(10, size):])
			if err := w.Close(); err != nil {
				t.Fatal(name, err)
			}
			if len(file.ends) != max(0, size-1)/limit {
				t.Errorf("%s: %d streams end", name, len(file.ends))
			}
			bbtest.CheckAllReaders(t, file.Bytes(), content, compress.WithConcurrency(2))
			at := 0
			for i, end := range append(file.ends, file.Len()) {
				part := content[i*limit : min((i+1)*limit, size)]
				got, err := bbtest.Decode(file.Bytes()[at:end])
				if err != nil || !bytes.Equal(got, part) {
					t.Errorf("%s: stream %d: %d bytes, %v", name, i, len(got), err)
				}
				at = end
			}
			known := append(opts, compress.WithContentSize(int64(size)))
			ends := len(file.ends)
			again := bbtest.Encode(t, content, append(known, compress.WithConcurrency(1))...)
			if !bytes.Equal(again, file.Bytes()) {
				t.Errorf("%s: other bytes with one thread", name)
			}
			if len(file.ends) != 2*ends {
				t.Errorf("%s: %d streams end with one thread", name, len(file.ends)-ends)
			}
			w.Reset(io.Discard) // the next file begins with its own stream
			w.Write(content)
			if err := w.Close(); err != nil {
				t.Error(name, err)
			}
		}
	}
}

// TestStreamsFlushes writes streams with flushes. They end behind a frame, not within one.
func TestStreamsFlushes(t *testing.T) {
	content := bbtest.MixedBytes(2<<20 + 99)
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		var file bytes.Buffer
		w := bbtest.NewWriter(t, &file, compress.WithFormat(format), compress.WithBlockSize(1<<16),
			bridge.Streams(1<<20, noEnd))
		for p := content; len(p) > 0; p = p[min(len(p), 9999):] {
			w.Write(p[:min(len(p), 9999)])
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		bbtest.CheckAllReaders(t, file.Bytes(), content)
		n := file.Len()
		if format == compress.PZ {
			if info, err := bbtest.FileInfo(file.Bytes()); err != nil || len(info.Streams) != 2 {
				t.Errorf("%v, %d bytes: %d streams, %v", format, n, len(info.Streams), err)
			}
		}
	}
}

// noEnd does nothing at the end of a stream.
func noEnd() error { return nil }

// TestStreamsOptions checks which options do not go together.
func TestStreamsOptions(t *testing.T) {
	for _, opts := range [][]compress.WriterOption{
		{bridge.Streams(-1, noEnd)},
		{bridge.Streams(0, noEnd)},
		{bridge.Streams(1<<20-1, noEnd)},
		{bridge.Streams(1<<20, noEnd), compress.WithFormat(compress.Gzip)},
		{bridge.Streams(1<<20, noEnd), compress.WithLongDistance(128 << 20)},
	} {
		if _, err := compress.NewWriter(io.Discard, opts...); !errors.Is(err, compress.ErrOption) {
			t.Errorf("error %v, want ErrOption", err)
		}
	}
	if _, err := compress.NewPlan(
		1<<22, bridge.Streams(1<<20, noEnd),
	); !errors.Is(err, compress.ErrOption) {
		t.Errorf("NewPlan: error %v, want ErrOption", err)
	}
}
