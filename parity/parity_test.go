package parity

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/testenv"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// TestDeterminism: the output does not depend on the sizes of Write calls, and repairing an intact
// file writes the same bytes.
func TestDeterminism(t *testing.T) {
	r := newRand(1)
	sizes := []int{1, 2, 63, 64, 65, 8191, 8192, 8193, 100_000, 2<<20 - 1, 2 << 20, 5<<20 + 3}
	for _, size := range sizes {
		for _, o := range []Options{{1, compress.PZ}, {100, compress.PZ}, {5, compress.Zstd}} {
			data := random(r, size)
			want := write(t, o, data).data
			var got bytes.Buffer
			w, err := NewWriter(&got, o)
			if err != nil {
				t.Fatal(err)
			}
			for p := data; len(p) > 0; {
				n := min(len(p), 1+r.IntN(100_000))
				if _, err := w.Write(p[:n]); err != nil {
					t.Fatal(err)
				}
				p = p[n:]
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Fatalf("%d bytes, %+v: output depends on the sizes of Write", size, o)
			}
			out, report, err := repaired(t, want)
			if err != nil || !bytes.Equal(out, want) || !report.Intact() {
				t.Fatalf("%d bytes, %+v: intact file: %v, %+v", size, o, err, report)
			}
			if report.Unprotected != 0 {
				t.Fatalf("%d bytes, %+v: %+v", size, o, report)
			}
			checkReaderAt(t, want, want)
		}
	}
}

// TestLargeCode heals a zone with the code over GF(2^16), with as many slices damaged as there is
// parity, and fails with one more.
func TestLargeCode(t *testing.T) {
	r := newRand(2)
	s := write(t, Options{5, compress.PZ}, random(r, 4<<20+5))
	g := s.zones[0]
	if g.Slices()+g.Parity <= 256 {
		t.Fatal("the zone is too small for this test")
	}
	d := s.undamaged()
	order := r.Perm(g.Slices())
	for _, i := range order[:g.Parity] {
		d.flip(r, i*g.Slice)
	}
	out, report, err := repaired(t, d.data)
	if err != nil || !bytes.Equal(out, s.data) {
		t.Fatalf("%d slices damaged: %v, %+v", g.Parity, err, report)
	}
	z := report.Zones[0]
	if z.State != Healed || z.Damaged != g.Parity || z.ParityLeft != g.Parity {
		t.Errorf("report: %+v", z)
	}
	d.flip(r, order[g.Parity]*g.Slice)
	out, report, err = repaired(t, d.data)
	if !errors.Is(err, errs.Corrupt) || !bytes.Equal(out, d.data) || report.Zones[0].State != Lost {
		t.Errorf("%d slices damaged: %v, %+v", g.Parity+1, err, report)
	}
}

