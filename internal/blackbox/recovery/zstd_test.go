package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// seekableParts returns a .zst file of the Writer, its content, its frames and its seek table.
func seekableParts(
	t testing.TB,
	opts ...compress.WriterOption,
) (file, content []byte, frames [][]byte, table []byte) {
	content = slices.Concat(bbtest.MixedBytes(8*bbtest.BlockSize),
		bbtest.RandomBytes(4*bbtest.BlockSize, 7), bbtest.TextBytes(100, 8))
	file = bbtest.Encode(t, content, append(opts, bridge.Pipeline("lzf"),
		compress.WithBlockSize(bbtest.BlockSize))...)
	n := (len(content) + bbtest.BlockSize - 1) / bbtest.BlockSize
	for i := range n {
		frames = append(frames, file[bbtest.FrameAt(t, file, i):bbtest.FrameAt(t, file, i+1)])
	}
	return file, content, frames, file[bbtest.FrameAt(t, file, n):]
}

// dropBlocks returns content without some of its blocks.
func dropBlocks(content []byte, blocks ...int) (rest []byte) {
	for i := range (len(content) + bbtest.BlockSize - 1) / bbtest.BlockSize {
		if !slices.Contains(blocks, i) {
			rest = append(rest, content[i*bbtest.BlockSize:min((i+1)*bbtest.BlockSize, len(content))]...)
		}
	}
	return rest
}

// TestRecoverZstd damages single frames, also the first one, which tells the format of the file.
// Files without a seek table cannot be recovered.
func TestRecoverZstd(t *testing.T) {
	content := bbtest.MixedBytes(10 * bbtest.BlockSize)
	whole := bbtest.Encode(t, content, bridge.Pipeline("lzf"), compress.WithBlockSize(bbtest.BlockSize))
	for _, c := range []struct{ block, at int }{{4, 30}, {0, 30}, {0, 0}, {0, 3}, {9, 1}} {
		file := bytes.Clone(whole)
		file[bbtest.FrameAt(t, whole, c.block)+c.at] ^= 1
		var b bytes.Buffer
		var lost []compress.Damage
		err := bbtest.RecoverFrom(&b, file, func(d compress.Damage) error {
			lost = append(lost, d)
			return nil
		})
		want := slices.Concat(content[:c.block*bbtest.BlockSize], content[(c.block+1)*bbtest.BlockSize:])
		if err != nil || !bytes.Equal(b.Bytes(), want) || len(lost) != 1 ||
			lost[0].Block != int64(c.block) ||
			lost[0].Content != bbtest.BlockSize {
			t.Errorf("byte %d of frame %d: %d bytes, want %d; %+v; %v", c.at, c.block, b.Len(),
				len(want), lost, err)
		}
	}
	err := bbtest.RecoverFrom(io.Discard, bbtest.ZstdStream(t, content, 1000), nil)
	if !errors.Is(err, compress.ErrNoIndex) && !errors.Is(err, compress.ErrFormat) {
		t.Errorf("no seek table: error %v, want ErrNoIndex", err)
	}
}

