package gzip_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gzip"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// aheadKinds are the sources that workers decode ahead.
var aheadKinds = []struct {
	name string
	open func(t testing.TB, p []byte) io.Reader
}{
	{"Reader", func(t testing.TB, p []byte) io.Reader { return bytes.NewReader(p) }},
	{"strings", func(t testing.TB, p []byte) io.Reader { return strings.NewReader(string(p)) }},
	{"Buffer", func(t testing.TB, p []byte) io.Reader { return bytes.NewBuffer(bytes.Clone(p)) }},
	{"file", openFile},
	{"pipe", openPipe},
}

func openFile(t testing.TB, p []byte) io.Reader {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, p, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func openPipe(t testing.TB, p []byte) io.Reader {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() }) // which ends the goroutine
	go func() {
		w.Write(p)
		w.Close()
	}()
	return r
}

// newReader returns a Reader with workers of its own.
func newReader(t testing.TB, src io.Reader, workers int) *gzip.Reader {
	t.Helper()
	r, err := gzip.NewReader(src)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetOptions(compress.WithConcurrency(workers)); err != nil {
		t.Fatal(err)
	}
	return r
}

// mixed is content of several kinds, which compress by different ratios.
func mixed(size int) []byte { return allMixed()[:size:size] }

var allMixed = sync.OnceValue(func() (p []byte) {
	for range 4 {
		for _, kind := range []string{"text", "random", "json", "sparse", "exe"} {
			p = append(p, corpus.ByName(kind).Make(400<<10)...)
		}
	}
	return p
})

// stdMembers compresses p in members of a size with the standard library. The second header has all
// fields, and unknown flags.
func stdMembers(t testing.TB, p []byte, level, size int) []byte {
	var b bytes.Buffer
	w, err := stdgzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i == 0 || len(p) > 0; i++ {
		n, at := min(size, len(p)), b.Len()
		w.Reset(&b)
		if i == 1 {
			w.Header = stdgzip.Header{Name: strings.Repeat("n", 511), Comment: "c", Extra: []byte("x")}
		}
		w.Write(p[:n])
		w.Close()
		p = p[n:]
		if i == 1 {
			b.Bytes()[at+3] |= 0xe1
		}
	}
	return b.Bytes()
}

// aheadFiles are files of p.
func aheadFiles(t testing.TB, p []byte) map[string][]byte {
	return map[string][]byte{
		"one member":    stdMembers(t, p, 6, len(p)),
		"members":       stdMembers(t, p, 1, 300_000),
		"short members": stdMembers(t, p, 6, 50_000),
		"stored":        stdMembers(t, p, 0, len(p)),
		"flushed":       write(t, p, 4, 100_000),
		"empty members": append(stdMembers(t, p, 6, 1<<20), bytes.Repeat(write(t, nil, 6, 1), 999)...),
	}
}

// TestAhead reads all kinds of files with any number of workers.
func TestAhead(t *testing.T) {
	p := mixed(2 << 20)
	files := aheadFiles(t, p)
	for i, k := range aheadKinds {
		for name, file := range files {
			for _, workers := range [][]int{{1, 2, 5}, {2}, {4}, {3}, {2}}[i] {
				r := newReader(t, k.open(t, file), workers)
				got, err := io.ReadAll(io.MultiReader(io.LimitReader(r, 1<<19), r))
				if err != nil || !bytes.Equal(got, p) {
					t.Errorf("%s, %s, %d workers: %d bytes, %v", k.name, name, workers, len(got), err)
				}
				if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("%s, %s, %d workers: %d bytes, %v at the end", k.name, name, workers, n, err)
				}
			}
		}
	}
}

// TestAheadBehindMember leaves ByteReaders right behind each of several members, and may choose
// that late.
func TestAheadBehindMember(t *testing.T) {
	p := mixed(3 << 20)
	first, second := stdMembers(t, p, 6, len(p)), stdMembers(t, p[:2<<20], 9, 2<<20)
	file := bytes.Join([][]byte{first, second, write(t, nil, 6, 1), []byte("what follows")}, nil)
	for _, k := range aheadKinds[:3] {
		for _, late := range []int{0, 1 << 20} {
			src := k.open(t, file)
			r := new(gzip.Reader)
			if err := r.SetOptions(compress.WithConcurrency(3)); err != nil {
				t.Fatal(err)
			}
			for _, want := range [][]byte{p, p[:2<<20], nil} {
				if err := r.Reset(src); err != nil {
					t.Fatal(err)
				}
				r.Multistream(late > 0)
				got, err := io.ReadAll(io.LimitReader(r, int64(min(late, len(want)/2))))
				r.Multistream(false)
				rest, err2 := io.ReadAll(r)
				got = append(got, rest...)
				if err := errors.Join(err, err2); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s, late %d: %d bytes of %d, %v", k.name, late, len(got), len(want), err)
				}
			}
			if rest, err := io.ReadAll(src); string(rest) != "what follows" || err != nil {
				t.Errorf("%s, late %d: %d bytes left, %v", k.name, late, len(rest), err)
			}
		}
	}
}

