package references

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

// longOptions are options for content of bbtest.VersionsOf.
func longOptions(more ...compress.WriterOption) []compress.WriterOption {
	return append([]compress.WriterOption{compress.WithLongDistance(compress.MinWindow),
		compress.WithBlockSize(1 << 13)}, more...)
}

// TestLongDistance compresses content that repeats itself, and reads it in every way, with any
// number of workers.
func TestLongDistance(t *testing.T) {
	content := bbtest.VersionsOf(24, 5000, 4)
	for name, opts := range map[string][]compress.WriterOption{
		"default": nil, "unchecked": {compress.WithChecksum(false)}, "dense": {compress.WithLevel(7)},
		"plain": {bridge.Pipeline("lzr")}, "tuned": {compress.WithTuning(compress.TuneAuto)},
		"1 MiB": {compress.WithBlockSize(1 << 20)},
		"known": {compress.WithContentSize(int64(len(content)))},
	} {
		var first []byte
		for _, workers := range bbtest.WorkerCounts {
			p := bbtest.Encode(t, content, longOptions(append(opts, compress.WithConcurrency(workers))...)...)
			if first == nil {
				first = p
				bbtest.CheckAllReaders(t, p, content, compress.WithConcurrency(2))
			} else if !bytes.Equal(p, first) {
				t.Errorf("%s: %d workers: other bytes", name, workers)
			}
			if got, err := bbtest.Decode(
				p, compress.WithConcurrency(workers),
			); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d workers: %d bytes, %v", name, workers, len(got), err)
			}
		}
		plain := bbtest.Encode(t, content, append([]compress.WriterOption{compress.WithBlockSize(1 << 13)},
			opts...)...)
		if name != "1 MiB" && len(first) > len(plain)/2 { // that is a single block
			t.Errorf("%s: %d bytes, without long-distance matches %d", name, len(first), len(plain))
		}
	}
}

// TestLongDistanceStreams concatenates streams with and without references, and resets a Writer and
// a Reader between them.
func TestLongDistanceStreams(t *testing.T) {
	a, b := bbtest.VersionsOf(10, 5000, 3), bbtest.VersionsOf(7, 6000, 2)
	var first, out bytes.Buffer
	w := bbtest.NewWriter(t, &first, longOptions()...)
	var files []byte
	for _, content := range [][]byte{a, b, a} {
		out.Reset()
		w.Reset(&out)
		w.Write(content)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files = append(files, out.Bytes()...)
		if again := bbtest.Encode(t, content, longOptions()...); !bytes.Equal(again, out.Bytes()) {
			t.Error("another file after a Reset")
		}
	}
	all := slices.Concat(files, bbtest.Encode(t, a), files)
	content := slices.Concat(a, b, a, a, a, b, a)
	bbtest.CheckAllReaders(t, all, content, compress.WithConcurrency(2))
	info, err := bbtest.FileInfo(all)
	if err != nil || len(info.Streams) != 7 {
		t.Fatalf("%d streams, %v", len(info.Streams), err)
	}
	for i, s := range info.Streams {
		want := int64(compress.MinWindow)
		if i == 3 {
			want = 0
		}
		if s.Window != want {
			t.Errorf("stream %d: window %d, want %d", i, s.Window, want)
		}
	}
	r := bbtest.NewReader(t, nil)
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
	content := bbtest.VersionsOf(8, 5000, 3)
	g := rand.New(rand.NewPCG(1, 1))
	var pieces [][]byte
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 1+g.IntN(1<<g.IntN(15)))
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	file, _ := bbtest.FlushPieces(t, pieces, len(content), longOptions()...)
	bbtest.CheckAllReaders(t, file, content, compress.WithConcurrency(2))
}

// TestLongDistanceAppend compresses and decompresses in memory.
func TestLongDistanceAppend(t *testing.T) {
	for _, n := range []int{0, 1, 5000, 8192, 8193, 100_000} {
		content := bbtest.VersionsOf(10, 5000, 3)[:n]
		for range 2 {
			p, err := compress.AppendEncode(nil, content, longOptions()...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := compress.AppendDecode(make([]byte, 0, n), p)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes: %d, %v", n, len(got), err)
			}
		}
	}
}