// TestRecoverMovedFrames deletes, inserts and replaces bytes in and around each frame, with and
// without the seek table. Only the frames that they touch may be lost.
func TestRecoverMovedFrames(t *testing.T) {
	for _, opts := range [][]compress.WriterOption{nil, {compress.WithChecksum(false)}} {
		file, content, frames, table := seekableParts(t, opts...)
		for k := range frames {
			at := bbtest.FrameAt(t, file, k)
			size := len(frames[k])
			for _, c := range []struct {
				name      string
				from, to  int    // bytes deleted
				in        []byte // bytes inserted
				undamaged bool
			}{
				{"bytes deleted", at + size/2, at + size/2 + 9, nil, false},
				{"beginning deleted", at, at + 9, nil, false},
				{"end deleted", at + size - 9, at + size, nil, false},
				{"frame deleted", at, at + size, nil, false},
				{"bytes inserted", at + size/2, at + size/2, []byte("nonsense"), false},
				{"bytes in front", at, at, []byte("nonsense"), true},
				{"zeros in front", at, at, make([]byte, 5000), true},
				{"frame replaced", at, at + size, bbtest.RandomBytes(300, 1), false},
			} {
				bad := slices.Concat(file[:c.from], c.in, file[c.to:])
				what := fmt.Sprintf("%s: frame %d, options %d", c.name, k, len(opts))
				want := content
				if !c.undamaged {
					want = dropBlocks(content, k)
				}
				got, list := bbtest.RecoverAll(t, bad)
				if opts != nil {
					// A frame without a check may be damaged if damage follows it.
					if !bytes.Equal(got, dropBlocks(content, k)) &&
						!bytes.Equal(got, dropBlocks(content, k-1)) &&
						!bytes.Equal(got, dropBlocks(content, k-1, k)) {
						t.Errorf("%s: %d bytes that are not the content of the other frames",
							what, len(got))
					}
					continue
				}
				bbtest.Equal(t, got, want, what)
				checkMoved(t, what, list, content, k, c.undamaged)
				filled, _ := bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
				end := min(len(content), (k+1)*bbtest.BlockSize)
				if len(filled) != len(content) ||
					!c.undamaged && !bytes.Equal(filled[end:], content[end:]) {
					t.Errorf("%s, filled: %d bytes, want %d", what, len(filled), len(content))
				}
				// The end of the seek table is lost too, then all of it.
				clear(bad[len(bad)-20:])
				got, list = bbtest.RecoverAll(t, bad)
				bbtest.Equal(t, got, want, what+", table")
				if k < len(frames)-1 && list[len(list)-1].Kind != compress.DamageFrame {
					t.Errorf("%s, table: %+v", what, list)
				}
				got, list = bbtest.RecoverAll(t, bad[:len(bad)-len(table)])
				bbtest.Equal(t, got, want, what+", no table")
				if c.name != "frame deleted" && len(list) != 1 {
					t.Errorf("%s, no table: %+v", what, list)
				}
			}
		}
	}
}

// checkMoved checks the damage that Recover reports of frame k, or of bytes in front of it.
func checkMoved(
	t *testing.T, what string, list []compress.Damage, content []byte, k int, undamaged bool,
) {
	t.Helper()
	want := compress.Damage{
		Block: int64(k), Blocks: 1, ContentOffset: int64(k * bbtest.BlockSize),
		Content: int64(min(bbtest.BlockSize, len(content)-k*bbtest.BlockSize)),
	}
	if len(list) != 1 || list[0].Err == nil {
		t.Errorf("%s: %+v, want one damage", what, list)
		return
	}
	got := list[0]
	got.Err = nil
	switch {
	case !undamaged:
		if got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	case k == 0:
		// The bytes may be the rest of another file.
		if got.Kind != compress.DamageUnknown {
			t.Errorf("%s: %+v, want unknown damage", what, got)
		}
	case got.Kind != compress.DamageFrame || got.Content != 0:
		t.Errorf("%s: %+v, want damage without lost content", what, got)
	}
}

// join concatenates pieces, which are []byte or [][]byte.
func join(pieces ...any) (p []byte) {
	for _, piece := range pieces {
		switch piece := piece.(type) {
		case []byte:
			p = append(p, piece...)
		case [][]byte:
			p = append(p, slices.Concat(piece...)...)
		default:
			panic("join: not bytes")
		}
	}
	return p
}