// TestAheadSourceError passes on errors of a file.
func TestAheadSourceError(t *testing.T) {
	file := openFile(t, stdMembers(t, mixed(7<<20), 1, 1<<30)).(*os.File)
	r := newReader(t, file, 2)
	if _, err := io.CopyN(io.Discard, r, 1<<20); err != nil {
		t.Fatal(err)
	}
	file.Close()
	_, err := io.Copy(io.Discard, r)
	if !errors.Is(err, os.ErrClosed) || r.Close() != err {
		t.Errorf("%v; Close returns %v", err, r.Close())
	}
}

// TestAheadDropped drops Readers without Close. No goroutine may remain.
func TestAheadDropped(t *testing.T) {
	testenv.Measures(t)
	before := runtime.NumGoroutine()
	file := stdMembers(t, mixed(7<<20), 1, 1<<30)
	for i := range 10 {
		r := newReader(t, bytes.NewReader(file), 4)
		if _, err := io.CopyN(io.Discard, r, int64(i+1)<<18); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestAheadPermit has more Readers at once than may decode ahead. Another one may when those are
// dropped.
func TestAheadPermit(t *testing.T) {
	workers := new(compress.Scheduler).Workers()
	if workers < 2 {
		t.Skip("one worker decodes nothing ahead")
	}
	runtime.GC() // drops the Readers of other tests
	file := stdMembers(t, mixed(7<<20), 0, 1<<30)
	read := func(r *gzip.Reader, n int64) bool {
		if _, err := io.CopyN(io.Discard, r, n); err != nil {
			t.Fatal(err)
		}
		return gzip.IsAhead(r)
	}
	var list []*gzip.Reader
	ahead := 0
	for range workers/4 + 2 {
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if read(r, 1<<20) {
			ahead++
		}
		list = append(list, r)
	}
	if want := max(1, workers/4); ahead != want {
		t.Errorf("%d Readers with %d workers decode ahead, not %d", ahead, workers, want)
	}
	last := list[len(list)-1]
	clear(list)
	for end := time.Now().Add(10 * time.Second); !read(last, 2<<20); {
		if time.Now().After(end) {
			t.Fatal("no Reader may decode ahead")
		}
		runtime.GC()
		if err := last.Reset(bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAheadBuffer writes to a Buffer while a Reader reads it. The Buffer stays short.
func TestAheadBuffer(t *testing.T) {
	p := mixed(7 << 20)
	file := stdMembers(t, p, 1, 1<<30)
	var b bytes.Buffer
	b.Write(file[:600_000])
	r := newReader(t, &b, 2)
	var got []byte
	q, most := make([]byte, 10_000), 0
	for rest := file[600_000:]; ; {
		n, err := r.Read(q)
		got = append(got, q[:n]...)
		if err != nil {
			if err != io.EOF || !bytes.Equal(got, p) {
				t.Errorf("%d bytes of %d, %v", len(got), len(p), err)
			}
			break
		}
		if b.Len() < 500_000 {
			n := min(len(rest), 100_000)
			b.Write(rest[:n])
			rest = rest[n:]
		}
		most = max(most, b.Len())
	}
	if most > 800_000 {
		t.Errorf("the Buffer had up to %d bytes", most)
	}
}

// TestAheadFlushed reads what has been flushed into a pipe before anything else is written.
func TestAheadFlushed(t *testing.T) {
	defer gzip.SetAheadFrom(gzip.SetAheadFrom(100))
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Close()
	w := gzip.NewWriter(pw)
	w.Flush()
	r := newReader(t, pr, 3)
	p, q := mixed(1<<20), make([]byte, 1000)
	for i := range 300 {
		part := p[i*1000:][:1000]
		w.Write(part)
		w.Flush()
		if _, err := io.ReadFull(r, q); err != nil || !bytes.Equal(q, part) {
			t.Fatalf("part %d: %v", i, err)
		}
	}
	w.Close()
	pw.Close()
	if n, err := r.Read(q); n != 0 || err != io.EOF {
		t.Errorf("%d bytes, %v at the end", n, err)
	}
}

// TestReaderSetOptions refuses late calls and wrong options.
func TestReaderSetOptions(t *testing.T) {
	r := newReader(t, bytes.NewReader(write(t, content(1000), 6, 1000)), 1)
	if err := r.SetOptions(compress.WithConcurrency(-1)); !errors.Is(err, compress.ErrOption) {
		t.Errorf("wrong option: %v", err)
	}
	r.Read(make([]byte, 1))
	if err := r.SetOptions(); err == nil {
		t.Error("options were set after Read")
	}
}

// BenchmarkReader copies a file of 40 MB of content in memory. With one worker the caller's
// goroutine decodes.
func BenchmarkReader(b *testing.B) {
	p := bytes.Repeat(mixed(5<<20), 8)
	file := stdMembers(b, p, 6, 1<<30)
	for _, workers := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				r := newReader(b, bytes.NewReader(file), workers)
				if n, err := io.Copy(io.Discard, r); err != nil || n != int64(len(p)) {
					b.Fatal(n, err)
				}
			}
		})
	}
}
