package standard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

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
	content := bbtest.MixedBytes(30*bbtest.BlockSize + 99)
	written := bbtest.Encode(t, content, bridge.Pipeline("lzf"),
		compress.WithSeekable(bbtest.BlockSize))
	plainFrame := bbtest.ZstdStream(t, content[:1000], 300)
	skip := bbtest.SkippableFrame(5, []byte("nothing"))
	empty := bbtest.StoredFrame(zstfile.Header{ContentSize: -1, Window: 1 << 10, Checksum: true}, nil)
	zero := bbtest.StoredFrame(zstfile.Header{ContentSize: 0, SingleSegment: true}, nil)
	odd := slices.Concat(skip, plainFrame, empty, zero, plainFrame,
		bbtest.MakeSeekTable(false, seekEntry(skip, nil), seekEntry(plainFrame, content[:1000]),
			seekEntry(empty, nil), seekEntry(zero, nil), seekEntry(plainFrame, content[:1000])))
	noChecks := bbtest.Encode(t, content, bridge.Pipeline("lzf"),
		compress.WithSeekable(bbtest.BlockSize),
		compress.WithChecksum(false))
	small := bbtest.Encode(t, content[:99], bridge.Pipeline("lzf"))
	var b bytes.Buffer
	w, err := compress.NewWriter(&b, bridge.Pipeline("lzf"), compress.WithSeekable(0))
	for i := 0; err == nil && i < 900; i += 300 {
		w.Write(content[i : i+300])
		err = w.Flush()
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	flushed := b.Bytes() // a frame that states no size, and a table
	for _, c := range []struct {
		name          string
		file, content []byte
	}{
		{"written", written, content},
		{"no checks", noChecks, content},
		{"odd", odd, slices.Concat(content[:1000], content[:1000])},
		{
			"several", slices.Concat(bbtest.Encode(t, nil, bridge.Pipeline("lzf")), written, odd, noChecks),
			slices.Concat(content, content[:1000], content[:1000], content),
		},
		{
			"several, one frame each", slices.Concat(flushed, small, skip, small, noChecks, small, skip),
			slices.Concat(content[:900], content[:99], content[:99], content, content[:99]),
		},
		{"empty", bbtest.Encode(t, nil, bridge.Pipeline("lzf")), nil},
	} {
		bbtest.CheckAllReaders(t, c.file, c.content, compress.WithConcurrency(2))
		if err := iotest.TestReader(bbtest.OpenAt(t, c.file), c.content); err != nil {
			t.Error(c.name, err)
		}
		r := bbtest.OpenAt(t, c.file, compress.WithConcurrency(2))
		if info := r.Info(); info.Format != compress.Zstd || !info.Seekable ||
			info.Content != int64(len(c.content)) ||
			info.Size != int64(len(c.file)) {
			t.Errorf("%s: %+v", c.name, info)
		}
		info, err := bbtest.FileInfo(c.file)
		if err != nil || info.Format != compress.Zstd || !info.Seekable ||
			info.Content != int64(len(c.content)) {
			t.Errorf("%s: %+v, %v", c.name, info, err)
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(1, uint64(g)))
				for range 100 {
					off, n := rnd.IntN(len(c.content)+1), rnd.IntN(3*bbtest.BlockSize)
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

// TestSeekFooterBits flips each bit of the footer of a seek table. A Reader returns the content and
// an error about the index. Two bits of the descriptor have no meaning.
func TestSeekFooterBits(t *testing.T) {
	f := newTwoFrames(t)
	for _, sums := range []bool{false, true} {
		table := bbtest.MakeSeekTable(sums, f.entries...)
		file := slices.Concat(f.frames, table)
		for bit := range 8 * zstfile.SeekFooterSize {
			bad := slices.Clone(file)
			at := len(bad) - zstfile.SeekFooterSize + bit/8
			bad[at] ^= 1 << (bit % 8)
			got, err := io.ReadAll(bbtest.NewReader(t, bytes.NewReader(bad)))
			if !bytes.Equal(got, f.content) {
				t.Fatalf("bit %d: %d bytes, %v", bit, len(got), err)
			}
			var e *compress.Error
			found := errors.As(err, &e) && e.Kind == compress.ErrCorrupt && e.Part == compress.PartIndex
			if unused := bit == 8*4 || bit == 8*4+1; unused && err != nil || !unused && !found {
				t.Errorf("with checksums %v, bit %d of the footer: %v", sums, bit, err)
			}
		}
	}
	noise := bbtest.RandomBytes(2*12+zstfile.SeekFooterSize, 1)
	foreign := bbtest.SkippableFrame(zstfile.SeekTableKind, noise)
	got, err := io.ReadAll(bbtest.NewReader(t, bytes.NewReader(slices.Concat(f.frames, foreign))))
	if err != nil || !bytes.Equal(got, f.content) {
		t.Errorf("frame of another program: %d bytes, %v", len(got), err)
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
		{"checksum", func(e []zstfile.Entry) { e[0].Sum++ }, compress.ErrChecksum},
		{"checksum of the second", func(e []zstfile.Entry) { e[1].Sum++ }, compress.ErrChecksum},
		{"more content", func(e []zstfile.Entry) { e[0].Content++ }, compress.ErrCorrupt},
		{"less content", func(e []zstfile.Entry) { e[0].Content-- }, compress.ErrCorrupt},
		{"much more content", func(e []zstfile.Entry) { e[0].Content *= 300 }, compress.ErrCorrupt},
		{"no content", func(e []zstfile.Entry) { e[0].Content = 0 }, compress.ErrCorrupt},
		{"less of the second", func(e []zstfile.Entry) { e[1].Content-- }, compress.ErrCorrupt},
		{"first larger", func(e []zstfile.Entry) { e[0].Size++; e[1].Size-- }, compress.ErrCorrupt},
		{"second larger", func(e []zstfile.Entry) { e[0].Size--; e[1].Size++ }, compress.ErrCorrupt},
		{"too large", func(e []zstfile.Entry) { e[1].Size++ }, compress.ErrCorrupt},
	} {
		entries := slices.Clone(f.entries)
		c.change(entries)
		f.check(t, c.name, bbtest.MakeSeekTable(true, entries...), c.kind)
	}
	for _, c := range []struct {
		name   string
		change func(p []byte)
		kind   error
	}{
		{"reserved bits", func(p []byte) { p[len(p)-5] |= 4 }, compress.ErrCorrupt},
		{"number of frames", func(p []byte) { p[len(p)-9]++ }, compress.ErrCorrupt},
		{"magic number", func(p []byte) { p[len(p)-1]++ }, compress.ErrNoIndex},
		{"size of the skippable frame", func(p []byte) { p[4]++ }, compress.ErrCorrupt},
	} {
		table := bbtest.MakeSeekTable(true, f.entries...)
		c.change(table)
		f.check(t, c.name, table, c.kind)
	}
	one := seekEntry(f.frames, f.content)
	f.check(t, "no checksums", bbtest.MakeSeekTable(false, f.entries...), nil)
	f.check(t, "one entry for both frames", bbtest.MakeSeekTable(true, one), compress.ErrCorrupt)
	f.check(t, "second frame only", bbtest.MakeSeekTable(true, f.entries[1]), compress.ErrNoIndex)
	f.check(t, "none", nil, compress.ErrNoIndex)
}

// twoFrames are two frames with the entries of their seek table.
type twoFrames struct {
	frames, content []byte
	entries         []zstfile.Entry
}

func newTwoFrames(t *testing.T) twoFrames {
	t.Helper()
	content := bbtest.TextBytes(3000, 1)
	single := zstfile.Header{ContentSize: 2000, SingleSegment: true, Checksum: true}
	a := bbtest.ZstdStream(t, content[:1000], 400)
	b := bbtest.StoredFrame(single, content[1000:])
	return twoFrames{
		frames: slices.Concat(a, b), content: content,
		entries: []zstfile.Entry{seekEntry(a, content[:1000]), seekEntry(b, content[1000:])},
	}
}

// check reads the frames with a seek table behind them. kind is the error that they must give.
func (f twoFrames) check(t *testing.T, name string, table []byte, kind error) {
	t.Helper()
	file := append(slices.Clone(f.frames), table...)
	n, err := f.read(file, compress.WithConcurrency(2))
	var e *compress.Error
	switch {
	case n < 0:
		t.Errorf("%s: wrong content", name)
	case kind == nil && err != nil:
		t.Errorf("%s: %v", name, err)
	case kind != nil && (!errors.Is(err, kind) || !errors.As(err, &e)):
		t.Errorf("%s: %d bytes, %v; want %v", name, n, err, kind)
	}
	if errors.Is(kind, compress.ErrChecksum) {
		if n, err := f.read(file, compress.WithChecksum(false)); n != len(f.content) || err != nil {
			t.Errorf("%s, without checks: %d bytes, %v", name, n, err)
		}
	}
}

// read reads all content at once. It returns the number of bytes, or −1 if they are wrong.
func (f twoFrames) read(file []byte, opts ...compress.ReaderOption) (int, error) {
	r, err := bbtest.OpenFile(file, opts...)
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
		file := append(slices.Clone(f.frames), bbtest.MakeSeekTable(sums, f.entries...)...)
		file[len(f.frames)-2] ^= 4
		if _, err := f.read(file); !errors.Is(err, compress.ErrChecksum) {
			t.Errorf("table with checksums %v: error %v, want ErrChecksum", sums, err)
		}
		if n, err := f.read(file, compress.WithChecksum(false)); n != len(f.content) || err != nil {
			t.Errorf("table with checksums %v, without checks: %d bytes, %v", sums, n, err)
		}
	}
}

// TestSeekTableHidesFrame checks that the entry of a frame with content cannot make it an empty
// one. A block of one repeated byte has up to 128 KiB of content in a frame that is as short as an
// empty one.
func TestSeekTableHidesFrame(t *testing.T) {
	last := []byte("last\n")
	stored := bbtest.StoredFrame(zstfile.Header{ContentSize: -1, Window: 1 << 17}, last)
	for _, size := range []int64{-1, 0} {
		for _, sums := range []bool{false, true} {
			head := zstfile.Header{ContentSize: size, Window: 1 << 17, Checksum: sums}
			frame := head.Append(nil)
			frame = append(frame, 0x03, 0x00, 0x08, 'x') // the last block, 65,536 times an x
			if sums {
				sum := zstfile.Checksum(bytes.Repeat([]byte("x"), 1<<16))
				frame = binary.LittleEndian.AppendUint32(frame, sum)
			}
			file := slices.Concat(frame, stored, bbtest.MakeSeekTable(false,
				zstfile.Entry{Size: uint32(len(frame))}, seekEntry(stored, last)))
			if r, err := bbtest.OpenFile(file); !errors.Is(err, compress.ErrCorrupt) {
				t.Errorf("content size %d, checksum %v: error %v, want ErrCorrupt", size, sums, err)
				if err == nil {
					r.Close()
				}
			}
		}
	}
}

// smallFrames are the options of a .zst file of small frames.
var smallFrames = []compress.WriterOption{
	compress.WithFormat(compress.Zstd), compress.WithSeekable(bbtest.BlockSize),
}

// TestLostFrames checks that a Reader compares the frames that it has read with the seek table
// behind them. It must report missing, repeated and reordered frames, and accept frames in front of
// those that the table lists.
func TestLostFrames(t *testing.T) {
	// The last frames have the same size.
	content := slices.Concat(bbtest.TextBytes(5*bbtest.BlockSize+10, 1),
		bbtest.RandomBytes(4*bbtest.BlockSize, 2))
	written := bbtest.Encode(t, content, smallFrames...)
	var frames [][]byte
	for i := range 10 {
		frames = append(frames, written[bbtest.FrameAt(t, written, i):bbtest.FrameAt(t, written, i+1)])
	}
	seekTable := written[bbtest.FrameAt(t, written, 10):]
	with := func(list ...[]byte) []byte { return slices.Concat(slices.Concat(list...), seekTable) }
	e0 := seekEntry(frames[0], content[:bbtest.BlockSize])
	e1 := seekEntry(frames[1], content[bbtest.BlockSize:2*bbtest.BlockSize])
	unsized := bbtest.ZstdStream(t, content[:3000], 700)
	short := bbtest.SkippableFrame(zstfile.SeekTableKind, seekTable[9:])
	skip := bbtest.SkippableFrame(zstfile.SeekTableKind, []byte("no seek table"))
	empty := bbtest.StoredFrame(zstfile.Header{ContentSize: -1, Window: 1 << 10, Checksum: true}, nil)
	mixed := slices.Concat(skip, unsized, empty, frames[1],
		bbtest.MakeSeekTable(true, seekEntry(unsized, content[:3000]), seekEntry(empty, nil), e1))
	mixedContent := slices.Concat(content[:3000], content[bbtest.BlockSize:2*bbtest.BlockSize])
	unchecked := append(smallFrames, compress.WithChecksum(false))
	other := bbtest.Encode(t, content[:3*bbtest.BlockSize], unchecked...)
	for _, c := range []struct {
		name    string
		file    []byte
		content []byte // nil if the file is damaged
	}{
		{"whole", written, content},
		{
			"several", slices.Concat(mixed, written, other, written),
			slices.Concat(mixedContent, content, content[:3*bbtest.BlockSize], content),
		},
		{
			"unlisted frames in front", slices.Concat(frames[2], unsized, written),
			slices.Concat(content[2*bbtest.BlockSize:3*bbtest.BlockSize], content[:3000], content),
		},
		{
			"a table of the first frame, and one of all",
			slices.Concat(frames[0], bbtest.MakeSeekTable(false, e0), frames[1],
				bbtest.MakeSeekTable(false, e0, zstfile.Entry{Size: 25}, e1)),
			content[:2*bbtest.BlockSize],
		},
		{"an empty table", slices.Concat(written, bbtest.MakeSeekTable(true)), content},
		{
			"a table's frame that is one byte too short",
			slices.Concat(slices.Concat(frames...), short), content,
		},

		{"first frame missing", with(frames[1:]...), nil},
		{"a frame missing", with(slices.Delete(slices.Clone(frames), 3, 4)...), nil},
		{"last frame missing", with(frames[:9]...), nil},
		{"a repeated frame", with(slices.Insert(slices.Clone(frames), 4, frames[3])...), nil},
		{
			"the last frame repeated, among frames of its size",
			with(append(slices.Clone(frames), frames[9])...), nil,
		},
		{
			"reordered frames",
			with(append(slices.Clone(frames[:7]), frames[8], frames[7], frames[9])...), nil,
		},
		{"no frame", seekTable, nil},
		{
			"missing in the second of two files",
			append(slices.Clone(other), with(frames[1:]...)...), nil,
		},
		{
			"missing in a file of other frames",
			append(slices.Clone(frames[1]), mixed[len(mixed)-12*3-17:]...), nil,
		},
	} {
		got, err := bbtest.DecodeSame(t, bbtest.AllReaders(t), c.file, c.name)
		if c.content != nil {
			if err != nil || !bytes.Equal(got, c.content) {
				t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
			}
		} else if !errors.Is(err, compress.ErrCorrupt) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
	}
}

// TestDamagedSeekTable flips bits of the seek table in front of its footer. Without the footer it
// is no table, and a Reader ignores it.
func TestDamagedSeekTable(t *testing.T) {
	file := bbtest.Encode(t, bbtest.TextBytes(10*bbtest.BlockSize, 1),
		compress.WithFormat(compress.Zstd), compress.WithSeekable(bbtest.BlockSize))
	table := bbtest.FrameAt(t, file, 10)
	end := 8 * (len(file) - zstfile.SeekFooterSize)
	for bit := 8 * (table + zstfile.SkippableHeaderSize); bit < end; bit += 5 {
		bad := slices.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := bbtest.Decode(bad); !errors.Is(err, compress.ErrCorrupt) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
}

// TestListDamagedFrames damages each frame of files with intact seek tables. ReadInfo lists what
// the tables say, and a Reader finds the damage.
func TestListDamagedFrames(t *testing.T) {
	content := bbtest.RandomBytes(5*bbtest.BlockSize, 1)
	one := bbtest.Encode(t, content, smallFrames...)
	unchecked := bbtest.Encode(t, content, append(smallFrames, compress.WithChecksum(false))...)
	list := func(file []byte) (info compress.Info, blocks []compress.BlockInfo, err error) {
		info, err = compress.ReadInfo(bytes.NewReader(file), int64(len(file)),
			func(b compress.BlockInfo) error { blocks = append(blocks, b); return nil })
		return info, blocks, err
	}
	for name, file := range map[string][]byte{
		"one": one, "unchecked": unchecked, "joined": slices.Concat(one, one),
	} {
		want, blocks, err := list(file)
		if err != nil || len(blocks) < 5 || want.Content < 5*bbtest.BlockSize {
			t.Fatalf("%s: %+v, %v", name, want, err)
		}
		for _, b := range blocks {
			if b.Content == 0 {
				continue
			}
			at := int(b.Offset)
			_, n, err := zstframe.ParseHeader(file[at:])
			if err != nil {
				t.Fatal(err)
			}
			for what, bad := range map[string][]byte{
				"magic number":   bbtest.Flip(file, at+1),
				"header":         bbtest.Patch(file, at+4, file[at+4]|8), // a bit that is reserved
				"kind of block":  bbtest.Patch(file, at+n, file[at+n]|6), // one that is reserved
				"size of block":  bbtest.Flip(file, at+n+1),
				"large block":    bbtest.Patch(file, at+n+2, 0xff),
				"all of a frame": bbtest.Patch(file, at, make([]byte, b.Size)...),
			} {
				got, list, err := list(bad)
				if err != nil || !reflect.DeepEqual(got, want) || !slices.Equal(list, blocks) {
					t.Errorf("%s, %s of frame %d: %+v, %+v, %v", name, what, b.Number, got, list, err)
				}
				if _, err := bbtest.Decode(bad); err == nil {
					t.Errorf("%s, %s of frame %d: the Reader finds no damage", name, what, b.Number)
				}
			}
		}
	}
}

// TestLargeSeekTable reads tables that arrive in pieces. The Reader remembers a limited number of
// frames in front of those that the table lists.
func TestLargeSeekTable(t *testing.T) {
	one := bbtest.StoredFrame(zstfile.Header{ContentSize: 1, SingleSegment: true}, []byte("x"))
	two := bbtest.StoredFrame(zstfile.Header{ContentSize: 2, SingleSegment: true}, []byte("xx"))
	const keptPrefixes = 1 << 10 // as in package zstfile
	const n = 3 * keptPrefixes
	list := slices.Repeat([]zstfile.Entry{seekEntry(one, []byte("x"))}, n)
	list[5] = seekEntry(two, []byte("xx"))
	frames := slices.Concat(bytes.Repeat(one, 5), two, bytes.Repeat(one, n-6))
	for _, c := range []struct {
		name string
		file []byte
		ok   bool
	}{
		{"whole", frames, true},
		{"one frame in front", append(slices.Clone(two), frames...), true},
		{
			"as many frames in front as the Reader remembers",
			append(bytes.Repeat(one, keptPrefixes), frames...), true,
		},
		{"one more", append(bytes.Repeat(one, keptPrefixes+1), frames...), true},
		{
			"reordered frames", slices.Concat(bytes.Repeat(one, 4), two, bytes.Repeat(one, n-5)),
			false,
		},
		{"one frame missing", frames[len(one):], false},
	} {
		for _, sums := range []bool{false, true} {
			_, err := bbtest.Decode(append(slices.Clone(c.file), bbtest.MakeSeekTable(sums, list...)...))
			if c.ok != (err == nil) || err != nil && !errors.Is(err, compress.ErrCorrupt) {
				t.Errorf("%s, checksums %v: %v", c.name, sums, err)
			}
		}
	}
}