// TestLongDistanceOptions checks which options go together.
func TestLongDistanceOptions(t *testing.T) {
	for i, opts := range [][]compress.WriterOption{
		{compress.WithLongDistance(1)}, {compress.WithLongDistance(-1)}, {
			compress.WithLongDistance(compress.MaxWindow * 2),
		},
		{compress.WithLongDistance(3 << 20)}, {
			compress.WithLongDistance(compress.MinWindow), compress.WithFormat(compress.Gzip),
		},
		{compress.WithLongDistance(compress.MinWindow), compress.WithFormat(compress.Zstd)}, {
			compress.WithLongDistance(compress.MinWindow), compress.WithRsyncable(true),
		},
		{compress.WithLongDistance(compress.MinWindow), compress.WithBlockSize(2 * compress.MinWindow)},
	} {
		if _, err := compress.NewWriter(io.Discard, opts...); !errors.Is(err, compress.ErrOption) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if _, err := compress.NewPlan(10<<20, longOptions()...); !errors.Is(err, compress.ErrOption) {
		t.Error("NewPlan:", err)
	}
	// A known size lowers the window. With a single block there is none.
	content := bbtest.TextBytes(100_000, 1)
	for _, c := range []struct {
		block  int
		window int64
	}{{1 << 16, compress.MinWindow}, {1 << 17, 0}} {
		p := bbtest.Encode(t, content, compress.WithLongDistance(compress.MaxWindow),
			compress.WithBlockSize(c.block),
			compress.WithContentSize(int64(len(content))))
		size, _ := pzfile.HeaderSize(p)
		if h, err := pzfile.ParseHeader(p[:size]); err != nil || h.Window != c.window {
			t.Errorf("blocks of %d: window %d, %v, want %d", c.block, h.Window, err, c.window)
		}
	}
}

// TestLongDistanceMemory checks limits, and that a window claims no memory before there is content.
func TestLongDistanceMemory(t *testing.T) {
	content := bbtest.TextBytes(70_000, 1)
	file := bbtest.Encode(t, content, compress.WithLongDistance(compress.MaxWindow),
		compress.WithBlockSize(compress.MaxBlockSize))
	var e *compress.Error
	if _, err := bbtest.Decode(
		file,
	); !errors.As(err, &e) || !errors.Is(err, compress.ErrMemory) || e.Memory < compress.MaxWindow {
		t.Fatalf("window of %d bytes: %v", int64(compress.MaxWindow), err)
	}
	if _, err := bbtest.Decode(
		file, compress.WithMaxMemory(e.Memory-1),
	); !errors.Is(err, compress.ErrMemory) {
		t.Error("a byte less than the error names:", err)
	}
	n := bbtest.AllocatedBytes(func() {
		if got, err := bbtest.Decode(
			file, compress.WithMaxMemory(e.Memory),
		); err != nil || !bytes.Equal(got, content) {
			t.Error(err)
		}
	})
	if n > 2<<20 {
		t.Errorf("reading %d bytes allocates %d", len(content), n)
	}
	if _, err := bbtest.OpenFile(file); err != nil {
		t.Error("a ReaderAt keeps no window:", err)
	}
	opts := []compress.WriterOption{
		compress.WithLongDistance(1 << 26), compress.WithBlockSize(1 << 16), compress.WithConcurrency(2),
	}
	least, err := compress.WriterMemory(append(opts, compress.WithMaxMemory(1<<40))...)
	if err != nil || least < 1<<26 {
		t.Errorf("WriterMemory: %d, %v", least, err)
	}
	if _, err := compress.NewWriter(
		io.Discard, append(opts, compress.WithMaxMemory(1<<26))...,
	); !errors.Is(err, compress.ErrMemory) {
		t.Error(err)
	}
	if n, err := compress.ReaderMemory(opts, compress.WithConcurrency(2)); err != nil || n < 1<<26 {
		t.Errorf("ReaderMemory: %d, %v", n, err)
	}
}

// TestLongDistanceDevices compresses and decompresses on devices: one that works, one that is lost,
// and two whose results are wrong. The file and the content are the same.
func TestLongDistanceDevices(t *testing.T) {
	content := bbtest.VersionsOf(24, 5000, 3)
	for _, level := range []int{4, 5} {
		want := bbtest.Encode(t, content, longOptions(compress.WithLevel(level))...)
		for _, b := range []gpu.Backend{gpu.BackendAuto, gpu.BackendGPU, gpu.BackendFused} {
			soft := func(cfg gpu.SoftConfig) gpu.Device { return gpu.NewSoft(pipeline.Host, cfg) }
			for name, d := range map[string]gpu.Device{
				"soft":   soft(gpu.SoftConfig{Batch: 4}),
				"lost":   soft(gpu.SoftConfig{Batch: 2, LostAfter: 3}),
				"coder":  bbtest.WrongDevice{Device: soft(gpu.SoftConfig{}), Decode: false},
				"decode": bbtest.WrongDevice{Device: soft(gpu.SoftConfig{}), Decode: true},
			} {
				s := compress.NewScheduler(2)
				s.EnableStats(true)
				if name == "coder" && b != gpu.BackendAuto {
					continue // its results of other stages have no bytes to change
				}
				scheduler, device := compress.WithScheduler(s), compress.WithDevice(d, b, b)
				opts := longOptions(compress.WithLevel(level), scheduler, device)
				bbtest.Equal(t, bbtest.Encode(t, content, opts...), want, "Writer")
				got, err := io.ReadAll(bbtest.NewReader(t, bytes.NewReader(want), scheduler, device))
				if err != nil {
					t.Fatalf("level %d, %v, %s: %v", level, b, name, err)
				}
				bbtest.Equal(t, got, content, "Reader")
				bbtest.CheckReaderAt(t, want, content, scheduler, device)
				if b != gpu.BackendAuto && bbtest.RanOn(s.Stats(), gpu.BackendGPU) == 0 {
					t.Errorf("level %d, %v, %s: nothing ran on the device", level, b, name)
				}
				d.Close()
			}
		}
	}
}

// TestLongDistanceCancel closes Writers and Readers in the middle.
func TestLongDistanceCancel(t *testing.T) {
	content := bbtest.VersionsOf(24, 5000, 4)
	file := bbtest.Encode(t, content, longOptions()...)
	for n := range 20 {
		var out bytes.Buffer
		w := bbtest.NewWriter(t, &out, longOptions(compress.WithConcurrency(3))...)
		w.Write(content[:n*20_000])
		out.Reset()
		w.Reset(&out)
		w.Write(content)
		if err := w.Close(); err != nil || !bytes.Equal(out.Bytes(), file) {
			t.Fatalf("after a Reset: %v", err)
		}
		r := bbtest.NewReader(t, bytes.NewReader(file), compress.WithConcurrency(3))
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
		content := slices.Concat(bbtest.RandomBytes(6000, uint64(seed)), bbtest.TextBytes(6000, uint64(seed)))
		for ; len(edits) >= 4 && len(content) < 200_000; edits = edits[4:] {
			from := int(edits[0]) << 8 % len(content)
			n := min(int(edits[1])<<6|int(edits[2]), len(content)-from)
			content = append(append(content, content[from:from+n]...), edits[3])
		}
		file := bbtest.Encode(t, content, compress.WithLongDistance(compress.MinWindow),
			compress.WithBlockSize(bbtest.BlockSize), compress.WithConcurrency(2))
		got, err := bbtest.Decode(file, compress.WithConcurrency(2))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("Reader: %d bytes of %d, %v", len(got), len(content), err)
		}
		r := bbtest.OpenAt(t, file, compress.WithConcurrency(2))
		p := make([]byte, len(content))
		if _, err := r.ReadAt(p, 0); err != nil || !bytes.Equal(p, content) {
			t.Fatalf("ReaderAt: %v", err)
		}
	})
}
