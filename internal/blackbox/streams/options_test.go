package streams

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

// TestOptionErrors checks that every function rejects options out of range.
func TestOptionErrors(t *testing.T) {
	for name, opt := range map[string]compress.WriterOption{
		"level 0":       compress.WithLevel(0),
		"level 10":      compress.WithLevel(10),
		"format":        compress.WithFormat(99),
		"pipeline":      bridge.Pipeline("none"),
		"tuning":        compress.WithTuning(compress.TuneTrial + 1),
		"concurrency":   compress.WithConcurrency(-1),
		"block 1":       compress.WithBlockSize(1),
		"block 5000":    compress.WithBlockSize(5000),
		"block 128 MiB": compress.WithBlockSize(128 << 20),
		"memory":        compress.WithMaxMemory(-1),
		"memory target": bridge.MemoryTarget(-1),
		"content size":  compress.WithContentSize(-2),
	} {
		_, newErr := compress.NewWriter(io.Discard, opt)
		_, encodeErr := compress.AppendEncode(nil, nil, opt)
		_, planErr := compress.NewPlan(10, opt)
		_, memoryErr := compress.WriterMemory(opt)
		_, readerErr := compress.ReaderMemory([]compress.WriterOption{opt})
		for function, err := range map[string]error{
			"NewWriter": newErr, "AppendEncode": encodeErr, "NewPlan": planErr, "WriterMemory": memoryErr,
			"ReaderMemory": readerErr,
		} {
			if !errors.Is(err, compress.ErrOption) {
				t.Errorf("%s: %s: %v", name, function, err)
			}
		}
	}
	for name, opt := range map[string]compress.ReaderOption{
		"concurrency":   compress.WithConcurrency(1 << 20),
		"memory":        compress.WithMaxMemory(-1),
		"memory target": bridge.MemoryTarget(-1),
		"decoded size":  compress.WithMaxDecodedSize(-1),
		"index size":    compress.WithIndex(nil, -1),
		"cache":         compress.WithCache(new(compress.Cache)),
	} {
		for _, r := range readers {
			if err := r.read(nil, nil, opt); !errors.Is(err, compress.ErrOption) {
				t.Errorf("%s: %s: %v", name, r.name, err)
			}
		}
		if _, err := compress.ReaderMemory(nil, opt); !errors.Is(err, compress.ErrOption) {
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
	type writing = []compress.WriterOption // for the Writer alone
	type both = []compress.Option
	for name, c := range map[string]struct {
		writing writing
		both    both
	}{
		"defaults": {},
		"no checks": {
			writing{compress.WithBlockSize(bbtest.BlockSize)}, both{compress.WithChecksum(false)},
		},
		"size": {
			writing{compress.WithContentSize(int64(len(content))), compress.WithBlockSize(1 << 16)}, nil,
		},
		"scheduler": {
			writing{compress.WithBlockSize(bbtest.BlockSize)},
			both{compress.WithScheduler(compress.NewScheduler(3))},
		},
		"big blocks": {
			writing{compress.WithBlockSize(compress.MaxBlockSize)}, both{compress.WithConcurrency(2)},
		},
		"memory": {writing{compress.WithBlockSize(1 << 16)}, both{compress.WithMaxMemory(4 << 20)}},
		"fast":   {writing{compress.WithLevel(compress.MinLevel)}, nil},
		"dense":  {writing{compress.WithLevel(compress.MaxLevel)}, nil},
		"nil options": {writing{nil}, both{
			nil, compress.WithScheduler(nil), compress.WithContext(noContext), compress.WithProgress(nil),
			compress.WithTrace(nil), compress.WithDictionary(nil),
			compress.WithDevice(nil, gpu.BackendAuto, gpu.BackendAuto),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			file := bbtest.Encode(t, content, append(c.writing, bbtest.ForWriter(c.both...)...)...)
			bbtest.CheckAllReaders(t, file, content, bbtest.ForReader(c.both...)...)
		})
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
	for _, c := range []struct {
		opt  compress.WriterOption
		want []string
	}{
		{compress.WithFormat(99), []string{"format 99", "PZ", "Gzip", "Zstd"}},
		{bridge.Pipeline("none"), []string{`"none"`}},
		{compress.WithTuning(99), []string{"99", "TuneFixed", "TuneAuto", "TuneTrial"}},
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

// A pairing is what two options meet: their names, and those of the format and of the function.
type pairing []string

// conflicts reports whether the pairing has all names of a line of a list.
func (p pairing) conflicts(list string) bool {
	missing := func(name string) bool { return !slices.Contains(p, name) }
	for line := range strings.Lines(list) {
		names := strings.Fields(line)
		if len(names) > 0 && !slices.ContainsFunc(names, missing) {
			return true
		}
	}
	return false
}

// check checks the error of a function that was called with the pairing.
func (p pairing) check(t *testing.T, list string, err error) {
	t.Helper()
	if conflict := p.conflicts(list); conflict && !errors.Is(err, compress.ErrOption) {
		t.Errorf("%s: error %v, want ErrOption", strings.Join(p, ", "), err)
	} else if !conflict && err != nil {
		t.Errorf("%s: %v", strings.Join(p, ", "), err)
	}
}

var errContent = errors.New("other content")

// same returns errContent if got differs from want.
func same(got, want []byte) error {
	if !bytes.Equal(got, want) {
		return errContent
	}
	return nil
}

// softDevice is the device of all pairs. It stays with the scheduler of the process.
var softDevice = sync.OnceValue(func() gpu.Device { return gpu.NewSoft(pipeline.Host, gpu.SoftConfig{}) })

// bothOptions returns a value of each option for both directions. None of them ends the work.
func bothOptions(t *testing.T) map[string]compress.Option {
	trained := bbtest.NewDictionary(t, bbtest.TestDictionaries(t)["trained"])
	return map[string]compress.Option{
		"MemoryTarget":    bridge.MemoryTarget(1 << 20),
		"WithChecksum":    compress.WithChecksum(false),
		"WithConcurrency": compress.WithConcurrency(2),
		"WithContext":     compress.WithContext(t.Context()),
		"WithDevice":      compress.WithDevice(softDevice(), gpu.BackendAuto, gpu.BackendAuto),
		"WithDictionary":  compress.WithDictionary(trained),
		"WithMaxMemory":   compress.WithMaxMemory(1 << 30),
		"WithProgress":    compress.WithProgress(func(compress.Progress) {}),
		"WithScheduler":   compress.WithScheduler(compress.NewScheduler(2)),
		"WithTrace":       compress.WithTrace(func(compress.Stage) {}),
	}
}

// writerOptions returns a value of each option of a Writer but WithFormat, for content of so many
// bytes in a format.
func writerOptions(t *testing.T, f compress.Format, size int) map[string]compress.WriterOption {
	pipelines := map[compress.Format]string{
		compress.PZ: "lzr", compress.Gzip: "deflate", compress.Zstd: "lzf",
	}
	all := map[string]compress.WriterOption{
		"Literals":         bridge.Literals(),
		"Pipeline":         bridge.Pipeline(pipelines[f]),
		"Position":         bridge.Position(new(atomic.Int64)),
		"Streams":          bridge.Streams(1<<20, noEnd),
		"WithBlockSize":    compress.WithBlockSize(bbtest.BlockSize),
		"WithContentSize":  compress.WithContentSize(int64(size)),
		"WithFastDecoding": compress.WithFastDecoding(true),
		"WithLevel":        compress.WithLevel(2),
		"WithLongDistance": compress.WithLongDistance(128 << 20),
		"WithName":         compress.WithName("name", time.Time{}),
		"WithRsyncable":    compress.WithRsyncable(true),
		"WithSeekable":     compress.WithSeekable(1 << 16),
		"WithTuning":       compress.WithTuning(compress.TuneAuto),
	}
	for name, opt := range bothOptions(t) {
		all[name] = opt
	}
	return all
}

// writerConflicts lists what a Writer cannot have together, a conflict a line.
const writerConflicts = `
	gz  WithFastDecoding
	zst WithFastDecoding
	pz  WithName
	zst WithName
	gz  WithChecksum
	gz  WithDictionary
	gz  WithLongDistance
	gz  WithSeekable
	gz  Streams
	zst WithSeekable WithLongDistance

	WithConcurrency  WithScheduler
	WithDictionary   WithLongDistance
	WithLongDistance WithRsyncable
	WithLongDistance Streams

	NewPlan WithLongDistance
	NewPlan WithRsyncable
	NewPlan Streams
`

// writers are the functions that compress.
var writers = []struct {
	name  string
	write func(t *testing.T, content []byte, opts ...compress.WriterOption) ([]byte, error)
}{
	{"NewWriter", func(_ *testing.T, content []byte, opts ...compress.WriterOption) ([]byte, error) {
		var file bytes.Buffer
		w, err := compress.NewWriter(&file, opts...)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
		err = w.Close()
		return file.Bytes(), err
	}},
	{"AppendEncode", func(_ *testing.T, content []byte, opts ...compress.WriterOption) ([]byte, error) {
		return compress.AppendEncode(nil, content, opts...)
	}},
	{"NewPlan", func(t *testing.T, content []byte, opts ...compress.WriterOption) ([]byte, error) {
		plan, err := compress.NewPlan(int64(len(content)), opts...)
		if err != nil {
			return nil, err
		}
		return bbtest.EncodePlanned(t, content, bbtest.PieceEnds(plan.Blocks(), 1), opts...), nil
	}},
}

// TestWriterPairs compresses with all pairs of options, in both orders, or in one with the race
// detector. A pair either is in the list of conflicts, or makes a file that a Reader restores.
func TestWriterPairs(t *testing.T) {
	for format := range formats {
		for _, size := range []int{10 * bbtest.BlockSize, 1<<20 + 5*bbtest.BlockSize} {
			content := bbtest.MixedBytes(size)
			opts := writerOptions(t, format, size)
			for a, optA := range opts {
				for b, optB := range opts {
					if (a == "Streams" || b == "Streams") != (size > 1<<20) {
						continue // two streams need more content
					}
					if testenv.Race && a > b {
						continue
					}
					var reading []compress.ReaderOption
					if dict := "WithDictionary"; a == dict || b == dict {
						reading = append(reading, opts[dict].(compress.Option))
					}
					for _, w := range writers {
						file, err := w.write(t, content, compress.WithFormat(format), optA, optB)
						if err == nil {
							var got []byte
							got, err = compress.AppendDecode(nil, file, reading...)
							err = cmp.Or(err, same(got, content))
						}
						pairing{format.String(), w.name, a, b}.check(t, writerConflicts, err)
					}
				}
			}
		}
	}
}

// readerOptions returns a value of each option of readers. index is that of a .gz file.
func readerOptions(t *testing.T, index []byte) map[string]compress.ReaderOption {
	all := map[string]compress.ReaderOption{
		"WithCache":          compress.WithCache(compress.NewCache(1 << 20)),
		"WithIndex":          compress.WithIndex(bytes.NewReader(index), int64(len(index))),
		"WithMaxDecodedSize": compress.WithMaxDecodedSize(1 << 20),
		"WithReadAhead":      compress.WithReadAhead(1 << 20),
		"WithZeroFill":       compress.WithZeroFill(true),
	}
	for name, opt := range bothOptions(t) {
		all[name] = opt
	}
	return all
}

// readerConflicts lists what readers cannot have together, a conflict a line.
const readerConflicts = `
	NewReader    WithCache
	NewReader    WithIndex
	NewReader    WithZeroFill
	AppendDecode WithCache
	AppendDecode WithIndex
	AppendDecode WithZeroFill
	AppendDecode WithReadAhead
	NewReaderAt  WithReadAhead
	ReadInfo     WithReadAhead
	Recover      WithReadAhead
	ReadInfo     WithCache
	Recover      WithCache
	ReadInfo     WithProgress
	ReadInfo     WithZeroFill
	Recover      WithIndex
	Recover      WithProgress

	pz  WithIndex
	zst WithIndex

	WithConcurrency WithScheduler
`

// readers are the functions that decompress. An error says whether they find the content.
var readers = []struct {
	name string
	read func(file, content []byte, opts ...compress.ReaderOption) error
}{
	{"NewReader", func(file, content []byte, opts ...compress.ReaderOption) error {
		got, err := bbtest.Decode(file, opts...)
		return cmp.Or(err, same(got, content))
	}},
	{"AppendDecode", func(file, content []byte, opts ...compress.ReaderOption) error {
		got, err := compress.AppendDecode(nil, file, opts...)
		return cmp.Or(err, same(got, content))
	}},
	{"NewReaderAt", func(file, content []byte, opts ...compress.ReaderOption) error {
		r, err := bbtest.OpenFile(file, opts...)
		if err != nil {
			return err
		}
		defer r.Close()
		got, err := io.ReadAll(r)
		return cmp.Or(err, same(got, content))
	}},
	{"ReadInfo", func(file, content []byte, opts ...compress.ReaderOption) error {
		info, err := bbtest.FileInfo(file, opts...)
		if err == nil && info.Content != int64(len(content)) {
			err = errContent
		}
		return err
	}},
	{"Recover", func(file, content []byte, opts ...compress.ReaderOption) error {
		var got bytes.Buffer
		err := bbtest.RecoverFrom(&got, file, func(d compress.Damage) error { return d.Err }, opts...)
		return cmp.Or(err, same(got.Bytes(), content))
	}},
}

// TestReaderPairs decompresses with all pairs of options, in the orders of TestWriterPairs. A pair
// either is in the list of conflicts, or restores the content.
func TestReaderPairs(t *testing.T) {
	content := bbtest.MixedBytes(10 * bbtest.BlockSize)
	gz := bbtest.Encode(t, content, compress.WithFormat(compress.Gzip))
	var index bytes.Buffer
	if err := bbtest.OpenAt(t, gz).WriteIndex(&index, "gztool"); err != nil {
		t.Fatal(err)
	}
	opts := readerOptions(t, index.Bytes())
	for format := range formats {
		file := bbtest.Encode(t, content, compress.WithFormat(format))
		for a, optA := range opts {
			for b, optB := range opts {
				if testenv.Race && a > b {
					continue
				}
				for _, r := range readers {
					err := r.read(file, content, optA, optB)
					pairing{format.String(), r.name, a, b}.check(t, readerConflicts, err)
				}
			}
		}
	}
}
