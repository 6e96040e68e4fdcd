package compress

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
)

// insertedFile has one of its blocks twice.
type insertedFile struct {
	content, file, bad []byte
	blocks             []BlockInfo
	copyAt             int // where bad has the copy
}

func newInsertedFile(t *testing.T) (f insertedFile) {
	t.Helper()
	f.content = textBytes(13*testBlock, 1) // no two blocks are the same
	f.file = encode(t, f.content, WithBlockSize(testBlock))
	f.blocks = slices.Collect(openAt(t, f.file).Blocks())
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
		got, damage := recoverAll(t, bad)
		if !bytes.Equal(got, content) || len(damage) == 0 {
			t.Errorf("%s: %d bytes of %d, damage %+v", name, len(got), len(content), damage)
		}
	}
}

// TestRecoverInsertedTwice: the report says that blocks were left out, as they may be what is left of
// another stream. Blocks that follow one another make one report.
func TestRecoverInsertedTwice(t *testing.T) {
	f := newInsertedFile(t)
	for _, from := range []int64{3, 2, 0} {
		part := f.file[f.blocks[from].Offset:f.copyAt]
		_, list := recoverAll(t, slices.Concat(f.file[:f.copyAt], part, f.file[f.copyAt:]))
		f.checkTwice(t, list, from)
	}
	at := f.blocks[8].Offset + f.blocks[3].Size // of block 8
	apart := slices.Concat(f.bad[:at], f.file[f.blocks[7].Offset:f.blocks[8].Offset], f.bad[at:])
	_, list := recoverAll(t, apart)
	f.checkTwice(t, list, 3, 7)
}

// checkTwice compares the blocks that are reported as there twice, after the first one that has moved.
func (f *insertedFile) checkTwice(t *testing.T, list []Damage, want ...int64) {
	t.Helper()
	if len(list) != 1+len(want) || list[0].Kind != DamageFrame || list[0].Block != 4 {
		t.Fatalf("%+v, want that block 4 has moved, and copies of %v", list, want)
	}
	for i, d := range list[1:] {
		var e *Error
		if d.Kind != DamageUnknown || d.Block != want[i] || !errors.As(d.Err, &e) || e.Part != PartStray ||
			i == 0 && e.Offset != int64(f.copyAt) {
			t.Errorf("%+v, want a copy of block %d", d, want[i])
		}
	}
}

// TestRecoverInsertedHeader: the header of the file is lost too.
func TestRecoverInsertedHeader(t *testing.T) {
	f := newInsertedFile(t)
	f.bad[0] ^= 1
	got, list := recoverAll(t, f.bad)
	if !bytes.Equal(got, f.content) || len(list) != 3 || partOf(list[0].Err) != PartHeader {
		t.Errorf("%d bytes of %d, damage %+v", len(got), len(f.content), list)
	}
	// Without the header, only the blocks tell that they have no checks.
	file := encode(t, f.content, WithBlockSize(testBlock), WithChecksum(false))
	bad := slices.Concat(file[:f.copyAt], file[f.blocks[3].Offset:f.copyAt], file[f.copyAt:])
	bad[0] ^= 1
	if got, list := recoverAll(t, bad); len(got) < len(f.content) {
		t.Errorf("without checks: %d bytes of %d, damage %+v", len(got), len(f.content), list)
	}
}

// TestRecoverInsertedLimit: the content that is intact fits the limit, that of the whole file does not.
func TestRecoverInsertedLimit(t *testing.T) {
	f := newInsertedFile(t)
	clear(f.bad[f.blocks[7].Offset:f.blocks[12].Offset])
	want, _ := recoverAll(t, f.bad)
	got, _ := recoverAll(t, f.bad, WithMaxDecodedSize(int64(len(want)+testBlock)))
	if !bytes.Contains(got, f.content[:4*testBlock]) {
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
		src := readerAtFunc(func(p []byte, off int64) (int, error) {
			if off < c.from+8 && off+int64(len(p)) > c.from {
				n, _ := bytes.NewReader(c.bad).ReadAt(p[:max(0, c.from-off)], off)
				return n, unreadable
			}
			return bytes.NewReader(c.bad).ReadAt(p, off)
		})
		found := false
		err := Recover(io.Discard, src, int64(len(c.bad)), func(d Damage) error {
			found = found || errors.Is(d.Err, unreadable)
			return nil
		})
		if err != nil || !found {
			t.Errorf("%s: error %v, the failed read was reported: %v", c.name, err, found)
		}
	}
}

// TestRecoverInsertedMemory: where the memory is enough for a search without the index, nothing fails
// and nothing is lost.
func TestRecoverInsertedMemory(t *testing.T) {
	var b bytes.Buffer
	w := newWriter(t, &b, WithBlockSize(testBlock))
	content := textBytes(200_000, 1)
	for p := range slices.Chunk(content, 10) {
		w.Write(p)
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	blocks := slices.Collect(openAt(t, file).Blocks())
	at := blocks[1000].Offset
	bad := slices.Concat(file[:at], file[:at-9], file[at:]) // the last block of the copy is cut
	searched, placed := false, false
	for limit := int64(1 << 20); !placed && limit < 8<<20; limit += 128 << 10 {
		var got bytes.Buffer
		err := Recover(&got, bytes.NewReader(bad), int64(len(bad)), nil, WithMaxMemory(limit))
		placed = bytes.Equal(got.Bytes(), content)
		switch {
		case errors.Is(err, ErrMemory) && !searched:
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

// TestRecoverInsertedStreams: what is left of a stream in front of a longer one is no inserted data. The
// blocks of both are stored, and so have equal index entries.
func TestRecoverInsertedStreams(t *testing.T) {
	content := randomBytes(30*testBlock, 1)
	first := encode(t, content[:5*testBlock], WithBlockSize(testBlock))
	second := encode(t, content[5*testBlock:], WithBlockSize(testBlock))
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
		got, damage := recoverAll(t, bad)
		if !bytes.HasPrefix(got, content[:5*testBlock]) || !bytes.HasSuffix(got, content[29*testBlock:]) {
			t.Errorf("%s: %d bytes of %d, damage %+v", name, len(got), len(content), damage)
		}
	}
}

// TestRecoverHighNumbers: bytes that look like blocks have numbers that no int of 32 bits can hold.
func TestRecoverHighNumbers(t *testing.T) {
	f := newInsertedFile(t)
	e := pzfile.NewEntry(pzfile.Fill, 1, testBlock, false)
	var blocks []byte
	for number := int64(1<<31 + 5); number < 1<<31+8; number++ {
		blocks = append(pzfile.AppendBlockHeader(blocks, e, 1, number), 0)
	}
	bad := bytes.Clone(f.file)
	clear(bad[:f.blocks[0].Offset])
	copy(bad[f.blocks[0].Offset:], blocks)
	if got, list := recoverAll(t, bad); !bytes.HasSuffix(got, f.content[testBlock:]) {
		t.Errorf("%d bytes of %d, damage %+v", len(got), len(f.content), list)
	}
}
