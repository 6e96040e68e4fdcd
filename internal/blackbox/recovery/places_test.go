package recovery

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// TestRecoverPlaces damages files whose indexes stay intact. With zeros for what is lost, each
// intact block must be where it was, and the content as long as it was.
func TestRecoverPlaces(t *testing.T) {
	content := bbtest.TextBytes(30*bbtest.BlockSize+9, 1) // no two blocks are the same
	half := 11*bbtest.BlockSize + 7
	var flushed bytes.Buffer
	w := bbtest.NewWriter(t, &flushed, compress.WithBlockSize(bbtest.BlockSize))
	for p := range slices.Chunk(content[:half], bbtest.BlockSize/3) {
		w.Write(p)
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	first := bbtest.Encode(t, content[:half], compress.WithBlockSize(bbtest.BlockSize))
	second := bbtest.Encode(t, content[half:], compress.WithBlockSize(bbtest.BlockSize))
	rounds := 60
	if testenv.All() {
		rounds = 1000
	}
	for name, streams := range map[string][][]byte{
		"one":     {bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))},
		"two":     {first, second},
		"flushed": {flushed.Bytes(), second},
	} {
		blocks := slices.Collect(bbtest.OpenAt(t, slices.Concat(streams...)).Blocks())
		for seed := range rounds {
			r := rand.New(rand.NewPCG(uint64(seed), 9))
			list := slices.Clone(streams)
			list[seed%len(list)] = damageBlocks(t, list[seed%len(list)], seed/2%4, r)
			checkPlaces(t, fmt.Sprintf("%s, round %d", name, seed), slices.Concat(list...), content,
				slices.Concat(streams...), blocks)
		}
	}
}

// damageBlocks overwrites, deletes, inserts or moves a piece in front of the index of a stream.
func damageBlocks(t *testing.T, stream []byte, kind int, r *rand.Rand) []byte {
	f, err := pzfile.ParseFooter(stream[len(stream)-pzfile.FooterSize:])
	if err != nil {
		t.Fatal(err)
	}
	tail := len(stream) - int(pzfile.TailSize(f.Units))
	from := r.IntN(tail)
	to := min(from+1+r.IntN(1<<r.IntN(15)), tail)
	random := bbtest.RandomBytes(to-from, r.Uint64())
	switch kind {
	case 0:
		return slices.Concat(stream[:from], random, stream[to:])
	case 1:
		return slices.Concat(stream[:from], stream[to:])
	case 3: // the file stays as long as it was
		rest, at := slices.Concat(stream[:from], stream[to:]), r.IntN(tail-(to-from)+1)
		return slices.Insert(rest, at, random...)
	}
	return slices.Concat(stream[:from], random, stream[from:])
}

// checkPlaces recovers a damaged file with zeros. blocks are those of the intact file.
func checkPlaces(t *testing.T, name string, bad, content, file []byte, blocks []compress.BlockInfo) {
	t.Helper()
	got, list := bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
	if len(got) != len(content) {
		t.Errorf("%s: %d bytes of %d: %+v", name, len(got), len(content), list)
		return
	}
	for _, b := range blocks {
		from, to := b.ContentOffset, b.ContentOffset+b.Content
		intact := bytes.Contains(bad, file[b.Offset:b.Offset+b.Size])
		if intact && !bytes.Equal(got[from:to], content[from:to]) {
			t.Errorf("%s: stream %d block %d is missing: %+v", name, b.Stream, b.Number, list)
		}
	}
}

