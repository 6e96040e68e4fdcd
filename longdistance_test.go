package compress

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/pzfile"
)

// versionsOf returns content that repeats itself over long distances: pieces of so many bytes, and then
// the same pieces in another order and with edits, so many times.
func versionsOf(pieces, size, times int) []byte {
	var p []byte
	for v := range times {
		for i := range pieces {
			k := (i*7 + v*3) % pieces
			var piece []byte
			switch k % 4 {
			case 0:
				piece = randomBytes(size, uint64(k))
			case 1:
				piece = make([]byte, size)
				copy(piece, randomBytes(size/8, uint64(k)))
			default:
				piece = textBytes(size, uint64(k))
			}
			if k%5 == v {
				piece = slices.Insert(piece, size/3, byte(v), byte(k))
			}
			p = append(p, piece...)
		}
	}
	return p
}

// longOptions are options for content of versionsOf.
func longOptions(more ...Option) []Option {
	return append([]Option{WithLongDistance(MinWindow), WithBlockSize(1 << 13)}, more...)
}

// TestLongDistance compresses content that repeats itself, and reads it in every way, with any number
// of workers.
func TestLongDistance(t *testing.T) {
	content := versionsOf(24, 5000, 4)
	for name, opts := range map[string][]Option{
		"default": nil, "unchecked": {WithChecksum(false)}, "dense": {WithLevel(7)},
		"plain": {WithPipeline("lzr")}, "tuned": {WithTuning(TuneAuto)}, "1 MiB": {WithBlockSize(1 << 20)},
		"known": {WithContentSize(int64(len(content)))},
	} {
		var first []byte
		for _, workers := range workerCounts {
			p := encode(t, content, longOptions(append(opts, WithConcurrency(workers))...)...)
			if first == nil {
				first = p
				checkAllReaders(t, p, content, WithConcurrency(2))
			} else if !bytes.Equal(p, first) {
				t.Errorf("%s: %d workers: other bytes", name, workers)
			}
			if got, err := decode(p, WithConcurrency(workers)); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d workers: %d bytes, %v", name, workers, len(got), err)
			}
		}
		plain := encode(t, content, append([]Option{WithBlockSize(1 << 13)}, opts...)...)
		if name != "1 MiB" && len(first) > len(plain)/2 { // that is a single block
			t.Errorf("%s: %d bytes, without long-distance matches %d", name, len(first), len(plain))
		}
	}
}

// TestLongDistanceStreams concatenates streams with and without references, and resets a Writer and a
// Reader between them.
func TestLongDistanceStreams(t *testing.T) {
	a, b := versionsOf(10, 5000, 3), versionsOf(7, 6000, 2)
	var first, out bytes.Buffer
	w := newWriter(t, &first, longOptions()...)
	var files []byte
	for _, content := range [][]byte{a, b, a} {
		out.Reset()
		w.Reset(&out)
		w.Write(content)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files = append(files, out.Bytes()...)
		if again := encode(t, content, longOptions()...); !bytes.Equal(again, out.Bytes()) {
			t.Error("another file after a Reset")
		}
	}
	all := slices.Concat(files, encode(t, a), files)
	content := slices.Concat(a, b, a, a, a, b, a)
	checkAllReaders(t, all, content, WithConcurrency(2))
	info, err := ReadInfo(bytes.NewReader(all), int64(len(all)))
	if err != nil || len(info.Streams) != 7 {
		t.Fatalf("%d streams, %v", len(info.Streams), err)
	}
	for i, s := range info.Streams {
		want := int64(MinWindow)
		if i == 3 {
			want = 0
		}
		if s.Window != want {
			t.Errorf("stream %d: window %d, want %d", i, s.Window, want)
		}
	}
	r := newReader(t, nil)
	for range 3 {
		r.Reset(bytes.NewReader(all))
		r.Read(make([]byte, 30_000))
		r.Reset(bytes.NewReader(all))
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("after a Reset: %d bytes, %v", len(got), err)
		}
	}
}

// TestLongDistanceFlush flushes behind each line, and behind pieces of any size.
func TestLongDistanceFlush(t *testing.T) {
	content := versionsOf(8, 5000, 3)
	g := rand.New(rand.NewPCG(1, 1))
	var pieces [][]byte
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 1+g.IntN(1<<g.IntN(15)))
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	file, _ := flushPieces(t, pieces, len(content), longOptions()...)
	checkAllReaders(t, file, content, WithConcurrency(2))
}

