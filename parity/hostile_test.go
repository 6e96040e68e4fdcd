package parity

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/testenv"
)

// counting counts the bytes that are read.
type counting struct {
	*bytes.Reader
	read int64
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(p, at)
	c.read += int64(n)
	return n, err
}

// hostileFiles returns files that ask for much memory or work.
func hostileFiles() map[string][]byte {
	r := newRand(30)
	packets := func(n int, g section.Zone, body []byte, header func(i int, g *section.Zone)) []byte {
		var file []byte
		for i := range n {
			header(i, &g)
			file = append(g.AppendPacketHeader(file, i%g.Pieces(), body), body...)
		}
		return file
	}
	large := section.Zone{Size: MaxZone, Slice: 16 << 10, Parity: 1 << 14}
	small := section.Zone{Size: 2 << 20, Slice: 64, Parity: 1 << 14 / 2}
	piece := make([]byte, large.PieceSize())
	files := map[string][]byte{
		// Each packet is of another zone of 256 MiB.
		"many zones": packets(400, large, piece,
			func(i int, g *section.Zone) { g.ID = uint64(i) }),
		// All headers are intact, and no body is.
		"false bodies": packets(40_000, section.Zone{Size: 1 << 20, Slice: section.MaxSlice, Parity: 1},
			nil, func(i int, g *section.Zone) { g.Offset = int64(i) }),
	}
	// The catalog asks for a CRC32C that all places have, and for another XXH64.
	zeros := make([]byte, small.Slice)
	catalog := make([]byte, 0, section.EntrySize*small.Slices())
	for i := range small.Slices() {
		e := entry(zeros)&(1<<32-1) | uint64(i+1)<<32
		for k := range section.EntrySize {
			catalog = append(catalog, byte(e>>(8*k)))
		}
	}
	small.ID = xxhash.Sum64(catalog)
	file := make([]byte, small.Size)
	for i, p := range cutSlices(catalog, small.PieceSize()) {
		file = append(small.AppendPacketHeader(file, i, p), p...)
	}
	files["false zeros"] = file
	// Thousands of equal sections.
	equal := section.Zone{Size: 64, Slice: 64, Parity: 1, Last: true}
	section := appendSection(nil, equal, [][]byte{zeros})
	files["equal sections"] = bytes.Repeat(section, 5000)
	files["random"] = random(r, 100_000)
	return files
}

// TestHostile bounds what is read and allocated for files that claim much.
func TestHostile(t *testing.T) {
	testenv.Measures(t)
	for name, data := range hostileFiles() {
		src := &counting{Reader: bytes.NewReader(data)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Repair(io.Discard, src, int64(len(data)))
		runtime.ReadMemStats(&after)
		if err == nil && name != "equal sections" { // their zone heals
			t.Errorf("%s: no error", name)
		}
		if limit := 16*int64(len(data)) + 8<<20; src.read > limit {
			t.Errorf("%s: %d bytes read of %d, want at most %d", name, src.read, len(data), limit)
		}
		got, limit := after.TotalAlloc-before.TotalAlloc, uint64(16*len(data)+32<<20)
		if got > limit {
			t.Errorf("%s: %d bytes allocated for %d, want at most %d", name, got, len(data), limit)
		}
	}
}

// TestBudget: windows with the CRC32C of a slice that are none end a search. Without a budget it
// would hash 500 GB.
func TestBudget(t *testing.T) {
	data := make([]byte, 8<<20)
	end := &row{at: int64(len(data)), end: int64(len(data))}
	z := &zone{
		group: &group{
			Zone:    section.Zone{Size: 1 << 16, Slice: 1 << 16},
			catalog: binary.LittleEndian.AppendUint64(nil, entry(data[:1<<16])^1<<63),
		},
		first: end, last: end, slots: &slots{from: []int64{nowhere}, missing: 1},
	}
	f := &file{src: bytes.NewReader(data), size: int64(len(data))}
	f.search(z)
	if z.slots.missing != 1 {
		t.Errorf("%d slices missing", z.slots.missing)
	}
}
