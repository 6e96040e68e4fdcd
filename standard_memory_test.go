package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// TestStandardLimits checks that limits hold, and that sizes in headers and seek tables do not make
// readers allocate as much.
func TestStandardLimits(t *testing.T) {
	text := textBytes(200_000, 1)
	frame := func(h zstfile.Header) []byte { return append(h.Append(nil), 1, 0, 0) }
	for name, file := range map[string][]byte{
		"window":         frame(zstfile.Header{ContentSize: -1, Window: 128 << 20}),
		"single segment": frame(zstfile.Header{ContentSize: 100 << 20, SingleSegment: true}),
		"block":          frame(zstfile.Header{ContentSize: 32 << 20, SingleSegment: true}),
		"skippable":      {0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff, 1, 2},
	} {
		decode(file) // fills pools
		if n := allocatedBytes(func() { AppendDecode(nil, file) }); n > 4<<20 {
			t.Errorf("%s: AppendDecode: %d bytes allocated for a file of %d", name, n, len(file))
		}
		if n := allocatedBytes(func() { decode(file) }); n > 4<<20 {
			t.Errorf("%s: Reader: %d bytes allocated for a file of %d", name, n, len(file))
		}
	}
	// A seek table that claims many frames.
	footer := func(n uint32) []byte {
		p := binary.LittleEndian.AppendUint32(make([]byte, 100), n)
		p = binary.LittleEndian.AppendUint32(append(p, 0x80), zstfile.SeekTableMagic)
		copy(p, storedFrame(zstfile.Header{ContentSize: 1, Window: 1 << 10}, []byte("x")))
		return p
	}
	for _, n := range []uint32{5, 1 << 20, 1 << 27, 1<<32 - 1} {
		file := footer(n)
		if got := allocatedBytes(func() {
			if _, err := openFile(file); !isDamage(err) {
				t.Errorf("%d frames: %v", n, err)
			}
		}); got > 200<<10 {
			t.Errorf("%d frames: %d bytes allocated", n, got)
		}
	}
	for name, file := range map[string][]byte{
		"gzip":   gzipMember(t, text),
		"zstd":   zstdStream(t, text, 50_000),
		"frames": encode(t, text, WithPipeline("lzf"), WithBlockSize(1<<16)),
	} {
		for _, limit := range []int64{0, 1, 70_000, int64(len(text)) - 1, int64(len(text))} {
			readers := allReaders(t, WithMaxDecodedSize(limit))
			got, err := decodeSame(t, readers[:len(readers)-1], file, name)
			if limit == int64(len(text)) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			} else if !errors.Is(err, ErrTooLarge) || int64(len(got)) > limit ||
				!bytes.HasPrefix(text, got) {
				t.Errorf("%s, limit %d: %d bytes, %v", name, limit, len(got), err)
			}
			_, err = fileInfo(file, WithMaxDecodedSize(limit))
			if (err == nil) != (limit == int64(len(text))) {
				t.Errorf("%s, limit %d: ReadInfo: %v", name, limit, err)
			}
		}
		if _, err := decode(file, WithMaxMemory(50_000)); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A window that exceeds the limit, and one that does not.
	wide := zstdWindow(t, text, 50_000, 16<<20)
	if _, err := decode(wide, WithMaxMemory(16<<20)); !errors.Is(err, ErrMemory) {
		t.Errorf("error %v, want ErrMemory", err)
	}
	if got, err := decode(wide, WithMaxMemory(32<<20)); err != nil || !bytes.Equal(got, text) {
		t.Error(err)
	}
	seekable := encode(t, textBytes(1<<20, 1), WithPipeline("lzf"), WithBlockSize(1<<20))
	if _, err := openFile(seekable, WithMaxMemory(1<<20)); !errors.Is(err, ErrMemory) {
		t.Errorf("error %v, want ErrMemory", err)
	}
}

// TestAlternatingFrames checks that frames with and without content size, in turn, share memory.
func TestAlternatingFrames(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector empties pools")
	}
	const frames = 2000
	sized := storedFrame(zstfile.Header{ContentSize: 1, SingleSegment: true}, []byte("a"))
	small := storedFrame(zstfile.Header{ContentSize: -1, Window: 1 << 10}, []byte("b"))
	wide := storedFrame(zstfile.Header{ContentSize: -1, Window: 4 << 20}, []byte("c"))
	for name, c := range map[string]struct{ file, content []byte }{
		"small": {slices.Concat(sized, small), []byte("ab")},
		"wide":  {slices.Concat(sized, wide, small, sized, wide), []byte("acbac")},
	} {
		file, content := bytes.Repeat(c.file, frames), bytes.Repeat(c.content, frames)
		for how, read := range map[string]func() ([]byte, error){
			"Reader": func() ([]byte, error) {
				return decode(file, WithMaxMemory(16<<20), WithConcurrency(2))
			},
			"AppendDecode": func() ([]byte, error) {
				return AppendDecode(nil, file, WithMaxMemory(16<<20), WithConcurrency(2))
			},
		} {
			got := allocatedBytes(func() {
				if p, err := read(); err != nil || !bytes.Equal(p, content) {
					t.Errorf("%s, %s: %d bytes, %v", name, how, len(p), err)
				}
			})
			if got > 16<<20 {
				t.Errorf("%s, %s: %d bytes allocated for %d frames", name, how, got, len(content))
			}
		}
	}
}

