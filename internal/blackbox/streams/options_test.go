package streams

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/simd"
)

// TestOptionErrors checks that every constructor rejects options out of range.
func TestOptionErrors(t *testing.T) {
	for name, opt := range map[string]compress.Option{
		"level 0":       compress.WithLevel(0),
		"level 10":      compress.WithLevel(10),
		"pipeline":      bridge.Pipeline("none"),
		"concurrency":   compress.WithConcurrency(-1),
		"block 1":       compress.WithBlockSize(1),
		"block 5000":    compress.WithBlockSize(5000),
		"block 128 MiB": compress.WithBlockSize(128 << 20),
		"memory":        compress.WithMaxMemory(-1),
		"memory target": bridge.MemoryTarget(-1),
		"decoded size":  compress.WithMaxDecodedSize(-1),
		"content size":  compress.WithContentSize(-2),
	} {
		if _, err := compress.NewWriter(io.Discard, opt); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%s: NewWriter: %v", name, err)
		}
		if _, err := compress.NewReader(nil, opt); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%s: NewReader: %v", name, err)
		}
		if _, err := compress.NewReaderAt(nil, 0, opt); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%s: NewReaderAt: %v", name, err)
		}
		if _, err := compress.AppendEncode(nil, nil, opt); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%s: AppendEncode: %v", name, err)
		}
		if _, err := compress.AppendDecode(nil, nil, opt); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%s: AppendDecode: %v", name, err)
		}
		if _, err := compress.WriterMemory(opt); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%s: WriterMemory: %v", name, err)
		}
		if _, err := compress.ReaderMemory(0, opt); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%s: ReaderMemory: %v", name, err)
		}
	}
}

