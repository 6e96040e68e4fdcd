package parity

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/testenv"
)

// checkFaulty repairs a file and compares what Repair, Verify and a ReaderAt say.
func checkFaulty(t *testing.T, src *testenv.BadSectors, want []byte) *Report {
	t.Helper()
	size := int64(len(src.Data))
	var out bytes.Buffer
	report, err := Repair(&out, src, size)
	if err != nil {
		t.Fatalf("bad sectors %v: %v, %+v", src.Bad, err, report)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Fatalf("bad sectors %v: the result differs", src.Bad)
	}
	if report.Intact() || report.ReadErr != testenv.ErrSector || report.Unreadable > 0 {
		t.Fatalf("bad sectors %v: %+v", src.Bad, report)
	}
	if _, err := Verify(src, size); err != nil && !errors.Is(err, errs.Corrupt) {
		t.Fatalf("bad sectors %v: Verify: %v", src.Bad, err)
	}
	r, err := NewReaderAt(src, size)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("bad sectors %v: ReaderAt: %v, exact %v", src.Bad, err, bytes.Equal(got, want))
	}
	return report
}

// TestUnreadable repairs files of which each sector in turn cannot be read: of zones, packets,
// headers and footers.
func TestUnreadable(t *testing.T) {
	r := newRand(50)
	for _, frame := range []compress.Format{compress.PZ, compress.Zstd} {
		s := write(t, Options{10, frame}, randomZones(r, 3, 100<<10, 200<<10)...)
		for sector := range (int64(len(s.data)) + container.Sector - 1) / container.Sector {
			checkFaulty(t, &testenv.BadSectors{Data: s.data, Bad: map[int64]bool{sector: true}}, s.data)
		}
	}
}

// TestUnreadableMany repairs a zone of which as many sectors cannot be read as there is parity, and
// a file that has also lost bytes.
func TestUnreadableMany(t *testing.T) {
	s := write(t, Options{10, compress.PZ}, random(newRand(51), 4<<20))
	g := s.zones[0]
	bad := map[int64]bool{}
	for i := range g.Parity {
		bad[int64(i*5*g.Slice)/container.Sector] = true
	}
	report := checkFaulty(t, &testenv.BadSectors{Data: s.data, Bad: bad}, s.data)
	if z := report.Zones[0]; z.State != Healed || z.Damaged != g.Parity {
		t.Errorf("%+v, want %d slices damaged", z, g.Parity)
	}
	cut := append(bytes.Clone(s.data[:1<<20]), s.data[1<<20+1000:]...)
	checkFaulty(t, &testenv.BadSectors{Data: cut, Bad: map[int64]bool{5: true, 700: true}}, s.data)
}

// TestUnreadableZeros reads around sectors whose content is zeros, as those that take their place
// are.
func TestUnreadableZeros(t *testing.T) {
	data := random(newRand(52), 1<<20)
	clear(data[200_000:600_000])
	s := write(t, Options{10, compress.PZ}, data)
	for _, sector := range []int64{60, 80, 100} {
		checkFaulty(t, &testenv.BadSectors{Data: s.data, Bad: map[int64]bool{sector: true}}, s.data)
	}
}

// TestUnreadableLost: what cannot be read and cannot be healed becomes zeros, and is an error.
func TestUnreadableLost(t *testing.T) {
	r := newRand(53)
	s := write(t, Options{1, compress.PZ}, random(r, 1<<20))
	src := &testenv.BadSectors{Data: bytes.Clone(s.data), Bad: map[int64]bool{}}
	want := bytes.Clone(s.data)
	for i := range 40 {
		src.Bad[int64(5*i)] = true
		clear(want[5*i*container.Sector:][:container.Sector])
	}
	var out bytes.Buffer
	report, err := Repair(&out, src, int64(len(src.Data)))
	if !errors.Is(err, errs.Corrupt) || report.Zones[0].State != Lost || report.ReadErr == nil ||
		report.Unreadable != 40*container.Sector || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("lost zone: %v, %+v", err, report)
	}
	reader, err := NewReaderAt(src, int64(len(src.Data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(io.NewSectionReader(reader, 0, reader.Size())); err != testenv.ErrSector {
		t.Errorf("ReaderAt of a lost zone: %v", err)
	}

	// Stray bytes have no parity.
	stray := random(r, 5*container.Sector)
	data := append(bytes.Clone(stray), s.data...)
	src = &testenv.BadSectors{Data: data, Bad: map[int64]bool{1: true, 3: true}}
	out.Reset()
	report, err = Repair(&out, src, int64(len(src.Data)))
	if !errors.Is(err, errs.Corrupt) || !errors.Is(err, testenv.ErrSector) ||
		report.Unreadable != 2*container.Sector || !bytes.HasSuffix(out.Bytes(), s.data) {
		t.Errorf("stray bytes: %v, %+v", err, report)
	}
	if _, err := Verify(src, int64(len(src.Data))); !errors.Is(err, testenv.ErrSector) {
		t.Errorf("Verify: %v", err)
	}

	// Nothing can be read.
	for i := range int64(len(src.Data)) {
		src.Bad[i] = true
	}
	out.Reset()
	if _, err := Repair(&out, src, int64(len(src.Data))); err != testenv.ErrSector || out.Len() > 0 {
		t.Errorf("a file that cannot be read: %v", err)
	}
}
