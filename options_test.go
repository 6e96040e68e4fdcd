package compress

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/simd"
)

// TestOptionErrors checks that every constructor rejects options out of range.
func TestOptionErrors(t *testing.T) {
	for name, opt := range map[string]Option{
		"level 0":       WithLevel(0),
		"level 10":      WithLevel(10),
		"pipeline":      WithPipeline("none"),
		"concurrency":   WithConcurrency(-1),
		"block 1":       WithBlockSize(1),
		"block 5000":    WithBlockSize(5000),
		"block 128 MiB": WithBlockSize(128 << 20),
		"memory":        WithMaxMemory(-1),
		"memory target": WithMemoryTarget(-1),
		"decoded size":  WithMaxDecodedSize(-1),
		"content size":  WithContentSize(-2),
	} {
		if _, err := NewWriter(io.Discard, opt); !errors.Is(err, ErrOption) {
			t.Errorf("%s: NewWriter: %v", name, err)
		}
		if _, err := NewReader(nil, opt); !errors.Is(err, ErrOption) {
			t.Errorf("%s: NewReader: %v", name, err)
		}
		if _, err := NewReaderAt(nil, 0, opt); !errors.Is(err, ErrOption) {
			t.Errorf("%s: NewReaderAt: %v", name, err)
		}
		if _, err := AppendEncode(nil, nil, opt); !errors.Is(err, ErrOption) {
			t.Errorf("%s: AppendEncode: %v", name, err)
		}
		if _, err := AppendDecode(nil, nil, opt); !errors.Is(err, ErrOption) {
			t.Errorf("%s: AppendDecode: %v", name, err)
		}
		if _, err := WriterMemory(opt); !errors.Is(err, ErrOption) {
			t.Errorf("%s: WriterMemory: %v", name, err)
		}
		if _, err := ReaderMemory(0, opt); !errors.Is(err, ErrOption) {
			t.Errorf("%s: ReaderMemory: %v", name, err)
		}
	}
}

// TestContentSize announces wrong and right sizes of content.
func TestContentSize(t *testing.T) {
	for _, size := range []int64{0, 9, 11, 1 << 40} {
		w := newWriter(t, io.Discard, WithContentSize(size))
		_, err := w.Write(make([]byte, 10))
		if tooMuch := size < 10; tooMuch != (err != nil) {
			t.Errorf("%d announced, 10 written: Write: %v", size, err)
		}
		if err := w.Close(); !errors.Is(err, ErrContentSize) || !errors.Is(err, ErrOption) {
			t.Errorf("%d announced, 10 written: Close: %v", size, err)
		}
		if _, err := AppendEncode(
			nil, make([]byte, 10), WithContentSize(size),
		); !errors.Is(err, ErrContentSize) {
			t.Errorf("%d announced, 10 encoded: %v", size, err)
		}
	}
	p := encode(t, make([]byte, 70_000), WithContentSize(70_000))
	if h, err := pzfile.ParseHeader(p[:18]); err != nil ||
		h.BlockSize != 128<<10 ||
		h.ContentSize != 70_000 {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestReaderIgnoresWriterOptions checks that a Reader ignores options that are for Writers only.
func TestReaderIgnoresWriterOptions(t *testing.T) {
	a, err := ReaderMemory(16 << 20)
	b, err2 := ReaderMemory(16<<20, WithContentSize(1000))
	if err != nil || err2 != nil || a != b {
		t.Errorf("%d, %v; with WithContentSize %d, %v", a, err, b, err2)
	}
	if _, err := NewReader(nil, WithPipeline("lzf"), WithBlockSize(16<<20)); err != nil {
		t.Error(err)
	}
	if _, err := NewWriter(
		io.Discard, WithPipeline("lzf"), WithBlockSize(16<<20),
	); !errors.Is(err, ErrOption) {
		t.Error("Writer:", err)
	}
}

// TestOneShotErrors checks that AppendEncode appends nothing if it fails.
func TestOneShotErrors(t *testing.T) {
	for _, n := range []int64{5, 2 << 20} {
		got, err := AppendEncode([]byte("abc"), textBytes(1<<20, 1), WithContentSize(n))
		if !errors.Is(err, ErrContentSize) || string(got) != "abc" {
			t.Errorf("%d announced: %d bytes, %v", n, len(got), err)
		}
	}
}

// TestOptionsRoundTrip writes and reads with options of all kinds.
func TestOptionsRoundTrip(t *testing.T) {
	var noContext context.Context
	content := mixedBytes(300_000)
	for name, opts := range map[string][]Option{
		"defaults":    nil,
		"no checks":   {WithChecksum(false), WithBlockSize(testBlock)},
		"size":        {WithContentSize(int64(len(content))), WithBlockSize(1 << 16)},
		"scheduler":   {WithScheduler(NewScheduler(3)), WithBlockSize(testBlock)},
		"big blocks":  {WithBlockSize(MaxBlockSize), WithConcurrency(2)},
		"memory":      {WithMaxMemory(4 << 20), WithBlockSize(1 << 16)},
		"fast":        {WithLevel(MinLevel)},
		"dense":       {WithLevel(MaxLevel)},
		"nil options": {nil, WithScheduler(nil), WithContext(noContext), WithProgress(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			checkAllReaders(t, encode(t, content, opts...), content, opts...)
		})
	}
}

// TestKernels checks that Kernels names the tier of kernels in use.
func TestKernels(t *testing.T) {
	if k := Kernels(); k != simd.Tier() || !slices.Contains(simd.Tiers(), k) {
		t.Errorf("Kernels: %q, want %q of %q", k, simd.Tier(), simd.Tiers())
	}
}
