package compress

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// mallocs returns how many allocations f does.
func mallocs(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs)
}

// Blocks cost no allocations once as many as can be in flight have passed.
func TestAllocationsPerBlock(t *testing.T) {
	const blocks = 400
	content := mixedBytes(blocks * testBlock)
	opts := []Option{WithBlockSize(testBlock), WithConcurrency(2)}
	file := encode(t, content, opts...)
	// A goroutine that the runtime has no spare of, a workspace that grows, the index: some, and not for each block.
	const some = blocks / 4

	w := newWriter(t, io.Discard, opts...)
	r := newReader(t, nil, opts...)
	src := bytes.NewReader(nil)
	for name, f := range map[string]func(){
		"Write": func() {
			w.Reset(io.Discard)
			w.Write(content)
			w.Close()
		},
		"ReadFrom": func() {
			w.Reset(io.Discard)
			src.Reset(content)
			w.ReadFrom(src)
			w.Close()
		},
		"WriteTo": func() {
			src.Reset(file)
			r.Reset(src)
			r.WriteTo(io.Discard)
		},
	} {
		for range 3 {
			f()
		}
		if n := mallocs(f); n > some {
			t.Errorf("%s: %d allocations for %d blocks", name, n, blocks)
		}
	}
	ra := openAt(t, file, opts...)
	p := make([]byte, len(content))
	for range 3 {
		ra.ReadAt(p, 0)
	}
	if n := mallocs(func() { ra.ReadAt(p, 0) }); n > some {
		t.Errorf("ReadAt: %d allocations for %d blocks", n, blocks)
	}
	for name, f := range map[string]func(){
		"AppendEncode": func() { AppendEncode(p[:0], content[:100]) },
		"AppendDecode": func() { AppendDecode(p[:0], file[:0]) },
	} {
		f()
		if n := mallocs(f); n > 40 {
			t.Errorf("%s: %d allocations for a small call", name, n)
		}
	}
}

func benchContent() []byte { return mixedBytes(8 << 20) }

func BenchmarkWriter(b *testing.B) {
	content := benchContent()
	w := newWriter(b, io.Discard, WithBlockSize(64<<10))
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(io.Discard)
		w.Write(content)
		w.Close()
	}
}

func BenchmarkReader(b *testing.B) {
	content := benchContent()
	file := encode(b, content, WithBlockSize(64<<10))
	src := bytes.NewReader(nil)
	r := newReader(b, nil)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(file)
		r.Reset(src)
		r.WriteTo(io.Discard)
	}
}

func BenchmarkReadAt(b *testing.B) {
	content := benchContent()
	file := encode(b, content, WithBlockSize(64<<10))
	r, err := NewReaderAt(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	p := make([]byte, len(content))
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		r.ReadAt(p, 0)
	}
}

func BenchmarkSmall(b *testing.B) {
	content := textBytes(1000, 1)
	file, err := AppendEncode(nil, content)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, 0, 4096)
	b.Run("AppendEncode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			AppendEncode(dst, content)
		}
	})
	b.Run("AppendDecode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			AppendDecode(dst, file)
		}
	})
}

// A Writer that is Reset for one small stream after the other allocates no more than what the start of a worker does.
func TestAllocationsOfPooledWriter(t *testing.T) {
	if testenv.Race {
		t.Skip("it makes pools forget")
	}
	content := textBytes(1000, 1)
	w := newWriter(t, io.Discard)
	const most = 3 // the worker that comes for the block, and its place among those that rest
	n := testing.AllocsPerRun(500, func() {
		w.Reset(io.Discard)
		w.Write(content)
		w.Close()
	})
	if n > most {
		t.Errorf("%v allocations", n)
	}
}
