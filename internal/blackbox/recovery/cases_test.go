package recovery

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/refzst"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// smallSamples returns files of a few hundred bytes. Their content compresses well.
func smallSamples(t testing.TB) (list []*sample) {
	var content []byte
	for i := range 9 {
		n := len(content)
		content = fmt.Appendf(content, "%d and %x", i, bbtest.RandomBytes(9+5*i, uint64(i)))
		content = append(content, bytes.Repeat([]byte{byte('a' + i)}, bbtest.BlockSize-len(content)+n)...)
	}
	const third = 3 * bbtest.BlockSize
	pieces := splitContent(content[:400], 60, 1)
	for _, opts := range [][]compress.WriterOption{
		{compress.WithChecksum(true)}, {compress.WithChecksum(false)},
	} {
		checked := len(list) == 0
		flushed, _ := bbtest.FlushPieces(t, pieces, 400, opts...)
		opts = append(opts, compress.WithBlockSize(bbtest.BlockSize))
		sized := append(slices.Clip(opts), compress.WithContentSize(third))
		list = append(list,
			newPZ(t, "small pz", checked, bbtest.Encode(t, content[:third], opts...),
				bbtest.Encode(t, content[third:2*third], sized...),
				bbtest.Encode(t, content[2*third:], opts...)),
			newPZ(t, "small pz with flushes", checked, flushed, bbtest.Encode(t, content[500:900], opts...)))
		list[len(list)-1].short = !checked
		opts = append(opts, compress.WithFormat(compress.Zstd))
		single := bbtest.Encode(t, content[:third], opts...)
		opts = append(opts, bridge.Frames())
		list = append(list,
			newZstd(t, "small zst", bbtest.Encode(t, content, opts...)),
			newZstd(t, "small joined zst", bbtest.Encode(t, content[:third], opts...),
				bbtest.Encode(t, content[third:2*third], opts...)),
			newZstd(t, "small foreign zst", single, bbtest.ZstdWindow(t, content[third:2*third], 3000, 1<<17),
				bbtest.SkippableFrame(7, []byte("skipped")), bbtest.Encode(t, content[2*third:], opts...)))
	}
	gz := compress.WithFormat(compress.Gzip)
	return append(list, newGzip(t, "small gz", bbtest.Encode(t, content[:third], gz),
		bbtest.Encode(t, content[third:2*third], gz), bbtest.GzipMember(t, content[2*third:])))
}

// TestRecoverEverywhere damages small files everywhere: it flips, deletes and inserts a byte, cuts
// the file, and overwrites and deletes everything between two places that matter, such as the
// headers of two blocks of different streams.
func TestRecoverEverywhere(t *testing.T) {
	for _, s := range smallSamples(t) {
		t.Run(s.name, func(t *testing.T) {
			var list []edit
			for at := range len(s.file) {
				list = append(list, edit{kind: flip, at: at, n: 1, seed: uint64(at)}, edit{kind: cut, at: at},
					edit{kind: insert, at: at, n: 1 + at%3, seed: uint64(at)})
				// Of equal bytes, the last one is removed: nobody can tell.
				if next := at + 1; next == len(s.file) || s.file[at] != s.file[next] {
					list = append(list, edit{kind: remove, at: at, n: 1})
				}
			}
			for _, from := range s.places {
				for _, to := range s.places {
					for _, k := range []kind{clearRange, overwrite, remove} {
						if from < to {
							list = append(list, edit{kind: k, at: from, n: to - from, seed: 1})
						}
					}
				}
			}
			step := 1
			if !testenv.All() {
				step = 41 // a prime
			}
			failed := map[string]int{}
			for i := 0; i < len(list); i += step {
				if err := checkTrial(s, list[i:i+1], false); err != nil {
					class := err.(*failure).class
					if list[i].joins(s) && (class == "b sizes" || class == "c unreported") {
						continue // what is left of two streams, frames or members looks like one
					}
					failed[class]++
					if failed[class] <= 2 {
						t.Errorf("%s of %d bytes:\n\t%v\n%v", s.name, len(s.file), list[i], err)
					}
				}
			}
			for class, n := range failed {
				t.Logf("%d of %d: %s", n, len(list)/step, class)
			}
		})
	}
}

// joins reports whether an edit changes the end of one unit of a sample and the beginning of the
// next.
func (e edit) joins(s *sample) bool {
	return slices.ContainsFunc(s.units, func(u unit) bool { return e.at < u.to && u.to < e.at+e.n })
}

