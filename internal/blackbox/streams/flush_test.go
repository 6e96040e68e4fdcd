package streams

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// After Flush a reader can return everything written so far without more input. These tests flush
// at the edges of blocks, and let the input stall behind each flush.

// TestFlush exchanges flushed pieces between a Writer and a Reader over a pipe.
func TestFlush(t *testing.T) {
	bbtest.CheckGoroutines(t)
	sizes := []int{
		1, 100, bbtest.BlockSize - 1, bbtest.BlockSize, bbtest.BlockSize + 1, 2 * bbtest.BlockSize,
		5 * bbtest.BlockSize,
	}
	for _, size := range sizes {
		for _, workers := range bbtest.WorkerCounts {
			for _, readFrom := range []bool{false, true} {
				what := fmt.Sprintf("pieces of %d bytes, %d workers", size, workers)
				bbtest.MustFinish(t, what, func() { exchange(t, size, workers, readFrom) })
			}
		}
	}
}

// exchange writes three pieces with a Flush after each, and reads each before it writes the next.
func exchange(t *testing.T, size, workers int, readFrom bool) {
	pr, pw := io.Pipe()
	// A write to the pipe waits for a read. The channel keeps the Writer's writes until then.
	writes := make(chan []byte, 1000)
	go func() {
		for p := range writes {
			pw.Write(p)
		}
		pw.Close()
	}()
	w := bbtest.NewWriter(t, bbtest.ChanWriter(writes), compress.WithBlockSize(bbtest.BlockSize),
		compress.WithConcurrency(workers))
	r := bbtest.NewReader(t, pr, compress.WithConcurrency(workers))
	for i := range 3 {
		p := bbtest.TextBytes(size, uint64(i))
		var err error
		if readFrom {
			_, err = w.ReadFrom(bytes.NewReader(p))
		} else {
			_, err = w.Write(p)
		}
		if err != nil {
			t.Error("Write:", err)
		}
		for range 2 {
			if err := w.Flush(); err != nil {
				t.Error("Flush:", err)
			}
		}
		got := make([]byte, size)
		if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, p) {
			t.Errorf("piece %d: %v", i, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error("Close:", err)
	}
	close(writes)
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
}

// flushWriter is a Writer of any package that can flush.
type flushWriter interface {
	io.WriteCloser
	Flush() error
}

// checkPieces sends flushed pieces of the given sizes through a pipe, and reads each one before the
// next is written.
func checkPieces(t *testing.T, what string, open func(io.Writer) flushWriter, sizes []int) {
	t.Helper()
	bbtest.MustFinish(t, what, func() {
		pr, pw := io.Pipe()
		r := bbtest.NewReader(t, pr, compress.WithConcurrency(2))
		pieces := make(chan []byte)
		go func() {
			w := open(pw)
			for p := range pieces {
				w.Write(p)
				w.Flush()
			}
			w.Close()
			pw.Close()
		}()
		for i, n := range sizes {
			piece := bbtest.TextBytes(n, uint64(i))
			pieces <- piece
			got := make([]byte, n)
			if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, piece) {
				t.Errorf("%s: piece of %d bytes: %v", what, n, err)
			}
		}
		close(pieces)
		if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%s: at the end: %d bytes, %v", what, n, err)
		}
	})
}

// TestFlushPipelines exchanges pieces with each pipeline.
func TestFlushPipelines(t *testing.T) {
	bbtest.CheckGoroutines(t)
	for _, p := range bridge.Pipelines() {
		open := func(w io.Writer) flushWriter {
			return bbtest.NewWriter(t, w, bridge.Pipeline(p.Name),
				compress.WithBlockSize(bbtest.BlockSize))
		}
		checkPieces(t, p.Name, open, []int{1, 100, bbtest.BlockSize, 3*bbtest.BlockSize + 1, 5})
	}
}

// TestFlushLongBlocks exchanges pieces of .pz whose blocks are too long for short headers.
func TestFlushLongBlocks(t *testing.T) {
	bbtest.CheckGoroutines(t)
	for _, p := range []string{"lzseqr", "lzr"} {
		open := func(w io.Writer) flushWriter {
			return bbtest.NewWriter(t, w, bridge.Pipeline(p), compress.WithBlockSize(1<<20))
		}
		checkPieces(t, p, open, []int{500_000, 1 << 20, 1<<20 + 500_000, 5, 500_000})
	}
}

// TestFlushLargeWindow exchanges pieces in a zstd frame with a large window. A header alone must
// not make the Reader allocate the window.
func TestFlushLargeWindow(t *testing.T) {
	bbtest.CheckGoroutines(t)
	for _, window := range []int64{8 << 20, 16 << 20, 64 << 20} {
		open := func(w io.Writer) flushWriter { return &bbtest.FrameWriter{W: w, Window: window} }
		checkPieces(t, fmt.Sprint("window of ", window), open, []int{200, 201, 202, 203, 204})
	}
	pr, pw := io.Pipe()
	head := (&zstfile.Header{ContentSize: -1, Window: 128 << 20}).Append(nil)
	got := bbtest.AllocatedBytes(func() {
		go func() {
			for _, b := range head {
				pw.Write([]byte{b})
			}
			pw.Close()
		}()
		if _, err := io.ReadAll(bbtest.NewReader(t, pr)); !errors.Is(err, compress.ErrTruncated) {
			t.Errorf("header alone: error %v, want ErrTruncated", err)
		}
	})
	if got > 4<<20 {
		t.Errorf("header alone: %d bytes allocated", got)
	}
}

