package compress

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/zstfile"
)

// storedFrame is a frame of stored blocks whose window is not made smaller because the frame is short.
func storedFrame(window int64, content []byte) []byte {
	var blocks [][]byte
	for c := range slices.Chunk(content, zstfile.MaxBlock) {
		blocks = append(blocks, c)
	}
	return zstdRaw(zstfile.Header{ContentSize: -1, Window: window, Checksum: true}, blocks...)
}

// A frame that is much longer than its content gives reason for does not take the memory that it is long.
func TestLongFrame(t *testing.T) {
	content := []byte("content")
	file := (&zstfile.Header{ContentSize: int64(len(content)), Window: 1 << 10}).Append(nil)
	file = append(file, make([]byte, 3*2_000_000)...) // empty blocks
	last := len(content)<<3 | 1
	file = append(append(file, byte(last), 0, 0), content...)
	for name, decode := range map[string]func() ([]byte, error){
		"Reader":       func() ([]byte, error) { return io.ReadAll(newReader(t, plain{bytes.NewReader(file)})) },
		"AppendDecode": func() ([]byte, error) { return AppendDecode(nil, file) },
	} {
		decode()
		n := allocated(func() {
			if got, err := decode(); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		})
		if n > 3<<20 {
			t.Errorf("%s: %d bytes of memory for %d of content in a frame of %d", name, n, len(content), len(file))
		}
	}
}

// Whether a frame can be decoded does not depend on what the decoder of frames before it has kept.
func TestDecoderLetGo(t *testing.T) {
	const window, size = 6 << 20, 4 << 20
	content := textBytes(window, 1)
	sized := zstdRaw(zstfile.Header{ContentSize: size, Window: 1 << 20, Checksum: true}, slices.Collect(slices.Chunk(content[:size], zstfile.MaxBlock))...)
	file := slices.Concat(storedFrame(window, content), sized)
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
		// It is let go only where both do not fit.
		if kept := r.sources.zst.DecoderMemory() > 0; kept != (limit >= whole.Memory(1, 1)+ordered.Extra) {
			t.Errorf("limit of %d: the decoder is kept: %v", limit, kept)
		}
	}
}

// A large window is let go at the next frame, and when the file has ended.
func TestWindowLetGo(t *testing.T) {
	const freeWindow = 8 << 20 // what every decoder should support
	memory := func(window int64) int64 { s := zstfile.OrderedSpec(window); return s.Extra }
	small := storedFrame(1<<10, []byte("x"))
	large := storedFrame(4*freeWindow, randomBytes(3*freeWindow, 1))
	for name, file := range map[string][]byte{"next frame": append(slices.Clone(large), small...), "end": large} {
		r := newReader(t, bytes.NewReader(file))
		most := int64(0)
		for p := make([]byte, 1<<20); ; {
			_, err := r.Read(p)
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(name, err)
			}
			most = max(most, r.sources.zst.DecoderMemory())
		}
		kept := r.sources.zst.DecoderMemory()
		if most < memory(3*freeWindow) || kept > memory(freeWindow) || name == "end" && kept > 0 {
			t.Errorf("%s: the decoder takes %d bytes, after %d", name, kept, most)
		}
	}
}

// There is a limit to how many members are listed.
func TestManyMembers(t *testing.T) {
	member := gzipOf(t, nil)
	file := bytes.Repeat(member, 3000)
	const limit = 3000 * index.StreamMemory
	if info, err := ReadInfo(bytes.NewReader(file), int64(len(file)), WithMaxMemory(limit)); err != nil || len(info.Streams) != 3000 {
		t.Errorf("%d members, %v", len(info.Streams), err)
	}
	file = append(file, member...)
	if _, err := ReadInfo(bytes.NewReader(file), int64(len(file)), WithMaxMemory(limit)); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("test") }

// A panic of the caller's reader goes through the decoder to the caller.
func TestReaderPanicsInDecoder(t *testing.T) {
	for _, file := range [][]byte{gzipOf(t, randomBytes(1<<18, 1)), storedFrame(1<<20, randomBytes(1<<18, 1))} {
		r := newReader(t, io.MultiReader(bytes.NewReader(file[:1<<17]), panicReader{}))
		func() {
			defer func() {
				if v := recover(); v != "test" {
					t.Error(v)
				}
			}()
			io.Copy(io.Discard, r)
		}()
	}
}