// TestLongFrame decodes a frame that is much longer than its content. Readers must not keep all of
// it in memory.
func TestLongFrame(t *testing.T) {
	content := []byte("content")
	file := (&zstfile.Header{ContentSize: int64(len(content)), Window: 1 << 10}).Append(nil)
	file = append(file, make([]byte, 3*2_000_000)...) // empty blocks
	last := len(content)<<3 | 1
	file = append(append(file, byte(last), 0, 0), content...)
	for name, read := range map[string]func() ([]byte, error){
		"Reader":       func() ([]byte, error) { return decode(file) },
		"AppendDecode": func() ([]byte, error) { return AppendDecode(nil, file) },
	} {
		read()
		n := allocatedBytes(func() {
			if got, err := read(); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		})
		if n > 3<<20 {
			t.Errorf("%s: %d bytes allocated for %d bytes of content in a frame of %d", name, n,
				len(content), len(file))
		}
	}
}

// TestDecoderFreed checks that the memory that the decoder keeps from earlier frames does not make
// a later frame exceed the limit: the Reader frees it where both do not fit.
func TestDecoderFreed(t *testing.T) {
	const window, size = 6 << 20, 4 << 20
	content := textBytes(window, 1)
	h := zstfile.Header{ContentSize: size, Window: 1 << 20, Checksum: true}
	sized := storedFrame(h, slices.Collect(slices.Chunk(content[:size], zstfile.MaxBlock))...)
	file := slices.Concat(windowFrame(window, content), sized)
	whole, ordered := zstfile.FrameSpec(size), zstfile.OrderedSpec(window)
	limit := whole.Memory(1, 1) + ordered.Extra/2
	if limit < ordered.Memory(1, 1) {
		t.Fatal("the first frame does not fit")
	}
	for _, limit := range []int64{limit, 2 * limit} {
		r := newReader(t, bytes.NewReader(file), WithMaxMemory(limit), WithConcurrency(1))
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, append(slices.Clone(content), content[:size]...)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		kept, want := r.DecoderMemory() > 0, limit >= whole.Memory(1, 1)+ordered.Extra
		if kept != want {
			t.Errorf("limit of %d: decoder kept: %v, want %v", limit, kept, want)
		}
	}
}

// TestWindowFreed checks that the decoder frees a large window at the next frame and at the end of
// the file.
func TestWindowFreed(t *testing.T) {
	const freeWindow = 8 << 20 // RFC 8878: every decoder should support it
	memory := func(window int64) int64 { s := zstfile.OrderedSpec(window); return s.Extra }
	small := windowFrame(1<<10, []byte("x"))
	large := windowFrame(4*freeWindow, randomBytes(3*freeWindow, 1))
	for name, file := range map[string][]byte{
		"next frame": append(slices.Clone(large), small...), "end": large,
	} {
		r := newReader(t, bytes.NewReader(file))
		most := int64(0)
		for p := make([]byte, 1<<20); ; {
			_, err := r.Read(p)
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(name, err)
			}
			most = max(most, r.DecoderMemory())
		}
		kept := r.DecoderMemory()
		if most < memory(3*freeWindow) || kept > memory(freeWindow) || name == "end" && kept > 0 {
			t.Errorf("%s: the decoder keeps %d bytes of %d", name, kept, most)
		}
	}
}

// TestManyStreams checks that the memory limit bounds the lists of streams and members, also what
// they take while they grow. The bytes allocated include the garbage of growing.
func TestManyStreams(t *testing.T) {
	const streams = 50_000
	for name, c := range map[string]struct {
		one  []byte
		most int64 // of such lists in memory, in bytes a stream
	}{
		".gz": {gzipMember(t, nil), 2 * index.StreamMemory},
		".pz": {encode(t, nil), 5 * index.StreamMemory},
	} {
		file := bytes.Repeat(c.one, streams)
		info, err := fileInfo(file, WithMaxMemory(c.most*streams))
		if err != nil || len(info.Streams) != streams {
			t.Errorf("%s: %d streams, %v", name, len(info.Streams), err)
		}
		for _, limit := range []int64{1 << 20, 2 << 20, 4 << 20} {
			got := allocatedBytes(func() { _, err = fileInfo(file, WithMaxMemory(limit)) })
			if !errors.Is(err, ErrMemory) || got > 3*limit {
				t.Errorf("%s, limit %d: ReadInfo allocates %d bytes, %v", name, limit, got, err)
			}
		}
	}
	file := bytes.Repeat(encode(t, nil), streams)
	for _, limit := range []int64{1 << 20, 2 << 20, 4 << 20} {
		var err error
		got := allocatedBytes(func() { _, err = openFile(file, WithMaxMemory(limit)) })
		if !errors.Is(err, ErrMemory) || got > 3*limit {
			t.Errorf("limit %d: NewReaderAt allocates %d bytes, %v", limit, got, err)
		}
	}
}