// TestRecoverFrameOrders damages several places, concatenates files, reorders frames and adds
// frames that the table does not list.
func TestRecoverFrameOrders(t *testing.T) {
	file, content, frames, seekTable := seekableParts(t)
	unsized := bbtest.ZstdStream(t, content[:3000], 700)
	head := bbtest.SkippableFrame(3, []byte("nothing"))
	cut := func(k int) []byte { return frames[k][:len(frames[k])-5] }
	flipped := slices.Clone(frames[5])
	flipped[len(flipped)-1] ^= 1 // its checksum
	badTable := slices.Clone(seekTable)
	badTable[zstfile.SkippableHeaderSize+4*12] ^= 1 // the size of frame 4
	both := slices.Concat(content, content)
	for _, c := range []struct {
		name    string
		file    []byte
		content []byte
		damage  []compress.DamageKind
	}{
		{
			"two places",
			join(frames[:2], cut(2), frames[3:6], []byte("xx"), cut(6), frames[7:], seekTable),
			dropBlocks(content, 2, 6), []compress.DamageKind{compress.DamageBlocks, compress.DamageBlocks},
		},
		{
			"a checksum too", join(frames[:2], cut(2), frames[3:5], flipped, frames[6:], seekTable),
			dropBlocks(content, 2, 5), []compress.DamageKind{compress.DamageBlocks, compress.DamageBlocks},
		},
		{"the table alone", join(frames, badTable), content, []compress.DamageKind{compress.DamageFrame}},
		{
			"the table too", join(frames[:2], cut(2), frames[3:], badTable), dropBlocks(content, 2),
			[]compress.DamageKind{compress.DamageBlocks, compress.DamageFrame},
		},
		{
			"another order", join(frames[:5], frames[6], frames[5], frames[7:], seekTable), content,
			[]compress.DamageKind{compress.DamageFrame},
		},
		{
			"behind another file",
			join(head, file, head, frames[:3], cut(3), frames[4:], seekTable),
			join(content, dropBlocks(content, 3)), []compress.DamageKind{compress.DamageBlocks},
		},
		{
			"in front of another file", join(frames[:3], cut(3), frames[4:], seekTable, file),
			join(dropBlocks(content, 3), content), []compress.DamageKind{compress.DamageBlocks},
		},
		{
			"two files, the first without its table",
			join(frames, make([]byte, len(seekTable)), file), both, []compress.DamageKind{
				compress.DamageUnknown,
			},
		},
		{
			"the end is missing", join(file, frames[:5], cut(5)), both[:len(content)+5*bbtest.BlockSize],
			[]compress.DamageKind{compress.DamageUnknown},
		},
		{"in the table", file[:len(file)-30], content, []compress.DamageKind{compress.DamageUnknown}},
		{
			"unlisted frames", join(frames[0], frames[1], head, file),
			join(content[:2*bbtest.BlockSize], content), nil,
		},
		{
			"a frame without content size", join(frames[:4], unsized, frames[4:]), content,
			[]compress.DamageKind{compress.DamageBlocks},
		},
	} {
		got, list := bbtest.RecoverAll(t, c.file)
		bbtest.Equal(t, got, c.content, c.name)
		var kinds []compress.DamageKind
		for _, d := range list {
			kinds = append(kinds, d.Kind)
		}
		if !slices.Equal(kinds, c.damage) {
			t.Errorf("%s: %+v", c.name, list)
		}
	}
}

// TestRecoverNestedFrames stores a .zst file in a frame that is lost. Its frames, which the table
// does not list, must not be taken for frames of the file.
func TestRecoverNestedFrames(t *testing.T) {
	inner := bbtest.Encode(t, bbtest.RandomBytes(5*bbtest.BlockSize, 1), bridge.Pipeline("lzf"),
		compress.WithBlockSize(bbtest.BlockSize))
	content := slices.Concat(bbtest.RandomBytes(1<<16, 2), bbtest.RandomBytes(100, 4), inner,
		bbtest.RandomBytes(2<<16, 3))
	file := bbtest.Encode(t, content, bridge.Pipeline("lzf"), compress.WithBlockSize(1<<16))
	at := bbtest.FrameAt(t, file, 1)
	bad := slices.Delete(slices.Clone(file), at+10, at+20)
	got, list := bbtest.RecoverAll(t, bad)
	bbtest.Equal(t, got, slices.Concat(content[:1<<16], content[2<<16:]), "nested")
	if len(list) != 1 || list[0].Block != 1 {
		t.Errorf("%+v", list)
	}
}

