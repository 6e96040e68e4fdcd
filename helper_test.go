package compress

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/pipeline"
)

// testBlock is the block size of most tests in bytes: the smallest, so that little content makes
// many blocks.
const testBlock = MinBlockSize

// workerCounts are the numbers of workers of most tests. 0 stands for all processors.
var workerCounts = []int{1, 2, 8, 0}

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
	words := strings.Fields("the block of a stream is read and then coded into bytes so that " +
		"another reader may decode it from any place in order without loss")
	r := rand.New(rand.NewPCG(seed, 2))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(" \n"[r.IntN(20)/19])
	}
	return b.Bytes()[:n]
}

// mixedBytes returns n bytes that make blocks of every kind: coded, stored and fill blocks.
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

// openAt returns a ReaderAt of a file in memory. The end of the test closes it.
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

// decode decompresses through a Reader whose input offers Read alone.
func decode(p []byte, opts ...Option) ([]byte, error) {
	r, err := NewReader(onlyReader{bytes.NewReader(p)}, opts...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// checkAllReaders decodes p in every way that the package offers.
func checkAllReaders(t *testing.T, p, content []byte, opts ...Option) {
	t.Helper()
	got, err := decode(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, content, "Read")

	var b bytes.Buffer
	r := newReader(t, bytes.NewReader(p), opts...)
	n, err := r.WriteTo(onlyWriter{&b})
	if err != nil || n != int64(len(content)) {
		t.Fatal("WriteTo:", n, err)
	}
	equal(t, b.Bytes(), content, "WriteTo")

	got, err = AppendDecode([]byte("before"), p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, append([]byte("before"), content...), "AppendDecode")

	checkReaderAt(t, p, content, opts...)
}

// checkReaderAt decodes p in every way that a ReaderAt offers.
func checkReaderAt(t *testing.T, p, content []byte, opts ...Option) {
	t.Helper()
	r, err := NewReaderAt(bytes.NewReader(p), int64(len(p)), opts...)
	if err != nil {
		t.Fatal("NewReaderAt: ", err)
	}
	defer r.Close()
	if r.Size() != int64(len(content)) {
		t.Fatalf("ReaderAt.Size: %d, want %d", r.Size(), len(content))
	}
	got := make([]byte, len(content))
	if n, err := r.ReadAt(got, 0); n != len(content) || err != nil && err != io.EOF {
		t.Fatal("ReadAt:", n, err)
	}
	equal(t, got, content, "ReadAt")
	var b bytes.Buffer
	if n, err := r.WriteTo(onlyWriter{&b}); err != nil || n != int64(len(content)) {
		t.Fatal("ReaderAt.WriteTo:", n, err)
	}
	equal(t, b.Bytes(), content, "ReaderAt.WriteTo")
	r.Seek(0, io.SeekStart)
	got, err = io.ReadAll(onlyReader{r})
	if err != nil {
		t.Fatal("ReaderAt.Read:", err)
	}
	equal(t, got, content, "ReaderAt.Read")
}

// equal fails the test if got differs from want, and says where the first difference is.
func equal(t testing.TB, got, want []byte, what string) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	t.Fatalf("%s: %d bytes, want %d; first difference at byte %d", what, len(got), len(want), i)
}

// checkGoroutines fails the test if it leaves goroutines behind. Idle workers end by themselves
// shortly after the last block, so the check waits for them.
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
				t.Errorf("the test leaves %d goroutines:\n%s", n-before,
					buf[:runtime.Stack(buf, true)])
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
}

// mustFinish runs f and panics with all stacks if f does not return. The time is a guard against a
// hang, long enough for a busy machine.
func mustFinish(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		buf := make([]byte, 1<<16)
		panic(fmt.Sprintf("%s hangs:\n%s", what, buf[:runtime.Stack(buf, true)]))
	}
}

// panics returns the value that f panics with, or nil.
func panics(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// withCachedBlocks returns the memory limit at which a ReaderAt with the given workers caches the
// given number of blocks.
func withCachedBlocks(t testing.TB, blocks, workers, blockSize int) Option {
	t.Helper()
	o := options{workers: workers}
	p := pipeline.ByName(DefaultPipeline)
	plan := o.scheduler().Plan(o.readerConfig(p, &container.Spec{BlockSize: blockSize}))
	plan.InFlight = blocks
	b, err := o.budget(p, blockSize, &plan, math.MaxInt64, nil)
	if err != nil {
		t.Fatal(err)
	}
	return WithMaxMemory(b.memory + testBlock) // testBlock is for the index
}

// allocatedBytes returns the bytes that f allocates.
func allocatedBytes(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// allocations returns the number of allocations of f: the least of three calls, since the runtime
// allocates now and then.
func allocations(f func()) int {
	least := math.MaxInt
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, int(after.Mallocs-before.Mallocs))
	}
	return least
}

// openFile, fileInfo and recoverFrom call NewReaderAt, ReadInfo and Recover with a file in memory.

func openFile(file []byte, opts ...Option) (*ReaderAt, error) {
	return NewReaderAt(bytes.NewReader(file), int64(len(file)), opts...)
}

func fileInfo(file []byte, opts ...Option) (Info, error) {
	return ReadInfo(bytes.NewReader(file), int64(len(file)), opts...)
}

func recoverFrom(w io.Writer, file []byte, report func(Damage) error, opts ...Option) error {
	return Recover(w, bytes.NewReader(file), int64(len(file)), report, opts...)
}