// TestRecoverSwappedBlocks swaps two blocks of files with an intact index. All content comes back,
// and the damage is reported.
func TestRecoverSwappedBlocks(t *testing.T) {
	content := bbtest.TextBytes(9*bbtest.BlockSize+9, 1)
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		file := bbtest.Encode(t, content, compress.WithFormat(format),
			compress.WithBlockSize(bbtest.BlockSize))
		blocks := slices.Collect(bbtest.OpenAt(t, file).Blocks())
		a, b := blocks[3].Offset, blocks[4].Offset
		end := b + blocks[4].Size
		bad := slices.Concat(file[:a], file[b:end], file[a:b], file[end:])
		got, list := bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
		bbtest.Equal(t, got, content, fmt.Sprint(format))
		if len(list) != 1 || list[0].Err == nil {
			t.Errorf("%v: %+v, want one damage", format, list)
			continue
		}
		list[0].Err = nil
		want := compress.Damage{Kind: compress.DamageFrame, Block: 3, ContentOffset: 3 * bbtest.BlockSize}
		if list[0] != want {
			t.Errorf("%v: %+v, want %+v", format, list[0], want)
		}
	}
}

// TestRecoverPartInFront inserts a part of a block in front of the block, and deletes as many bytes
// behind it. The header of the part is where the index says.
func TestRecoverPartInFront(t *testing.T) {
	content := bbtest.TextBytes(9*bbtest.BlockSize+9, 1)
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		file := bbtest.Encode(t, content, compress.WithFormat(format),
			compress.WithBlockSize(bbtest.BlockSize))
		blocks := slices.Collect(bbtest.OpenAt(t, file).Blocks())
		for k := range 7 {
			at, cut := blocks[k].Offset, blocks[7].Offset+200
			bad := slices.Concat(file[:at], file[at:at+100], file[at:cut], file[cut+100:])
			checkPlaces(t, fmt.Sprintf("%v, block %d", format, k), bad, content, file, blocks)
		}
	}
}

// insertedFile has one of its blocks twice.
type insertedFile struct {
	content, file, bad []byte
	blocks             []compress.BlockInfo
	copyAt             int // where bad has the copy
}

func newInsertedFile(t *testing.T) (f insertedFile) {
	t.Helper()
	f.content = bbtest.TextBytes(13*bbtest.BlockSize, 1) // no two blocks are the same
	f.file = bbtest.Encode(t, f.content, compress.WithBlockSize(bbtest.BlockSize))
	f.blocks = slices.Collect(bbtest.OpenAt(t, f.file).Blocks())
	f.copyAt = int(f.blocks[4].Offset)
	f.bad = slices.Concat(f.file[:f.copyAt], f.file[f.blocks[3].Offset:f.copyAt], f.file[f.copyAt:])
	return f
}

// TestRecoverInserted inserts a copy of a part of a file into it. All blocks are at their places.
func TestRecoverInserted(t *testing.T) {
	f := newInsertedFile(t)
	content, file := f.content, f.file
	at := func(block int) int { return int(f.blocks[block].Offset) }
	tail := at(12) + int(f.blocks[12].Size)
	for name, c := range map[string]struct{ to, from, end int }{
		"a block twice":                {at(4), at(3), at(4)},
		"the first block twice":        {at(1), at(0), at(1)},
		"the last block twice":         {tail, at(12), tail},
		"two blocks farther behind":    {at(7), at(3), at(5)},
		"two blocks farther in front":  {at(3), at(7), at(9)},
		"a part of two blocks":         {at(7), at(3) + 50, at(5) - 50},
		"the index":                    {at(7), tail, len(file)},
		"the beginning":                {at(7), 0, at(3)},
		"a block right before its own": {at(6), at(6), at(7)},
	} {
		bad := slices.Concat(file[:c.to], file[c.from:c.end], file[c.to:])
		checkPlaces(t, name, bad, content, file, f.blocks)
		got, damage := bbtest.RecoverAll(t, bad)
		if !bytes.Equal(got, content) || len(damage) == 0 {
			t.Errorf("%s: %d bytes of %d, damage %+v", name, len(got), len(content), damage)
		}
	}
}

