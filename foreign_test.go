package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

func TestForeign(t *testing.T) {
	checkGoroutines(t)
	readers := allReaders(t)
	for _, f := range foreignFiles(t) {
		got, err := sameEverywhere(t, readers, f.file, f.name)
		if err != nil {
			t.Fatal(f.name, err)
		}
		equal(t, got, f.content, f.name)
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"one byte": iotest.OneByteReader, "half": iotest.HalfReader, "data with EOF": iotest.DataErrReader,
		} {
			got, err := io.ReadAll(newReader(t, wrap(bytes.NewReader(f.file))))
			if err != nil {
				t.Fatal(f.name, name, err)
			}
			equal(t, got, f.content, f.name+", "+name)
		}
		if err := iotest.TestReader(newReader(t, bytes.NewReader(f.file)), f.content); err != nil {
			t.Error(f.name, err)
		}
	}
}

// Limits hold, and what a header claims is not allocated.
func TestForeignLimits(t *testing.T) {
	text := textBytes(200_000, 1)
	frame := func(h zstfile.Header) []byte { return append(h.Append(nil), 1, 0, 0) }
	for name, file := range map[string][]byte{
		"window":         frame(zstfile.Header{ContentSize: -1, Window: 128 << 20}),
		"single segment": frame(zstfile.Header{ContentSize: 100 << 20, SingleSegment: true}),
		"block":          frame(zstfile.Header{ContentSize: 32 << 20, SingleSegment: true}),
		"skippable":      {0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff, 1, 2},
	} {
		decode(file) // what the first one takes
		if n := allocated(func() { AppendDecode(nil, file) }); n > 4<<20 {
			t.Errorf("%s: AppendDecode took %d bytes for %d", name, n, len(file))
		}
		if n := allocated(func() { decode(file) }); n > 4<<20 {
			t.Errorf("%s: Reader took %d bytes for %d", name, n, len(file))
		}
	}
	// A seek table claims many frames, or much content.
	footer := func(n uint32) []byte {
		p := binary.LittleEndian.AppendUint32(make([]byte, 100), n)
		p = binary.LittleEndian.AppendUint32(append(p, 0x80), zstfile.SeekTableMagic)
		copy(p, zstdRaw(zstfile.Header{ContentSize: 1, Window: 1 << 10}, []byte("x")))
		return p
	}
	for _, n := range []uint32{5, 1 << 20, 1 << 27, 1<<32 - 1} {
		file := footer(n)
		if got := allocated(func() {
			if _, err := NewReaderAt(bytes.NewReader(file), int64(len(file))); classOf(err) == nil {
				t.Errorf("%d frames: %v", n, err)
			}
		}); got > 200<<10 {
			t.Errorf("%d frames: %d bytes", n, got)
		}
	}
	for name, file := range map[string][]byte{
		"gzip": gzipOf(t, text), "zstd": zstdStream(t, text, 50_000), "frames": encode(t, text, WithPipeline("lzf"), WithBlockSize(1<<16)),
	} {
		for _, limit := range []int64{0, 1, 70_000, int64(len(text)) - 1, int64(len(text))} {
			readers := allReaders(t, WithMaxDecodedSize(limit))
			got, err := sameEverywhere(t, readers[:len(readers)-1], file, name)
			if limit == int64(len(text)) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			} else if !errors.Is(err, ErrTooLarge) || int64(len(got)) > limit || !bytes.HasPrefix(text, got) {
				t.Errorf("%s, limit %d: %d bytes, %v", name, limit, len(got), err)
			}
			if _, err := ReadInfo(bytes.NewReader(file), int64(len(file)), WithMaxDecodedSize(limit)); (err == nil) != (limit == int64(len(text))) {
				t.Errorf("%s, limit %d: ReadInfo: %v", name, limit, err)
			}
		}
		if _, err := decode(file, WithMaxMemory(50_000)); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A window that is too large for the limit, and one that is not.
	wide := zstdStream(t, text, 50_000, kzstd.WithWindowSize(16<<20))
	if _, err := decode(wide, WithMaxMemory(16<<20)); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	if got, err := decode(wide, WithMaxMemory(32<<20)); err != nil || !bytes.Equal(got, text) {
		t.Error(err)
	}
	seekable := encode(t, textBytes(1<<20, 1), WithPipeline("lzf"), WithBlockSize(1<<20))
	if _, err := NewReaderAt(bytes.NewReader(seekable), int64(len(seekable)), WithMaxMemory(1<<20)); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

// The format has no limit for names and comments, and gzip reads such files: so do we, without keeping what we have no use for.
func TestLongGzipHeader(t *testing.T) {
	text := textBytes(1000, 1)
	gz := gzipOf(t, text)
	with := func(flags byte, strings ...string) []byte {
		p := slices.Clone(gz[:gzfile.MinHeaderSize])
		p[3] = flags
		for _, s := range strings {
			p = append(append(p, s...), 0)
		}
		return append(p, gz[gzfile.MinHeaderSize:]...)
	}
	long := strings.Repeat("n", 3*container.InputBuffer)
	for _, c := range []struct {
		file []byte
		name string
	}{
		{with(1<<3, long), ""},
		{with(1<<3|1<<4, long, long), ""},
		{with(1<<3|1<<4, "name", long), "name"},
		{with(1<<4, long), ""},
	} {
		file := append(slices.Clone(gz), c.file...)
		if got, err := sameEverywhere(t, allReaders(t), file, c.name); err != nil || !bytes.Equal(got, slices.Concat(text, text)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if info, err := ReadInfo(bytes.NewReader(file), int64(len(file))); err != nil || info.Content != 2000 {
			t.Errorf("%+v, %v", info, err)
		}
		if name, _, err := ReadName(bytes.NewReader(c.file)); err != nil || name != c.name {
			t.Errorf("%q, %v; want %q", name, err, c.name)
		}
	}
}

// A Reader goes from one format to another, in any state.
func TestForeignReset(t *testing.T) {
	checkGoroutines(t)
	text := mixedBytes(50_000)
	files := foreignFiles(t)
	files = append(files, foreignFile{"pz", encode(t, text, WithBlockSize(testBlock)), text, nil})
	r := newReader(t, nil, WithConcurrency(2))
	for i := range 60 {
		f := files[i*7%len(files)]
		r.Reset(bytes.NewReader(f.file))
		switch i % 4 {
		case 0:
			io.ReadFull(r, make([]byte, 1+i*100))
		case 1:
			io.ReadFull(r, make([]byte, 100))
			r.Close()
		case 2:
			r.Reset(bytes.NewReader(f.file[:len(f.file)/2]))
			io.Copy(io.Discard, r)
		}
		f = files[i*5%len(files)]
		r.Reset(bytes.NewReader(f.file))
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(f.name, err)
		}
		equal(t, got, f.content, f.name)
	}
}

// Errors of the reader underneath come through as they are, and nothing hangs or stays.
func TestForeignFailingReader(t *testing.T) {
	checkGoroutines(t)
	for _, f := range foreignFiles(t) {
		for _, workers := range workerCounts {
			r := newReader(t, nil, WithConcurrency(workers))
			for n := 0; n < len(f.file); n += 11 {
				deadline(t, fmt.Sprint(f.name, " that fails at byte ", n), func() {
					r.Reset(io.MultiReader(bytes.NewReader(f.file[:n]), iotest.ErrReader(errTest)))
					if got, err := io.ReadAll(r); !errors.Is(err, errTest) || !bytes.HasPrefix(f.content, got) {
						t.Errorf("%s, byte %d: %v", f.name, n, err)
					}
				})
			}
		}
	}
}

// Frames that say how much content they have and others by turns share their memory.
func TestFramesByTurns(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector makes pools forget")
	}
	const frames = 2000
	sized := zstdRaw(zstfile.Header{ContentSize: 1, SingleSegment: true}, []byte("a"))
	small := zstdRaw(zstfile.Header{ContentSize: -1, Window: 1 << 10}, []byte("b"))
	wide := zstdRaw(zstfile.Header{ContentSize: -1, Window: 4 << 20}, []byte("c"))
	for name, c := range map[string]struct{ file, content []byte }{
		"small": {slices.Concat(sized, small), []byte("ab")},
		"wide":  {slices.Concat(sized, wide, small, sized, wide), []byte("acbac")},
	} {
		file, content := bytes.Repeat(c.file, frames), bytes.Repeat(c.content, frames)
		for way, decode := range map[string]func() ([]byte, error){
			"Reader": func() ([]byte, error) {
				return io.ReadAll(newReader(t, plain{bytes.NewReader(file)}, WithMaxMemory(16<<20), WithConcurrency(2)))
			},
			"AppendDecode": func() ([]byte, error) { return AppendDecode(nil, file, WithMaxMemory(16<<20), WithConcurrency(2)) },
		} {
			got := allocated(func() {
				if p, err := decode(); err != nil || !bytes.Equal(p, content) {
					t.Errorf("%s, %s: %d bytes, %v", name, way, len(p), err)
				}
			})
			if got > 16<<20 {
				t.Errorf("%s, %s: %d bytes allocated for %d frames", name, way, got, len(content))
			}
		}
	}
}

