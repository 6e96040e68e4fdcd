package standard

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
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

// TestWithSingleFrame writes content of many sizes as one frame, with and without a flush. The
// frame must not depend on workers and writes.
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
				opts := []compress.WriterOption{
					compress.WithFormat(compress.Zstd), compress.WithLevel(level),
					compress.WithBlockSize(block),
					compress.WithChecksum(size%2 == 0),
				}
				file := bbtest.Encode(t, content, opts...)
				h := singleFrame(t, file)
				if size <= block && h.ContentSize != int64(size) || size > block && h.Window != 2*block {
					t.Errorf("%s: %+v", what, h)
				}
				bbtest.Equal(t, bbtest.DecodeAll(t, file), content, what)
				one, err := compress.AppendEncode(nil, content, opts...)
				if err != nil {
					t.Fatal(err)
				}
				bbtest.Equal(t, one, bbtest.Encode(t, content,
					append(opts, compress.WithContentSize(int64(size)))...), what)
				singleFrame(t, one)
				bbtest.Equal(t, bbtest.DecodeAll(t, one), content, what)
				if kind == "json" {
					checkFlushedFrame(t, what, content, opts)
				}
			}
		}
	}
}

// checkFlushedFrame flushes after 1,000 bytes and after a block more, whatever the workers.
func checkFlushedFrame(t *testing.T, what string, content []byte, opts []compress.WriterOption) {
	t.Helper()
	a := min(len(content), 1000)
	b := min(len(content), a+32<<10)
	pieces := [][]byte{content[:a], content[a:b], content[b:]}
	file, _ := bbtest.FlushPieces(t, pieces, len(content)+1, opts...)
	singleFrame(t, file)
	bbtest.Equal(t, bbtest.DecodeAll(t, file), content, what)
	for k, workers := range []int{1, 3} {
		again, _ := bbtest.FlushPieces(t, pieces, []int{999, 70_001}[k],
			append(opts, compress.WithConcurrency(workers))...)
		bbtest.Equal(t, again, file, fmt.Sprint(what, ", workers ", workers))
	}
}

// TestSingleFrameWindow checks that matches reach into the part before, and that no level needs a
// window of more than 8 MiB.
func TestSingleFrameWindow(t *testing.T) {
	const block = 64 << 10
	content := bytes.Repeat([]byte(hex.EncodeToString(bbtest.RandomBytes(block/2, 1))), 5)
	file := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
		compress.WithBlockSize(block))
	if most := block/2 + block/16; len(file) > most {
		t.Errorf("%d bytes, want at most %d: digits repeat after %d", len(file), most, block)
	}
	content = corpus.ByName("zeros").Make(17 << 20)
	levels := []int{1, 4, 9}
	if testenv.Race {
		levels = levels[:1]
	}
	for _, level := range levels {
		file := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
			compress.WithLevel(level))
		if h := singleFrame(t, file); h.Window > 8<<20 || h.Window < 4<<20 {
			t.Errorf("level %d: %+v", level, h)
		}
		bbtest.Equal(t, bbtest.DecodeReference(t, "lzf", file), content, fmt.Sprint("level ", level))
	}
}

// TestSingleFrameMemory checks that WriterMemory bounds the memory besides that of the history.
func TestSingleFrameMemory(t *testing.T) {
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
	got := bbtest.AllocatedBytes(func() {
		w := bbtest.NewWriter(t, io.Discard, opts...)
		w.Write(content)
		w.Close()
	})
	if got > limit+history {
		t.Errorf("%d bytes allocated, WriterMemory says %d", got, limit)
	}
}

// TestSingleFrameOptions checks what excludes WithSingleFrame.
func TestSingleFrameOptions(t *testing.T) {
	single := []compress.WriterOption{compress.WithFormat(compress.Zstd)}
	dict, err := compress.NewDictionary([]byte("some content"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []compress.WriterOption{
		compress.WithRsyncable(true), compress.WithDictionary(dict), compress.WithFormat(compress.PZ),
		compress.WithFormat(compress.Gzip),
	} {
		if _, err := compress.NewWriter(nil, append(single, o)...); !errors.Is(err, compress.ErrOption) {
			t.Error("NewWriter:", err)
		}
	}
	if _, err := compress.NewPlan(1<<20, single...); !errors.Is(err, compress.ErrOption) {
		t.Error("NewPlan:", err)
	}
}