// TestRecoverSeekTable flips each bit of a seek table. No content is lost, and none moves.
func TestRecoverSeekTable(t *testing.T) {
	file, content, frames, table := seekableParts(t)
	for bit := range 8 * len(table) {
		if bit%5 > 0 && !testenv.All() {
			continue
		}
		bad := bytes.Clone(file)
		bad[len(file)-len(table)+bit/8] ^= 1 << (bit % 8)
		what := fmt.Sprintf("bit %d of the table of %d frames", bit, len(frames))
		got, list := bbtest.RecoverAll(t, bad)
		bbtest.Equal(t, got, content, what)
		got, _ = bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
		bbtest.Equal(t, got, content, what+", filled")
		if _, err := bbtest.Decode(bad); err != nil && len(list) == 0 {
			t.Errorf("%s: not reported; Reader: %v", what, err)
		}
	}
}

// TestReadCutFrame cuts a frame of several blocks at each byte. A Reader and Recover give all
// blocks that are complete, as zstd -dc does.
func TestReadCutFrame(t *testing.T) {
	content := makeContent(12_000, 31)
	for name, file := range map[string][]byte{
		"Writer": bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
			compress.WithBlockSize(bbtest.BlockSize)),
		"pieces": bbtest.ZstdWindow(t, content, 3000, 1<<17),
		"stored": bbtest.StoredFrame(zstfile.Header{ContentSize: 9000, Window: 1 << 20, Checksum: true},
			content[:3000], content[3000:6000], content[6000:9000]),
	} {
		for n := 12; n < len(file); n++ {
			if n%197 > 0 && n < len(file)-8 && !testenv.All() {
				continue
			}
			var want bytes.Buffer
			refzst.Decode(&want, bytes.NewReader(file[:n]), nil, 1<<26)
			got, err := bbtest.Decode(file[:n])
			bbtest.Equal(t, got, want.Bytes(), fmt.Sprintf("%s, cut at %d of %d", name, n, len(file)))
			saved := save(file[:n], 1, false)
			if err == nil || len(got) > 0 && saved.err != nil || !bytes.Equal(saved.out, got) {
				t.Errorf("%s, cut at %d of %d: Reader: %d bytes, %v; Recover: %v", name, n, len(file),
					len(got), err, &saved)
			}
		}
	}
}

// seekableParts returns a .zst file of the Writer, its content, its frames and its seek table.
func seekableParts(
	t testing.TB,
	opts ...compress.WriterOption,
) (file, content []byte, frames [][]byte, table []byte) {
	content = slices.Concat(makeContent(4*bbtest.BlockSize, 6),
		bbtest.RandomBytes(2*bbtest.BlockSize, 7), bbtest.TextBytes(100, 8))
	file = bbtest.Encode(t, content, append(opts, bridge.Pipeline("lzf"),
		compress.WithSeekable(bbtest.BlockSize))...)
	n := (len(content) + bbtest.BlockSize - 1) / bbtest.BlockSize
	for i := range n {
		frames = append(frames, file[bbtest.FrameAt(t, file, i):bbtest.FrameAt(t, file, i+1)])
	}
	return file, content, frames, file[bbtest.FrameAt(t, file, n):]
}

