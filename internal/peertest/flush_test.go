package peertest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestFlushWrite checks that the peer returns everything written before a Flush.
func TestFlushWrite(t *testing.T) {
	var b bytes.Buffer
	content := corpus.ByName("text").Make(5 * testBlock)
	w, err := compress.NewWriter(&b, compress.WithFormat(compress.Zstd),
		compress.WithBlockSize(testBlock))
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, at := range []int{1, 100, testBlock + 100, 4 * testBlock} {
		w.Write(content[done:at])
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		// The frame goes on behind the flush.
		d, err := kzstd.NewReader(bytes.NewReader(b.Bytes()), kzstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(d)
		if err != io.ErrUnexpectedEOF || !bytes.Equal(got, content[:at]) {
			t.Errorf("flush at %d: %d bytes, %v", at, len(got), err)
		}
		d.Close()
		done = at
	}
	w.Write(content[done:])
	w.Close()
	checkWritten(t, compress.Zstd, b.Bytes(), content, "whole")
}

// newZstdWriter returns an encoder of the peer. A window of 0 is its default.
func newZstdWriter(t testing.TB, w io.Writer, window int) *kzstd.Encoder {
	t.Helper()
	opts := []kzstd.EOption{kzstd.WithEncoderConcurrency(1)}
	if window > 0 {
		opts = append(opts, kzstd.WithWindowSize(window))
	}
	z, err := kzstd.NewWriter(w, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// TestFlushSize compares sizes with the peer's, with a flush behind each line of 240 kB of a log.
func TestFlushSize(t *testing.T) {
	lines := bytes.SplitAfter(corpus.ByName("log").Make(240_000), []byte("\n"))
	flush := func(w interface {
		io.WriteCloser
		Flush() error
	}) {
		for _, line := range lines {
			w.Write(line)
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
	}
	var peer, file bytes.Buffer
	flush(newZstdWriter(t, &peer, 0))
	w, err := compress.NewWriter(&file, compress.WithFormat(compress.Zstd))
	if err != nil {
		t.Fatal(err)
	}
	flush(w)
	t.Logf("%d lines: %d bytes, the peer %d", len(lines), file.Len(), peer.Len())
	if file.Len() > peer.Len() {
		t.Errorf("%d lines: %d bytes, the peer %d", len(lines), file.Len(), peer.Len())
	}
}

// BenchmarkFlush writes a line of a log and a flush with the peer.
func BenchmarkFlush(b *testing.B) {
	lines := bytes.SplitAfter(corpus.ByName("log").Make(240_000), []byte("\n"))
	w := newZstdWriter(b, io.Discard, 0)
	for i := range b.N {
		w.Write(lines[i%len(lines)])
		w.Flush()
	}
}

// TestFlushRead sends flushed pieces of the peer through a pipe, and reads each one before the next
// is written.
func TestFlushRead(t *testing.T) {
	for _, window := range []int{0, 16 << 20, 64 << 20} {
		pr, pw := io.Pipe()
		defer pr.Close() // ends a Write of the peer if the test has failed
		r, err := compress.NewReader(pr, compress.WithConcurrency(2))
		if err != nil {
			t.Fatal(err)
		}
		z := newZstdWriter(t, pw, window)
		pieces := make(chan []byte)
		go func() {
			for p := range pieces {
				z.Write(p)
				z.Flush()
			}
			z.Close()
			pw.Close()
		}()
		for n := 200; n < 205; n++ {
			piece := corpus.ByName("text").MakeSeed(n, uint64(n))
			pieces <- piece
			got := make([]byte, n)
			if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, piece) {
				t.Fatalf("window of %d, piece of %d bytes: %v", window, n, err)
			}
		}
		close(pieces)
		if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("window of %d, at the end: %d bytes, %v", window, n, err)
		}
		r.Close()
	}
}

// errStall is the error of a stallingReader.
var errStall = errors.New("input stalls")

// stallingReader returns p. A read after that calls onStall and fails.
type stallingReader struct {
	p       []byte
	onStall func()
}

func (s *stallingReader) Read(p []byte) (int, error) {
	if len(s.p) == 0 {
		s.onStall()
		return 0, errStall
	}
	n := copy(p, s.p)
	s.p = s.p[n:]
	return n, nil
}

// TestFlushBeforeRead lets the input stall at each byte behind a flush of the peer. The Reader must
// return all flushed content before it reads from an input that stalls.
func TestFlushBeforeRead(t *testing.T) {
	testenv.Slow(t)
	const unit = 32 << 10
	for _, window := range []int{0, 32 << 20} {
		for _, sizes := range [][]int{
			{unit, 3 * unit}, {unit - 1, 1, unit + 1}, {1, 100, 100_000, 7},
		} {
			content := corpus.ByName("text").Make(200_000)
			var b bytes.Buffer
			z := newZstdWriter(t, &b, window)
			var files, flushed []int // bytes of the file and the content at each flush
			at := 0
			for _, n := range sizes {
				z.Write(content[at : at+n])
				z.Flush()
				at += n
				files, flushed = append(files, b.Len()), append(flushed, at)
			}
			z.Close()
			for i := range files {
				for more := range 18 {
					end := min(files[i]+more, b.Len())
					for _, workers := range []int{1, 3} {
						what := fmt.Sprintf("window %d, pieces %v, %d bytes behind flush %d, %d workers",
							window, sizes, more, i, workers)
						checkStalled(t, what, b.Bytes()[:end], content[:at], flushed[i], workers,
							end < b.Len())
					}
				}
			}
		}
	}
}

// checkStalled reads from an input that stalls behind part. By then the Reader must have returned
// least bytes of content. If the part is not whole, the Reader returns the input's error.
func checkStalled(
	t *testing.T, what string, part, content []byte, least, workers int, partial bool,
) {
	t.Helper()
	var got []byte
	stalled := false
	src := &stallingReader{p: part, onStall: func() {
		stalled = true
		if len(got) < least {
			t.Fatalf("%s: input read after %d bytes of content, want %d", what, len(got), least)
		}
	}}
	r, err := compress.NewReader(src, compress.WithConcurrency(workers))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for p := make([]byte, 10_000); err == nil; {
		var n int
		n, err = r.Read(p)
		got = append(got, p[:n]...)
	}
	if !bytes.HasPrefix(content, got) {
		t.Fatalf("%s: wrong content", what)
	}
	if stalled && partial && !errors.Is(err, errStall) {
		t.Fatalf("%s: error %v, want that of the input", what, err)
	}
}
