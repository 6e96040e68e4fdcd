package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gopz/compress/internal/errs"
)

// A Writer whose underlying writer has panicked says so, and is as good as new after a Reset.
func TestWriterPanics(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(8 * testBlock)
	for _, p := range Pipelines() {
		for _, workers := range workerCounts {
			opts := []Option{WithPipeline(p.Name), WithBlockSize(testBlock), WithConcurrency(workers)}
			want := encode(t, content, opts...)
			w := newWriter(t, nil, opts...)
			for n := range 8 {
				w.Reset(&panicWriter{n})
				if v := panics(func() { w.Write(content); w.Close() }); v != "writer" {
					t.Fatal(p.Name, n, v)
				}
				deadline(t, p.Name, func() {
					if _, err := w.Write(content); err != errs.Panicked && err != ErrClosed { // it may have been in Close
						t.Error(p.Name, n, err)
					}
					if err := w.Close(); err != errs.Panicked {
						t.Error(p.Name, n, err)
					}
				})
			}
			var b bytes.Buffer
			deadline(t, p.Name, func() {
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

func TestReaderPanics(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(8 * testBlock)
	files := map[string][]byte{"gzip": gzipOf(t, content), "zstd": zstdStream(t, content, 1000)}
	for _, p := range Pipelines() {
		files[p.Name] = encode(t, content, WithPipeline(p.Name), WithBlockSize(testBlock))
	}
	for name, file := range files {
		for _, workers := range workerCounts {
			r := newReader(t, nil, WithConcurrency(workers))
			for i := range 12 {
				r.Reset(&panicAfter{bytes.NewReader(file), i * len(file) / 12})
				if v := panics(func() { io.ReadAll(r) }); v != "reader" {
					t.Fatal(name, i, v)
				}
				deadline(t, name, func() {
					if _, err := r.Read(make([]byte, 1)); err != errs.Panicked {
						t.Error(name, i, err)
					}
				})
			}
			deadline(t, name, func() {
				r.Reset(bytes.NewReader(file))
				got, err := io.ReadAll(r)
				if err != nil || !bytes.Equal(got, content) {
					t.Error(fmt.Sprint(name, ": ", len(got), " bytes, "), err)
				}
			})
		}
	}
}

// A panic of the caller's reader goes through the decoder to the caller.
func TestReaderPanicsInDecoder(t *testing.T) {
	for _, file := range [][]byte{gzipOf(t, randomBytes(1<<18, 1)), storedFrame(1<<20, randomBytes(1<<18, 1))} {
		r := newReader(t, io.MultiReader(bytes.NewReader(file[:1<<17]), panicReader{}))
		func() {
			defer func() {
				if v := recover(); v != "test" {
					t.Error(v)
				}
			}()
			io.Copy(io.Discard, r)
		}()
	}
}

// A run that has lost all of its blocks is an error, and nobody waits for them.
func TestLostBlocks(t *testing.T) {
	content := mixedBytes(8 * testBlock)
	w := newWriter(t, io.Discard, WithBlockSize(testBlock), WithConcurrency(1))
	file := encode(t, content, WithBlockSize(testBlock))
	r := newReader(t, bytes.NewReader(file), WithConcurrency(1))
	deadline(t, "lost blocks", func() {
		w.Write(content)
		w.Close()
		w.Reset(io.Discard)
		for w.run.Get() != nil {
		}
		if _, err := w.Write(content); !errors.Is(err, ErrInternal) {
			t.Error("Writer:", err)
		}
		io.Copy(io.Discard, r)
		r.Reset(bytes.NewReader(file))
		for r.run.Get() != nil {
		}
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, ErrInternal) {
			t.Error("Reader:", err)
		}
	})
}

// A panic of the reader underneath costs a ReaderAt nothing.
func TestReaderAtPanics(t *testing.T) {
	content := textBytes(8*testBlock, 1)
	for _, pipe := range []string{DefaultPipeline, "lzf"} {
		file := encode(t, content, WithPipeline(pipe), WithBlockSize(testBlock))
		src := &panicReaderAt{Reader: *bytes.NewReader(file)}
		r, err := NewReaderAt(src, int64(len(file)), memoryFor(t, 1, 1, testBlock), WithConcurrency(1))
		if pipe == "lzf" {
			r, err = NewReaderAt(src, int64(len(file)), WithConcurrency(1))
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			src.on = true
			off := int64(i % 8 * testBlock)
			if v := panics(func() { r.ReadAt(make([]byte, 3*testBlock/2), off) }); v != "reader" && i < 8 {
				t.Fatal(pipe, i, v)
			}
			r.Seek(int64((i+4)%8*testBlock), io.SeekStart)
			panics(func() { r.Read(make([]byte, 10)) })
		}
		src.on = false
		deadline(t, pipe, func() {
			got := make([]byte, len(content))
			if _, err := r.ReadAt(got, 0); err != nil || !bytes.Equal(got, content) {
				t.Error(pipe, err)
			}
			r.Seek(0, io.SeekStart)
			if n, err := r.WriteTo(io.Discard); err != nil || n != int64(len(content)) {
				t.Error(pipe, n, err)
			}
			r.Close()
		})
	}
}
