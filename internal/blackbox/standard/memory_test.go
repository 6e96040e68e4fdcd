package standard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// TestStandardLimits checks that limits hold, and that sizes in headers and seek tables do not make
// readers allocate as much.
func TestStandardLimits(t *testing.T) {
	text := bbtest.TextBytes(200_000, 1)
	frame := func(h zstfile.Header) []byte { return append(h.Append(nil), 1, 0, 0) }
	for name, file := range map[string][]byte{
		"window":         frame(zstfile.Header{ContentSize: -1, Window: 128 << 20}),
		"single segment": frame(zstfile.Header{ContentSize: 100 << 20, SingleSegment: true}),
		"block":          frame(zstfile.Header{ContentSize: 32 << 20, SingleSegment: true}),
		"skippable":      {0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff, 1, 2},
	} {
		bbtest.Decode(file) // fills pools
		if n := bbtest.AllocatedBytes(func() { compress.AppendDecode(nil, file) }); n > 4<<20 {
			t.Errorf("%s: AppendDecode: %d bytes allocated for a file of %d", name, n, len(file))
		}
		if n := bbtest.AllocatedBytes(func() { bbtest.Decode(file) }); n > 4<<20 {
			t.Errorf("%s: Reader: %d bytes allocated for a file of %d", name, n, len(file))
		}
	}
	// A seek table that claims many frames.
	footer := func(n uint32) []byte {
		p := binary.LittleEndian.AppendUint32(make([]byte, 100), n)
		p = binary.LittleEndian.AppendUint32(append(p, 0x80), zstfile.SeekTableMagic)
		copy(p, bbtest.StoredFrame(zstfile.Header{ContentSize: 1, Window: 1 << 10}, []byte("x")))
		return p
	}
	for _, n := range []uint32{5, 1 << 20, 1 << 27, 1<<32 - 1} {
		file := footer(n)
		if got := bbtest.AllocatedBytes(func() {
			if _, err := bbtest.OpenFile(file); !bbtest.IsDamage(err) {
				t.Errorf("%d frames: %v", n, err)
			}
		}); got > 200<<10 {
			t.Errorf("%d frames: %d bytes allocated", n, got)
		}
	}
	for name, file := range map[string][]byte{
		"gzip":   bbtest.GzipMember(t, text),
		"zstd":   bbtest.ZstdStream(t, text, 50_000),
		"frames": bbtest.Encode(t, text, bridge.Pipeline("lzf"), compress.WithBlockSize(1<<16)),
	} {
		for _, limit := range []int64{0, 1, 70_000, int64(len(text)) - 1, int64(len(text))} {
			readers := bbtest.AllReaders(t, compress.WithMaxDecodedSize(limit))
			got, err := bbtest.DecodeSame(t, readers[:len(readers)-1], file, name)
			if limit == int64(len(text)) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			} else if !errors.Is(err, compress.ErrTooLarge) || int64(len(got)) > limit ||
				!bytes.HasPrefix(text, got) {
				t.Errorf("%s, limit %d: %d bytes, %v", name, limit, len(got), err)
			}
			_, err = bbtest.FileInfo(file, compress.WithMaxDecodedSize(limit))
			if (err == nil) != (limit == int64(len(text))) {
				t.Errorf("%s, limit %d: ReadInfo: %v", name, limit, err)
			}
		}
		if _, err := bbtest.Decode(
			file, compress.WithMaxMemory(50_000),
		); !errors.Is(err, compress.ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A window that exceeds the limit, and one that does not.
	wide := bbtest.ZstdWindow(t, text, 50_000, 16<<20)
	if _, err := bbtest.Decode(wide, compress.WithMaxMemory(16<<20)); !errors.Is(err, compress.ErrMemory) {
		t.Errorf("error %v, want ErrMemory", err)
	}
	if got, err := bbtest.Decode(
		wide, compress.WithMaxMemory(32<<20),
	); err != nil || !bytes.Equal(got, text) {
		t.Error(err)
	}
	seekable := bbtest.Encode(t, bbtest.TextBytes(1<<20, 1), bridge.Pipeline("lzf"),
		compress.WithSeekable(1<<20))
	if _, err := bbtest.OpenFile(
		seekable, compress.WithMaxMemory(1<<20),
	); !errors.Is(err, compress.ErrMemory) {
		t.Errorf("error %v, want ErrMemory", err)
	}
}

// TestAlternatingFrames checks that frames with and without content size, in turn, share memory.
func TestAlternatingFrames(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector empties pools")
	}
	const frames = 2000
	sized := bbtest.StoredFrame(zstfile.Header{ContentSize: 1, SingleSegment: true}, []byte("a"))
	small := bbtest.StoredFrame(zstfile.Header{ContentSize: -1, Window: 1 << 10}, []byte("b"))
	wide := bbtest.StoredFrame(zstfile.Header{ContentSize: -1, Window: 4 << 20}, []byte("c"))
	for name, c := range map[string]struct{ file, content []byte }{
		"small": {slices.Concat(sized, small), []byte("ab")},
		"wide":  {slices.Concat(sized, wide, small, sized, wide), []byte("acbac")},
	} {
		file, content := bytes.Repeat(c.file, frames), bytes.Repeat(c.content, frames)
		for how, read := range map[string]func() ([]byte, error){
			"Reader": func() ([]byte, error) {
				return bbtest.Decode(file, compress.WithMaxMemory(16<<20), compress.WithConcurrency(2))
			},
			"AppendDecode": func() ([]byte, error) {
				return compress.AppendDecode(nil, file, compress.WithMaxMemory(16<<20),
					compress.WithConcurrency(2))
			},
		} {
			got := bbtest.AllocatedBytes(func() {
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
		"Reader":       func() ([]byte, error) { return bbtest.Decode(file) },
		"AppendDecode": func() ([]byte, error) { return compress.AppendDecode(nil, file) },
	} {
		read()
		n := bbtest.AllocatedBytes(func() {
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

// TestManyStreams checks that the memory limit bounds the lists of streams and members, also what
// they take while they grow. The bytes allocated include the garbage of growing.
func TestManyStreams(t *testing.T) {
	const streams = 50_000
	for name, c := range map[string]struct {
		one  []byte
		most int64 // of such lists in memory, in bytes a stream
	}{
		".gz": {bbtest.GzipMember(t, nil), 2 * index.StreamMemory},
		".pz": {bbtest.Encode(t, nil), 5 * index.StreamMemory},
	} {
		file := bytes.Repeat(c.one, streams)
		info, err := bbtest.FileInfo(file, compress.WithMaxMemory(c.most*streams))
		if err != nil || len(info.Streams) != streams {
			t.Errorf("%s: %d streams, %v", name, len(info.Streams), err)
		}
		for _, limit := range []int64{1 << 20, 2 << 20, 4 << 20} {
			got := bbtest.AllocatedBytes(func() {
				_,
					err = bbtest.FileInfo(file, compress.WithMaxMemory(limit))
			})
			if !errors.Is(err, compress.ErrMemory) || got > 3*limit {
				t.Errorf("%s, limit %d: ReadInfo allocates %d bytes, %v", name, limit, got, err)
			}
		}
	}
	file := bytes.Repeat(bbtest.Encode(t, nil), streams)
	for _, limit := range []int64{1 << 20, 2 << 20, 4 << 20} {
		var err error
		got := bbtest.AllocatedBytes(func() { _, err = bbtest.OpenFile(file, compress.WithMaxMemory(limit)) })
		if !errors.Is(err, compress.ErrMemory) || got > 3*limit {
			t.Errorf("limit %d: NewReaderAt allocates %d bytes, %v", limit, got, err)
		}
	}
}
