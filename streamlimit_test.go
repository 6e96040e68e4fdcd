package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
)

// endsNoter is a destination that notes where streams end.
type endsNoter struct {
	bytes.Buffer
	ends []int
}

func (e *endsNoter) EndStream() error {
	e.ends = append(e.ends, e.Len())
	return nil
}

// TestStreamLimit checks that a Writer begins another stream when one has enough content. Each is then
// a file of its own, and the bytes do not depend on threads and Writes.
func TestStreamLimit(t *testing.T) {
	const limit = 1 << 20
	for _, format := range []Format{PZ, Zstd} {
		for _, size := range []int{0, 1000, limit - 1, limit, limit + 1, limit + 100_000, 3*limit + 99} {
			name := fmt.Sprintf("%v, %d bytes", format, size)
			content := mixedBytes(size)
			opts := []Option{WithFormat(format), WithBlockSize(1 << 16), WithStreamLimit(limit)}
			var file endsNoter
			w := newWriter(t, &file, append(opts, WithConcurrency(2), WithContentSize(int64(size)))...)
			w.ReadFrom(iotest.OneByteReader(bytes.NewReader(content[:min(10, size)])))
			w.Write(content[min(10, size):])
			if err := w.Close(); err != nil {
				t.Fatal(name, err)
			}
			if len(file.ends) != max(0, size-1)/limit {
				t.Errorf("%s: %d streams end", name, len(file.ends))
			}
			checkAllReaders(t, file.Bytes(), content, WithConcurrency(2))
			at := 0
			for i, end := range append(file.ends, file.Len()) {
				part := content[i*limit : min((i+1)*limit, size)]
				got, err := decode(file.Bytes()[at:end])
				if err != nil || !bytes.Equal(got, part) {
					t.Errorf("%s: stream %d: %d bytes, %v", name, i, len(got), err)
				}
				at = end
			}
			known := append(opts, WithContentSize(int64(size)))
			again := encode(t, content, append(known, WithConcurrency(1))...)
			if !bytes.Equal(again, file.Bytes()) {
				t.Errorf("%s: other bytes with one thread", name)
			}
			w.Reset(io.Discard) // the next file begins with its own stream
			w.Write(content)
			if err := w.Close(); err != nil {
				t.Error(name, err)
			}
		}
	}
}

// TestStreamLimitFlushes writes streams with flushes. They end behind a frame, not within one.
func TestStreamLimitFlushes(t *testing.T) {
	content := mixedBytes(2<<20 + 99)
	for _, format := range []Format{PZ, Zstd} {
		var file bytes.Buffer
		w := newWriter(t, &file, WithFormat(format), WithBlockSize(1<<16), WithStreamLimit(1<<20))
		for p := content; len(p) > 0; p = p[min(len(p), 9999):] {
			w.Write(p[:min(len(p), 9999)])
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		checkAllReaders(t, file.Bytes(), content)
		n := file.Len()
		if format == PZ {
			if info, err := fileInfo(file.Bytes()); err != nil || len(info.Streams) != 2 {
				t.Errorf("%v, %d bytes: %d streams, %v", format, n, len(info.Streams), err)
			}
		}
	}
}

// TestStreamLimitOptions checks which options do not go together.
func TestStreamLimitOptions(t *testing.T) {
	for _, opts := range [][]Option{
		{WithStreamLimit(-1)},
		{WithStreamLimit(1<<20 - 1)},
		{WithStreamLimit(1 << 20), WithFormat(Gzip)},
		{WithStreamLimit(1 << 20), WithLongDistance(DefaultWindow)},
		{WithStreamLimit(1 << 20), WithFormat(Zstd), WithSingleFrame(true)},
	} {
		if _, err := NewWriter(io.Discard, opts...); !errors.Is(err, ErrOption) {
			t.Errorf("error %v, want ErrOption", err)
		}
	}
	if _, err := NewPlan(1<<22, WithStreamLimit(1<<20)); !errors.Is(err, ErrOption) {
		t.Errorf("NewPlan: error %v, want ErrOption", err)
	}
}
