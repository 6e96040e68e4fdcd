package compress

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
)

// insertedFile has one of its blocks twice.
type insertedFile struct {
	content, file, bad []byte
	blocks             []BlockInfo
	copyAt             int // where bad has the copy
}

func newInsertedFile(t *testing.T, blocks int) (f insertedFile) {
	t.Helper()
	f.content = textBytes(blocks*testBlock, 1) // no two blocks are the same
	f.file = encode(t, f.content, WithBlockSize(testBlock))
	f.blocks = slices.Collect(openAt(t, f.file).Blocks())
	f.copyAt = int(f.blocks[4].Offset)
	f.bad = slices.Concat(f.file[:f.copyAt], f.file[f.blocks[3].Offset:f.copyAt], f.file[f.copyAt:])
	return f
}

// TestRecoverInserted inserts a copy of a part of a file into it. All blocks are at their places.
func TestRecoverInserted(t *testing.T) {
	f := newInsertedFile(t, 13)
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
// another stream.
func TestRecoverInsertedTwice(t *testing.T) {
	f := newInsertedFile(t, 13)
	_, list := recoverAll(t, f.bad)
	if len(list) != 2 || list[0].Kind != DamageFrame || list[0].Block != 4 {
		t.Fatalf("%+v, want a moved block and a copy", list)
	}
	var e *Error
	d := list[1]
	if d.Kind != DamageUnknown || d.Block != 3 || !errors.As(d.Err, &e) || e.Offset != int64(f.copyAt) {
		t.Errorf("%+v, want a copy of block 3 at %d", d, f.copyAt)
	}
}

// TestRecoverInsertedUnreadable: what cannot be read is reported as such, with a copy or without.
func TestRecoverInsertedUnreadable(t *testing.T) {
	f := newInsertedFile(t, 13)
	unreadable := errors.New("unreadable")
	from := f.blocks[9].Offset + f.blocks[3].Size // its header
	src := readerAtFunc(func(p []byte, off int64) (int, error) {
		if off < from+8 && off+int64(len(p)) > from {
			n, _ := bytes.NewReader(f.bad).ReadAt(p[:max(0, from-off)], off)
			return n, unreadable
		}
		return bytes.NewReader(f.bad).ReadAt(p, off)
	})
	found := false
	err := Recover(io.Discard, src, int64(len(f.bad)), func(d Damage) error {
		found = found || errors.Is(d.Err, unreadable)
		return nil
	})
	if err != nil || !found {
		t.Errorf("error %v, the failed read was reported: %v", err, found)
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
	bad := slices.Concat(file[:at], file[:at-9], file[at:])
	searched, placed := false, false
	for limit := int64(1 << 20); !placed && limit < 8<<20; limit += 128 << 10 {
		var got bytes.Buffer
		err := Recover(&got, bytes.NewReader(bad), int64(len(bad)), nil, WithMaxMemory(limit))
		switch placed = bytes.Equal(got.Bytes(), content); {
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
