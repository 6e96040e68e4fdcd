package compress

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/zstfile"
)

// TestLostFrames checks that a Reader compares the frames that it has read with the seek table
// behind them. It must report missing, repeated and reordered frames, and accept frames in front of
// those that the table lists.
func TestLostFrames(t *testing.T) {
	// The last frames have the same size.
	content := slices.Concat(textBytes(5*testBlock+10, 1), randomBytes(4*testBlock, 2))
	written := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	var frames [][]byte
	for i := range 10 {
		frames = append(frames, written[frameAt(t, written, i):frameAt(t, written, i+1)])
	}
	seekTable := written[frameAt(t, written, 10):]
	with := func(list ...[]byte) []byte { return slices.Concat(slices.Concat(list...), seekTable) }
	e0 := seekEntry(frames[0], content[:testBlock])
	e1 := seekEntry(frames[1], content[testBlock:2*testBlock])
	unsized := zstdStream(t, content[:3000], 700)
	skip := skippableFrame(zstfile.SeekTableKind, []byte("no seek table"))
	empty := storedFrame(zstfile.Header{ContentSize: -1, Window: 1 << 10, Checksum: true}, nil)
	mixed := slices.Concat(skip, unsized, empty, frames[1],
		makeSeekTable(true, seekEntry(unsized, content[:3000]), seekEntry(empty, nil), e1))
	mixedContent := slices.Concat(content[:3000], content[testBlock:2*testBlock])
	zst := []Option{WithFormat(Zstd), WithBlockSize(testBlock)}
	other := encode(t, content[:3*testBlock], append(zst, WithChecksum(false))...)
	for _, c := range []struct {
		name    string
		file    []byte
		content []byte // nil if the file is damaged
	}{
		{"whole", written, content},
		{
			"several", slices.Concat(mixed, written, other, written),
			slices.Concat(mixedContent, content, content[:3*testBlock], content),
		},
		{
			"unlisted frames in front", slices.Concat(frames[2], unsized, written),
			slices.Concat(content[2*testBlock:3*testBlock], content[:3000], content),
		},
		{
			"a table of the first frame, and one of all",
			slices.Concat(frames[0], makeSeekTable(false, e0), frames[1],
				makeSeekTable(false, e0, zstfile.Entry{Size: 25}, e1)),
			content[:2*testBlock],
		},
		{"an empty table", slices.Concat(written, makeSeekTable(true)), content},
		{
			"a table's frame that is one byte too short",
			append(slices.Concat(frames...),
				skippableFrame(zstfile.SeekTableKind, seekTable[9:])...),
			content,
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
		got, err := decodeSame(t, allReaders(t), c.file, c.name)
		if c.content != nil {
			if err != nil || !bytes.Equal(got, c.content) {
				t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
			}
		} else if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
	}
}

// TestDamagedSeekTable flips bits of the seek table in front of its footer. Without the footer it
// is no table, and a Reader ignores it.
func TestDamagedSeekTable(t *testing.T) {
	file := encode(t, textBytes(10*testBlock, 1), WithFormat(Zstd), WithBlockSize(testBlock))
	table := frameAt(t, file, 10)
	end := 8 * (len(file) - zstfile.SeekFooterSize)
	for bit := 8 * (table + zstfile.SkippableHeaderSize); bit < end; bit += 5 {
		bad := slices.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := decode(bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
}

// TestLargeSeekTable reads tables that arrive in pieces. The Reader remembers a limited number of
// frames in front of those that the table lists.
func TestLargeSeekTable(t *testing.T) {
	one := storedFrame(zstfile.Header{ContentSize: 1, SingleSegment: true}, []byte("x"))
	two := storedFrame(zstfile.Header{ContentSize: 2, SingleSegment: true}, []byte("xx"))
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
			_, err := decode(append(slices.Clone(c.file), makeSeekTable(sums, list...)...))
			if c.ok != (err == nil) || err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, checksums %v: %v", c.name, sums, err)
			}
		}
	}
}
