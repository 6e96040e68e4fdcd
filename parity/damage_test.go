package parity

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/testenv"
)

// sample is a file with parity, and where its parts are.
type sample struct {
	data  []byte
	zones []section.Zone
}

func random(r *rand.Rand, n int) []byte {
	p := make([]byte, n+8)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(p[i:], r.Uint64())
	}
	return p[:n]
}

// write returns a file of the given zones.
func write(t testing.TB, o Options, zones ...[]byte) sample {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, o)
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	for _, z := range zones {
		if _, err := w.Write(z); err != nil {
			t.Fatal(err)
		}
		if err := w.EndZone(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.data = buf.Bytes()
	offset := int64(0)
	for i, z := range zones {
		g := layout(offset, len(z), o, i == len(zones)-1)
		s.zones = append(s.zones, g)
		offset = g.EndOffset()
	}
	if offset != int64(len(s.data)) {
		t.Fatalf("%d bytes written, want %d", len(s.data), offset)
	}
	return s
}

func randomZones(r *rand.Rand, n, least, most int) [][]byte {
	zones := make([][]byte, n)
	for i := range zones {
		zones[i] = random(r, least+r.IntN(most-least+1))
	}
	return zones
}

// damaged is a file and where each byte of it comes from: a place in the original, or -1.
type damaged struct {
	data []byte
	from []int32
}

func (s sample) undamaged() *damaged {
	d := &damaged{data: slices.Clone(s.data), from: make([]int32, len(s.data))}
	for i := range d.from {
		d.from[i] = int32(i)
	}
	return d
}

func (d *damaged) flip(r *rand.Rand, at int) {
	d.data[at] ^= 1 << r.IntN(8)
	d.from[at] = -1
}

func (d *damaged) overwrite(r *rand.Rand, at, n int) {
	for i := at; i < min(at+n, len(d.data)); i++ {
		d.data[i] = byte(r.Uint32())
		d.from[i] = -1
	}
}

func (d *damaged) cut(at, n int) {
	end := min(at+n, len(d.data))
	d.data, d.from = slices.Delete(d.data, at, end), slices.Delete(d.from, at, end)
}

func (d *damaged) insert(r *rand.Rand, at, n int) {
	from := make([]int32, n)
	for i := range from {
		from[i] = -1
	}
	d.data, d.from = slices.Insert(d.data, at, random(r, n)...), slices.Insert(d.from, at, from...)
}

// duplicate inserts a copy of another part.
func (d *damaged) duplicate(at, source, n int) {
	end := min(source+n, len(d.data))
	d.data = slices.Insert(d.data, at, slices.Clone(d.data[source:end])...)
	from := slices.Clone(d.from[source:end])
	for i, v := range from {
		if v >= 0 {
			from[i] = v | copied
		}
	}
	d.from = slices.Insert(d.from, at, from...)
}

// copied marks a byte of a copy, in damaged.from.
const copied = 1 << 30

// withCopies returns d with copies as if they were the originals.
func (d *damaged) withCopies() *damaged {
	all := &damaged{data: d.data, from: slices.Clone(d.from)}
	for i, v := range all.from {
		if v >= 0 {
			all.from[i] = v &^ copied
		}
	}
	return all
}

// has reports whether n bytes of the original, from at on, are still together somewhere.
func (d *damaged) has(starts [][]int, at, n int) bool {
next:
	for _, p := range starts[at] {
		if p+n > len(d.from) {
			continue
		}
		for i := range n {
			if d.from[p+i] != int32(at+i) {
				continue next
			}
		}
		return true
	}
	return false
}

// beginsWith reports whether the first n bytes of the file are together in the original.
func (d *damaged) beginsWith(n int) bool {
	for i := range n {
		if d.from[i] < 0 || d.from[i]&copied != 0 || d.from[i] != d.from[0]+int32(i) {
			return false
		}
	}
	return true
}

// endsWith reports whether the file ends with the last n bytes of the original.
func (d *damaged) endsWith(n int) bool {
	last := d.from[len(d.from)-1]
	for i := range n {
		if d.from[len(d.from)-1-i] != last-int32(i) {
			return false
		}
	}
	return last >= 0
}

// heals says what theory says about each zone: whether enough of it is left.
func (s sample) heals(d *damaged) (all bool, why string) {
	starts := make([][]int, len(s.data)) // where each byte of the original is
	buf := make([]int, len(d.from))
	for p, at := range d.from {
		switch {
		case at < 0, at&copied != 0:
		case starts[at] == nil:
			buf[p] = p
			starts[at] = buf[p : p+1 : p+1]
		default:
			starts[at] = append(starts[at], p)
		}
	}
	all = true
	for z, g := range s.zones {
		missing, parity, pieces := 0, 0, 0
		for i := range g.Slices() {
			if !d.has(starts, int(g.Offset)+i*g.Slice, g.SliceLength(i)) {
				missing++
			}
		}
		for i := range g.Packets() {
			if !d.has(starts, int(g.Offset+g.Place(i)), g.PacketSize(i)) {
				continue
			}
			if g.PieceNumber(i) < 0 {
				parity++
			} else {
				pieces++
			}
		}
		why += fmt.Sprintf("zone %d: %d of %d slices missing, ", z, missing, g.Slices())
		why += fmt.Sprintf("%d of %d parity left, ", parity, g.Parity)
		why += fmt.Sprintf("%d of %d pieces\n", pieces, 2*g.Pieces())
		// Without the catalog its id shows that a zone is intact, if it is in one piece.
		whole := parity+pieces > 0 && d.has(starts, int(g.Offset), g.Size)
		if !whole && (pieces < g.Pieces() || missing > parity) {
			all = false
		}
	}
	return all, why
}

func TestRandomDamage(t *testing.T) {
	rounds := 200
	if testenv.All() {
		rounds = 10000
	}
	if testenv.Race || testenv.Emulated() {
		rounds = 20
	}
	healed := 0
	for _, seed := range testenv.Seeds(t, 1) {
		for round := range rounds {
			r := rand.New(rand.NewPCG(seed, uint64(round)))
			if damageOnce(t, r, fmt.Sprintf("PZ_SEED=%d, round %d", seed, round)) {
				healed++
			}
			if t.Failed() {
				return
			}
		}
		if healed < rounds/5 || healed > rounds*19/20 {
			t.Errorf("%d of %d rounds heal: the damage is too light or too heavy", healed, rounds)
		}
		healed = 0
	}
}

// damageOnce damages a random file and repairs it. It reports whether theory says that it heals.
func damageOnce(t *testing.T, r *rand.Rand, name string) bool {
	percents := []int{1, 5, 10, 30, 100}
	formats := []compress.Format{compress.PZ, compress.Zstd}
	o := Options{Percent: percents[r.IntN(len(percents))], Format: formats[r.IntN(2)]}
	s := write(t, o, randomZones(r, 1+r.IntN(3), 20<<10, 80<<10)...)
	d := s.undamaged()
	log := fmt.Sprintf("%s: %d%% %v, %d bytes\n", name, o.Percent, o.Format, len(s.data))
	share := []int{1, 5, 10}[r.IntN(3)]
	amount := len(s.data) * share / 100
	least := len(s.data)
	for _, g := range s.zones {
		least = min(least, g.Size)
	}
	const margin = 32 // of bytes at the front without which stray bytes cannot be told from others
	for i, kinds := 0, 1+r.IntN(3); i < kinds; i++ {
		at := margin + r.IntN(len(d.data)-2*margin)
		n := 1 + r.IntN(max(1, amount/kinds))
		kind := r.IntN(6)
		switch kind {
		case 0:
			for range 1 + r.IntN(20) {
				d.flip(r, r.IntN(len(d.data)))
			}
		case 1:
			for range max(1, n/4096) {
				d.overwrite(r, r.IntN(len(d.data)), 4096)
			}
		case 2:
			d.overwrite(r, at, n)
		case 3:
			at = []int{0, at, max(0, len(d.data)-n)}[r.IntN(3)]
			d.cut(at, n)
		case 4:
			d.insert(r, at, n)
		case 5:
			// A copy of half a zone and of its section counts as another zone.
			d.duplicate(at, r.IntN(len(d.data)), min(n, least/3))
		}
		log += fmt.Sprintf("kind %d at %d, %d bytes\n", kind, at, n)
	}
	// A copy of a slice may be where Repair does not look for it.
	want, why := s.heals(d)
	may, _ := s.heals(d.withCopies())
	got, report, err := repaired(t, d.data)
	exact := bytes.Equal(got, s.data)
	section := s.data[len(s.data)-int(s.zones[len(s.zones)-1].SectionSize()):]
	// Damage to the first bytes may look like stray bytes in front of the file.
	holds := bytes.Contains
	if d.beginsWith(margin) {
		holds = bytes.HasPrefix
	}
	switch {
	case want && err != nil, want && !holds(got, s.data):
		t.Errorf("%s%snot healed: %v, %+v", log, why, err, report)
	case !may && exact && err != nil:
		t.Errorf("%s%shealed, but: %v", log, why, err)
	case !may && err == nil && !exact, err == nil && !holds(got, s.data): // two flips may undo one another
		t.Errorf("%s%sno error, exact %v: %+v", log, why, exact, report)
	case want && !exact && len(got)-len(s.data) != int(report.Unprotected):
		t.Errorf("%s%shealed with %d stray bytes, but reported %d", log, why,
			len(got)-len(s.data), report.Unprotected)
	case want && len(got) > len(s.data) && holds(got[:len(s.data)], s.data) && d.endsWith(len(section)) &&
		bytes.Count(d.data, section) == 1: // of two, nothing tells which one is the copy
		t.Errorf("%s%s%d stray bytes behind an intact section", log, why, report.Unprotected)
	case err == nil, errors.Is(err, errs.Corrupt), errors.Is(err, errs.Truncated), err == ErrNoParity:
	default:
		t.Errorf("%sunexpected error %v", log, err)
	}
	return want
}