// TestContentSize announces wrong and right sizes of content.
func TestContentSize(t *testing.T) {
	for _, size := range []int64{0, 9, 11, 1 << 40} {
		w := bbtest.NewWriter(t, io.Discard, compress.WithContentSize(size))
		_, err := w.Write(make([]byte, 10))
		if tooMuch := size < 10; tooMuch != (err != nil) {
			t.Errorf("%d announced, 10 written: Write: %v", size, err)
		}
		if err := w.Close(); !errors.Is(err, compress.ErrContentSize) || !errors.Is(err, compress.ErrOption) {
			t.Errorf("%d announced, 10 written: Close: %v", size, err)
		}
		if _, err := compress.AppendEncode(
			nil, make([]byte, 10), compress.WithContentSize(size),
		); !errors.Is(err, compress.ErrContentSize) {
			t.Errorf("%d announced, 10 encoded: %v", size, err)
		}
	}
	p := bbtest.Encode(t, make([]byte, 70_000), compress.WithContentSize(70_000))
	if h, err := pzfile.ParseHeader(p[:18]); err != nil ||
		h.BlockSize != 128<<10 ||
		h.ContentSize != 70_000 {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestReaderIgnoresWriterOptions checks that a Reader ignores options that are for Writers only.
func TestReaderIgnoresWriterOptions(t *testing.T) {
	a, err := compress.ReaderMemory(16 << 20)
	b, err2 := compress.ReaderMemory(16<<20, compress.WithContentSize(1000))
	if err != nil || err2 != nil || a != b {
		t.Errorf("%d, %v; with WithContentSize %d, %v", a, err, b, err2)
	}
	if _, err := compress.NewReader(
		nil, bridge.Pipeline("lzf"), compress.WithBlockSize(16<<20),
	); err != nil {
		t.Error(err)
	}
	if _, err := compress.NewWriter(
		io.Discard, bridge.Pipeline("lzf"), compress.WithBlockSize(16<<20),
	); !errors.Is(err, compress.ErrOption) {
		t.Error("Writer:", err)
	}
}

// TestOneShotErrors checks that AppendEncode appends nothing if it fails.
func TestOneShotErrors(t *testing.T) {
	for _, n := range []int64{5, 2 << 20} {
		got, err := compress.AppendEncode([]byte("abc"), bbtest.TextBytes(1<<20, 1),
			compress.WithContentSize(n))
		if !errors.Is(err, compress.ErrContentSize) || string(got) != "abc" {
			t.Errorf("%d announced: %d bytes, %v", n, len(got), err)
		}
	}
}

// TestOptionsRoundTrip writes and reads with options of all kinds.
func TestOptionsRoundTrip(t *testing.T) {
	var noContext context.Context
	content := bbtest.MixedBytes(300_000)
	for name, opts := range map[string][]compress.WriterOption{
		"defaults":  nil,
		"no checks": {compress.WithChecksum(false), compress.WithBlockSize(bbtest.BlockSize)},
		"size":      {compress.WithContentSize(int64(len(content))), compress.WithBlockSize(1 << 16)},
		"scheduler": {
			compress.WithScheduler(compress.NewScheduler(3)), compress.WithBlockSize(bbtest.BlockSize),
		},
		"big blocks": {compress.WithBlockSize(compress.MaxBlockSize), compress.WithConcurrency(2)},
		"memory":     {compress.WithMaxMemory(4 << 20), compress.WithBlockSize(1 << 16)},
		"fast":       {compress.WithLevel(compress.MinLevel)},
		"dense":      {compress.WithLevel(compress.MaxLevel)},
		"nil options": {
			nil, compress.WithScheduler(nil), compress.WithContext(noContext), compress.WithProgress(nil),
		},
	} {
		t.Run(name, func(t *testing.T) {
			bbtest.CheckAllReaders(t, bbtest.Encode(t, content, opts...), content, opts...)
		})
	}
}

// TestKernels checks that Kernels names the tier of kernels in use.
func TestKernels(t *testing.T) {
	if k := simd.Tier(); k != simd.Tier() || !slices.Contains(simd.Tiers(), k) {
		t.Errorf("Kernels: %q, want %q of %q", k, simd.Tier(), simd.Tiers())
	}
}

// formats are all formats with the name that String returns.
var formats = map[compress.Format]string{compress.PZ: "pz", compress.Gzip: "gz", compress.Zstd: "zst"}

// TestDetectFormat detects the format of the first bytes of each format, and of other data.
func TestDetectFormat(t *testing.T) {
	for f := range formats {
		file := bbtest.Encode(t, []byte("content"), compress.WithFormat(f))
		for _, n := range []int{4, 10, len(file)} {
			if got, ok := compress.DetectFormat(file[:n]); got != f || !ok {
				t.Errorf("%d bytes of a .%v file: %v, %v", n, f, got, ok)
			}
		}
	}
	if f, ok := compress.DetectFormat(
		bbtest.SkippableFrame(7, []byte("content")),
	); f != compress.Zstd || !ok {
		t.Errorf("skippable frame: %v, %v, want zst", f, ok)
	}
	for _, p := range []string{"", "P", "\x1f\x8b", "\x28\xb5\x2f", "text", "\x00\x00\x00\x00"} {
		if f, ok := compress.DetectFormat([]byte(p)); ok {
			t.Errorf("%q: %v, want no format", p, f)
		}
	}
}

// TestWithFormat checks that WithFormat chooses a pipeline of the format, and that of two options
// the later one counts.
func TestWithFormat(t *testing.T) {
	content := bbtest.TextBytes(10_000, 1)
	for f := range formats {
		file := bbtest.Encode(t, content, compress.WithFormat(f))
		if got, ok := compress.DetectFormat(file); got != f || !ok {
			t.Errorf("WithFormat(%v) writes %v, %v", f, got, ok)
		}
		if got, err := compress.AppendDecode(nil, file); err != nil || string(got) != string(content) {
			t.Errorf("WithFormat(%v): %d bytes, %v", f, len(got), err)
		}
	}
	bbtest.Equal(t, bbtest.Encode(t, content, compress.WithFormat(compress.PZ)),
		bbtest.Encode(t, content), "default format")
	for _, p := range bridge.Pipelines() {
		named := bbtest.Encode(t, content, bridge.Pipeline(p.Name))
		if got, _ := compress.DetectFormat(named); got != p.Format {
			t.Errorf("pipeline %s writes %v, want %v", p.Name, got, p.Format)
		}
		for f := range formats {
			both := bbtest.Encode(t, content, compress.WithFormat(f), bridge.Pipeline(p.Name))
			bbtest.Equal(t, both, named, "format "+f.String()+", then pipeline "+p.Name)
			both = bbtest.Encode(t, content, bridge.Pipeline(p.Name), compress.WithFormat(f))
			bbtest.Equal(t, both, bbtest.Encode(t, content, compress.WithFormat(f)),
				"pipeline "+p.Name+", then format "+f.String())
		}
	}
}

// TestFormatString checks the names, which are the file name extensions too.
func TestFormatString(t *testing.T) {
	for f, want := range formats {
		if f.String() != want {
			t.Errorf("Format(%d).String() = %q, want %q", uint8(f), f, want)
		}
	}
	if got := compress.Format(99).String(); got != "unknown" {
		t.Errorf("Format(99).String() = %q, want unknown", got)
	}
}

// TestOptionErrorText checks that the error of an invalid option lists what is valid.
func TestOptionErrorText(t *testing.T) {
	var pipelines []string
	for _, p := range bridge.Pipelines() {
		pipelines = append(pipelines, p.Name)
	}
	for _, c := range []struct {
		opt  compress.Option
		want []string
	}{
		{compress.WithFormat(99), []string{"format 99", "PZ", "Gzip", "Zstd"}},
		{bridge.Pipeline("none"), append(pipelines, `"none"`)},
		{compress.WithTuning(99), []string{"99", "TuneFixed", "TuneAuto", "TuneTrial", "TuneLiterals"}},
		{compress.WithLevel(10), []string{"10", "1 … 9"}},
		{compress.WithBlockSize(5000), []string{"5000", "power of two", "4096", "67108864"}},
		{compress.WithConcurrency(-1), []string{"-1", "0 …"}},
	} {
		_, err := compress.NewWriter(io.Discard, c.opt)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
		}
	}
}

// TestProbeZstd probes files of all formats, of frames with and without a size, and of parts of
// files.
func TestProbeZstd(t *testing.T) {
	written := bbtest.Encode(t, []byte("content"), compress.WithFormat(compress.Zstd))
	table := bbtest.MakeSeekTable(false)
	unsized := bbtest.StoredFrame(zstfile.Header{ContentSize: -1, Window: 1 << 10}, []byte("content"))
	for _, c := range []struct {
		name         string
		file         []byte
		table, sized bool
	}{
		{"written", written, true, true},
		{"end missing", written[:len(written)-1], false, true},
		{"beginning missing", written[1:], true, false},
		{"no size", unsized, false, false},
		{"no size, with table", slices.Concat(unsized, table), true, false},
		{"cut header", written[:5], false, false},
		{"pz", bbtest.Encode(t, []byte("content")), false, false},
		{"gz", bbtest.Encode(t, []byte("content"), compress.WithFormat(compress.Gzip)), false, false},
		{"empty", nil, false, false},
	} {
		table, sized := bridge.ProbeZstd(bytes.NewReader(c.file), int64(len(c.file)))
		if table != c.table || sized != c.sized {
			t.Errorf("%s: table %v, sized %v, want %v, %v", c.name, table, sized, c.table, c.sized)
		}
	}
}

// TestKeepTogether writes content that begins a block only near the end of the one before.
func TestKeepTogether(t *testing.T) {
	const size = 64 << 10
	p := corpus.ByName("source").Make(10 * size)
	for _, c := range []struct {
		format        compress.Format
		first, second int
		begins        bool // the second part begins a block
		opts          []compress.WriterOption
	}{
		{format: compress.PZ, first: size - size/8, second: size/8 + 1, begins: true},
		{format: compress.Zstd, first: size - size/8, second: size/8 + 1, begins: true},
		{format: compress.PZ, first: size - size/8, second: size / 8},
		{format: compress.PZ, first: size - size/8 - 1, second: 2 * size},
		{format: compress.PZ, first: 2*size - 1, second: 3 * size, begins: true},
		{format: compress.PZ, first: 2 * size, second: 10, begins: true},
		{format: compress.PZ, first: 0, second: 2 * size, begins: true},
		{format: compress.PZ, first: size - 1, second: size, opts: []compress.WriterOption{
			compress.WithRsyncable(true),
		}},
	} {
		var b bytes.Buffer
		w, err := compress.NewWriter(&b, append(c.opts, compress.WithFormat(c.format),
			compress.WithBlockSize(size))...)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(p[:c.first])
		w.KeepTogether(int64(c.second))
		w.Write(p[c.first : c.first+c.second])
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w.KeepTogether(1) // does nothing
		r, err := compress.NewReaderAt(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		begins := false
		for k := range r.Blocks() {
			begins = begins || k.ContentOffset == int64(c.first)
		}
		got := make([]byte, c.first+c.second)
		if _, err := r.ReadAt(got, 0); err != nil || !bytes.Equal(got, p[:len(got)]) {
			t.Errorf("%v, %d and %d bytes: other content, %v", c.format, c.first, c.second, err)
		}
		if begins != c.begins {
			t.Errorf("%v, %d and %d bytes: begins a block: %v", c.format, c.first, c.second, begins)
		}
		r.Close()
	}
}

// TestReadName reads names from .gz headers, and from files that have none.
func TestReadName(t *testing.T) {
	when := time.Unix(1_000_000_000, 0)
	long := strings.Repeat("n", 5000)
	for _, name := range []string{"", "a", "gr\u00fcn", "\u20ac", "bytes \xff\xfe", long} {
		file := bbtest.Encode(t, []byte("content"), bridge.Pipeline("deflate"),
			compress.WithName(name, when))
		for _, src := range []io.Reader{
			bytes.NewReader(file), iotest.OneByteReader(bytes.NewReader(file)),
		} {
			got, at, err := compress.ReadName(src)
			if err != nil || got != name || !at.Equal(when) {
				t.Errorf("%.20q: %.20q, %v, %v", name, got, at, err)
			}
		}
	}
	// A .gz file without a name, other formats, and text.
	for what, file := range map[string][]byte{
		"no name": bbtest.Encode(t, nil, bridge.Pipeline("deflate")),
		"pz":      bbtest.Encode(t, nil),
		"zst":     bbtest.Encode(t, nil, bridge.Pipeline("lzf")),
		"text":    []byte("text"),
	} {
		if name, at, err := compress.ReadName(bytes.NewReader(file)); name != "" || !at.IsZero() ||
			err != nil {
			t.Errorf("%s: %q, %v, %v", what, name, at, err)
		}
	}
	h := gzfile.Header{Name: "x", Extra: make([]byte, 65_535), HeaderCRC: true}
	p, err := h.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if name, at, err := compress.ReadName(bytes.NewReader(p)); name != "x" || !at.IsZero() || err != nil {
		t.Errorf("%q, %v, %v", name, at, err)
	}
	p[20] ^= 1
	if _, _, err := compress.ReadName(bytes.NewReader(p)); !errors.Is(err, compress.ErrChecksum) {
		t.Errorf("damaged header: %v", err)
	}
}

// TestReadNameOfDamagedFiles cuts and damages headers.
func TestReadNameOfDamagedFiles(t *testing.T) {
	file := bbtest.Encode(t, []byte("content"), bridge.Pipeline("deflate"),
		compress.WithName("name", time.Time{}))
	end := 10 + len("name") + 1
	for n := range end {
		if _, _, err := compress.ReadName(bytes.NewReader(file[:n])); !errors.Is(err, compress.ErrTruncated) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if name, _, err := compress.ReadName(bytes.NewReader(file[:end])); name != "name" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	if _, _, err := compress.ReadName(
		io.MultiReader(bytes.NewReader(file[:end-1]), iotest.ErrReader(bbtest.ErrTest)),
	); !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("failing reader: %v", err)
	}
	if _, _, err := compress.ReadName(
		strings.NewReader("\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00"),
	); !errors.Is(err, compress.ErrVersion) {
		t.Errorf("unknown method: %v", err)
	}
	if _, _, err := compress.ReadName(
		strings.NewReader("\x1f\x8b\x08\xff\x00\x00\x00\x00\x00\x00"),
	); !errors.Is(err, compress.ErrCorrupt) {
		t.Errorf("unknown flags: %v", err)
	}
	endless := io.MultiReader(strings.NewReader("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00"),
		strings.NewReader(strings.Repeat("n", 1<<20)))
	if name, _, err := compress.ReadName(endless); name != "" || err != nil {
		t.Errorf("name without an end: %d bytes, %v", len(name), err)
	}
}
