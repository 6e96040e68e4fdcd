package compress

import (
	"bytes"
	"slices"
	"testing"
)

// TestRecoverInserted inserts a copy of a part of a file into it. All blocks are at their places.
func TestRecoverInserted(t *testing.T) {
	content := textBytes(13*testBlock, 1) // no two blocks are the same
	file := encode(t, content, WithBlockSize(testBlock))
	blocks := slices.Collect(openAt(t, file).Blocks())
	at := func(block int) int { return int(blocks[block].Offset) }
	tail := at(12) + int(blocks[12].Size)
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
		checkPlaces(t, name, bad, content, file, blocks)
		got, damage := recoverAll(t, bad)
		if !bytes.Equal(got, content) || len(damage) == 0 || damage[0].Kind != DamageFrame {
			t.Errorf("%s: %d bytes of %d, damage %+v", name, len(got), len(content), damage)
		}
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