// TestRecoverInsertedTwice: the report says that blocks were left out, as they may be what is left
// of another stream. Blocks that follow one another make one report.
func TestRecoverInsertedTwice(t *testing.T) {
	f := newInsertedFile(t)
	for _, from := range []int64{3, 2, 0} {
		part := f.file[f.blocks[from].Offset:f.copyAt]
		_, list := bbtest.RecoverAll(t, slices.Concat(f.file[:f.copyAt], part, f.file[f.copyAt:]))
		f.checkTwice(t, list, from)
	}
	at := f.blocks[8].Offset + f.blocks[3].Size // of block 8
	apart := slices.Concat(f.bad[:at], f.file[f.blocks[7].Offset:f.blocks[8].Offset], f.bad[at:])
	_, list := bbtest.RecoverAll(t, apart)
	f.checkTwice(t, list, 3, 7)
}

// checkTwice compares the blocks that are reported as there twice, after the first one that has
// moved.
func (f *insertedFile) checkTwice(t *testing.T, list []compress.Damage, want ...int64) {
	t.Helper()
	if len(list) != 1+len(want) || list[0].Kind != compress.DamageFrame || list[0].Block != 4 {
		t.Fatalf("%+v, want that block 4 has moved, and copies of %v", list, want)
	}
	for i, d := range list[1:] {
		var e *compress.Error
		if d.Kind != compress.DamageUnknown || d.Block != want[i] || !errors.As(d.Err, &e) ||
			e.Part != compress.PartStray ||
			i == 0 && e.Offset != int64(f.copyAt) {
			t.Errorf("%+v, want a copy of block %d", d, want[i])
		}
	}
}

// TestRecoverInsertedHeader: the header of the file is lost too.
func TestRecoverInsertedHeader(t *testing.T) {
	f := newInsertedFile(t)
	f.bad[0] ^= 1
	got, list := bbtest.RecoverAll(t, f.bad)
	if !bytes.Equal(got, f.content) || len(list) != 3 || bbtest.PartOf(list[0].Err) != compress.PartHeader {
		t.Errorf("%d bytes of %d, damage %+v", len(got), len(f.content), list)
	}
	// Without the header, only the blocks tell that they have no checks.
	file := bbtest.Encode(t, f.content, compress.WithBlockSize(bbtest.BlockSize),
		compress.WithChecksum(false))
	bad := slices.Concat(file[:f.copyAt], file[f.blocks[3].Offset:f.copyAt], file[f.copyAt:])
	bad[0] ^= 1
	if got, list := bbtest.RecoverAll(t, bad); len(got) < len(f.content) {
		t.Errorf("without checks: %d bytes of %d, damage %+v", len(got), len(f.content), list)
	}
}

// TestRecoverInsertedLimit: the content that is intact fits the limit, that of the whole file does
// not.
func TestRecoverInsertedLimit(t *testing.T) {
	f := newInsertedFile(t)
	clear(f.bad[f.blocks[7].Offset:f.blocks[12].Offset])
	want, _ := bbtest.RecoverAll(t, f.bad)
	got, _ := bbtest.RecoverAll(t, f.bad, compress.WithMaxDecodedSize(int64(len(want)+bbtest.BlockSize)))
	if !bytes.Contains(got, f.content[:4*bbtest.BlockSize]) {
		t.Errorf("%d bytes, want the intact blocks", len(got))
	}
}

// TestRecoverInsertedUnreadable: what cannot be read is reported as such, in a block that is there
// twice or in another one.
func TestRecoverInsertedUnreadable(t *testing.T) {
	f := newInsertedFile(t)
	last := f.blocks[12]
	tail := last.Offset + last.Size
	lastTwice := slices.Concat(f.file[:tail], f.file[last.Offset:])
	unreadable := errors.New("unreadable")
	for _, c := range []struct {
		name string
		bad  []byte
		from int64
	}{
		{"header of a block", f.bad, f.blocks[9].Offset + f.blocks[3].Size},
		{"payload of a copy", f.bad, int64(f.copyAt) + 100},
		{"payload of the last block's copy", lastTwice, tail + 100},
	} {
		src := bbtest.ReaderAtFunc(func(p []byte, off int64) (int, error) {
			if off < c.from+8 && off+int64(len(p)) > c.from {
				n, _ := bytes.NewReader(c.bad).ReadAt(p[:max(0, c.from-off)], off)
				return n, unreadable
			}
			return bytes.NewReader(c.bad).ReadAt(p, off)
		})
		found := false
		err := compress.Recover(io.Discard, src, int64(len(c.bad)), func(d compress.Damage) error {
			found = found || errors.Is(d.Err, unreadable)
			return nil
		})
		if err != nil || !found {
			t.Errorf("%s: error %v, the failed read was reported: %v", c.name, err, found)
		}
	}
}