// TestRecoverFrameOrders damages several places, concatenates files, reorders frames and adds
// frames that the table does not list. Digits say which frames the result has.
func TestRecoverFrameOrders(t *testing.T) {
	file, content, frames, table := seekableParts(t)
	unsized := bbtest.ZstdStream(t, content[:bbtest.BlockSize], 700) // what frame 0 has
	head := bbtest.SkippableFrame(3, []byte("nothing"))
	flipped := bbtest.Flip(frames[5], -1)                            // its checksum
	badTable := bbtest.Flip(table, zstfile.SkippableHeaderSize+4*12) // the size of frame 4
	join := func(parts ...any) (p []byte) {
		for _, part := range parts {
			switch part := part.(type) {
			case int:
				p = append(p, frames[part]...)
			case float64: // a frame whose end is missing
				p = append(p, frames[int(part)][:len(frames[int(part)])-5]...)
			case []byte:
				p = append(p, part...)
			}
		}
		return p
	}
	for _, c := range []struct {
		name   string
		file   []byte
		want   string
		damage string
	}{
		{"two places", join(0, 1, 2., 3, 4, []byte("xx"), 5., 6, table), "01346", "blocks blocks"},
		{"a checksum too", join(0, 1, 2., 3, 4, flipped, 6, table), "013456", "blocks check"},
		{"the table alone", join(0, 1, 2, 3, 4, 5, 6, badTable), "0123456", "frame"},
		{"the table too", join(0, 1, 2., 3, 4, 5, 6, badTable), "013456", "blocks"},
		{"another order", join(0, 1, 2, 4, 3, 5, 6, table), "0124356", "frame"},
		{
			"behind another file", join(head, file, head, 0, 1, 2, 3., 4, 5, 6, table), "0123456012456",
			"blocks",
		},
		{"in front of a file", join(0, 1, 2, 3., 4, 5, 6, table, file), "0124560123456", "blocks"},
		{"no table between", join(0, 1, 2, 3, 4, 5, 6, make([]byte, 99), file), "01234560123456", "unknown"},
		{"the end is missing", join(file, 0, 1, 2, 3.), "0123456012", "unknown"},
		{"in the table", file[:len(file)-30], "0123456", "unknown"},
		{"unlisted frames", join(0, 1, head, file), "010123456", ""},
		{"unlisted and unsized", join(0, 1, 2, 3, unsized, 4, 5, 6, table), "01230456", "frame"},
	} {
		var want []byte
		for _, k := range c.want {
			at := int(k-'0') * bbtest.BlockSize
			want = append(want, content[at:min(at+bbtest.BlockSize, len(content))]...)
		}
		got, list := bbtest.RecoverAll(t, c.file)
		bbtest.Equal(t, got, want, c.name)
		var kinds []string
		for _, d := range list {
			kinds = append(kinds, d.Kind.String())
		}
		if strings.Join(kinds, " ") != c.damage {
			t.Errorf("%s: %v, want %s; %+v", c.name, kinds, c.damage, list)
		}
	}
}

// TestRecoverUnsized gives frames that do not state their size: any number of them, and one between
// two that are damaged.
func TestRecoverUnsized(t *testing.T) {
	content := bbtest.TextBytes(200*50, 1)
	var file []byte
	for p := range slices.Chunk(content, 50) {
		file = append(file, bbtest.ZstdWindow(t, p, 20, 1<<17)...)
	}
	got, list := bbtest.RecoverAll(t, file)
	bbtest.Equal(t, got, content, "all")
	if len(list) > 0 {
		t.Errorf("intact: %+v", list)
	}
	frame := func(p string) []byte {
		return bbtest.StoredFrame(zstfile.Header{ContentSize: -1, Window: 1 << 17, Checksum: true}, []byte(p))
	}
	first, third := frame("first"), bbtest.Flip(frame("third"), 0)
	first[6] |= 6 // a block of type 3
	got, list = bbtest.RecoverAll(t, slices.Concat(first, frame("second"), third))
	if string(got) != "second" || len(list) == 0 {
		t.Errorf("got %q, damage %+v", got, list)
	}
}

// TestRecoverEveryOther damages the header of every other block or frame of content that compresses
// well. All others are given.
func TestRecoverEveryOther(t *testing.T) {
	content := make([]byte, 40<<20)
	for i := 0; i < len(content); i += 30 {
		content[i] = byte(i * i >> 7)
	}
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		file := bbtest.Encode(t, content, compress.WithFormat(format), compress.WithSeekable(1<<20),
			compress.WithLevel(1))
		var want []byte
		for b := range bbtest.OpenAt(t, slices.Clone(file)).Blocks() {
			if b.Number%2 == 0 {
				file[b.Offset] ^= 0x55
				file[b.Offset+1] ^= 0x55
			} else {
				want = append(want, content[b.ContentOffset:b.ContentOffset+b.Content]...)
			}
		}
		got, _ := bbtest.RecoverAll(t, file)
		bbtest.Equal(t, got, want, format.String())
	}
}

