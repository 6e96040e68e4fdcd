package gzip_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gzip"
	"github.com/gopz/compress/internal/testenv"
)

// unknown hides what a source is.
type unknown struct{ io.Reader }

// TestReaderN reads sources of all kinds ahead, by NewReaderN and by SetOptions, also after Reset.
func TestReaderN(t *testing.T) {
	p := mixed(2 << 20)
	for name, file := range aheadFiles(t, p) {
		unread := func() io.Reader { return bytes.NewReader(file) }
		for kind, src := range map[string]func() io.Reader{
			"unknown":    func() io.Reader { return unknown{unread()} },
			"halves":     func() io.Reader { return iotest.HalfReader(unread()) },
			"bufio":      func() io.Reader { return bufio.NewReaderSize(unknown{unread()}, 4096) },
			"ByteReader": func() io.Reader { return struct{ source }{bufio.NewReader(unread())} },
			"memory":     unread,
			"os.File":    func() io.Reader { return openFile(t, file) },
		} {
			r, err := gzip.NewReaderN(src(), 1<<20, 4)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.CopyN(io.Discard, r, 100_000); err != nil {
				t.Fatal(err)
			}
			if err := r.Reset(src()); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, p) {
				t.Errorf("%s, %s: %d bytes, %v", kind, name, len(got), err)
			}
			r.Close()
		}
	}
}

// source is what a gzip.Reader reads byte by byte.
type source interface {
	io.Reader
	io.ByteReader
}

// TestReaderNDecodesAhead has workers decode what an unknown source has, only where that is asked
// for.
func TestReaderNDecodesAhead(t *testing.T) {
	if new(compress.Scheduler).Workers() < 2 {
		t.Skip("one worker decodes nothing ahead")
	}
	file := stdMembers(t, mixed(7<<20), 1, 1<<30)
	for _, ahead := range []bool{false, true} {
		r, err := gzip.NewReader(unknown{bytes.NewReader(file)})
		if err == nil && ahead {
			err = r.SetOptions(compress.WithReadAhead(4 << 20))
		}
		if err == nil {
			_, err = io.CopyN(io.Discard, r, 6<<20)
		}
		if err != nil {
			t.Fatal(err)
		}
		if gzip.IsAhead(r) != ahead {
			t.Errorf("decodes ahead: %v, want %v", !ahead, ahead)
		}
		r.Close()
	}
}

// TestReaderNErrors refuses arguments, and returns the error of a source behind the content.
func TestReaderNErrors(t *testing.T) {
	for _, n := range [][2]int{{0, 1}, {1, 0}, {-1, 4}, {1 << 30, 2}} {
		if _, err := gzip.NewReaderN(bytes.NewReader(nil), n[0], n[1]); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%v: %v", n, err)
		}
	}
	if _, err := gzip.NewReaderN(unknown{bytes.NewReader(nil)}, 1, 1); err != io.EOF {
		t.Errorf("empty: %v", err)
	}
	p := mixed(1 << 20)
	file := stdMembers(t, p, 6, 1<<30)
	bad := errors.New("bad")
	src := io.MultiReader(bytes.NewReader(file[:len(file)-10]), iotest.ErrReader(bad))
	r, err := gzip.NewReaderN(src, 1<<20, 2)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != bad || !bytes.HasPrefix(p, got) || len(got) < len(p)-1000 || r.Close() != bad {
		t.Errorf("%d bytes of %d, %v; Close returns %v", len(got), len(p), err, r.Close())
	}
}

// TestReaderNArrival returns content as soon as its input has come.
func TestReaderNArrival(t *testing.T) {
	testenv.Measures(t)
	p := mixed(2 << 20)
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	w.Write(p)
	w.Flush()
	whole := file.Len()
	w.Close()
	pr, pw := io.Pipe()
	go pw.Write(file.Bytes()[:whole]) // and nothing more
	r, err := gzip.NewReaderN(pr, 1<<20, 4)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(p))
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, p) {
		t.Error(err)
	}
	r.Close()
	pr.Close()
}

