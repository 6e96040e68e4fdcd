package compress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/zstfile"
)

// seekableParts returns a .zst file of the Writer, its content, its frames and its seek table.
func seekableParts(
	t testing.TB,
	opts ...Option,
) (file, content []byte, frames [][]byte, table []byte) {
	content = slices.Concat(mixedBytes(8*testBlock), randomBytes(4*testBlock, 7), textBytes(100, 8))
	file = encode(t, content, append(opts, WithPipeline("lzf"), WithBlockSize(testBlock))...)
	n := (len(content) + testBlock - 1) / testBlock
	for i := range n {
		frames = append(frames, file[frameAt(t, file, i):frameAt(t, file, i+1)])
	}
	return file, content, frames, file[frameAt(t, file, n):]
}

// dropBlocks returns content without some of its blocks.
func dropBlocks(content []byte, blocks ...int) (rest []byte) {
	for i := range (len(content) + testBlock - 1) / testBlock {
		if !slices.Contains(blocks, i) {
			rest = append(rest, content[i*testBlock:min((i+1)*testBlock, len(content))]...)
		}
	}
	return rest
}

// TestRecoverZstd damages single frames, also the first one, which tells the format of the file.
// Files without a seek table cannot be recovered.
func TestRecoverZstd(t *testing.T) {
	content := mixedBytes(10 * testBlock)
	whole := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	for _, c := range []struct{ block, at int }{{4, 30}, {0, 30}, {0, 0}, {0, 3}, {9, 1}} {
		file := bytes.Clone(whole)
		file[frameAt(t, whole, c.block)+c.at] ^= 1
		var b bytes.Buffer
		var lost []Damage
		err := recoverFrom(&b, file, func(d Damage) error {
			lost = append(lost, d)
			return nil
		})
		want := slices.Concat(content[:c.block*testBlock], content[(c.block+1)*testBlock:])
		if err != nil || !bytes.Equal(b.Bytes(), want) || len(lost) != 1 ||
			lost[0].Block != int64(c.block) ||
			lost[0].Content != testBlock {
			t.Errorf("byte %d of frame %d: %d bytes, want %d; %+v; %v", c.at, c.block, b.Len(),
				len(want), lost, err)
		}
	}
	err := recoverFrom(io.Discard, zstdStream(t, content, 1000), nil)
	if !errors.Is(err, ErrNoIndex) && !errors.Is(err, ErrFormat) {
		t.Errorf("no seek table: error %v, want ErrNoIndex", err)
	}
}

// TestRecoverMovedFrames deletes, inserts and replaces bytes in and around each frame, with and
// without the seek table. Only the frames that they touch may be lost.
func TestRecoverMovedFrames(t *testing.T) {
	for _, opts := range [][]Option{nil, {WithChecksum(false)}} {
		file, content, frames, table := seekableParts(t, opts...)
		for k := range frames {
			at := frameAt(t, file, k)
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
				{"frame replaced", at, at + size, randomBytes(300, 1), false},
			} {
				bad := slices.Concat(file[:c.from], c.in, file[c.to:])
				what := fmt.Sprintf("%s: frame %d, options %d", c.name, k, len(opts))
				want := content
				if !c.undamaged {
					want = dropBlocks(content, k)
				}
				got, list := recoverAll(t, bad)
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
				equal(t, got, want, what)
				checkMoved(t, what, list, content, k, c.undamaged)
				filled, _ := recoverAll(t, bad, WithZeroFill(true))
				end := min(len(content), (k+1)*testBlock)
				if len(filled) != len(content) ||
					!c.undamaged && !bytes.Equal(filled[end:], content[end:]) {
					t.Errorf("%s, filled: %d bytes, want %d", what, len(filled), len(content))
				}
				// The end of the seek table is lost too, then all of it.
				clear(bad[len(bad)-20:])
				got, list = recoverAll(t, bad)
				equal(t, got, want, what+", table")
				if k < len(frames)-1 && list[len(list)-1].Kind != DamageFrame {
					t.Errorf("%s, table: %+v", what, list)
				}
				got, list = recoverAll(t, bad[:len(bad)-len(table)])
				equal(t, got, want, what+", no table")
				if c.name != "frame deleted" && len(list) != 1 {
					t.Errorf("%s, no table: %+v", what, list)
				}
			}
		}
	}
}