// TestRecoverSmallBlocks finds frames behind a damaged one of many small blocks.
func TestRecoverSmallBlocks(t *testing.T) {
	lines := bbtest.ZstdWindow(t, bbtest.TextBytes(40_000*5, 1), 5, 1<<17)
	lines = append(lines[:len(lines)-4:len(lines)-4], 0xff, 0xff, 0xff, 0xff) // no last block
	content := bbtest.TextBytes(5000, 2)
	h := zstfile.Header{ContentSize: 5000, SingleSegment: true, Checksum: true}
	frame := bbtest.StoredFrame(h, content)
	got, _ := bbtest.RecoverAll(t, slices.Concat(lines, frame, frame))
	if !bytes.HasSuffix(got, slices.Concat(content, content)) {
		t.Errorf("%d bytes do not end with the content of two frames", len(got))
	}
}

// TestRecoverFrames gives frames whose content has frames, also if those decode to much content.
func TestRecoverFrames(t *testing.T) {
	inner := append((&zstfile.Header{ContentSize: 4 << 20, SingleSegment: true}).Append(nil),
		bytes.Repeat([]byte{2, 0, 16, 0}, 32)...) // 32 blocks of 128 KiB of zeros
	inner[len(inner)-4] |= 1
	var file, content []byte
	for i := range 100 {
		p := slices.Concat(bbtest.RandomBytes(100, uint64(i)), inner, bbtest.RandomBytes(50_000, uint64(i)))
		h := zstfile.Header{ContentSize: int64(len(p)), SingleSegment: true, Checksum: true}
		file, content = append(file, bbtest.StoredFrame(h, p)...), append(content, p...)
	}
	got, list := bbtest.RecoverAll(t, file)
	bbtest.Equal(t, got, content, "frames in frames")
	if len(list) > 0 {
		t.Errorf("damage %+v", list)
	}
}

// TestRecoverEqualFrames takes frames out of a row of equal ones. As many are reported, and the
// rest is at its place.
func TestRecoverEqualFrames(t *testing.T) {
	const from, to = 4, 12 // the row
	content := slices.Concat(bbtest.TextBytes(from*bbtest.BlockSize, 1),
		bytes.Repeat(bbtest.RandomBytes(bbtest.BlockSize, 2), to-from),
		bbtest.TextBytes(5*bbtest.BlockSize, 3))
	file := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
		compress.WithSeekable(bbtest.BlockSize))
	for _, n := range []int{1, 2, to - from - 1} {
		for first := from; first+n <= to; first++ {
			bad := slices.Delete(slices.Clone(file), bbtest.FrameAt(t, file, first),
				bbtest.FrameAt(t, file, first+n))
			got, list := bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
			lost, different := 0, 0
			for _, d := range list {
				lost += int(d.Blocks)
			}
			for at := 0; at < min(len(got), len(content)); at += bbtest.BlockSize {
				if !bytes.Equal(got[at:at+bbtest.BlockSize], content[at:at+bbtest.BlockSize]) {
					different++
				}
			}
			if lost != n || different != n || len(got) != len(content) {
				t.Errorf("%d frames from %d on: %d bytes of %d, %d blocks differ; %+v", n, first, len(got),
					len(content), different, list)
			}
		}
	}
}