// TestRecoverInsertedMemory: where the memory is enough for a search without the index, nothing
// fails and nothing is lost.
func TestRecoverInsertedMemory(t *testing.T) {
	var b bytes.Buffer
	w := bbtest.NewWriter(t, &b, compress.WithBlockSize(bbtest.BlockSize))
	content := bbtest.TextBytes(200_000, 1)
	for p := range slices.Chunk(content, 10) {
		w.Write(p)
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	blocks := slices.Collect(bbtest.OpenAt(t, file).Blocks())
	at := blocks[1000].Offset
	bad := slices.Concat(file[:at], file[:at-9], file[at:]) // the last block of the copy is cut
	searched, placed := false, false
	for limit := int64(1 << 20); !placed && limit < 8<<20; limit += 128 << 10 {
		var got bytes.Buffer
		err := compress.Recover(&got, bytes.NewReader(bad), int64(len(bad)), nil,
			compress.WithMaxMemory(limit))
		placed = bytes.Equal(got.Bytes(), content)
		switch {
		case errors.Is(err, compress.ErrMemory) && !searched:
		case err != nil || got.Len() < len(content):
			t.Fatalf("%d bytes of memory: %d bytes of content, error %v", limit, got.Len(), err)
		default:
			searched = searched || !placed
		}
	}
	if !searched || !placed {
		t.Errorf("searched %v, placed %v", searched, placed)
	}
}

// TestRecoverInsertedStreams: what is left of a stream in front of a longer one is no inserted
// data. The blocks of both are stored, and so have equal index entries.
func TestRecoverInsertedStreams(t *testing.T) {
	content := bbtest.RandomBytes(30*bbtest.BlockSize, 1)
	first := bbtest.Encode(t, content[:5*bbtest.BlockSize], compress.WithBlockSize(bbtest.BlockSize))
	second := bbtest.Encode(t, content[5*bbtest.BlockSize:], compress.WithBlockSize(bbtest.BlockSize))
	flip := func(file []byte, at int) []byte {
		file = bytes.Clone(file)
		file[at] ^= 1
		return file
	}
	for name, bad := range map[string][]byte{
		"first footer damaged":         slices.Concat(flip(first, len(first)-5), second),
		"second header damaged":        slices.Concat(first, flip(second, 3)),
		"bytes inserted in the second": slices.Concat(first, second[:9000], make([]byte, 100), second[9000:]),
	} {
		got, damage := bbtest.RecoverAll(t, bad)
		if !bytes.HasPrefix(got, content[:5*bbtest.BlockSize]) ||
			!bytes.HasSuffix(got, content[29*bbtest.BlockSize:]) {
			t.Errorf("%s: %d bytes of %d, damage %+v", name, len(got), len(content), damage)
		}
	}
}

// TestRecoverHighNumbers: bytes that look like blocks have numbers that no int of 32 bits can hold.
func TestRecoverHighNumbers(t *testing.T) {
	f := newInsertedFile(t)
	e := pzfile.NewEntry(pzfile.Fill, 1, bbtest.BlockSize, false)
	var blocks []byte
	for number := int64(1<<31 + 5); number < 1<<31+8; number++ {
		blocks = append(pzfile.AppendBlockHeader(blocks, e, 1, number), 0)
	}
	bad := bytes.Clone(f.file)
	clear(bad[:f.blocks[0].Offset])
	copy(bad[f.blocks[0].Offset:], blocks)
	if got, list := bbtest.RecoverAll(t, bad); !bytes.HasSuffix(got, f.content[bbtest.BlockSize:]) {
		t.Errorf("%d bytes of %d, damage %+v", len(got), len(f.content), list)
	}
}
