package standard

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// TestRecoverEmptyFrames has frames whose headers state no content, in front of one with content.
// Those with content are damage.
func TestRecoverEmptyFrames(t *testing.T) {
	const header = "\x28\xb5\x2f\xfd\x20\x00" // a single segment of 0 bytes
	content := bbtest.TextBytes(1000, 1)
	file := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd))
	for blocks, damaged := range map[string]bool{
		"\x01\x00\x00":                false, // a raw block of no bytes
		"\x00\x00\x00\x01\x00\x00":    false, // two
		"\x15\x00\x00\x00\x00":        false, // a compressed block without literals and sequences
		"\x19\x00\x00abc":             true,
		"\x15\x00\x00\x00\x01":        true, // a block that cannot be decoded
		"\x00\x00\x00\x19\x00\x00abc": true,
	} {
		bad := slices.Concat([]byte(header+blocks), file)
		got, list := bbtest.RecoverAll(t, bad)
		if !bytes.Equal(got, content) || (len(list) > 0) != damaged {
			t.Errorf("%x: %d bytes, damage %v", blocks, len(got), list)
		}
	}
}

// TestRecoverUnlistedFrame has a seek table that takes a frame for an empty one of another size.
// The frame is saved, and the table is damage.
func TestRecoverUnlistedFrame(t *testing.T) {
	var file, content []byte
	var entries []zstfile.Entry
	for _, piece := range []string{"first", "second"} {
		h := zstfile.Header{ContentSize: int64(len(piece)), SingleSegment: true}
		frame := bbtest.StoredFrame(h, []byte(piece))
		file, content = append(file, frame...), append(content, piece...)
		entries = append(entries, zstfile.Entry{Size: uint32(len(frame)), Content: uint32(len(piece))})
	}
	entries[1] = zstfile.Entry{Size: 1 << 20}
	got, list := bbtest.RecoverAll(t, zstfile.AppendSeekTable(file, entries, false))
	if !bytes.Equal(got, content) || len(list) != 1 || list[0].Kind != compress.DamageFrame {
		t.Errorf("%q, damage %v", got, list)
	}
}

// TestEmptyFrameChecksum has empty frames with a wrong checksum. A ReaderAt notices it, as a Reader
// does, and Recover reports it.
func TestEmptyFrameChecksum(t *testing.T) {
	empty := []byte("\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00\x99\xe9\xd8\x50") // the last byte should be 51
	for _, p := range [][]byte{
		empty, zstfile.AppendSeekTable(empty, []zstfile.Entry{{Size: uint32(len(empty))}}, false),
	} {
		_, err := compress.NewReaderAt(bytes.NewReader(p), int64(len(p)))
		_, readErr := bbtest.Decode(p)
		if !errors.Is(err, compress.ErrChecksum) || !errors.Is(readErr, compress.ErrChecksum) {
			t.Errorf("%x: ReaderAt: %v; Reader: %v", p, err, readErr)
		}
		if _, err := compress.NewReaderAt(
			bytes.NewReader(p), int64(len(p)), compress.WithChecksum(false),
		); err != nil {
			t.Errorf("%x, without checks: %v", p, err)
		}
	}
	content := bbtest.TextBytes(1000, 1)
	got, list := bbtest.RecoverAll(t, slices.Concat(empty,
		bbtest.Encode(t, content, compress.WithFormat(compress.Zstd))))
	if !bytes.Equal(got, content) || len(list) != 1 {
		t.Errorf("%d bytes, damage %v", len(got), list)
	}
}

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

// TestOneFrame writes content of sizes around the edges of blocks as one frame. The bytes must not
// depend on workers, writes and the kind of call.
func TestOneFrame(t *testing.T) {
	const block = 32 << 10
	levels := []int{1, 4, 7}
	if testenv.All() {
		levels = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	}
	for _, level := range levels {
		for _, size := range []int{
			0, 1, block - 1, block, block + 1, 2 * block, 3*block + block/2, 9*block + 77,
		} {
			for _, kind := range []string{"json", "random", "zeros"} {
				checks := size%2 == 0
				checkOneFrame(t, fmt.Sprintf("level %d, %d bytes of %s", level, size, kind),
					corpus.ByName(kind).Make(size), block, checks,
					compress.WithFormat(compress.Zstd), compress.WithLevel(level),
					compress.WithBlockSize(block), compress.WithChecksum(checks))
			}
		}
	}
}