// TestReaderNAbandoned drops Readers of a source that never returns. Each leaves one goroutine, and
// little memory, until the source returns.
func TestReaderNAbandoned(t *testing.T) {
	testenv.Measures(t)
	n := 500
	if testenv.All() {
		n = 10_000
	}
	file := stdMembers(t, mixed(1<<20), 6, 1<<30)
	before, released := runtime.NumGoroutine(), make(chan struct{})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	used := heap()
	for range n {
		sent := false
		r, err := gzip.NewReaderN(readFunc(func(p []byte) (int, error) {
			if !sent {
				sent = true
				return copy(p, file[:2000]), nil
			}
			<-released
			return 0, io.EOF
		}), 1<<20, 4)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
	}
	if got := runtime.NumGoroutine() - before; got > n {
		t.Errorf("%d goroutines for %d Readers", got, n)
	}
	if each := int64(heap()-used) / int64(n); each > 20<<10 {
		t.Errorf("%d bytes each", each)
	}
	close(released)
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// TestWriterConcurrency writes what SetOptions writes with the same block size, and counts content.
func TestWriterConcurrency(t *testing.T) {
	p := mixed(1 << 20)
	compressed := func(set func(w *gzip.Writer) error) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if err := set(w); err != nil {
			t.Fatal(err)
		}
		w.Write(p[:1000])
		w.Write(p[1000:])
		if w.UncompressedSize() != len(p) {
			t.Errorf("%d bytes of content, want %d", w.UncompressedSize(), len(p))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w.Reset(&b)
		if w.UncompressedSize() != 0 {
			t.Errorf("%d bytes of content after Reset", w.UncompressedSize())
		}
		return b.Bytes()
	}
	want := compressed(func(w *gzip.Writer) error {
		return w.SetOptions(compress.WithBlockSize(128<<10), compress.WithConcurrency(2))
	})
	for _, size := range []int{100_000, 128 << 10} {
		got := compressed(func(w *gzip.Writer) error { return w.SetConcurrency(size, 2) })
		if !bytes.Equal(got, want) {
			t.Errorf("blocks of %d: %d bytes, want %d", size, len(got), len(want))
		}
	}
	w := gzip.NewWriter(io.Discard)
	for _, n := range [][2]int{{0, 1}, {1, 0}, {-1, -1}} {
		if err := w.SetConcurrency(n[0], n[1]); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%v: %v", n, err)
		}
	}
	if err := w.SetConcurrency(1, 5000); err != nil {
		t.Error(err)
	}
	w.Write(nil)
	if err := w.SetConcurrency(1<<20, 2); err == nil {
		t.Error("no error after Write")
	}
}

// TestReaderNEnds reads the source no more after Close or an error, and Read says why.
func TestReaderNEnds(t *testing.T) {
	file := stdMembers(t, mixed(7<<20), 1, 1<<30)
	damaged := bytes.Clone(file)
	damaged[len(file)/2] ^= 1
	for _, workers := range []int{1, 4} {
		for name, p := range map[string][]byte{"Close": file, "error": damaged} {
			read := make(chan int, 1<<20)
			src := bytes.NewReader(p)
			r, err := gzip.NewReaderN(readFunc(func(p []byte) (int, error) {
				read <- 1
				return src.Read(p[:min(len(p), 1000)])
			}), 64<<20, 1)
			if err == nil {
				err = r.SetOptions(compress.WithReadAhead(64<<20), compress.WithConcurrency(workers))
			}
			if err == nil {
				_, err = io.CopyN(io.Discard, r, 3<<20)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := os.ErrClosed
			if name == "Close" {
				r.Close()
			} else {
				_, want = io.Copy(io.Discard, r)
			}
			reads := len(read)
			if _, err := r.Read(make([]byte, 1)); !errors.Is(err, want) || err == nil {
				t.Errorf("%s, %d workers: Read returns %v, want %v", name, workers, err, want)
			}
			time.Sleep(20 * time.Millisecond)
			if n := len(read) - reads; n > 1 {
				t.Errorf("%s, %d workers: %d more reads", name, workers, n)
			}
		}
	}
}