// TestLongDistanceAppend compresses and decompresses in memory.
func TestLongDistanceAppend(t *testing.T) {
	for _, n := range []int{0, 1, 5000, 8192, 8193, 100_000} {
		content := versionsOf(10, 5000, 3)[:n]
		for range 2 {
			p, err := AppendEncode(nil, content, longOptions()...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := AppendDecode(make([]byte, 0, n), p)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes: %d, %v", n, len(got), err)
			}
		}
	}
}

// TestLongDistanceReadAt reads at random from several goroutines, with few slots and small caches.
func TestLongDistanceReadAt(t *testing.T) {
	content := versionsOf(30, 5000, 4)
	file := encode(t, content, WithLongDistance(MinWindow), WithBlockSize(1<<13))
	for _, entries := range []int{1, 2, 5, 100} {
		r := openAt(t, file, WithConcurrency(2))
		r.SetCache(NewCache(int64(entries/2)*30_000), entries)
		var group sync.WaitGroup
		for k := range 4 {
			group.Go(func() {
				g := rand.New(rand.NewPCG(uint64(k), 7))
				for range 60 {
					at := g.IntN(len(content))
					p := make([]byte, min(g.IntN(30_000), len(content)-at))
					_, err := r.ReadAt(p, int64(at))
					if err != nil || !bytes.Equal(p, content[at:at+len(p)]) {
						t.Errorf("%d entries: %d bytes at %d: %v", entries, len(p), at, err)
						return
					}
				}
			})
		}
		group.Wait()
	}
}

