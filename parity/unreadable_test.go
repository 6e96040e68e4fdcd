package parity

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

var errUnreadable = errors.New("input/output error")

// faulty is a file of which some sectors cannot be read.
type faulty struct {
	data []byte
	bad  map[int64]bool // by number of the sector
}

func (f *faulty) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if at >= int64(len(f.data)) {
			return n, io.EOF
		}
		sector := at / container.Sector
		if f.bad[sector] {
			return n, errUnreadable
		}
		end := min(int64(len(f.data)), (sector+1)*container.Sector)
		n += copy(p[n:], f.data[at:end])
	}
	return n, nil
}

// checkFaulty repairs a file and compares what Repair, Verify and a ReaderAt say.
func checkFaulty(t *testing.T, src *faulty, want []byte) *Report {
	t.Helper()
	size := int64(len(src.data))
	var out bytes.Buffer
	report, err := Repair(&out, src, size)
	if err != nil {
		t.Fatalf("bad sectors %v: %v, %+v", src.bad, err, report)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Fatalf("bad sectors %v: the result differs", src.bad)
	}
	if report.Intact() || report.ReadErr != errUnreadable || report.Unreadable > 0 {
		t.Fatalf("bad sectors %v: %+v", src.bad, report)
	}
	if _, err := Verify(src, size); err != nil && !errors.Is(err, errs.Corrupt) {
		t.Fatalf("bad sectors %v: Verify: %v", src.bad, err)
	}
	r, err := NewReaderAt(src, size)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("bad sectors %v: ReaderAt: %v, exact %v", src.bad, err, bytes.Equal(got, want))
	}
	return report
}

// TestUnreadable repairs files of which each sector in turn cannot be read: of zones, packets, headers
// and footers.
func TestUnreadable(t *testing.T) {
	r := newRand(50)
	for _, frame := range []Frame{PZ, Zstd} {
		s := write(t, Options{10, frame}, randomZones(r, 3, 100<<10, 200<<10)...)
		for sector := range (int64(len(s.data)) + container.Sector - 1) / container.Sector {
			checkFaulty(t, &faulty{s.data, map[int64]bool{sector: true}}, s.data)
		}
	}
}

// TestUnreadableMany repairs a zone of which as many sectors cannot be read as there is parity, and a
// file that has also lost bytes.
func TestUnreadableMany(t *testing.T) {
	s := write(t, Options{10, PZ}, random(newRand(51), 4<<20))
	g := s.zones[0]
	bad := map[int64]bool{}
	for i := range g.parity {
		bad[int64(i*5*g.slice)/container.Sector] = true
	}
	report := checkFaulty(t, &faulty{s.data, bad}, s.data)
	if z := report.Zones[0]; z.State != Healed || z.Damaged != g.parity {
		t.Errorf("%+v, want %d slices damaged", z, g.parity)
	}
	cut := append(bytes.Clone(s.data[:1<<20]), s.data[1<<20+1000:]...)
	checkFaulty(t, &faulty{cut, map[int64]bool{5: true, 700: true}}, s.data)
}

// TestUnreadableZeros reads around sectors whose content is zeros, as those that take their place are.
func TestUnreadableZeros(t *testing.T) {
	data := random(newRand(52), 1<<20)
	clear(data[200_000:600_000])
	s := write(t, Options{10, PZ}, data)
	for _, sector := range []int64{60, 80, 100} {
		checkFaulty(t, &faulty{s.data, map[int64]bool{sector: true}}, s.data)
	}
}

// TestUnreadableLost: what cannot be read and cannot be healed becomes zeros, and is an error.
func TestUnreadableLost(t *testing.T) {
	r := newRand(53)
	s := write(t, Options{1, PZ}, random(r, 1<<20))
	src := &faulty{bytes.Clone(s.data), map[int64]bool{}}
	want := bytes.Clone(s.data)
	for i := range 40 {
		src.bad[int64(5*i)] = true
		clear(want[5*i*container.Sector:][:container.Sector])
	}
	var out bytes.Buffer
	report, err := Repair(&out, src, int64(len(src.data)))
	if !errors.Is(err, errs.Corrupt) || report.Zones[0].State != Lost || report.ReadErr == nil ||
		report.Unreadable != 40*container.Sector || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("lost zone: %v, %+v", err, report)
	}
	reader, err := NewReaderAt(src, int64(len(src.data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(io.NewSectionReader(reader, 0, reader.Size())); err != errUnreadable {
		t.Errorf("ReaderAt of a lost zone: %v", err)
	}

	// Stray bytes have no parity.
	stray := random(r, 5*container.Sector)
	src = &faulty{append(bytes.Clone(stray), s.data...), map[int64]bool{1: true, 3: true}}
	out.Reset()
	report, err = Repair(&out, src, int64(len(src.data)))
	if !errors.Is(err, errs.Corrupt) || !errors.Is(err, errUnreadable) ||
		report.Unreadable != 2*container.Sector || !bytes.HasSuffix(out.Bytes(), s.data) {
		t.Errorf("stray bytes: %v, %+v", err, report)
	}
	if _, err := Verify(src, int64(len(src.data))); !errors.Is(err, errUnreadable) {
		t.Errorf("Verify: %v", err)
	}

	// Nothing can be read.
	for i := range int64(len(src.data)) {
		src.bad[i] = true
	}
	out.Reset()
	if _, err := Repair(&out, src, int64(len(src.data))); err != errUnreadable || out.Len() > 0 {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// TestUnreadableRandom repairs files with damage and sectors that cannot be read.
func TestUnreadableRandom(t *testing.T) {
	healed := 0
	for round := range 100 {
		r := rand.New(rand.NewPCG(54, uint64(round)))
		s := write(t, Options{30, PZ}, randomZones(r, 1+r.IntN(3), 20<<10, 80<<10)...)
		src := &faulty{bytes.Clone(s.data), map[int64]bool{}}
		for range 1 + r.IntN(3) {
			src.bad[r.Int64N(int64(len(s.data)))/container.Sector] = true
			src.data[r.IntN(len(s.data))] ^= 1
		}
		var out bytes.Buffer
		report, err := Repair(&out, src, int64(len(src.data)))
		exact := bytes.Equal(out.Bytes(), s.data)
		switch {
		case err == nil && !exact:
			t.Errorf("round %d: no error, but the result differs: %+v", round, report)
		case err == nil:
			healed++
		case !errors.Is(err, errs.Corrupt) && !errors.Is(err, errs.Truncated) && err != errUnreadable:
			t.Errorf("round %d: %v", round, err)
		}
	}
	if healed < 50 {
		t.Errorf("%d of 100 files are healed", healed)
	}
}