// checkOneFrame compresses content, whose size is known or not, in all ways, as blocks of a frame.
func checkOneFrame(
	t *testing.T, what string, content []byte, block int, checks bool, opts ...compress.WriterOption,
) {
	t.Helper()
	size := int64(len(content))
	for _, sized := range []bool{false, true} {
		if sized {
			opts = append(opts, compress.WithContentSize(size))
		}
		file := bbtest.Encode(t, content, opts...)
		h := singleFrame(t, file)
		switch stated := sized || len(content) <= block; {
		case h.Checksum != checks, stated && h.ContentSize != size, !stated && h.ContentSize >= 0,
			len(content) > block && h.Window > int64(2*block):
			t.Errorf("%s: %+v", what, h)
		}
		bbtest.CheckRead(t, file, content, what)
		if len(content) > block {
			bbtest.Equal(t, bbtest.DecodeReference(t, "lzf", file), content, what)
		}
		for _, workers := range []int{1, 2, 8} {
			opts := append(slices.Clip(opts), compress.WithConcurrency(workers))
			var b bytes.Buffer
			w := bbtest.NewWriter(t, &b, opts...)
			for range 2 { // again after a Reset
				b.Reset()
				w.Reset(&b)
				n := min(len(content), 100)
				w.Write(content[:n])
				w.ReadFrom(iotest.HalfReader(bytes.NewReader(content[n:])))
				w.Close()
				bbtest.Equal(t, b.Bytes(), file, fmt.Sprint(what, ", workers ", workers))
			}
			if !sized {
				continue
			}
			one, err := compress.AppendEncode([]byte("in front"), content, opts...)
			if err != nil {
				t.Fatal(err)
			}
			bbtest.Equal(t, one, append([]byte("in front"), file...), what+", AppendEncode")
		}
	}
}

// TestOneFrameFlush flushes at random places and at the edges of blocks. What is in front of a
// flush can be decoded, all is one frame, and it depends on neither workers nor writes.
func TestOneFrameFlush(t *testing.T) {
	const block = 16 << 10
	content := slices.Concat(corpus.ByName("json").Make(5*block), bbtest.MixedBytes(3*block),
		corpus.ByName("log").Make(3*block))
	trained := bbtest.NewDictionary(t, bbtest.TestDictionaries(t)["trained"])
	for seed := range uint64(12) {
		ends := []int{block, 2 * block, 2*block + 100, 5*block - 1, 6 * block, 7*block + 1}
		if seed > 0 {
			r := rand.New(rand.NewPCG(seed, 1))
			for at := 0; at < len(content); at += 1 + r.IntN(1<<(6+r.IntN(10))) {
				ends = append(ends, at)
			}
		}
		slices.Sort(ends)
		var pieces [][]byte
		at := 0
		for _, end := range append(ends, len(content)) {
			pieces = append(pieces, content[at:end])
			at = end
		}
		level := 1 + int(seed)%9
		opts := []compress.WriterOption{
			compress.WithFormat(compress.Zstd), compress.WithLevel(level), compress.WithBlockSize(block),
		}
		var reading []compress.ReaderOption
		if seed%4 == 3 {
			opts = append(opts, compress.WithDictionary(trained))
			reading = append(reading, compress.WithDictionary(trained))
		}
		if seed%3 == 2 {
			opts = append(opts, compress.WithContentSize(int64(len(content))))
		}
		what := fmt.Sprintf("seed %d, level %d", seed, level)
		file, sizes := bbtest.FlushPieces(t, pieces, len(content), opts...)
		singleFrame(t, file)
		bbtest.CheckRead(t, file, content, what, reading...)
		if reading == nil {
			bbtest.Equal(t, bbtest.DecodeReference(t, "lzf", file), content, what)
		}
		for k := 0; k < len(sizes)-1; k += 5 {
			got, err := bbtest.Decode(file[:sizes[k]], reading...)
			if ends[k] > 0 && !errors.Is(err, compress.ErrTruncated) {
				t.Errorf("%s, flush %d: %v", what, k, err)
			}
			bbtest.Equal(t, got, content[:ends[k]], fmt.Sprint(what, ", flush ", k))
		}
		for _, workers := range []int{1, 2, 8} {
			again, _ := bbtest.FlushPieces(t, pieces, 1000+workers,
				append(slices.Clip(opts), compress.WithConcurrency(workers))...)
			bbtest.Equal(t, again, file, fmt.Sprint(what, ", workers ", workers))
		}
	}
}