// TestRecoverNoFrames recovers files without any frame, or without a seek table, and checks limits.
func TestRecoverNoFrames(t *testing.T) {
	file, content, _, _ := seekableParts(t)
	for _, p := range [][]byte{
		file[:40], []byte("\x28\xb5\x2f\xfd"), bbtest.ZstdStream(t, content, 1000),
		bbtest.SkippableFrame(14, nil), bbtest.SkippableFrame(14, make([]byte, 9)),
	} {
		err := bbtest.RecoverFrom(bbtest.NoWriter{T: t}, p, nil)
		if !errors.Is(err, compress.ErrNoIndex) {
			t.Errorf("%d bytes: %v", len(p), err)
		}
	}
	bad := slices.Delete(slices.Clone(file), 500, 509)
	err := bbtest.RecoverFrom(io.Discard, bad, nil, compress.WithMaxMemory(1000))
	if !errors.Is(err, compress.ErrMemory) && !errors.Is(err, compress.ErrNoIndex) {
		t.Errorf("little memory: error %v, want ErrMemory", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(bbtest.ErrTest)
	if err := bbtest.RecoverFrom(
		io.Discard, bad, nil, compress.WithContext(ctx),
	); !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("error %v, want errTest", err)
	}
}

// TestRecoverHostileFrames checks that the search reads at most a small multiple of a hostile file.
func TestRecoverHostileFrames(t *testing.T) {
	const size, mostRead = 4 << 20, 60
	start := zstfile.Header{ContentSize: 1 << 20, SingleSegment: true}
	head := start.Append(nil)
	repeat := func(p []byte) []byte { return bytes.Repeat(p, size/len(p)) }
	var shared []byte // each frame has the next header as a block, and all blocks of the next frame
	least := zstfile.Header{ContentSize: 100, SingleSegment: true}
	for range 20_000 {
		shared = append(least.Append(shared), byte(len(least.Append(nil))<<3), 0, 0)
	}
	shared = append(shared, make([]byte, 6)...)
	for name, file := range map[string][]byte{
		"headers":              repeat(slices.Concat(head, []byte{0, 0, 0})),
		"headers before empty": append(bytes.Repeat(head, 1000), make([]byte, size)...),
		"seek tables":          repeat(zstfile.AppendSeekTable(nil, nil, true)),
		"claims of content":    repeat(slices.Concat(head, []byte{3, 0, 8, 'x'})),
		"shared blocks":        append(shared, 1, 0, 0),
	} {
		file = append(slices.Clone(head), file...)
		table := bbtest.MakeSeekTable(true, zstfile.Entry{Size: uint32(len(file)), Content: 1 << 20, Sum: 1})
		for _, file := range [][]byte{file, append(slices.Clip(file), table...)} {
			src := &bbtest.CountingReaderAt{ReaderAt: bytes.NewReader(file)}
			err := compress.Recover(io.Discard, src, int64(len(file)), nil)
			n := src.Bytes.Load()
			t.Logf("%s: %d bytes read of a file of %d; %v", name, n, len(file), err)
			if n > mostRead*int64(len(file)) {
				t.Errorf("%s: %d bytes read of a file of %d", name, n, len(file))
			}
		}
	}
}

// FuzzRecoverFrames checks that Recover accepts any input and reports consistent damage.
func FuzzRecoverFrames(f *testing.F) {
	file, _, frames, table := seekableParts(f)
	f.Add(file[:len(file)-5])
	f.Add(slices.Delete(slices.Clone(file), 600, 700))
	f.Add(slices.Concat(frames[3], file, table))
	f.Fuzz(func(t *testing.T, p []byte) {
		var saved, lost int64
		w := bbtest.WriterFunc(func(p []byte) (int, error) {
			saved += int64(len(p))
			return len(p), nil
		})
		err := bbtest.RecoverFrom(w, p, func(d compress.Damage) error {
			lost += max(0, d.Content)
			if d.ContentOffset > saved+lost || d.Err == nil {
				t.Errorf("%+v after %d bytes saved and %d lost", d, saved, lost)
			}
			return nil
		}, compress.WithMaxMemory(600<<20), compress.WithConcurrency(1))
		if err != nil && !errors.Is(err, compress.ErrFormat) && !errors.Is(err, compress.ErrNoIndex) {
			t.Errorf("error %v, want ErrNoIndex", err)
		}
	})
}

// TestRecoverEqualFrames takes frames out of a row of equal ones. They must be reported, and the
// rest must be at its place. In every other case bytes elsewhere make up for them, so that the seek
// table fits the file.
func TestRecoverEqualFrames(t *testing.T) {
	const from, to = 4, 12 // the row
	content := slices.Concat(bbtest.TextBytes(from*bbtest.BlockSize, 1),
		bytes.Repeat(bbtest.RandomBytes(bbtest.BlockSize, 2), to-from),
		bbtest.TextBytes(5*bbtest.BlockSize, 3))
	file := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
		compress.WithBlockSize(bbtest.BlockSize))
	size := bbtest.FrameAt(t, file, from+1) - bbtest.FrameAt(t, file, from)
	for _, n := range []int{1, 2, to - from - 1} {
		for first := from; first+n <= to; first++ {
			for _, moved := range []bool{false, true} {
				what := fmt.Sprintf("%d frames from %d on, moved %t", n, first, moved)
				bad := slices.Clone(file)
				at := bbtest.FrameAt(t, file, to+3)
				if moved {
					bad = slices.Insert(bad, at, bbtest.RandomBytes(n*size, 4)...)
				}
				bad = slices.Delete(bad, bbtest.FrameAt(t, file, first), bbtest.FrameAt(t, file, first+n))
				got, list := bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
				lost, blocks := int64(0), int64(0)
				for _, d := range list {
					lost, blocks = lost+d.Content, blocks+d.Blocks
				}
				if blocks != int64(n) || lost != int64(n*bbtest.BlockSize) || len(got) != len(content) {
					t.Errorf("%s: %d bytes of %d; %+v", what, len(got), len(content), list)
					continue
				}
				if blocks := differentBlocks(got, content); blocks != n {
					t.Errorf("%s: %d blocks are not at their places", what, blocks)
				}
			}
		}
	}
}

