package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/pipeline"
)

var workerCounts = []int{1, 2, 8, 0} // 0: all

const testBlock = 4096

// randomBytes returns n bytes that do not compress.
func randomBytes(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// textBytes returns n bytes of words.
func textBytes(n int, seed uint64) []byte {
	words := strings.Fields("the block of a stream is read and then coded into bytes so that another reader may decode it from any place in order without loss")
	r := rand.New(rand.NewPCG(seed, 2))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(" \n"[r.IntN(20)/19])
	}
	return b.Bytes()[:n]
}

// mixedBytes returns n bytes of all kinds of blocks.
func mixedBytes(n int) []byte {
	var p []byte
	for i := 0; len(p) < n; i++ {
		switch i % 3 {
		case 0:
			p = append(p, textBytes(5000, uint64(i))...)
		case 1:
			p = append(p, randomBytes(5000, uint64(i))...)
		case 2:
			p = append(p, make([]byte, 9000)...)
		}
	}
	return p[:n]
}

func newWriter(t testing.TB, w io.Writer, opts ...Option) *Writer {
	t.Helper()
	z, err := NewWriter(w, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func newReader(t testing.TB, r io.Reader, opts ...Option) *Reader {
	t.Helper()
	z, err := NewReader(r, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func openAt(t testing.TB, p []byte, opts ...Option) *ReaderAt {
	t.Helper()
	z, err := NewReaderAt(bytes.NewReader(p), int64(len(p)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.Close() })
	return z
}

// encode compresses content through a Writer.
func encode(t testing.TB, content []byte, opts ...Option) []byte {
	t.Helper()
	var b bytes.Buffer
	w := newWriter(t, &b, opts...)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decode decompresses through a Reader that cannot read ahead freely.
func decode(p []byte, opts ...Option) ([]byte, error) {
	r, err := NewReader(plain{bytes.NewReader(p)}, opts...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// checkAllReaders decodes p in all ways there are.
func checkAllReaders(t *testing.T, p, content []byte, opts ...Option) {
	t.Helper()
	got, err := decode(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, content, "Read")

	var b bytes.Buffer
	r := newReader(t, bytes.NewReader(p), opts...)
	n, err := r.WriteTo(plainWriter{&b})
	if err != nil || n != int64(len(content)) {
		t.Fatal("WriteTo:", n, err)
	}
	equal(t, b.Bytes(), content, "WriteTo")

	got, err = AppendDecode([]byte("before"), p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, append([]byte("before"), content...), "AppendDecode")

	ra, err := NewReaderAt(bytes.NewReader(p), int64(len(p)), opts...)
	if format, _ := DetectFormat(p); format == Gzip {
		if !errors.Is(err, ErrNoIndex) {
			t.Fatal("NewReaderAt: ", err)
		}
		return
	}
	if err != nil {
		t.Fatal("NewReaderAt: ", err)
	}
	defer ra.Close()
	if ra.Size() != int64(len(content)) {
		t.Fatal("Size:", ra.Size())
	}
	got = make([]byte, len(content))
	if n, err := ra.ReadAt(got, 0); n != len(content) || err != nil && err != io.EOF {
		t.Fatal("ReadAt:", n, err)
	}
	equal(t, got, content, "ReadAt")
	b.Reset()
	if n, err := ra.WriteTo(plainWriter{&b}); err != nil || n != int64(len(content)) {
		t.Fatal("ReaderAt.WriteTo:", n, err)
	}
	equal(t, b.Bytes(), content, "ReaderAt.WriteTo")
	ra.Seek(0, io.SeekStart)
	if got, err = io.ReadAll(plain{ra}); err != nil {
		t.Fatal(err)
	}
	equal(t, got, content, "ReaderAt.Read")
}

func equal(t testing.TB, got, want []byte, what string) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	t.Fatalf("%s: %d bytes, want %d; first difference at %d", what, len(got), len(want), i)
}

// checkGoroutines fails the test if goroutines are left at its end. Workers end by themselves, a moment after the last block.
func checkGoroutines(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for i := 0; ; i++ {
			n := runtime.NumGoroutine()
			if n <= before {
				return
			}
			if i == 200 {
				buf := make([]byte, 1<<16)
				t.Errorf("%d goroutines left:\n%s", n-before, buf[:runtime.Stack(buf, true)])
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
}

// deadline fails the test if f does not return.
func deadline(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		buf := make([]byte, 1<<16)
		panic(fmt.Sprintf("%s hangs:\n%s", what, buf[:runtime.Stack(buf, true)]))
	}
}

// panics says what f panics with.
func panics(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// memoryFor returns the limit with which a ReaderAt of so many workers has that many blocks of that size in memory.
func memoryFor(t testing.TB, blocks, workers, blockSize int) Option {
	t.Helper()
	o := options{workers: workers}
	p, err := o.budget(pipeline.ByName(DefaultPipeline), pipeline.Decompress, 0, blockSize, blocks, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	return WithMaxMemory(p.memory + testBlock) // and something for the index
}

// allocated returns how many bytes f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// mallocs returns how many allocations f does.
func mallocs(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs)
}