// TestOneFrameParallel checks that workers compress parts of a frame at the same time: the first
// stage of a block waits there for that of another one.
func TestOneFrameParallel(t *testing.T) {
	var met sync.WaitGroup
	met.Add(2)
	var blocks sync.Map
	content := bbtest.TextBytes(4<<20, 1)
	bbtest.MustFinish(t, "a Writer whose parts wait for one another", func() {
		bbtest.Encode(t, content, compress.WithFormat(compress.Zstd), compress.WithBlockSize(1<<20),
			compress.WithConcurrency(2), compress.WithTrace(func(s compress.Stage) {
				if _, again := blocks.LoadOrStore(s.Block, true); !again && s.Block < 2 {
					met.Done()
					met.Wait()
				}
			}))
	})
}

// TestOneFrameWindow checks that matches reach into the block before, but not in front of the
// window of the header, and that no level and block size needs a window of more than 8 MiB.
func TestOneFrameWindow(t *testing.T) {
	const block = 64 << 10
	zst, size := compress.WithFormat(compress.Zstd), compress.WithBlockSize(block)
	content := bytes.Repeat([]byte(hex.EncodeToString(bbtest.RandomBytes(block/2, 1))), 5)
	if file := bbtest.Encode(t, content, zst, size); len(file) > block/2+block/16 {
		t.Errorf("%d bytes, want at most %d: digits repeat after %d", len(file), block/2+block/16, block)
	}
	random := bytes.Repeat(bbtest.RandomBytes(block, 1), 5)
	if file := bbtest.Encode(t, random, zst, size); len(file) > block+block/16 {
		t.Errorf("%d bytes, want at most %d: bytes repeat after %d", len(file), block+block/16, block)
	}
	for _, period := range []int{block / 2, block + 100, 2 * block, 2*block + 1, 5 * block / 2} {
		p := bytes.Repeat(bbtest.RandomBytes(period, 1), 4)
		for level := 1; level <= compress.MaxLevel; level += 2 {
			what := fmt.Sprintf("level %d, random bytes that repeat after %d", level, period)
			file := bbtest.Encode(t, p, zst, size, compress.WithLevel(level))
			bbtest.Equal(t, bbtest.DecodeAll(t, file), p, what) // a Reader checks offsets
		}
	}
	for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
		for size := 0; size <= 8<<20; size = max(2*size, compress.MinBlockSize) {
			var b bytes.Buffer
			w := bbtest.NewWriter(t, &b, zst, compress.WithLevel(level), compress.WithBlockSize(size))
			w.Write(make([]byte, 10))
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			h, _, err := zstframe.ParseHeader(b.Bytes())
			if err != nil || h.ContentSize >= 0 || h.Window > 8<<20 || h.Window <= int64(min(size, 4<<20)) {
				t.Errorf("level %d, blocks of %d: %+v, %v", level, size, h, err)
			}
		}
	}
	content = corpus.ByName("zeros").Make(17 << 20)
	levels := []int{1, 4, 9}
	if testenv.Race {
		levels = levels[:1]
	}
	for _, level := range levels {
		file := bbtest.Encode(t, content, zst, compress.WithLevel(level))
		singleFrame(t, file)
		bbtest.Equal(t, bbtest.DecodeReference(t, "lzf", file), content, fmt.Sprint("level ", level))
	}
}