// TestLongDistanceOptions checks which options go together.
func TestLongDistanceOptions(t *testing.T) {
	for i, opts := range [][]Option{
		{WithLongDistance(1)}, {WithLongDistance(-1)}, {WithLongDistance(MaxWindow * 2)},
		{WithLongDistance(3 << 20)}, {WithLongDistance(MinWindow), WithFormat(Gzip)},
		{WithLongDistance(MinWindow), WithFormat(Zstd)}, {WithLongDistance(MinWindow), WithRsyncable(true)},
		{WithLongDistance(MinWindow), WithBlockSize(2 * MinWindow)},
	} {
		if _, err := NewWriter(io.Discard, opts...); !errors.Is(err, ErrOption) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if _, err := NewPlan(10<<20, longOptions()...); !errors.Is(err, ErrOption) {
		t.Error("NewPlan:", err)
	}
	// A known size lowers the window. With a single block there is none.
	content := textBytes(100_000, 1)
	for _, c := range []struct {
		block  int
		window int64
	}{{1 << 16, MinWindow}, {1 << 17, 0}} {
		p := encode(t, content, WithLongDistance(MaxWindow), WithBlockSize(c.block),
			WithContentSize(int64(len(content))))
		size, _ := pzfile.HeaderSize(p)
		if h, err := pzfile.ParseHeader(p[:size]); err != nil || h.Window != c.window {
			t.Errorf("blocks of %d: window %d, %v, want %d", c.block, h.Window, err, c.window)
		}
	}
	if _, err := decode(encode(t, content), WithLongDistance(MinWindow), WithFormat(Gzip)); err != nil {
		t.Error("a Reader with the options of a Writer:", err)
	}
}

// TestLongDistanceMemory checks limits, and that a window claims no memory before there is content.
func TestLongDistanceMemory(t *testing.T) {
	content := textBytes(70_000, 1)
	file := encode(t, content, WithLongDistance(MaxWindow), WithBlockSize(MaxBlockSize))
	var e *Error
	if _, err := decode(file); !errors.As(err, &e) || !errors.Is(err, ErrMemory) || e.Memory < MaxWindow {
		t.Fatalf("window of %d bytes: %v", int64(MaxWindow), err)
	}
	if _, err := decode(file, WithMaxMemory(e.Memory-1)); !errors.Is(err, ErrMemory) {
		t.Error("a byte less than the error names:", err)
	}
	n := allocatedBytes(func() {
		if got, err := decode(file, WithMaxMemory(e.Memory)); err != nil || !bytes.Equal(got, content) {
			t.Error(err)
		}
	})
	if n > 2<<20 {
		t.Errorf("reading %d bytes allocates %d", len(content), n)
	}
	if _, err := openFile(file); err != nil {
		t.Error("a ReaderAt keeps no window:", err)
	}
	opts := []Option{WithLongDistance(1 << 26), WithBlockSize(1 << 16), WithConcurrency(2)}
	least, err := WriterMemory(append(opts, WithMaxMemory(1<<40))...)
	if err != nil || least < 1<<26 {
		t.Errorf("WriterMemory: %d, %v", least, err)
	}
	if _, err := NewWriter(io.Discard, append(opts, WithMaxMemory(1<<26))...); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	if n, err := ReaderMemory(1<<16, opts...); err != nil || n < 1<<26 {
		t.Errorf("ReaderMemory: %d, %v", n, err)
	}
}

// TestLongDistanceDevices compresses and decompresses on devices: one that works, one that is lost, and
// two whose results are wrong. The file and the content are the same.
func TestLongDistanceDevices(t *testing.T) {
	content := versionsOf(24, 5000, 3)
	for _, level := range []int{4, 5} {
		want := encode(t, content, longOptions(WithLevel(level))...)
		for _, b := range []Backend{BackendAuto, BackendGPU, BackendFused} {
			for name, d := range map[string]gpu.Device{
				"soft":   NewSoftDevice(gpu.SoftConfig{Batch: 4}),
				"lost":   NewSoftDevice(gpu.SoftConfig{Batch: 2, LostAfter: 3}),
				"coder":  wrongDevice{NewSoftDevice(gpu.SoftConfig{}), false},
				"decode": wrongDevice{NewSoftDevice(gpu.SoftConfig{}), true},
			} {
				s := NewScheduler(2)
				s.EnableStats(true)
				if err := s.SetDevice(d); err != nil {
					t.Fatal(err)
				}
				if name == "coder" && b != BackendAuto {
					continue // its results of other stages have no bytes to change
				}
				opts := longOptions(WithLevel(level), WithScheduler(s), WithBackend(b, b))
				equal(t, encode(t, content, opts...), want, "Writer")
				got, err := io.ReadAll(newReader(t, bytes.NewReader(want), opts...))
				if err != nil {
					t.Fatalf("level %d, %v, %s: %v", level, b, name, err)
				}
				equal(t, got, content, "Reader")
				checkReaderAt(t, want, content, opts...)
				if b != BackendAuto && ran(s.Stats(), BackendGPU) == 0 {
					t.Errorf("level %d, %v, %s: nothing ran on the device", level, b, name)
				}
				d.Close()
			}
		}
	}
}

// TestLongDistanceCancel closes Writers and Readers in the middle.
func TestLongDistanceCancel(t *testing.T) {
	content := versionsOf(24, 5000, 4)
	file := encode(t, content, longOptions()...)
	for n := range 20 {
		var out bytes.Buffer
		w := newWriter(t, &out, longOptions(WithConcurrency(3))...)
		w.Write(content[:n*20_000])
		out.Reset()
		w.Reset(&out)
		w.Write(content)
		if err := w.Close(); err != nil || !bytes.Equal(out.Bytes(), file) {
			t.Fatalf("after a Reset: %v", err)
		}
		r := newReader(t, bytes.NewReader(file), WithConcurrency(3))
		if _, err := io.ReadFull(r, make([]byte, n*20_000)); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
}

// FuzzLongDistance compresses content that repeats itself as the input says.
func FuzzLongDistance(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, uint8(0))
	f.Add([]byte{200, 100, 0, 7, 200, 100, 1, 7, 200, 0, 0, 0}, uint8(3))
	f.Fuzz(func(t *testing.T, edits []byte, seed uint8) {
		content := slices.Concat(randomBytes(6000, uint64(seed)), textBytes(6000, uint64(seed)))
		for ; len(edits) >= 4 && len(content) < 200_000; edits = edits[4:] {
			from := int(edits[0]) << 8 % len(content)
			n := min(int(edits[1])<<6|int(edits[2]), len(content)-from)
			content = append(append(content, content[from:from+n]...), edits[3])
		}
		file := encode(t, content, WithLongDistance(MinWindow), WithBlockSize(testBlock), WithConcurrency(2))
		got, err := decode(file, WithConcurrency(2))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("Reader: %d bytes of %d, %v", len(got), len(content), err)
		}
		r := openAt(t, file, WithConcurrency(2))
		p := make([]byte, len(content))
		if _, err := r.ReadAt(p, 0); err != nil || !bytes.Equal(p, content) {
			t.Fatalf("ReaderAt: %v", err)
		}
	})
}