// Frames and pieces cost no allocations once it runs.
func TestForeignAllocations(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector makes pools forget, those of the decoders as well")
	}
	const blocks = 300
	content := mixedBytes(blocks * testBlock)
	var members []byte
	for i := 0; i < len(content); i += testBlock {
		members = append(members, gzipOf(t, content[i:i+testBlock])...)
	}
	src := bytes.NewReader(nil)
	for name, file := range map[string][]byte{
		"frames": encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock)), "members": members, "stream": zstdStream(t, content, testBlock),
	} {
		r := newReader(t, nil, WithConcurrency(2))
		run := func() {
			src.Reset(file)
			r.Reset(src)
			if n, err := r.WriteTo(io.Discard); n != int64(len(content)) || err != nil {
				t.Fatal(name, n, err)
			}
		}
		for range 3 {
			run()
		}
		runtime.GC() // pools of the decoders
		run()
		if n := mallocs(run); n > blocks/4 {
			t.Errorf("%s: %d allocations for %d blocks", name, n, blocks)
		}
	}
	file := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	ra := openAt(t, file, WithConcurrency(2))
	p := make([]byte, len(content))
	for range 3 {
		ra.ReadAt(p, 0)
	}
	if n := mallocs(func() { ra.ReadAt(p, 0) }); n > blocks/4 {
		t.Errorf("ReadAt: %d allocations for %d blocks", n, blocks)
	}
}