// TestOneFrameDictionary checks that only the first block of a frame needs the dictionary: behind
// the window a decoder no longer has it.
func TestOneFrameDictionary(t *testing.T) {
	const block = 8 << 10
	for name, dict := range bbtest.TestDictionaries(t) {
		d := bbtest.NewDictionary(t, dict)
		path := filepath.Join(t.TempDir(), "dict")
		if err := os.WriteFile(path, dict, 0o600); err != nil {
			t.Fatal(err)
		}
		half := dict[len(dict)/2:]
		content := slices.Concat(half, corpus.ByName("json").Make(9*block), half)
		for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
			what := fmt.Sprintf("%s, level %d", name, level)
			file := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
				compress.WithLevel(level), compress.WithBlockSize(block), compress.WithDictionary(d))
			singleFrame(t, file)
			bbtest.CheckRead(t, file, content, what, compress.WithDictionary(d))
			got := bbtest.RunTool(t, file, testenv.Tool(t, "zstd"), "-dc", "-D", path)
			bbtest.Equal(t, got, content, what)
		}
	}
}

// TestOneFramePython decompresses with a function that stops behind the first frame.
func TestOneFramePython(t *testing.T) {
	python := testenv.Python(t, "zstandard")
	content := bbtest.MixedBytes(300_000)
	file, err := compress.AppendEncode(nil, content, compress.WithFormat(compress.Zstd),
		compress.WithBlockSize(64<<10))
	if err != nil {
		t.Fatal(err)
	}
	program := bbtest.PythonTool("import zstandard; w(zstandard.decompress(p))")
	program[0] = python
	bbtest.Equal(t, bbtest.RunTool(t, file, program...), content, "python3-zstandard")
}

// TestOneFrameSize announces other sizes than that of the content.
func TestOneFrameSize(t *testing.T) {
	const block = 16 << 10
	for _, size := range []int64{0, 1, block - 1, block, block + 1, 3 * block} {
		for _, n := range []int64{size - 1, size + 1} {
			if n < 0 {
				continue
			}
			w := bbtest.NewWriter(t, io.Discard, compress.WithFormat(compress.Zstd),
				compress.WithBlockSize(block), compress.WithContentSize(size))
			_, err := w.Write(make([]byte, n))
			if closed := w.Close(); !errors.Is(errors.Join(err, closed), compress.ErrContentSize) {
				t.Errorf("%d bytes in place of %d: %v, %v", n, size, err, closed)
			}
		}
	}
}

// TestOneFrameMemory checks that WriterMemory bounds the memory, and that of a history behind a
// flush, and that ReaderMemory bounds what reading takes.
func TestOneFrameMemory(t *testing.T) {
	testenv.Measures(t)
	const history = 2_800_000 // see WriterMemory
	content := bbtest.TextBytes(8<<20, 1)
	opts := []compress.WriterOption{
		compress.WithFormat(compress.Zstd),
		compress.WithBlockSize(1 << 20), compress.WithConcurrency(2),
	}
	limit, err := compress.WriterMemory(opts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, flush := range []bool{false, true} {
		more := int64(64 << 10)
		if flush {
			more += history
		}
		got := bbtest.AllocatedBytes(func() {
			w := bbtest.NewWriter(t, io.Discard, opts...)
			w.Write(content[:100])
			if flush {
				w.Flush()
			}
			w.Write(content)
			w.Close()
		})
		if got > limit+more {
			t.Errorf("flush %v: %d bytes allocated, WriterMemory says %d", flush, got, limit)
		}
	}
	file := bbtest.Encode(t, content, opts...)
	workers := compress.WithConcurrency(2)
	limit, err = compress.ReaderMemory(opts, workers)
	if err != nil {
		t.Fatal(err)
	}
	got := bbtest.AllocatedBytes(func() {
		r := bbtest.NewReader(t, bbtest.OnlyReader{Reader: bytes.NewReader(file)}, workers)
		r.WriteTo(io.Discard)
	})
	if got > limit+64<<10 {
		t.Errorf("%d bytes allocated, ReaderMemory says %d", got, limit)
	}
	least, err := compress.WriterMemory(append(opts, bridge.MemoryTarget(1))...)
	if err != nil {
		t.Fatal(err)
	}
	small := bbtest.Encode(t, content, append(opts, compress.WithMaxMemory(least))...)
	bbtest.Equal(t, small, file, "with little memory")
}
