package compress

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstframe"
)

// singleFrame returns the header of the frame that is all of file.
func singleFrame(t *testing.T, file []byte) zstframe.Header {
	t.Helper()
	h, at, err := zstframe.ParseHeader(file)
	if err != nil {
		t.Fatal(err)
	}
	for last := false; !last; {
		b, err := zstframe.ParseBlock(file[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += zstframe.BlockHeaderSize + b.Size
		last = b.Last
	}
	if h.Checksum {
		at += zstframe.ChecksumSize
	}
	if at != len(file) {
		t.Fatalf("the first frame has %d of %d bytes", at, len(file))
	}
	return h
}

// TestWithSingleFrame writes content of many sizes as one frame, with and without a flush. The frame must
// not depend on workers and writes.
func TestWithSingleFrame(t *testing.T) {
	const block = 32 << 10
	levels := []int{1, 4, 7}
	if testenv.All() {
		levels = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	}
	for _, level := range levels {
		for _, size := range []int{0, 1, block - 1, block, block + 1, 3*block + block/2, 9*block + 77} {
			for _, kind := range []string{"json", "random", "zeros"} {
				what := fmt.Sprintf("level %d, %d bytes of %s", level, size, kind)
				content := corpus.ByName(kind).Make(size)
				opts := []Option{
					WithFormat(Zstd), WithLevel(level), WithBlockSize(block), WithSingleFrame(true),
					WithChecksum(size%2 == 0),
				}
				file := encode(t, content, opts...)
				h := singleFrame(t, file)
				if size <= block && h.ContentSize != int64(size) || size > block && h.Window != 2*block {
					t.Errorf("%s: %+v", what, h)
				}
				equal(t, decodeAll(t, file), content, what)
				one, err := AppendEncode(nil, content, opts...)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, one, encode(t, content, append(opts, WithContentSize(int64(size)))...), what)
				singleFrame(t, one)
				equal(t, decodeAll(t, one), content, what)
				if kind == "json" {
					checkFlushedFrame(t, what, content, opts)
				}
			}
		}
	}
}

// checkFlushedFrame flushes after 1,000 bytes and after a block more, whatever the workers.
func checkFlushedFrame(t *testing.T, what string, content []byte, opts []Option) {
	t.Helper()
	a := min(len(content), 1000)
	b := min(len(content), a+32<<10)
	pieces := [][]byte{content[:a], content[a:b], content[b:]}
	file, _ := flushPieces(t, pieces, len(content)+1, opts...)
	singleFrame(t, file)
	equal(t, decodeAll(t, file), content, what)
	for k, workers := range []int{1, 3} {
		again, _ := flushPieces(t, pieces, []int{999, 70_001}[k], append(opts, WithConcurrency(workers))...)
		equal(t, again, file, fmt.Sprint(what, ", workers ", workers))
	}
}

// TestSingleFrameWindow checks that matches reach into the part before, and that no level needs a
// window of more than 8 MiB.
func TestSingleFrameWindow(t *testing.T) {
	const block = 64 << 10
	content := bytes.Repeat([]byte(hex.EncodeToString(randomBytes(block/2, 1))), 5)
	file := encode(t, content, WithFormat(Zstd), WithSingleFrame(true), WithBlockSize(block))
	if most := block/2 + block/16; len(file) > most {
		t.Errorf("%d bytes, want at most %d: digits repeat after %d", len(file), most, block)
	}
	content = corpus.ByName("zeros").Make(17 << 20)
	levels := []int{1, 4, 9}
	if testenv.Race {
		levels = levels[:1]
	}
	for _, level := range levels {
		file := encode(t, content, WithFormat(Zstd), WithLevel(level), WithSingleFrame(true))
		if h := singleFrame(t, file); h.Window > 8<<20 || h.Window < 4<<20 {
			t.Errorf("level %d: %+v", level, h)
		}
		equal(t, decodeReference(t, "lzf", file), content, fmt.Sprint("level ", level))
	}
}

// TestSingleFrameMemory checks that WriterMemory bounds the memory besides that of the history.
func TestSingleFrameMemory(t *testing.T) {
	testenv.Measures(t)
	const history = 2_800_000 // see WriterMemory
	content := textBytes(8<<20, 1)
	opts := []Option{
		WithFormat(Zstd), WithSingleFrame(true), WithBlockSize(1 << 20), WithConcurrency(2),
	}
	limit, err := WriterMemory(opts...)
	if err != nil {
		t.Fatal(err)
	}
	got := allocatedBytes(func() {
		w := newWriter(t, io.Discard, opts...)
		w.Write(content)
		w.Close()
	})
	if got > limit+history {
		t.Errorf("%d bytes allocated, WriterMemory says %d", got, limit)
	}
}

// TestSingleFrameOptions checks what excludes WithSingleFrame, and that other formats ignore it.
func TestSingleFrameOptions(t *testing.T) {
	single := []Option{WithFormat(Zstd), WithSingleFrame(true)}
	dict, err := NewDictionary([]byte("some content"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Option{WithRsyncable(true), WithDictionary(dict)} {
		if _, err := NewWriter(nil, append(single, o)...); !errors.Is(err, ErrOption) {
			t.Error("NewWriter:", err)
		}
	}
	if _, err := NewPlan(1<<20, single...); !errors.Is(err, ErrOption) {
		t.Error("NewPlan:", err)
	}
	content := textBytes(3*testBlock, 1)
	for _, f := range []Format{PZ, Gzip} {
		opts := []Option{WithFormat(f), WithBlockSize(testBlock)}
		equal(t, encode(t, content, append(opts, WithSingleFrame(true))...),
			encode(t, content, opts...), f.String())
	}
}