// TestEachPart damages each packet, header and footer of a file alone.
func TestEachPart(t *testing.T) {
	r := newRand(3)
	for _, frame := range []compress.Format{compress.PZ, compress.Zstd} {
		s := write(t, Options{5, frame}, randomZones(r, 3, 10_000, 20_000)...)
		for zi, g := range s.zones {
			begin := int(g.Offset) + g.Size
			places := []int{begin, begin + g.HeaderSize() - 1}
			for i := range g.Packets() {
				at := int(g.Offset + g.Place(i))
				body := at + section.PacketHeaderSize
				places = append(places, at, body-1, body, at+g.PacketSize(i)-1)
			}
			end := int(g.EndOffset())
			places = append(places, end-section.FooterSize, end-1)
			for _, at := range places {
				d := s.undamaged()
				d.flip(r, at)
				out, report, err := repaired(t, d.data)
				if err != nil || !bytes.Equal(out, s.data) || report.Zones[zi].State != Healed {
					t.Fatalf("%v: byte %d of zone %d flipped: %v, %+v", frame, at, zi, err, report)
				}
				checkReaderAt(t, d.data, s.data)
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
		other := s.zones[(lost+1)%4]
		d.flip(r, int(other.Offset)+5)
		out, report, err := repaired(t, d.data)
		wanted, state := errs.Corrupt, NoSection
		if lost == 3 {
			wanted, state = errs.Truncated, Intact // of the last one nothing is known
		}
		if !errors.Is(err, wanted) || !bytes.Equal(out, want) {
			t.Errorf("section %d lost: %v, %+v", lost, err, report)
			continue
		}
		if report.EndMissing != (lost == 3) {
			t.Errorf("section %d lost: %+v", lost, report)
		}
		if len(report.Zones) > lost && report.Zones[lost].State != state {
			t.Errorf("section %d lost: %+v", lost, report)
		}
	}
}

// TestConcatenated joins files, also equal ones and one without parity.
func TestConcatenated(t *testing.T) {
	r := newRand(6)
	a := write(t, Options{10, compress.PZ}, randomZones(r, 2, 10_000, 20_000)...)
	b := write(t, Options{30, compress.PZ}, randomZones(r, 1, 10_000, 20_000)...)
	plain := random(r, 3000)
	for name, parts := range map[string][][]byte{
		"different":   {a.data, b.data},
		"equal":       {a.data, a.data, a.data},
		"mixed":       {a.data, b.data, a.data, b.data},
		"plain":       {plain, a.data, plain, b.data, plain},
		"plain first": {plain, b.data},
	} {
		want := bytes.Join(parts, nil)
		stray := int64(0)
		for _, p := range parts {
			if len(p) == len(plain) {
				stray += int64(len(p))
			}
		}
		for round := range 20 {
			got := slices.Clone(want)
			at := 0
			for _, p := range parts {
				if round > 0 && len(p) != len(plain) {
					got[at+r.IntN(len(p))] ^= 4
				}
				at += len(p)
			}
			out, report, err := repaired(t, got)
			if err != nil || !bytes.Equal(out, want) {
				t.Fatalf("%s, round %d: %v, %+v", name, round, err, report)
			}
			if report.Unprotected != stray || report.Intact() != (round == 0) {
				t.Fatalf("%s, round %d: %+v, want %d stray bytes", name, round, report, stray)
			}
			checkReaderAt(t, got, want)
		}
	}
}

// TestCopyInFront: a file without parity in front of the same one with parity stays, even if the
// first slices are damaged.
func TestCopyInFront(t *testing.T) {
	r := newRand(12)
	zone := random(r, 50_000)
	want := append(bytes.Clone(zone), write(t, Options{10, compress.PZ}, zone).data...)
	for _, n := range []int{1, 100, 1000} {
		got := bytes.Clone(want)
		clear(got[len(zone):][:n])
		out, report, err := repaired(t, got)
		if err != nil || !bytes.Equal(out, want) || report.Unprotected != int64(len(zone)) {
			t.Errorf("%d bytes damaged: %v, %+v", n, err, report)
		}
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
		out, report, err := repaired(t, d.data)
		if err != nil || !bytes.Equal(out, s.data) || report.Unprotected > 0 {
			t.Fatalf("%d bytes in front: %v, %+v", 500*front, err, report)
		}
		checkReaderAt(t, d.data, s.data)
	}
}

// TestNoParity repairs files without sections.
func TestNoParity(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("x"), random(newRand(9), 3<<20)} {
		out, report, err := repaired(t, data)
		if err != ErrNoParity || report != nil || len(out) > 0 {
			t.Errorf("%d bytes: %v, %v, %d bytes written", len(data), report, err, len(out))
		}
		if _, err := NewReaderAt(bytes.NewReader(data), int64(len(data))); err != ErrNoParity {
			t.Errorf("ReaderAt of %d bytes: %v", len(data), err)
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
	r := newRand(10)
	data := random(r, 10_000)
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
	if _, err := Verify(bytes.NewReader(s.data), int64(len(s.data))+1); err != io.ErrUnexpectedEOF {
		t.Errorf("size too large: %v", err)
	}
}

// TestEqualSlices: zeros and repeats, where many slices are equal, and damage that moves them.
func TestEqualSlices(t *testing.T) {
	testenv.Slow(t)
	r := newRand(11)
	period := random(r, 100)
	for name, data := range map[string][]byte{
		"zeros":  make([]byte, 200_000),
		"period": bytes.Repeat(period, 2000),
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
	fmt.Println(report.Zones[0].State, err)
	// Output: healed <nil>
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
			t.Errorf("%d bytes: ended %v, %v", w.zone.size, w.ended, err)
		}
	}
}
