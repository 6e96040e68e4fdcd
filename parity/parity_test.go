package parity

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/testenv"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// repaired repairs a file, of which some sectors cannot be read. A ReaderAt must agree.
func repaired(t testing.TB, data []byte, bad ...int) ([]byte, *Report, error) {
	t.Helper()
	src, size := &testenv.BadSectors{Data: data, Bad: map[int64]bool{}}, int64(len(data))
	for _, sector := range bad {
		src.Bad[int64(sector)] = true
	}
	var out bytes.Buffer
	report, err := Repair(&out, src, size)
	if err == nil && report.Intact() && !bytes.Equal(out.Bytes(), data) {
		t.Error("the file is intact, but the output differs")
	}
	r, rerr := NewReaderAt(src, size)
	switch {
	case report == nil && rerr != err, report != nil && rerr != nil:
		t.Errorf("Repair: %v; NewReaderAt: %v", err, rerr)
	case report != nil && r.Report().Zones != nil && !reflect.DeepEqual(report.Zones, r.Report().Zones):
		t.Errorf("Repair: %+v; NewReaderAt: %+v", report, r.Report())
	case err == nil:
		got, rerr := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
		if rerr != nil || !bytes.Equal(got, out.Bytes()) || r.Err() != nil {
			t.Errorf("ReaderAt: %v, %d bytes; Repair wrote %d; lost: %v",
				rerr, len(got), out.Len(), r.Err())
		}
	}
	return out.Bytes(), report, err
}

// checkRepaired repairs a file, which must become what it was.
func checkRepaired(t *testing.T, name string, data, want []byte, bad ...int) *Report {
	t.Helper()
	got, report, err := repaired(t, data, bad...)
	if err != nil || !bytes.Equal(got, want) || report.Unreadable > 0 ||
		len(bad) > 0 && report.ReadErr != testenv.ErrSector {
		t.Fatalf("%s: exact %v, %v, %+v", name, bytes.Equal(got, want), err, report)
	}
	return report
}

