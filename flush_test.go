package compress

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

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

// What was flushed comes out before more comes in.
func TestForeignFlush(t *testing.T) {
	checkGoroutines(t)
	for _, p := range Pipelines() {
		deadline(t, p.Name, func() {
			pr, pw := io.Pipe()
			r := newReader(t, pr, WithConcurrency(2))
			parts := make(chan []byte)
			go func() {
				w := newWriter(t, pw, WithPipeline(p.Name), WithBlockSize(testBlock))
				for p := range parts {
					w.Write(p)
					w.Flush()
				}
				w.Close()
				pw.Close()
			}()
			for _, n := range []int{1, 100, testBlock, 3*testBlock + 1, 5} {
				part := textBytes(n, uint64(n))
				parts <- part
				got := make([]byte, n)
				if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, part) {
					t.Errorf("%s: %d bytes: %v", p.Name, n, err)
				}
			}
			close(parts)
			if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("%s: %d, %v", p.Name, n, err)
			}
		})
	}
}

// Also from a frame that has a large window: whoever flushes wants it to be read.
func TestForeignFlushWindow(t *testing.T) {
	checkGoroutines(t)
	for _, window := range []int{0, 16 << 20, 64 << 20} {
		pr, pw := io.Pipe()
		opts := []kzstd.EOption{kzstd.WithEncoderConcurrency(1)}
		if window > 0 {
			opts = append(opts, kzstd.WithWindowSize(window))
		}
		w, err := kzstd.NewWriter(pw, opts...)
		if err != nil {
			t.Fatal(err)
		}
		parts := make(chan []byte)
		go func() {
			for p := range parts {
				w.Write(p)
				w.Flush()
			}
			w.Close()
			pw.Close()
		}()
		r := newReader(t, pr)
		deadline(t, fmt.Sprint("window of ", window), func() {
			for i := range 5 {
				part := textBytes(200+i, uint64(i))
				parts <- part
				got := make([]byte, len(part))
				if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, part) {
					t.Errorf("window of %d: %v", window, err)
				}
			}
			close(parts)
			if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("window of %d: %d, %v", window, n, err)
			}
		})
	}
	// A header alone is not worth the window.
	pr, pw := io.Pipe()
	head := (&zstfile.Header{ContentSize: -1, Window: 128 << 20}).Append(nil)
	got := allocated(func() {
		go func() {
			for _, b := range head {
				pw.Write([]byte{b})
			}
			pw.Close()
		}()
		if _, err := io.ReadAll(newReader(t, pr)); !errors.Is(err, ErrTruncated) {
			t.Error(err)
		}
	})
	if got > 4<<20 {
		t.Errorf("%d bytes of memory for a header", got)
	}
}

type flusher interface {
	io.WriteCloser
	Flush() error
}

// All that was flushed is given out before more input is asked for, wherever in what follows the input stops.
func TestFlushedBeforeMore(t *testing.T) {
	testenv.Slow(t)
	noErr := func(w flusher, err error) flusher {
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	writers := map[string]func(io.Writer) flusher{
		"gzip": func(w io.Writer) flusher { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) flusher {
			z, err := kzstd.NewWriter(w, kzstd.WithEncoderConcurrency(1))
			return noErr(z, err)
		},
		"zstd, large window": func(w io.Writer) flusher {
			z, err := kzstd.NewWriter(w, kzstd.WithEncoderConcurrency(1), kzstd.WithWindowSize(32<<20))
			return noErr(z, err)
		},
	}
	for _, p := range Pipelines() {
		writers[p.Name] = func(w io.Writer) flusher {
			return newWriter(t, w, WithPipeline(p.Name), WithBlockSize(16<<10), WithConcurrency(2))
		}
	}
	const window = 32 << 10
	for name, writer := range writers {
		for _, sizes := range [][]int{{window, window, 3 * window}, {2 * window, 4 * window}, {window - 1, 1, window + 1, 3*window - 1}, {1, 100, 200_000, 7}} {
			var b bytes.Buffer
			w := writer(&b)
			var content []byte
			type mark struct{ file, content int }
			var marks []mark
			for i, n := range sizes {
				part := textBytes(n, uint64(i))
				w.Write(part)
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				content = append(content, part...)
				marks = append(marks, mark{b.Len(), len(content)})
			}
			w.Close()
			for _, m := range marks {
				for more := range 18 {
					end := min(m.file+more, b.Len())
					for _, workers := range []int{1, 3} {
						var got []byte
						asked := false
						src := &stalling{p: b.Bytes()[:end], asked: func() {
							if asked = true; len(got) < m.content {
								t.Fatalf("%s %v: %d bytes behind a flush: %d bytes given out of %d", name, sizes, more, len(got), m.content)
							}
						}}
						r := newReader(t, src, WithConcurrency(workers))
						p := make([]byte, 10_000)
						var err error
						for err == nil {
							var n int
							n, err = r.Read(p)
							got = append(got, p[:n]...)
						}
						if !bytes.HasPrefix(content, got) || asked && end < b.Len() && !errors.Is(err, errTest) {
							t.Fatalf("%s %v: %d bytes, %v", name, sizes, len(got), err)
						}
					}
				}
			}
		}
	}
}

// Content of a frame is given out in front of one that has to be waited for, which is decoded in order.
func TestFrameBeforeOther(t *testing.T) {
	content := textBytes(testBlock, 1)
	first := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	first = first[:frameAt(t, first, 1)]
	second := zstdStream(t, textBytes(100_000, 2), 100_000)
	for n := range min(len(second), 1000) {
		var got int
		r := newReader(t, &stalling{append(first[:len(first):len(first)], second[:n]...), func() {
			if got < len(content) {
				t.Fatalf("%d bytes of the second frame: %d bytes given out of %d", n, got, len(content))
			}
		}}, WithConcurrency(2))
		p := make([]byte, testBlock)
		for {
			m, err := r.Read(p)
			if got += m; err != nil {
				if !errors.Is(err, errTest) {
					t.Fatal(fmt.Sprint(n, " bytes: ", err))
				}
				break
			}
		}
	}
}