// TestRecoverSwappedBlocks swaps two blocks of a file with an intact index. All content comes back,
// and the damage is reported.
func TestRecoverSwappedBlocks(t *testing.T) {
	content := bbtest.TextBytes(9*bbtest.BlockSize+9, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	blocks := slices.Collect(bbtest.OpenAt(t, file).Blocks())
	a, b := blocks[3].Offset, blocks[4].Offset
	end := b + blocks[4].Size
	bad := slices.Concat(file[:a], file[b:end], file[a:b], file[end:])
	got, list := bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
	bbtest.Equal(t, got, content, "content")
	if len(list) == 0 || slices.ContainsFunc(list, func(d compress.Damage) bool {
		return d.Kind != compress.DamageFrame
	}) {
		t.Errorf("%+v, want damage without lost content", list)
	}
}

// TestRecoverGzipEmptyMember damages the trailer of a member without content, behind one with
// content.
func TestRecoverGzipEmptyMember(t *testing.T) {
	m := bbtest.StoredMember("hello", 0, "")
	file := []byte(m + bbtest.StoredMember("", 0, ""))
	check := func(what string, i int, bad []byte) {
		got, list := bbtest.RecoverAll(t, bad)
		if _, err := bbtest.Decode(bad); err == nil || string(got) != "hello" || len(list) != 1 ||
			list[0].Kind != compress.DamageCheck || list[0].Span != 0 {
			t.Errorf("%s %d: %q, damage %v; Reader: %v", what, i, got, list, err)
		}
	}
	for i := len(file) - 8; i < len(file); i++ {
		bad := bytes.Clone(file)
		bad[i] ^= 1
		check("changed at", i, bad)
		check("cut to", i, file[:i])
	}
}

// TestRecoverGzipReports compares all reports of a few files.
func TestRecoverGzipReports(t *testing.T) {
	content := corpus.ByName("text").Make(100_000)
	file, err := compress.AppendEncode(nil, content, compress.WithFormat(compress.Gzip))
	if err != nil {
		t.Fatal(err)
	}
	wrongSum := bytes.Clone(file)
	wrongSum[len(file)-8] ^= 1
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"intact", file, "100000"},
		{"padded", append(bytes.Clone(file), make([]byte, 1000)...), "100000"},
		{"wrong sum", wrongSum, "check 0 100000 100000"},
		{"wrong sum, then another", slices.Concat(wrongSum, file), "check 0 100000 200000"},
		{"no trailer", file[:len(file)-5], "check 0 100000 100000"},
		{"trailing garbage", append(bytes.Clone(file), "garbage"...), "unknown 1 0 100000"},
		{"garbage between", slices.Concat(file, []byte("garbage"), file), "unknown 1 0 200000"},
		{"no first member", slices.Concat([]byte("\x1f\x8bgarbage"), file), "unknown 0 0 100000"},
		{"no header", slices.Concat([]byte("garbage"), file), "unknown 0 0 100000"},
		{"nothing", []byte("\x1f\x8b\x08 and so on"), "unknown 0 0 0"},
	} {
		s := save(tt.file, 1, true)
		got := ""
		for _, d := range s.reports {
			got += fmt.Sprint(d.Kind, " ", d.Stream, " ", d.Span, " ")
		}
		if got += fmt.Sprint(len(s.out)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	var none bytes.Buffer
	err = compress.Recover(&none, bytes.NewReader([]byte("plain text")), 10, nil)
	if !errors.Is(err, compress.ErrFormat) {
		t.Error(err)
	}
	err = compress.Recover(io.Discard, bytes.NewReader(file), int64(len(file)), nil,
		compress.WithMaxMemory(1<<20))
	if !errors.Is(err, compress.ErrMemory) {
		t.Error(err)
	}
	err = compress.Recover(io.Discard, bytes.NewReader(file), int64(len(file)), nil,
		compress.WithMaxDecodedSize(99_999))
	if !errors.Is(err, compress.ErrTooLarge) {
		t.Error(err)
	}
}

// TestRecoverProgress checks that ReaderAt.Recover reports no progress, which is for Read and
// WriteTo. It decodes a damaged .zst frame once more, to give what a Reader gives of it. A Reader
// returns a frame that states no size while it decodes it.
func TestRecoverProgress(t *testing.T) {
	content := bbtest.MixedBytes(1 << 20)
	file := bbtest.ZstdStream(t, content, 1<<16)
	size := len(file)
	entry := zstfile.Entry{Size: uint32(size), Content: uint32(len(content))}
	file = append(file, bbtest.MakeSeekTable(false, entry)...)
	calls := 0
	r, err := compress.NewReaderAt(bytes.NewReader(file), int64(len(file)),
		compress.WithProgress(func(compress.Progress) { calls++ }))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	file[size-1] ^= 1 // of the checksum
	var saved bytes.Buffer
	damaged := 0
	err = r.Recover(&saved, 0, 1, func(compress.Damage) error { damaged++; return nil })
	if err != nil || damaged == 0 || saved.Len() != len(content) {
		t.Errorf("%v, %d bytes, %d reports", err, saved.Len(), damaged)
	}
	if calls > 0 {
		t.Errorf("%d calls of the function of WithProgress", calls)
	}
}

// TestRecoverParity reports damage of parity where no content is damaged.
func TestRecoverParity(t *testing.T) {
	content := bbtest.TextBytes(20*bbtest.BlockSize, 1)
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		file := bbtest.Encode(t, content, compress.WithFormat(format),
			compress.WithBlockSize(bbtest.BlockSize))
		whole, section := addParity(t, file, format)
		for _, at := range []int{-1, -10, -40, -len(section) / 2} {
			got, list := bbtest.RecoverAll(t, bbtest.Flip(whole, at))
			bbtest.Equal(t, got, content, format.String())
			if len(list) != 1 || list[0].Kind != compress.DamageFrame {
				t.Errorf("%v, flipped at %d: %+v", format, at, list)
			}
		}
	}
}

