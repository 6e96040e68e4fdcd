package streams

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/testenv"
)

// TestReadAhead restores files of all formats from sources that are read ahead, also after Reset.
func TestReadAhead(t *testing.T) {
	all := bbtest.MixedBytes(3<<20 + 5)
	if testenv.Race {
		all = all[:1<<20]
	}
	for format := range formats {
		for ahead, size := range map[int64]int{1: 1000, 10_000: 200_000, 4 << 20: len(all)} {
			content := all[:size]
			file := bbtest.Encode(t, content, compress.WithFormat(format))
			for name, wrap := range map[string]func(io.Reader) io.Reader{
				"half":          iotest.HalfReader,
				"data with EOF": iotest.DataErrReader,
				"unknown":       func(r io.Reader) io.Reader { return struct{ io.Reader }{r} },
				"memory":        func(r io.Reader) io.Reader { return r },
			} {
				r := bbtest.NewReader(t, wrap(bytes.NewReader(file)), compress.WithReadAhead(ahead))
				for range 2 {
					got, err := io.ReadAll(r)
					if err != nil {
						t.Fatalf("%v, %s, %d: %v", format, name, ahead, err)
					}
					bbtest.Equal(t, got, content, name)
					r.Reset(wrap(bytes.NewReader(file)))
				}
				r.Close()
			}
		}
		file := bbtest.Encode(t, all, compress.WithFormat(format))
		r := bbtest.NewReader(t, io.MultiReader(
			bytes.NewReader(file[:len(file)-20]), iotest.ErrReader(bbtest.ErrTest),
		), compress.WithReadAhead(1<<20))
		got, err := io.ReadAll(r)
		if !errors.Is(err, bbtest.ErrTest) || !bytes.HasPrefix(all, got) {
			t.Errorf("%v: %d bytes, %v", format, len(got), err)
		}
	}
}

// countingSource counts reads, and how many are under way.
type countingSource struct {
	io.Reader
	reads, now atomic.Int64
}

func (c *countingSource) Read(p []byte) (int, error) {
	c.reads.Add(1)
	c.now.Add(1)
	defer c.now.Add(-1)
	return c.Reader.Read(p[:min(len(p), 500)])
}

// TestReadAheadClosed reads a source no more after Close, Reset and an error, but for the read that
// is under way.
func TestReadAheadClosed(t *testing.T) {
	file := bbtest.Encode(t, bbtest.RandomBytes(8<<20, 1), compress.WithFormat(compress.Gzip))
	damaged := bbtest.Flip(file, len(file)/4)
	for name, end := range map[string]func(r *compress.Reader){
		"Close": func(r *compress.Reader) { r.Close() },
		"Reset": func(r *compress.Reader) { r.Reset(nil) },
		"error": func(r *compress.Reader) { io.Copy(io.Discard, r) },
	} {
		src := &countingSource{Reader: bytes.NewReader(damaged)}
		r := bbtest.NewReader(t, src, compress.WithReadAhead(16<<20))
		if _, err := r.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		end(r)
		reads := src.reads.Load() + 1
		time.Sleep(20 * time.Millisecond)
		if src.reads.Load() > reads || src.now.Load() > 0 {
			t.Errorf("%s: %d reads, at most %d expected", name, src.reads.Load(), reads)
		}
	}
}