// TestDeterminism: the output does not depend on the sizes of Write calls, and repairing an intact
// file writes the same bytes.
func TestDeterminism(t *testing.T) {
	r := newRand(1)
	sizes := []int{1, 2, 63, 64, 65, 8191, 8192, 8193, 100_000, 2<<20 - 1, 2 << 20, 5<<20 + 3}
	for _, size := range sizes {
		for _, o := range []Options{{1, compress.PZ}, {100, compress.PZ}, {5, compress.Zstd}} {
			data := random(r, size)
			var got bytes.Buffer
			w, err := NewWriter(&got, o)
			if err != nil {
				t.Fatal(err)
			}
			for p := range slices.Chunk(data, 1+r.IntN(100_000)) {
				if _, err := w.Write(p); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			want := write(t, o, data).data
			if !bytes.Equal(got.Bytes(), want) {
				t.Fatalf("%d bytes, %+v: output depends on the sizes of Write", size, o)
			}
			report := checkRepaired(t, fmt.Sprintf("%d bytes, %+v", size, o), want, want)
			if !report.Intact() || report.Unprotected != 0 {
				t.Fatalf("%d bytes, %+v: %+v", size, o, report)
			}
		}
	}
}

// TestLargeCode heals a zone with the code over GF(2^16), with as many slices damaged as there is
// parity, and fails with one more. It also heals one that has unreadable sectors and lost bytes.
func TestLargeCode(t *testing.T) {
	r := newRand(2)
	s := write(t, Options{5, compress.PZ}, random(r, 4<<20+5))
	g := s.zones[0]
	if g.Slices()+g.Parity <= 256 {
		t.Fatal("the zone is too small for this test")
	}
	d := s.undamaged()
	var bad []int
	order := r.Perm(g.Slices())
	for _, i := range order[:g.Parity] {
		d.flip(r, i*g.Slice)
		bad = append(bad, i*g.Slice/container.Sector)
	}
	for _, report := range []*Report{
		checkRepaired(t, "flips", d.data, s.data), checkRepaired(t, "bad sectors", s.data, s.data, bad...),
	} {
		if z := report.Zones[0]; z.State != Healed || z.Damaged != g.Parity || z.ParityLeft != g.Parity {
			t.Errorf("report: %+v", z)
		}
	}
	d.flip(r, order[g.Parity]*g.Slice)
	out, report, err := repaired(t, d.data)
	if !errors.Is(err, errs.Corrupt) || !bytes.Equal(out, d.data) || report.Zones[0].State != Lost {
		t.Errorf("%d slices damaged: %v, %+v", g.Parity+1, err, report)
	}
	d = s.undamaged()
	d.cut(1<<20, 1000)
	checkRepaired(t, "cut, and bad sectors", d.data, s.data, 5, 700)
}

// TestEachPart damages each packet, header and footer of a file alone, and makes each of its
// sectors unreadable.
func TestEachPart(t *testing.T) {
	r := newRand(3)
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		s := write(t, Options{5, format}, randomZones(r, 3, 10_000, 20_000)...)
		for zi, g := range s.zones {
			begin, end := int(g.Offset)+g.Size, int(g.EndOffset())
			places := []int{begin, begin + g.HeaderSize() - 1, end - section.FooterSize, end - 1}
			for i := range g.Packets() {
				at := int(g.Offset + g.Place(i))
				body := at + section.PacketHeaderSize
				places = append(places, at, body-1, body, at+g.PacketSize(i)-1)
			}
			for _, at := range places {
				d := s.undamaged()
				d.flip(r, at)
				name := fmt.Sprintf("%v: byte %d of zone %d", format, at, zi)
				if report := checkRepaired(t, name, d.data, s.data); report.Zones[zi].State != Healed {
					t.Fatalf("%s: %+v", name, report)
				}
			}
		}
		zones := randomZones(r, 2, 100<<10, 200<<10)
		clear(zones[0][20_000:60_000]) // as what takes the place of a sector is
		s = write(t, Options{10, format}, zones...)
		for sector := range (len(s.data) + container.Sector - 1) / container.Sector {
			name := fmt.Sprintf("%v: sector %d", format, sector)
			if checkRepaired(t, name, s.data, s.data, sector).Intact() {
				t.Fatalf("%s: intact", name)
			}
		}
	}
}

// TestLostSections overwrites whole sections.
func TestLostSections(t *testing.T) {
	r := newRand(4)
	s := write(t, Options{10, compress.PZ}, randomZones(r, 4, 10_000, 20_000)...)
	for lost, g := range s.zones {
		d := s.undamaged()
		d.overwrite(r, int(g.Offset)+g.Size, int(g.SectionSize()))
		want := slices.Clone(d.data)
		d.flip(r, int(s.zones[(lost+1)%4].Offset)+5)
		out, report, err := repaired(t, d.data)
		wanted, state := errs.Corrupt, NoSection
		if lost == 3 {
			wanted, state = errs.Truncated, Intact // of the last one nothing is known
		}
		if !errors.Is(err, wanted) || !bytes.Equal(out, want) || report.EndMissing != (lost == 3) ||
			len(report.Zones) > lost && report.Zones[lost].State != state {
			t.Errorf("section %d lost: %v, %+v", lost, err, report)
		}
	}
}