// differentBlocks counts the blocks that differ.
func differentBlocks(got, want []byte) (n int) {
	for at := 0; at < len(want); at += bbtest.BlockSize {
		if end := min(at+bbtest.BlockSize, len(want)); !bytes.Equal(got[at:end], want[at:end]) {
			n++
		}
	}
	return n
}

// TestRecoverListedOften saves a frame once that a seek table lists very often.
func TestRecoverListedOften(t *testing.T) {
	content := bbtest.TextBytes(bbtest.BlockSize, 1)
	frame := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
		compress.WithBlockSize(bbtest.BlockSize)) // no table, as it is one frame
	const entries = 1000
	e := zstfile.Entry{
		Size: uint32(len(frame)), Content: bbtest.BlockSize, Sum: zstfile.Checksum(content),
	}
	file := slices.Concat(frame, bbtest.MakeSeekTable(true, slices.Repeat([]zstfile.Entry{e}, entries)...))
	var b bytes.Buffer
	lost := int64(0)
	err := bbtest.RecoverFrom(&b, file, func(d compress.Damage) error {
		lost += d.Blocks
		return nil
	})
	if err != nil || !bytes.Equal(b.Bytes(), content) || lost != entries-1 {
		t.Errorf("%d bytes, %d blocks lost, %v; want %d, %d", b.Len(), lost, err, bbtest.BlockSize,
			entries-1)
	}
}

// TestRecoverContentSize flips a bit in the content size of a frame and deletes a byte of another
// one, with and without checksums. Both frames must be reported, and nothing else may move.
func TestRecoverContentSize(t *testing.T) {
	const cut = 6
	for _, opts := range [][]compress.WriterOption{nil, {compress.WithChecksum(false)}} {
		file, content, frames, _ := seekableParts(t, opts...)
		for flipped := range frames[:len(frames)-1] { // the last one states its size in a byte
			if flipped == cut {
				continue
			}
			_, n, err := zstframe.ParseHeader(frames[flipped])
			if err != nil {
				t.Fatal(err)
			}
			for bit := range 16 { // of the content size
				bad := slices.Clone(file)
				bad[bbtest.FrameAt(t, file, flipped)+n-2+bit/8] ^= 1 << (bit % 8)
				at := bbtest.FrameAt(t, file, cut) + len(frames[cut])/2
				bad = slices.Delete(bad, at, at+1)
				got, list := bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
				lost := int64(0)
				for _, d := range list {
					lost += d.Blocks
				}
				if len(got) != len(content) || differentBlocks(got, content) > 2 || lost != 2 {
					t.Errorf("bit %d of frame %d, options %d: %d bytes of %d; %+v", bit, flipped,
						len(opts), len(got), len(content), list)
				}
			}
		}
	}
}
