package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress/internal/zstfile"
)

// makeSeekTable returns a seek table.
func makeSeekTable(sums bool, list ...zstfile.Entry) []byte {
	return zstfile.AppendSeekTable(nil, list, sums)
}

// seekEntry returns the entry of a frame in a seek table.
func seekEntry(frame, content []byte) zstfile.Entry {
	return zstfile.Entry{
		Size:    uint32(len(frame)),
		Content: uint32(len(content)),
		Sum:     zstfile.Checksum(content),
	}
}

// TestSeekableZstd reads frames of all kinds and concatenated files at random, from several
// goroutines.
func TestSeekableZstd(t *testing.T) {
	content := mixedBytes(30*testBlock + 99)
	written := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	plainFrame := zstdStream(t, content[:1000], 300)
	skip := skippableFrame(5, []byte("nothing"))
	empty := storedFrame(zstfile.Header{ContentSize: -1, Window: 1 << 10, Checksum: true}, nil)
	zero := storedFrame(zstfile.Header{ContentSize: 0, SingleSegment: true}, nil)
	odd := slices.Concat(skip, plainFrame, empty, zero, plainFrame,
		makeSeekTable(false, seekEntry(skip, nil), seekEntry(plainFrame, content[:1000]),
			seekEntry(empty, nil), seekEntry(zero, nil), seekEntry(plainFrame, content[:1000])))
	noChecks := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock),
		WithChecksum(false))
	for _, c := range []struct {
		name          string
		file, content []byte
	}{
		{"written", written, content},
		{"no checks", noChecks, content},
		{"odd", odd, slices.Concat(content[:1000], content[:1000])},
		{
			"several", slices.Concat(written, odd, encode(t, nil, WithPipeline("lzf")), noChecks),
			slices.Concat(content, content[:1000], content[:1000], content),
		},
		{"empty", encode(t, nil, WithPipeline("lzf")), nil},
	} {
		checkAllReaders(t, c.file, c.content, WithConcurrency(2))
		if err := iotest.TestReader(openAt(t, c.file), c.content); err != nil {
			t.Error(c.name, err)
		}
		r := openAt(t, c.file, WithConcurrency(2))
		if info := r.Info(); info.Format != Zstd || !info.Seekable ||
			info.Content != int64(len(c.content)) ||
			info.Size != int64(len(c.file)) {
			t.Errorf("%s: %+v", c.name, info)
		}
		info, err := fileInfo(c.file)
		if err != nil || info.Format != Zstd || !info.Seekable ||
			info.Content != int64(len(c.content)) {
			t.Errorf("%s: %+v, %v", c.name, info, err)
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(1, uint64(g)))
				for range 100 {
					off, n := rnd.IntN(len(c.content)+1), rnd.IntN(3*testBlock)
					p := make([]byte, n)
					got, err := r.ReadAt(p, int64(off))
					if !bytes.Equal(p[:got], c.content[off:min(off+n, len(c.content))]) ||
						err != nil && err != io.EOF {
						t.Errorf("%s: ReadAt(%d, %d): %d, %v", c.name, n, off, got, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestInconsistentSeekTable checks that a wrong seek table gives an error and no wrong content.
func TestInconsistentSeekTable(t *testing.T) {
	f := newTwoFrames(t)
	for _, c := range []struct {
		name   string
		change func(e []zstfile.Entry)
		kind   error
	}{
		{"correct", func([]zstfile.Entry) {}, nil},
		{"checksum", func(e []zstfile.Entry) { e[0].Sum++ }, ErrChecksum},
		{"checksum of the second", func(e []zstfile.Entry) { e[1].Sum++ }, ErrChecksum},
		{"more content", func(e []zstfile.Entry) { e[0].Content++ }, ErrCorrupt},
		{"less content", func(e []zstfile.Entry) { e[0].Content-- }, ErrCorrupt},
		{"much more content", func(e []zstfile.Entry) { e[0].Content *= 300 }, ErrCorrupt},
		{"no content", func(e []zstfile.Entry) { e[0].Content = 0 }, ErrCorrupt},
		{"less of the second", func(e []zstfile.Entry) { e[1].Content-- }, ErrCorrupt},
		{"first larger", func(e []zstfile.Entry) { e[0].Size++; e[1].Size-- }, ErrCorrupt},
		{"second larger", func(e []zstfile.Entry) { e[0].Size--; e[1].Size++ }, ErrCorrupt},
		{"too large", func(e []zstfile.Entry) { e[1].Size++ }, ErrCorrupt},
	} {
		entries := slices.Clone(f.entries)
		c.change(entries)
		f.check(t, c.name, makeSeekTable(true, entries...), c.kind)
	}
	for _, c := range []struct {
		name   string
		change func(p []byte)
		kind   error
	}{
		{"reserved bits", func(p []byte) { p[len(p)-5] |= 4 }, ErrCorrupt},
		{"number of frames", func(p []byte) { p[len(p)-9]++ }, ErrCorrupt},
		{"magic number", func(p []byte) { p[len(p)-1]++ }, ErrNoIndex},
		{"size of the skippable frame", func(p []byte) { p[4]++ }, ErrCorrupt},
	} {
		table := makeSeekTable(true, f.entries...)
		c.change(table)
		f.check(t, c.name, table, c.kind)
	}
	one := seekEntry(f.frames, f.content)
	f.check(t, "no checksums", makeSeekTable(false, f.entries...), nil)
	f.check(t, "one entry for both frames", makeSeekTable(true, one), ErrCorrupt)
	f.check(t, "second frame only", makeSeekTable(true, f.entries[1]), ErrNoIndex)
	f.check(t, "none", nil, ErrNoIndex)
}

// twoFrames are two frames with the entries of their seek table.
type twoFrames struct {
	frames, content []byte
	entries         []zstfile.Entry
}

func newTwoFrames(t *testing.T) twoFrames {
	t.Helper()
	content := textBytes(3000, 1)
	single := zstfile.Header{ContentSize: 2000, SingleSegment: true, Checksum: true}
	a := zstdStream(t, content[:1000], 400)
	b := storedFrame(single, content[1000:])
	return twoFrames{
		frames: slices.Concat(a, b), content: content,
		entries: []zstfile.Entry{seekEntry(a, content[:1000]), seekEntry(b, content[1000:])},
	}
}

// check reads the frames with a seek table behind them. kind is the error that they must give.
func (f twoFrames) check(t *testing.T, name string, table []byte, kind error) {
	t.Helper()
	file := append(slices.Clone(f.frames), table...)
	n, err := f.read(file, WithConcurrency(2))
	var e *Error
	switch {
	case n < 0:
		t.Errorf("%s: wrong content", name)
	case kind == nil && err != nil:
		t.Errorf("%s: %v", name, err)
	case kind != nil && (!errors.Is(err, kind) || !errors.As(err, &e)):
		t.Errorf("%s: %d bytes, %v; want %v", name, n, err, kind)
	}
	if errors.Is(kind, ErrChecksum) {
		if n, err := f.read(file, WithChecksum(false)); n != len(f.content) || err != nil {
			t.Errorf("%s, without checks: %d bytes, %v", name, n, err)
		}
	}
}

// read reads all content at once. It returns the number of bytes, or −1 if they are wrong.
func (f twoFrames) read(file []byte, opts ...Option) (int, error) {
	r, err := openFile(file, opts...)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	got := make([]byte, len(f.content))
	n, err := r.ReadAt(got, 0)
	if err == io.EOF {
		err = nil
	}
	if !bytes.Equal(got[:n], f.content[:n]) {
		n = -1
	}
	return n, err
}

// TestSeekTableChecksums checks that the checksum of a frame counts whether or not the seek table
// has checksums.
func TestSeekTableChecksums(t *testing.T) {
	f := newTwoFrames(t)
	for _, sums := range []bool{false, true} {
		file := append(slices.Clone(f.frames), makeSeekTable(sums, f.entries...)...)
		file[len(f.frames)-2] ^= 4
		if _, err := f.read(file); !errors.Is(err, ErrChecksum) {
			t.Errorf("table with checksums %v: error %v, want ErrChecksum", sums, err)
		}
		if n, err := f.read(file, WithChecksum(false)); n != len(f.content) || err != nil {
			t.Errorf("table with checksums %v, without checks: %d bytes, %v", sums, n, err)
		}
	}
}

// TestSeekTableHidesFrame checks that the entry of a frame with content cannot make it an empty one.
// A block of one repeated byte has up to 128 KiB of content in a frame that is as short as an empty one.
func TestSeekTableHidesFrame(t *testing.T) {
	last := []byte("last\n")
	stored := storedFrame(zstfile.Header{ContentSize: -1, Window: 1 << 17}, last)
	for _, size := range []int64{-1, 0} {
		for _, sums := range []bool{false, true} {
			head := zstfile.Header{ContentSize: size, Window: 1 << 17, Checksum: sums}
			frame := head.Append(nil)
			frame = append(frame, 0x03, 0x00, 0x08, 'x') // the last block, 65,536 times an x
			if sums {
				sum := zstfile.Checksum(bytes.Repeat([]byte("x"), 1<<16))
				frame = binary.LittleEndian.AppendUint32(frame, sum)
			}
			file := slices.Concat(frame, stored, makeSeekTable(false,
				zstfile.Entry{Size: uint32(len(frame))}, seekEntry(stored, last)))
			if r, err := openFile(file); !errors.Is(err, ErrCorrupt) {
				t.Errorf("content size %d, checksum %v: error %v, want ErrCorrupt", size, sums, err)
				if err == nil {
					r.Close()
				}
			}
		}
	}
}
