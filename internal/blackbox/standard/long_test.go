package standard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/zstframe"
)

// TestLongDistanceZstd repeats content farther back than blocks reach. With long-distance matches a
// .zst file has it once. The zstd command restores it, with flushes too, and the bytes do not
// depend on the number of workers.
func TestLongDistanceZstd(t *testing.T) {
	const size, window = 3 << 20, 8 << 20
	once := bbtest.RandomBytes(size, 1)
	content := bytes.Repeat(once, 3)
	zst := compress.WithFormat(compress.Zstd)
	for _, level := range []int{1, 3, 6, 9} {
		var first []byte
		for _, workers := range []int{1, 2, 8} {
			opts := []compress.WriterOption{
				zst, compress.WithLevel(level), compress.WithLongDistance(window),
				compress.WithBlockSize(1 << 18), compress.WithConcurrency(workers),
			}
			file := bbtest.Encode(t, content, opts...)
			if first == nil {
				first = file
			} else if !bytes.Equal(file, first) {
				t.Errorf("level %d: other bytes with %d workers", level, workers)
			}
			pieces := [][]byte{content[:100], content[100 : size+7], content[size+7:]}
			flushed, _ := bbtest.FlushPieces(t, pieces, len(content), opts...)
			for name, p := range map[string][]byte{"file": file, "flushed": flushed} {
				if len(p) > size+size/50 {
					t.Errorf("level %d, %s: %d bytes for content of %d", level, name, len(p), size)
				}
				h, _, err := zstframe.ParseHeader(p)
				if err != nil || h.Window > window {
					t.Errorf("level %d, %s: window of %d bytes, %v", level, name, h.Window, err)
				}
				if got := bbtest.RunTool(t, p, "zstd", "-dc"); !bytes.Equal(got, content) {
					t.Fatalf("level %d, %s: zstd gives other content", level, name)
				}
				r := bbtest.NewReader(t, bytes.NewReader(p), compress.WithConcurrency(2))
				if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
					t.Errorf("level %d, %s: %d bytes, %v", level, name, len(got), err)
				}
			}
		}
	}
}

// TestLongDistanceZstdOptions checks which options of .zst files exclude long-distance matches.
func TestLongDistanceZstdOptions(t *testing.T) {
	for i, opt := range []compress.WriterOption{
		compress.WithSeekable(0), compress.WithRsyncable(true),
	} {
		_, err := compress.NewWriter(io.Discard, compress.WithFormat(compress.Zstd),
			compress.WithLongDistance(128<<20), opt)
		if !errors.Is(err, compress.ErrOption) {
			t.Error(fmt.Sprint("option ", i, ": ", err))
		}
	}
}

// TestLongDistanceZstdAgain compresses without long-distance matches after it has done so with
// them, in the same memory. Nothing is left of the repeats.
func TestLongDistanceZstdAgain(t *testing.T) {
	const size = 2 << 20
	zst := compress.WithFormat(compress.Zstd)
	text := bbtest.TextBytes(size/2, 9)
	encode := func(content []byte, opts ...compress.WriterOption) []byte {
		p, err := compress.AppendEncode(nil, content, append(opts, zst, compress.WithBlockSize(size/2),
			compress.WithConcurrency(1))...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := encode(text)
	encode(bytes.Repeat(bbtest.TextBytes(size, 1), 4), compress.WithLongDistance(8<<20))
	for range 8 {
		if got := encode(text); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, and %d before", len(got), len(want))
		}
	}
}
