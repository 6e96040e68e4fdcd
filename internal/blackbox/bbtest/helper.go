// Package bbtest has what tests of the library through its public API share: contents, fakes, files
// of other programs, and checks. The tests lie beside it, a package for each topic.
package bbtest

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

// WorkerCounts are the numbers of workers of most tests. 0 stands for all processors.
var WorkerCounts = []int{1, 2, 8, 0}

// NewWriter returns a Writer, and fails the test on an error.
func NewWriter(t testing.TB, w io.Writer, opts ...compress.WriterOption) *compress.Writer {
	t.Helper()
	z, err := compress.NewWriter(w, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// NewReader returns a Reader, and fails the test on an error.
func NewReader(t testing.TB, r io.Reader, opts ...compress.ReaderOption) *compress.Reader {
	t.Helper()
	z, err := compress.NewReader(r, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// OpenAt returns a ReaderAt of a file in memory. The end of the test closes it.
func OpenAt(t testing.TB, p []byte, opts ...compress.ReaderOption) *compress.ReaderAt {
	t.Helper()
	z, err := compress.NewReaderAt(bytes.NewReader(p), int64(len(p)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.Close() })
	return z
}

// ForWriter returns options of both directions for a Writer.
func ForWriter(both ...compress.Option) (list []compress.WriterOption) {
	for _, opt := range both {
		list = append(list, opt)
	}
	return list
}

// ForReader returns options of both directions for a reader.
func ForReader(both ...compress.Option) (list []compress.ReaderOption) {
	for _, opt := range both {
		list = append(list, opt)
	}
	return list
}

// Encode compresses content through a Writer.
func Encode(t testing.TB, content []byte, opts ...compress.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(t, &b, opts...)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Decode decompresses through a Reader whose input offers Read alone.
func Decode(p []byte, opts ...compress.ReaderOption) ([]byte, error) {
	r, err := compress.NewReader(OnlyReader{bytes.NewReader(p)}, opts...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// CheckAllReaders decodes p in every way that the package offers.
func CheckAllReaders(t *testing.T, p, content []byte, opts ...compress.ReaderOption) {
	t.Helper()
	CheckInOrder(t, p, content, opts...)
	CheckReaderAt(t, p, content, opts...)
}

// CheckInOrder decodes p in every way that needs no random access.
func CheckInOrder(t *testing.T, p, content []byte, opts ...compress.ReaderOption) {
	t.Helper()
	got, err := Decode(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	Equal(t, got, content, "Read")

	var b bytes.Buffer
	r := NewReader(t, bytes.NewReader(p), opts...)
	n, err := r.WriteTo(OnlyWriter{&b})
	if err != nil || n != int64(len(content)) {
		t.Fatal("WriteTo:", n, err)
	}
	Equal(t, b.Bytes(), content, "WriteTo")

	got, err = compress.AppendDecode([]byte("before"), p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	Equal(t, got, append([]byte("before"), content...), "AppendDecode")
}

// CheckReaderAt decodes p in every way that a ReaderAt offers.
func CheckReaderAt(t *testing.T, p, content []byte, opts ...compress.ReaderOption) {
	t.Helper()
	r, err := compress.NewReaderAt(bytes.NewReader(p), int64(len(p)), opts...)
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
	Equal(t, got, content, "ReadAt")
	var b bytes.Buffer
	if n, err := r.WriteTo(OnlyWriter{&b}); err != nil || n != int64(len(content)) {
		t.Fatal("ReaderAt.WriteTo:", n, err)
	}
	Equal(t, b.Bytes(), content, "ReaderAt.WriteTo")
	r.Seek(0, io.SeekStart)
	got, err = io.ReadAll(OnlyReader{r})
	if err != nil {
		t.Fatal("ReaderAt.Read:", err)
	}
	Equal(t, got, content, "ReaderAt.Read")
}

// Equal fails the test if got differs from want, and says where the first difference is.
func Equal(t testing.TB, got, want []byte, what string) {
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

// CheckGoroutines fails the test if it leaves goroutines behind. Idle workers end by themselves
// shortly after the last block, so the check waits for them.
func CheckGoroutines(t *testing.T) {
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

// MustFinish runs f and panics with all stacks if f does not return. The time is a guard against a
// hang, long enough for a busy machine.
func MustFinish(t *testing.T, what string, f func()) {
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

// Panics returns the value that f panics with, or nil.
func Panics(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// WithCachedBlocks returns the memory limit at which a ReaderAt with the given workers caches the
// given number of blocks.
func WithCachedBlocks(t testing.TB, blocks, workers, blockSize int) compress.Option {
	t.Helper()
	p := pipeline.ByName(bridge.DefaultPipeline)
	plan := pipeline.NewScheduler(workers).Plan(pipeline.Config{
		Pipeline: p, Op: pipeline.Decompress, BlockSize: blockSize,
	})
	block := 2*blockSize + 5*blockSize/16 + 4096 // with what it is compressed to
	memory := int64(blocks)*int64(block) + plan.Memory(blocks)
	return compress.WithMaxMemory(memory + BlockSize) // BlockSize is for the index
}

// AllocatedBytes returns the bytes that f allocates.
func AllocatedBytes(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// Allocations returns the number of allocations of f: the least of three calls, since the runtime
// allocates now and then.
func Allocations(f func()) int {
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

// OpenFile calls NewReaderAt with a file in memory.
func OpenFile(file []byte, opts ...compress.ReaderOption) (*compress.ReaderAt, error) {
	return compress.NewReaderAt(bytes.NewReader(file), int64(len(file)), opts...)
}

// FileInfo calls ReadInfo with a file in memory.
func FileInfo(file []byte, opts ...compress.ReaderOption) (compress.Info, error) {
	return compress.ReadInfo(bytes.NewReader(file), int64(len(file)), nil, opts...)
}

// decodeWith decodes file with r, or with AppendDecode if r is nil.
func decodeWith(r *compress.Reader, file []byte) ([]byte, error) {
	if r == nil {
		return compress.AppendDecode(nil, file)
	}
	r.Reset(OnlyReader{bytes.NewReader(file)})
	return io.ReadAll(r)
}

// AllReaders returns a Reader for each number of workers, and nil for AppendDecode.
func AllReaders(t *testing.T, opts ...compress.ReaderOption) (list []*compress.Reader) {
	for _, workers := range WorkerCounts {
		list = append(list, NewReader(t, nil, append(opts, compress.WithConcurrency(workers))...))
	}
	return append(list, nil)
}

// DecodeSame decodes a file with all readers, which must agree about content and error.
func DecodeSame(
	t *testing.T, readers []*compress.Reader, file []byte, what string,
) (content []byte, err error) {
	t.Helper()
	content, err = decodeWith(readers[0], file)
	for i, r := range readers[1:] {
		got, gotErr := decodeWith(r, file)
		if fmt.Sprint(gotErr) != fmt.Sprint(err) || !bytes.Equal(got, content) {
			t.Fatalf("%s: %d bytes and %v with one worker, %d bytes and %v with reader %d",
				what, len(content), err, len(got), gotErr, i+1)
		}
	}
	return content, err
}

// Unmeasured reports whether d is no time, although the clock measures what d is the time of.
func Unmeasured(d time.Duration) bool { return d < 0 || d == 0 && !testenv.CoarseClock }