// TestRecoverTrailing joins files in two formats. Recover ends where a Reader ends.
func TestRecoverTrailing(t *testing.T) {
	formats := []compress.Format{compress.PZ, compress.Gzip, compress.Zstd}
	content := bbtest.TextBytes(50_000, 1)
	for _, first := range formats {
		for _, second := range formats {
			if first == second {
				continue
			}
			file := bbtest.Encode(t, content, compress.WithFormat(first))
			end := int64(len(file))
			file = append(file, bbtest.Encode(t, content, compress.WithFormat(second))...)
			got, list := bbtest.RecoverAll(t, file)
			bbtest.Equal(t, got, content, "content")
			var e *compress.Error
			if len(list) != 1 || !errors.As(list[0].Err, &e) || e.Kind != compress.ErrTrailing ||
				e.Offset != end || list[0].Kind != compress.DamageFrame {
				t.Errorf("%v and %v: damage %+v, want ErrTrailing at %d", first, second, list, end)
			}
		}
	}
}

// TestRecoverFramesInside damages a block of a frame whose content has .zst files behind the
// damage, stored as they are. They are no frames of the file: all content behind the damage is
// lost, and its size is known.
func TestRecoverFramesInside(t *testing.T) {
	inner := bbtest.Encode(t, bbtest.RandomBytes(50_000, 1), compress.WithFormat(compress.Zstd))
	text := bbtest.TextBytes(1<<20, 2)
	content := slices.Concat(text, bytes.Repeat(inner, 10), text)
	file := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
		compress.WithContentSize(int64(len(content))))
	if !bytes.Contains(file[100:], inner[:1000]) {
		t.Fatal("the content's frames are not stored")
	}
	for _, at := range []int{2000, len(file) / 8, len(file) / 4} {
		bad := bbtest.Flip(file, at)
		read, err := bbtest.Decode(bad)
		if err == nil {
			t.Fatalf("byte %d: no damage", at)
		}
		got, list := bbtest.RecoverAll(t, bad)
		lost := int64(0)
		for _, d := range list {
			lost += d.Content
		}
		if !bytes.Equal(got, read) || lost != int64(len(content)-len(read)) {
			t.Errorf("byte %d: %d bytes, %d lost; a Reader gives %d of %d; %+v",
				at, len(got), lost, len(read), len(content), list)
		}
	}
}

// TestRecoverFrameAtEnd damages the header of a frame without a checksum whose content ends with
// another frame, stored as it is. The seek table tells that the frame inside is none of the file.
func TestRecoverFrameAtEnd(t *testing.T) {
	inner := bbtest.Encode(t, bbtest.TextBytes(3000, 1), compress.WithFormat(compress.Zstd))
	for nested := range 4 {
		for _, damaged := range []int{nested, max(nested-1, 0)} {
			var file, want []byte
			var list []zstfile.Entry
			begin, lost, size := 0, int64(0), int64(0)
			for i := range 4 {
				content := bbtest.RandomBytes(5000, uint64(i))
				if i == nested {
					content = slices.Concat(content, inner, inner)
				}
				frame := bbtest.StoredFrame(
					zstfile.Header{ContentSize: int64(len(content)), SingleSegment: true}, content)
				if i == damaged {
					begin = len(file)
				}
				if damaged <= i && i <= nested {
					lost, size = lost+1, size+int64(len(content))
				} else {
					want = append(want, content...)
				}
				file = append(file, frame...)
				list = append(list, zstfile.Entry{Size: uint32(len(frame)), Content: uint32(len(content))})
			}
			end := begin + 10
			if damaged < nested {
				end = begin + int(list[damaged].Size) + 10
			}
			file = append(file, bbtest.MakeSeekTable(false, list...)...)
			copy(file[begin:end], make([]byte, end-begin))
			got, damage := bbtest.RecoverAll(t, file)
			if len(damage) != 1 || damage[0].Kind != compress.DamageBlocks ||
				damage[0].Blocks != lost || damage[0].Content != size || !bytes.Equal(got, want) {
				t.Errorf("frames %d to %d: %d bytes of %d, %+v", damaged, nested, len(got), len(want), damage)
			}
		}
	}
}