// TestLostZone reads a zone that cannot be healed. What cannot be read of it becomes zeros, and is
// an error, as it is of stray bytes.
func TestLostZone(t *testing.T) {
	r := newRand(8)
	s := write(t, Options{1, compress.PZ}, random(r, 1<<20))
	src := &testenv.BadSectors{Data: s.undamaged().data, Bad: map[int64]bool{}}
	size := int64(len(s.data))
	for i := range 40 {
		src.Data[5*i*container.Sector]++
	}
	reader, err := NewReaderAt(src, size)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(reader, 0, size))
	if err != nil || !bytes.Equal(got, src.Data) || reader.Err() == nil || reader.Healed() > 0 {
		t.Errorf("%v, exact %v, lost: %v", err, bytes.Equal(got, src.Data), reader.Err())
	}
	want := bytes.Clone(s.data)
	for i := range 40 {
		src.Bad[int64(5*i)] = true
		clear(want[5*i*container.Sector:][:container.Sector])
	}
	var out bytes.Buffer
	report, err := Repair(&out, src, size)
	if !errors.Is(err, errs.Corrupt) || report.Zones[0].State != Lost || report.ReadErr == nil ||
		report.Unreadable != 40*container.Sector || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("bad sectors: %v, %+v", err, report)
	}
	reader, err = NewReaderAt(src, size)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(io.NewSectionReader(reader, 0, size)); err != testenv.ErrSector {
		t.Errorf("ReaderAt of bad sectors: %v", err)
	}
	stray := append(random(r, 5*container.Sector), s.data...)
	got, report, err = repaired(t, stray, 1, 3)
	if !errors.Is(err, errs.Corrupt) || !errors.Is(err, testenv.ErrSector) ||
		report.Unreadable != 2*container.Sector || !bytes.HasSuffix(got, s.data) {
		t.Errorf("stray bytes: %v, %+v", err, report)
	}
}

// TestJoined joins files, also equal ones and one without parity, and damages each.
func TestJoined(t *testing.T) {
	r := newRand(6)
	a := write(t, Options{10, compress.PZ}, randomZones(r, 2, 10_000, 20_000)...).data
	zone := random(r, 20_000)
	b := write(t, Options{30, compress.PZ}, zone).data
	plain := random(r, 3000)
	for name, c := range map[string]struct {
		stray int64
		parts [][]byte
	}{
		"different":      {0, [][]byte{a, b}},
		"equal":          {0, [][]byte{a, a, a}},
		"mixed":          {0, [][]byte{a, b, a, b}},
		"plain":          {9000, [][]byte{plain, a, plain, b, plain}},
		"plain first":    {3000, [][]byte{plain, b}},
		"without parity": {20_000, [][]byte{zone, b}},
		"same header":    {20_000, [][]byte{slices.Concat(zone[:100], random(r, 19_900)), b}},
	} {
		want := bytes.Join(c.parts, nil)
		for round := range 20 {
			got := slices.Clone(want)
			at := 0
			for _, p := range c.parts {
				if round > 0 && len(p) > len(zone) {
					got[at+r.IntN(len(p))] ^= 4
					clear(got[at:][:r.IntN(400)])
				}
				at += len(p)
			}
			report := checkRepaired(t, fmt.Sprintf("%s, round %d", name, round), got, want)
			if report.Unprotected != c.stray || report.Intact() != (round == 0) {
				t.Fatalf("%s, round %d: %+v, want %d stray bytes", name, round, report, c.stray)
			}
		}
	}
}

// TestInserted inserts bytes into the first zone of a file: fewer and more than the zone has.
func TestInserted(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, zones := range [][][]byte{randomZones(r, 1, 2000, 2000), randomZones(r, 2, 70_000, 90_000)} {
		s := write(t, Options{Percent: 10}, zones...)
		size := len(zones[0])
		slice := s.zones[0].Slice
		for _, at := range []int{slice - 1, slice, slice + 1, size / 8, size / 2, size - 1} {
			for _, n := range []int{1, size - 1, size, size + 1, 2 * size, 5 * size} {
				if at < slice && n >= size {
					continue // this may be another file, without parity
				}
				d := s.undamaged()
				d.insert(r, at, n)
				got, report, err := repaired(t, d.data)
				if err != nil || !bytes.Equal(got, s.data) {
					t.Errorf("%d bytes at %d of %d: %d bytes, want %d: %v, %+v",
						n, at, size, len(got), len(s.data), err, report)
				}
			}
		}
	}
}

// TestCopyInZone inserts a copy of packets into the middle of their zone. They are no section: the
// slices in front of them belong to the zone.
func TestCopyInZone(t *testing.T) {
	s := write(t, Options{100, compress.PZ}, random(newRand(15), 12_000), random(newRand(16), 12_000))
	g := s.zones[0]
	for number := range g.Packets() {
		d := s.undamaged()
		d.duplicate(g.Size/2+100, int(g.Place(number)), 3*g.PacketSize(number))
		checkRepaired(t, fmt.Sprintf("packet %d", number), d.data, s.data)
	}
}