// flushedFile is a file with the places of its flushes.
type flushedFile struct {
	file, content []byte
	flushes       []struct{ file, content int } // offsets of each flush
}

// newFlushedFile writes pieces of the given sizes with a Flush after each.
func newFlushedFile(t *testing.T, open func(io.Writer) flushWriter, sizes []int) (f flushedFile) {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	for i, n := range sizes {
		piece := bbtest.TextBytes(n, uint64(i))
		w.Write(piece)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		f.content = append(f.content, piece...)
		f.flushes = append(f.flushes, struct{ file, content int }{b.Len(), len(f.content)})
	}
	w.Close()
	f.file = b.Bytes()
	return f
}

// TestFlushBeforeRead lets the input stall at each byte behind a flush. The Reader must return all
// flushed content before it reads from an input that stalls.
func TestFlushBeforeRead(t *testing.T) {
	testenv.Slow(t)
	writers := map[string]func(io.Writer) flushWriter{
		"gzip": func(w io.Writer) flushWriter { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) flushWriter { return &bbtest.FrameWriter{W: w, Window: 8 << 20} },
		"zstd, large window": func(w io.Writer) flushWriter {
			return &bbtest.FrameWriter{W: w, Window: 32 << 20}
		},
	}
	for _, p := range bridge.Pipelines() {
		writers[p.Name] = func(w io.Writer) flushWriter {
			return bbtest.NewWriter(t, w, bridge.Pipeline(p.Name),
				compress.WithBlockSize(16<<10), compress.WithConcurrency(2))
		}
	}
	const window = 32 << 10 // of Deflate
	pieces := [][]int{
		{window, 3 * window},
		{window - 1, 1, window + 1},
		{1, 100, 100_000, 7},
	}
	step := 3 // by default each flush has its own share of the offsets
	if testenv.All() {
		pieces = append(pieces, []int{2 * window, 4 * window}, []int{1, 100, 200_000, 7})
		step = 1
	}
	for name, open := range writers {
		for _, sizes := range pieces {
			f := newFlushedFile(t, open, sizes)
			for i, flush := range f.flushes {
				for more := i % step; more < 18; more += step {
					end := min(flush.file+more, len(f.file))
					for _, workers := range []int{1, 3} {
						what := fmt.Sprintf("%s, pieces %v, %d bytes behind flush %d, %d workers",
							name, sizes, more, i, workers)
						checkStalledRead(t, what, f, end, flush.content, workers)
					}
				}
			}
		}
	}
}

// checkStalledRead reads the first end bytes of f, behind which the input stalls. By then the
// Reader must have returned least bytes of content.
func checkStalledRead(t *testing.T, what string, f flushedFile, end, least, workers int) {
	t.Helper()
	var got []byte
	stalled := false
	src := &bbtest.StallingReader{P: f.file[:end], OnStall: func() {
		stalled = true
		if len(got) < least {
			t.Fatalf("%s: input read after %d bytes of content, want %d", what, len(got), least)
		}
	}}
	r := bbtest.NewReader(t, src, compress.WithConcurrency(workers))
	p := make([]byte, 10_000)
	var err error
	for err == nil {
		var n int
		n, err = r.Read(p)
		got = append(got, p[:n]...)
	}
	if !bytes.HasPrefix(f.content, got) {
		t.Fatalf("%s: wrong content", what)
	}
	if stalled && end < len(f.file) && !errors.Is(err, bbtest.ErrTest) {
		t.Fatalf("%s: error %v, want that of the input", what, err)
	}
}

// TestFrameBeforeRead lets the input stall in a zstd frame that can only be decoded in order. The
// Reader must return the content of the frame in front of it first.
func TestFrameBeforeRead(t *testing.T) {
	content := bbtest.TextBytes(bbtest.BlockSize, 1)
	first := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
		compress.WithBlockSize(bbtest.BlockSize))
	second := bbtest.ZstdStream(t, bbtest.TextBytes(100_000, 2), 100_000)
	for n := range min(len(second), 1000) {
		var got int
		src := &bbtest.StallingReader{P: append(first[:len(first):len(first)], second[:n]...),
			OnStall: func() {
				if got < len(content) {
					t.Fatalf("%d bytes of frame 2: input read after %d bytes of content, want %d",
						n, got, len(content))
				}
			}}
		r := bbtest.NewReader(t, src, compress.WithConcurrency(2))
		p := make([]byte, bbtest.BlockSize)
		for {
			m, err := r.Read(p)
			got += m
			if err != nil {
				if !errors.Is(err, bbtest.ErrTest) {
					t.Fatalf("%d bytes of frame 2: %v", n, err)
				}
				break
			}
		}
	}
}
