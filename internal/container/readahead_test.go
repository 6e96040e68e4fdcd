package container

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopz/compress/internal/errs"
)

// pattern returns n bytes that differ from place to place.
func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i * i >> 8)
	}
	return p
}

// await waits until cond holds.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("timeout: ", what)
		}
	}
}

// TestReadAhead reads through small limits and in pieces of all kinds.
func TestReadAhead(t *testing.T) {
	want := pattern(300_000)
	for _, limit := range []int64{1, 100, leastPiece, leastPiece + 1, 3 * mostPiece} {
		for name, src := range map[string]io.Reader{
			"whole":    bytes.NewReader(want),
			"halves":   iotest.HalfReader(bytes.NewReader(want)),
			"data+EOF": iotest.DataErrReader(bytes.NewReader(want)),
		} {
			r := NewReadAhead(src, limit)
			got, err := io.ReadAll(iotest.HalfReader(r))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, limit %d: %d bytes, %v", name, limit, len(got), err)
			}
		}
	}
}

// TestReadAheadLimit reads no more ahead than the limit, and says when a read would not wait.
func TestReadAheadLimit(t *testing.T) {
	const limit = 10_000
	read := make(chan int, 1000)
	r := NewReadAhead(readFunc(func(p []byte) (int, error) {
		n := min(len(p), 700)
		read <- n
		return n, nil
	}), limit)
	if r.Ready() {
		t.Error("ready before the first read")
	}
	given, taken := 0, 0
	p := make([]byte, 1500)
	for range 50 {
		n, err := r.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		given += n
		await(t, "the source is read up to the limit", func() bool {
			for len(read) > 0 {
				taken += <-read
			}
			return taken-given == limit
		})
		if !r.Ready() {
			t.Error("not ready")
		}
	}
	r.Close()
}

// TestReadAheadErrors returns what the source ends with, behind what it has returned.
func TestReadAheadErrors(t *testing.T) {
	bad := errors.New("bad")
	text := func(p []byte) int { return copy(p, "text") }
	for _, c := range []struct {
		name string
		end  func(p []byte) (int, error)
		want error
	}{
		{"error", func([]byte) (int, error) { return 0, bad }, bad},
		{"no progress", func([]byte) (int, error) { return 0, nil }, io.ErrNoProgress},
		{"count", func(p []byte) (int, error) { return len(p) + 1, nil }, errs.BadCount},
		{"goexit", func([]byte) (int, error) { runtime.Goexit(); return 0, nil }, errs.Panicked},
	} {
		calls := 0
		r := NewReadAhead(readFunc(func(p []byte) (int, error) {
			calls++
			if calls > 1 {
				return c.end(p)
			}
			return text(p), nil
		}), 1000)
		got, err := io.ReadAll(r)
		if string(got) != "text" || err != c.want {
			t.Errorf("%s: %q, %v, want %v", c.name, got, err, c.want)
		}
		if !r.Ready() {
			t.Errorf("%s: not ready at the end", c.name)
		}
	}
}

// TestReadAheadPanic passes a panic of the source on to the caller.
func TestReadAheadPanic(t *testing.T) {
	r := NewReadAhead(readFunc(func([]byte) (int, error) { panic("boo") }), 1000)
	defer func() {
		if v := recover(); v != "boo" {
			t.Errorf("recovered %v", v)
		}
	}()
	r.Read(make([]byte, 1))
}

// TestReadAheadEnds ends the goroutine after Close, and when the ReadAhead is dropped.
func TestReadAheadEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	begin := func() *ReadAhead {
		r := NewReadAhead(readFunc(func(p []byte) (int, error) { return len(p), nil }), 1000)
		if _, err := r.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := begin()
	r.Close()
	if _, err := r.Read(make([]byte, 1)); err != errs.Closed {
		t.Errorf("after Close: %v", err)
	}
	await(t, "Close ends the goroutine", func() bool { return runtime.NumGoroutine() <= before })
	begin()
	await(t, "dropping it ends the goroutine", func() bool {
		runtime.GC()
		return runtime.NumGoroutine() <= before
	})
}