// TestCopiesAround inserts copies of packets of the second section in front of the first section
// and behind it.
func TestCopiesAround(t *testing.T) {
	s := write(t, Options{100, compress.PZ}, random(newRand(15), 12_000), random(newRand(16), 20_000))
	g := s.zones[1]
	packet := func(number int) (at, n int) { return int(g.Offset + g.Place(number)), g.PacketSize(number) }
	for number := range g.Packets() - 1 {
		d := s.undamaged()
		at, n := packet(number)
		next, m := packet(number + 1)
		d.duplicate(int(g.Offset)+100, next, m)
		d.duplicate(s.zones[0].Size/4, at+m, n)
		checkRepaired(t, fmt.Sprintf("packet %d", number), d.data, s.data)
	}
}

// TestCopyBehind inserts a copy of a packet of the first section into the third zone, where it
// might be the end of that section, which has lost bytes. The second section is between.
func TestCopyBehind(t *testing.T) {
	zones := [][]byte{random(newRand(15), 20_000), random(newRand(16), 1000), random(newRand(17), 9000)}
	s := write(t, Options{10, compress.PZ}, zones...)
	g := s.zones[0]
	for number := range g.Packets() {
		d := s.undamaged()
		d.duplicate(int(s.zones[2].Offset)+4000, int(g.Place(number)), g.PacketSize(number))
		d.cut(int(g.Place(2))-100, 50)
		checkRepaired(t, fmt.Sprintf("packet %d", number), d.data, s.data)
	}
}