// checkMoved checks the damage that Recover reports of frame k, or of bytes in front of it.
func checkMoved(
	t *testing.T, what string, list []Damage, content []byte, k int, undamaged bool,
) {
	t.Helper()
	want := Damage{
		Block: int64(k), Blocks: 1, ContentOffset: int64(k * testBlock),
		Content: int64(min(testBlock, len(content)-k*testBlock)),
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
		if got.Kind != DamageUnknown {
			t.Errorf("%s: %+v, want unknown damage", what, got)
		}
	case got.Kind != DamageFrame || got.Content != 0:
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
	unsized := zstdStream(t, content[:3000], 700)
	head := skippableFrame(3, []byte("nothing"))
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
		damage  []DamageKind
	}{
		{
			"two places",
			join(frames[:2], cut(2), frames[3:6], []byte("xx"), cut(6), frames[7:], seekTable),
			dropBlocks(content, 2, 6), []DamageKind{DamageBlocks, DamageBlocks},
		},
		{
			"a checksum too", join(frames[:2], cut(2), frames[3:5], flipped, frames[6:], seekTable),
			dropBlocks(content, 2, 5), []DamageKind{DamageBlocks, DamageBlocks},
		},
		{"the table alone", join(frames, badTable), content, []DamageKind{DamageFrame}},
		{
			"the table too", join(frames[:2], cut(2), frames[3:], badTable), dropBlocks(content, 2),
			[]DamageKind{DamageBlocks, DamageFrame},
		},
		{
			"another order", join(frames[:5], frames[6], frames[5], frames[7:], seekTable), content,
			[]DamageKind{DamageFrame},
		},
		{
			"behind another file",
			join(head, file, head, frames[:3], cut(3), frames[4:], seekTable),
			join(content, dropBlocks(content, 3)), []DamageKind{DamageBlocks},
		},
		{
			"in front of another file", join(frames[:3], cut(3), frames[4:], seekTable, file),
			join(dropBlocks(content, 3), content), []DamageKind{DamageBlocks},
		},
		{
			"two files, the first without its table",
			join(frames, make([]byte, len(seekTable)), file), both, []DamageKind{DamageUnknown},
		},
		{
			"the end is missing", join(file, frames[:5], cut(5)), both[:len(content)+5*testBlock],
			[]DamageKind{DamageUnknown},
		},
		{"in the table", file[:len(file)-30], content, []DamageKind{DamageUnknown}},
		{
			"unlisted frames", join(frames[0], frames[1], head, file),
			join(content[:2*testBlock], content), nil,
		},
		{
			"a frame without content size", join(frames[:4], unsized, frames[4:]), content,
			[]DamageKind{DamageBlocks},
		},
	} {
		got, list := recoverAll(t, c.file)
		equal(t, got, c.content, c.name)
		var kinds []DamageKind
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
	inner := encode(t, randomBytes(5*testBlock, 1), WithPipeline("lzf"), WithBlockSize(testBlock))
	content := slices.Concat(randomBytes(1<<16, 2), randomBytes(100, 4), inner,
		randomBytes(2<<16, 3))
	file := encode(t, content, WithPipeline("lzf"), WithBlockSize(1<<16))
	at := frameAt(t, file, 1)
	bad := slices.Delete(slices.Clone(file), at+10, at+20)
	got, list := recoverAll(t, bad)
	equal(t, got, slices.Concat(content[:1<<16], content[2<<16:]), "nested")
	if len(list) != 1 || list[0].Block != 1 {
		t.Errorf("%+v", list)
	}
}

// TestRecoverNoFrames recovers files without any frame, or without a seek table, and checks limits.
func TestRecoverNoFrames(t *testing.T) {
	file, content, _, _ := seekableParts(t)
	for _, p := range [][]byte{
		file[:40], []byte("\x28\xb5\x2f\xfd"), zstdStream(t, content, 1000),
		skippableFrame(14, nil), skippableFrame(14, make([]byte, 9)),
	} {
		err := recoverFrom(noWriter{t}, p, nil)
		if !errors.Is(err, ErrNoIndex) {
			t.Errorf("%d bytes: %v", len(p), err)
		}
	}
	bad := slices.Delete(slices.Clone(file), 500, 509)
	err := recoverFrom(io.Discard, bad, nil, WithMaxMemory(1000))
	if !errors.Is(err, ErrMemory) && !errors.Is(err, ErrNoIndex) {
		t.Errorf("little memory: error %v, want ErrMemory", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	if err := recoverFrom(io.Discard, bad, nil, WithContext(ctx)); !errors.Is(err, errTest) {
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
		table := makeSeekTable(true, zstfile.Entry{Size: uint32(len(file)), Content: 1 << 20, Sum: 1})
		for _, file := range [][]byte{file, append(slices.Clip(file), table...)} {
			src := &countingReaderAt{ReaderAt: bytes.NewReader(file)}
			err := Recover(io.Discard, src, int64(len(file)), nil)
			n := src.bytes.Load()
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
		w := writerFunc(func(p []byte) (int, error) {
			saved += int64(len(p))
			return len(p), nil
		})
		err := recoverFrom(w, p, func(d Damage) error {
			lost += max(0, d.Content)
			if d.ContentOffset > saved+lost || d.Err == nil {
				t.Errorf("%+v after %d bytes saved and %d lost", d, saved, lost)
			}
			return nil
		}, WithMaxMemory(600<<20), WithConcurrency(1))
		if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNoIndex) {
			t.Errorf("error %v, want ErrNoIndex", err)
		}
	})
}
