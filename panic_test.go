package compress

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gopz/compress/internal/errs"
)

// TestWriterPanics lets the underlying writer panic. The Writer must say so until Reset, and work
// after it.
func TestWriterPanics(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(8 * testBlock)
	for _, p := range Pipelines() {
		for _, workers := range workerCounts {
			opts := []Option{
				WithPipeline(p.Name),
				WithBlockSize(testBlock),
				WithConcurrency(workers),
			}
			want := encode(t, content, opts...)
			w := newWriter(t, nil, opts...)
			for n := range 8 {
				w.Reset(&panicWriter{n})
				if v := panics(func() { w.Write(content); w.Close() }); v != "writer" {
					t.Fatalf("%s, call %d: panic %v, want that of the writer", p.Name, n, v)
				}
				mustFinish(t, p.Name, func() {
					if _, err := w.Write(content); err != errs.Panicked &&
						err != ErrClosed { // Close may panic too
						t.Errorf("%s, call %d: Write: %v", p.Name, n, err)
					}
					if err := w.Close(); err != errs.Panicked {
						t.Errorf("%s, call %d: Close: %v", p.Name, n, err)
					}
				})
			}
			var b bytes.Buffer
			mustFinish(t, p.Name, func() {
				w.Reset(&b)
				if _, err := w.Write(content); err != nil {
					t.Error(err)
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
			equal(t, b.Bytes(), want, p.Name)
		}
	}
}

// TestReaderPanics lets the underlying reader panic. The Reader must say so until Reset, and work
// after it.
func TestReaderPanics(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(8 * testBlock)
	files := map[string][]byte{"gzip": gzipMember(t, content), "zstd": zstdStream(t, content, 1000)}
	for _, p := range Pipelines() {
		files[p.Name] = encode(t, content, WithPipeline(p.Name), WithBlockSize(testBlock))
	}
	for name, file := range files {
		for _, workers := range workerCounts {
			r := newReader(t, nil, WithConcurrency(workers))
			for i := range 12 {
				r.Reset(&panicReader{bytes.NewReader(file), i * len(file) / 12})
				if v := panics(func() { io.ReadAll(r) }); v != "reader" {
					t.Fatalf("%s, part %d: panic %v, want that of the reader", name, i, v)
				}
				mustFinish(t, name, func() {
					if _, err := r.Read(make([]byte, 1)); err != errs.Panicked {
						t.Errorf("%s, part %d: Read: %v", name, i, err)
					}
				})
			}
			mustFinish(t, name, func() {
				r.Reset(bytes.NewReader(file))
				got, err := io.ReadAll(r)
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s, after Reset: %d bytes, %v", name, len(got), err)
				}
			})
		}
	}
}

// TestReaderPanicsInDecoder checks that a panic of the underlying reader passes through a decoder
// that reads from it.
func TestReaderPanicsInDecoder(t *testing.T) {
	for _, file := range [][]byte{
		gzipMember(t, randomBytes(1<<18, 1)), windowFrame(1<<20, randomBytes(1<<18, 1)),
	} {
		r := newReader(t, &panicReader{bytes.NewReader(file), 1 << 17})
		func() {
			defer func() {
				if v := recover(); v != "reader" {
					t.Errorf("panic %v, want that of the reader", v)
				}
			}()
			io.Copy(io.Discard, r)
		}()
	}
}

// TestLostBlocks checks that a run without any block left returns an error and does not wait.
func TestLostBlocks(t *testing.T) {
	content := mixedBytes(8 * testBlock)
	w := newWriter(t, io.Discard, WithBlockSize(testBlock), WithConcurrency(1))
	file := encode(t, content, WithBlockSize(testBlock))
	r := newReader(t, bytes.NewReader(file), WithConcurrency(1))
	mustFinish(t, "lost blocks", func() {
		w.Write(content)
		w.Close()
		w.Reset(io.Discard)
		w.TakeBlocks()
		if _, err := w.Write(content); !errors.Is(err, ErrInternal) {
			t.Error("Writer:", err)
		}
		io.Copy(io.Discard, r)
		r.Reset(bytes.NewReader(file))
		r.TakeBlocks()
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, ErrInternal) {
			t.Error("Reader:", err)
		}
	})
}

// TestReaderAtPanics lets the underlying ReaderAt panic. A ReaderAt must go on working.
func TestReaderAtPanics(t *testing.T) {
	content := textBytes(8*testBlock, 1)
	for _, pipe := range []string{DefaultPipeline, "lzf"} {
		file := encode(t, content, WithPipeline(pipe), WithBlockSize(testBlock))
		src := &panicReaderAt{Reader: *bytes.NewReader(file)}
		r, err := NewReaderAt(src, int64(len(file)), withCachedBlocks(t, 1, 1, testBlock),
			WithConcurrency(1))
		if pipe == "lzf" {
			r, err = NewReaderAt(src, int64(len(file)), WithConcurrency(1))
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			src.on = true
			off := int64(i % 8 * testBlock)
			if v := panics(func() { r.ReadAt(make([]byte, 3*testBlock/2), off) }); v != "reader" &&
				i < 8 {
				t.Fatalf("%s, read %d: panic %v, want that of the reader", pipe, i, v)
			}
			r.Seek(int64((i+4)%8*testBlock), io.SeekStart)
			panics(func() { r.Read(make([]byte, 10)) })
		}
		src.on = false
		mustFinish(t, pipe, func() {
			got := make([]byte, len(content))
			if _, err := r.ReadAt(got, 0); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: ReadAt: %v", pipe, err)
			}
			r.Seek(0, io.SeekStart)
			if n, err := r.WriteTo(io.Discard); err != nil || n != int64(len(content)) {
				t.Errorf("%s: WriteTo: %d bytes, %v", pipe, n, err)
			}
			r.Close()
		})
	}
}
