package parity

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress"
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
	equal.ID = xxhash.Sum64(makeCatalog([][]byte{zeros}))
	section := appendSection(nil, equal, [][]byte{zeros}, makeCatalog([][]byte{zeros}))
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
		first: end, last: end, from: []int64{nowhere}, missing: 1,
	}
	f := &file{src: bytes.NewReader(data), size: int64(len(data))}
	f.search(z)
	if z.missing != 1 {
		t.Errorf("%d slices missing", z.missing)
	}
}

// FuzzRepair repairs and verifies any bytes. If Repair says that the file is intact, it writes the
// same. If it returns no error, what it writes is intact, and a ReaderAt returns the same.
func FuzzRepair(f *testing.F) {
	r := newRand(31)
	o := Options{10, compress.PZ}
	s := write(f, o, randomZones(r, 2, 100, 3000)...)
	f.Add(s.data)
	f.Add(s.data[100:])
	f.Add(append(bytes.Clone(s.data[:200]), s.data...))
	f.Add(write(f, Options{100, compress.Zstd}, make([]byte, 1000)).data)
	f.Fuzz(func(t *testing.T, data []byte) { checkRepair(t, data, false) })
}

// checkRepair repairs and verifies any bytes, as FuzzRepair says. It reports whether they are
// intact after that. With forged packets only each zone is, for Repair copies what it takes for
// stray bytes.
func checkRepair(t *testing.T, data []byte, forged bool) bool {
	var out bytes.Buffer
	report, err := Repair(&out, bytes.NewReader(data), int64(len(data)))
	_, verr := Verify(bytes.NewReader(data), int64(len(data)))
	if (verr == nil) != (err == nil && report.Intact()) {
		t.Fatalf("Repair: %v, %+v; Verify: %v", err, report, verr)
	}
	if err == nil && report.Intact() && !bytes.Equal(out.Bytes(), data) {
		t.Fatal("the file is intact, but the output differs")
	}
	if err == nil && forged {
		checkZones(t, report, out.Bytes())
	} else if err == nil {
		again, err := Verify(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatalf("the repaired file is not intact: %v, %+v", err, again)
		}
	}
	reader, rerr := NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if rerr != nil {
		return err == nil
	}
	got, rerr := io.ReadAll(io.NewSectionReader(reader, 0, reader.Size()))
	if rerr != nil || err == nil && !bytes.Equal(got, out.Bytes()) {
		t.Fatalf("ReaderAt: %v, %d bytes; Repair wrote %d", rerr, len(got), out.Len())
	}
	return err == nil
}

// checkZones verifies each zone of a repaired file as a file of its own.
func checkZones(t *testing.T, report *Report, data []byte) {
	for i, z := range report.Zones {
		zone := data[z.Offset:]
		h, ok := section.Packet{}, false
		for _, frame := range []section.Zone{{}, {Zstd: true}} {
			if at := z.Size + int64(frame.HeaderSize()); !ok && at < int64(len(zone)) {
				h, ok = section.ParsePacket(zone[at:])
			}
		}
		if !ok || int64(h.Size) != z.Size || z.Size+h.SectionSize() > int64(len(zone)) {
			t.Fatalf("zone %d of %+v has no section", i, report)
		}
		zone = zone[:z.Size+h.SectionSize()]
		again, err := Verify(bytes.NewReader(zone), int64(len(zone)))
		// In front of it zones may be missing, and at the end.
		if n := len(again.Zones); n == 0 || again.Zones[n-1].State != Intact || (err == nil) && !h.Last {
			t.Fatalf("zone %d of %+v: %+v, %v", i, report, again, err)
		}
	}
}
