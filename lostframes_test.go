package compress

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/zstfile"
)

// A seek table shows a Reader which frames in front of it are missing, there twice, or in another order; and it says nothing of frames that are not its own.
func TestLostFrames(t *testing.T) {
	content := slices.Concat(textBytes(5*testBlock+10, 1), randomBytes(4*testBlock, 2)) // the last frames have all the same size
	ours := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	var frames [][]byte
	for i := range 10 {
		frames = append(frames, ours[frameAt(t, ours, i):frameAt(t, ours, i+1)])
	}
	seekTable := ours[frameAt(t, ours, 10):]
	with := func(list ...[]byte) []byte { return slices.Concat(slices.Concat(list...), seekTable) }
	unsized := zstdStream(t, content[:3000], 700)
	skip := skippable(zstfile.SeekTableKind, []byte("no seek table"))
	empty := zstdRaw(zstfile.Header{ContentSize: -1, Window: 1 << 10, Checksum: true}, nil)
	mixed := slices.Concat(skip, unsized, empty, frames[1], table(true, entry(unsized, content[:3000]), entry(empty, nil), entry(frames[1], content[testBlock:2*testBlock])))
	mixedContent := slices.Concat(content[:3000], content[testBlock:2*testBlock])
	other := encode(t, content[:3*testBlock], WithPipeline("lzf"), WithBlockSize(testBlock), WithChecksum(false))
	readers := allReaders(t)
	for _, c := range []struct {
		name    string
		file    []byte
		content []byte // nil: damaged
	}{
		{"whole", ours, content},
		{"several", slices.Concat(mixed, ours, other, ours), slices.Concat(mixedContent, content, content[:3*testBlock], content)},
		{"frames in front that are not its own", slices.Concat(frames[2], unsized, ours), slices.Concat(content[2*testBlock:3*testBlock], content[:3000], content)},
		{"a table of all behind one of the first", slices.Concat(frames[0], table(false, entry(frames[0], content[:testBlock])), frames[1],
			table(false, entry(frames[0], content[:testBlock]), zstfile.Entry{Size: 25}, entry(frames[1], content[testBlock:2*testBlock]))), content[:2*testBlock]},
		{"an empty table", slices.Concat(ours, table(true)), content},
		{"one byte less in the table's frame", append(slices.Concat(frames...), skippable(zstfile.SeekTableKind, seekTable[9:])...), content},

		{"first frame missing", with(frames[1:]...), nil},
		{"a frame missing", with(slices.Delete(slices.Clone(frames), 3, 4)...), nil},
		{"last frame missing", with(frames[:9]...), nil},
		{"a frame twice", with(slices.Insert(slices.Clone(frames), 4, frames[3])...), nil},
		{"the last one twice, which has the size of those around it", with(append(slices.Clone(frames), frames[9])...), nil},
		{"another order", with(append(slices.Clone(frames[:7]), frames[8], frames[7], frames[9])...), nil},
		{"no frame", seekTable, nil},
		{"missing in the second of two files", append(slices.Clone(other), with(frames[1:]...)...), nil},
		{"missing in a file of all sorts", append(slices.Clone(frames[1]), mixed[len(mixed)-12*3-17:]...), nil},
	} {
		got, err := sameEverywhere(t, readers, c.file, c.name)
		if c.content != nil {
			if err != nil || !bytes.Equal(got, c.content) {
				t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
			}
		} else if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
	}
	// A flipped bit in the table is damage as well, where it is not in the footer, by which the table is known.
	for bit := 8 * zstfile.SkippableHeaderSize; bit < 8*(len(seekTable)-zstfile.SeekFooterSize); bit += 5 {
		bad := slices.Clone(ours)
		bad[len(ours)-len(seekTable)+bit/8] ^= 1 << (bit % 8)
		if _, err := decode(bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
}

// Large tables come in pieces; and only so many frames in front of them are remembered.
func TestLargeSeekTable(t *testing.T) {
	one := zstdRaw(zstfile.Header{ContentSize: 1, SingleSegment: true}, []byte("x"))
	two := zstdRaw(zstfile.Header{ContentSize: 2, SingleSegment: true}, []byte("xx"))
	const keptPrefixes = 1 << 10 // as in package zstfile
	const n = 3 * keptPrefixes
	list := slices.Repeat([]zstfile.Entry{entry(one, []byte("x"))}, n)
	list[5] = entry(two, []byte("xx"))
	frames := slices.Concat(bytes.Repeat(one, 5), two, bytes.Repeat(one, n-6))
	for _, c := range []struct {
		name string
		file []byte
		ok   bool
	}{
		{"whole", frames, true},
		{"one in front", append(slices.Clone(two), frames...), true},
		{"as many in front as are remembered", append(bytes.Repeat(one, keptPrefixes), frames...), true},
		{"more", append(bytes.Repeat(one, keptPrefixes+1), frames...), true},
		{"wrong ones", slices.Concat(bytes.Repeat(one, 4), two, bytes.Repeat(one, n-5)), false},
		{"one missing", frames[len(one):], false},
	} {
		for _, sums := range []bool{false, true} {
			_, err := decode(append(slices.Clone(c.file), table(sums, list...)...))
			if c.ok != (err == nil) || err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, sums %v: %v", c.name, sums, err)
			}
		}
	}
}