// TestNested: a file with parity that is content of another one is no part of that, even if the
// sections around it are damaged.
func TestNested(t *testing.T) {
	r := newRand(13)
	inner := write(t, Options{10, compress.PZ}, randomZones(r, 3, 10_000, 20_000)...)
	for front := range 40 {
		zone := slices.Concat(random(r, 500*front), inner.data, random(r, 10_000))
		s := write(t, Options{5, compress.PZ}, zone, random(r, 20_000), zone)
		d := s.undamaged()
		d.flip(r, len(d.data)-3)
		d.flip(r, 500*front+len(inner.data)/2)
		name := fmt.Sprintf("%d bytes in front", 500*front)
		if report := checkRepaired(t, name, d.data, s.data); report.Unprotected > 0 {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

// TestNoParity repairs files without sections, and one that cannot be read.
func TestNoParity(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("x"), random(newRand(9), 3<<20)} {
		out, report, err := repaired(t, data)
		if err != ErrNoParity || report != nil || len(out) > 0 {
			t.Errorf("%d bytes: %v, %v, %d bytes written", len(data), report, err, len(out))
		}
	}
	s := write(t, Options{10, compress.PZ}, make([]byte, 1000))
	if out, _, err := repaired(t, s.data, 0); err != testenv.ErrSector || len(out) > 0 {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// TestReaderAt reads a damaged file from several goroutines.
func TestReaderAt(t *testing.T) {
	r := newRand(7)
	s := write(t, Options{10, compress.PZ}, randomZones(r, 6, 20_000, 40_000)...)
	for _, kind := range []string{"flips", "insertion", "cut"} {
		d := s.undamaged()
		for i := range 12 {
			g := s.zones[i/2]
			d.flip(r, int(g.Offset)+r.IntN(int(g.EndOffset()-g.Offset)))
		}
		switch kind {
		case "insertion":
			d.insert(r, 50_000, 100)
		case "cut":
			d.cut(50_000, 100)
		}
		reader, err := NewReaderAt(bytes.NewReader(d.data), int64(len(d.data)))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				r := newRand(uint64(worker))
				for range 300 {
					at := r.IntN(len(s.data))
					p := make([]byte, r.IntN(min(5000, len(s.data)-at)+1))
					n, err := reader.ReadAt(p, int64(at))
					if err != nil || !bytes.Equal(p, s.data[at:at+n]) {
						t.Errorf("%s: %d bytes at %d: %v", kind, len(p), at, err)
						return
					}
				}
			})
		}
		wg.Wait()
		all := io.NewSectionReader(reader, 0, reader.Size())
		if err := iotest.TestReader(all, s.data); err != nil {
			t.Error(err)
		}
		if healed := reader.Healed(); healed < 12 || healed > reader.Size()/2 {
			t.Errorf("%s: %d of %d bytes are healed", kind, healed, reader.Size())
		}
	}
}

// failing fails after some bytes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

// TestErrors: errors of the underlying writers and readers, and of misuse.
func TestErrors(t *testing.T) {
	data := random(newRand(10), 10_000)
	for _, o := range []Options{{0, compress.PZ}, {101, compress.PZ}, {5, compress.Gzip}} {
		if _, err := NewWriter(io.Discard, o); !errors.Is(err, errs.Option) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	s := write(t, Options{5, compress.PZ}, data)
	for _, left := range []int{0, 5000, 10_000, 10_001, len(s.data) - 1} {
		w, err := NewWriter(&failing{left}, Options{5, compress.PZ})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Write(data)
		cerr := w.Close()
		if (err != errFull) != (left >= len(data)) || cerr != errFull {
			t.Errorf("room for %d bytes: Write %v, Close %v", left, err, cerr)
		}
		_, err = Repair(&failing{left}, bytes.NewReader(s.data), int64(len(s.data)))
		if err != errFull {
			t.Errorf("room for %d bytes: Repair %v", left, err)
		}
	}
	w, err := NewWriter(io.Discard, Options{5, compress.PZ})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.EndZone(), w.Close(), w.Close()); err != nil {
		t.Errorf("empty file: %v", err)
	}
	if _, err := w.Write(data); !errors.Is(err, errs.Closed) {
		t.Errorf("Write after Close: %v", err)
	}
	_, err = Repair(io.Discard, bytes.NewReader(s.data), int64(len(s.data))+1)
	if err != io.ErrUnexpectedEOF {
		t.Errorf("size too large: %v", err)
	}
}

// TestEqualSlices: zeros and repeats, where many slices are equal, and damage that moves them.
func TestEqualSlices(t *testing.T) {
	testenv.Slow(t)
	r := newRand(11)
	for name, data := range map[string][]byte{
		"zeros":  make([]byte, 200_000),
		"period": bytes.Repeat(random(r, 100), 2000),
		"mixed":  append(append(make([]byte, 50_000), random(r, 50_000)...), make([]byte, 90_001)...),
	} {
		s := write(t, Options{5, compress.PZ}, data, data)
		for round := range 20 {
			d := s.undamaged()
			at := 40 + r.IntN(len(s.data)-100)
			if round%2 == 0 {
				d.insert(r, at, 1+r.IntN(3000))
			} else {
				d.cut(at, 1+r.IntN(3000))
			}
			want, why := s.heals(d)
			out, report, err := repaired(t, d.data)
			if want && !bytes.Contains(out, s.data) {
				t.Errorf("%s, round %d at %d: %v, %+v\n%s", name, round, at, err, report, why)
			}
		}
	}
}

func ExampleWriter() {
	var file bytes.Buffer
	w, err := NewWriter(&file, Options{Percent: 10})
	if err != nil {
		panic(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte("a line of text\n"), 1000)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	data := file.Bytes()
	copy(data[5000:], make([]byte, 1000))

	var healed bytes.Buffer
	report, err := Repair(&healed, bytes.NewReader(data), int64(len(data)))
	fmt.Println(report.Zones[0].State == Healed, err)
	// Output: true <nil>
}

// TestEndStream: a zone ends with the first stream that gives it ZoneSize bytes.
func TestEndStream(t *testing.T) {
	w, err := NewWriter(io.Discard, Options{Percent: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		more int
		ends bool
	}{{1, false}, {ZoneSize - 2, false}, {1, true}} {
		if _, err := w.Write(make([]byte, c.more)); err != nil {
			t.Fatal(err)
		}
		if err := w.endStream(); err != nil || w.ended != c.ends {
			t.Errorf("%d bytes: ended %v, %v", len(w.zone), w.ended, err)
		}
	}
}
