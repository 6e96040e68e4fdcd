package parity

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/section"
)

// A zone is a zone in memory, as far as it can be had.
type zone struct {
	*found
	data    []byte  // the slices, padded
	catalog []byte  // nil if it is lost
	from    []int64 // where the source has each slice, or nowhere
	missing int     // slices that the source does not have
	lost    bool    // too many are missing
	begins  int64   // where the zone begins in the source, as far as can be told
}

// entry returns the catalog's entry for a slice: its CRC32C, and above that 4 bytes of its XXH64.
func entry(slice []byte) uint64 {
	return uint64(section.Checksum(slice)) | xxhash.Sum64(slice)<<32
}

// makeCatalog returns the catalog of slices.
func makeCatalog(slices [][]byte) []byte {
	catalog := make([]byte, 0, section.EntrySize*len(slices))
	for _, s := range slices {
		catalog = binary.LittleEndian.AppendUint64(catalog, entry(s))
	}
	return catalog
}

// entryOf returns entry i of a catalog.
func entryOf(catalog []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(catalog[i*section.EntrySize:])
}

// readSlice reads slice i of a zone that begins at start, padded, and reports whether it is the one
// that the catalog names.
func (f *file) readSlice(buf []byte, z section.Zone, catalog []byte, i int, start int64) (bool, error) {
	n := z.SliceLength(i)
	if ok, err := f.readPart(buf[:n], start+int64(i)*int64(z.Slice)); !ok {
		return false, err
	}
	clear(buf[n:z.Slice])
	return entry(buf[:z.Slice]) == entryOf(catalog, i), nil
}

// readCatalog returns the catalog of a zone, or nil if too few of its packets are left.
func (f *file) readCatalog(s *found) ([]byte, error) {
	pieces := make([][]byte, 2*s.Pieces())
	for number := range s.Packets() {
		at, ok := s.places[number]
		if s.places == nil {
			at, ok = s.main.start+s.Place(number), true
		}
		if i := s.PieceNumber(number); i >= 0 && ok {
			body, err := f.readBody(s.Zone, number, at)
			if err != nil {
				return nil, err
			}
			pieces[i] = body
		}
	}
	return joinCatalog(pieces, s.Zone), nil
}

// load reads a zone and heals it. It uses the memory of buf if that is enough.
func (f *file) load(s *found, buf []byte) (*zone, error) {
	z := &zone{found: s, begins: max(s.main.start, s.after)}
	// All memory and work are a few times what the file has of zone and packets.
	if int64(s.Size) > 2*(s.end()-s.lo+s.bytes)+1<<16 {
		z.lost = true
		return z, nil
	}
	n := s.Slices()
	z.data = slices.Grow(buf[:0], n*s.Slice)[:n*s.Slice]
	clear(z.data[s.Size:])
	z.from, z.missing = slices.Repeat([]int64{nowhere}, n), n
	catalog, err := f.readCatalog(s)
	switch {
	case err != nil:
		return nil, err
	case catalog == nil:
		return z, f.loadWithoutCatalog(z)
	}
	z.catalog = catalog
	if err := f.collect(z); err != nil {
		return nil, err
	}
	if err := f.decode(z); err != nil {
		return nil, err
	}
	return z, f.findStart(z)
}

// loadWithoutCatalog loads a zone whose catalog is lost. The id of the catalog tells whether the
// zone is intact; else it is lost.
func (f *file) loadWithoutCatalog(z *zone) error {
	for _, start := range z.starts() {
		if ok, err := f.readPart(z.data[:z.Size], start); err != nil {
			return err
		} else if !ok {
			continue
		}
		if c := makeCatalog(cutSlices(z.data, z.Slice)); xxhash.Sum64(c) == z.ID {
			z.catalog, z.begins, z.missing = c, start, 0
			for i := range z.from {
				z.from[i] = start + int64(i*z.Slice)
			}
			return nil
		}
	}
	z.lost, z.missing = true, 0 // it is unknown how many are
	return nil
}

// collect finds slices in the source, until parity can replace those that are missing.
func (f *file) collect(z *zone) error {
	parity := z.parityLeft()
	starts := z.starts()
	if at, err := f.find(z.AppendHeader(nil), z.after, z.at()); err != nil {
		return err
	} else if at != nowhere {
		starts = append(starts, at-int64(z.Size))
	}
	if err := f.collectAt(z, parity, starts); err != nil || z.missing <= parity {
		return err
	}
	if err := f.search(z, parity); err != nil || z.missing <= parity {
		return err
	}
	// The last slice is shorter, so a search does not find it. It may follow another one.
	for i := len(z.from) - 2; i >= 0; i-- {
		if z.from[i] != nowhere {
			return f.collectAt(z, parity, []int64{z.from[i] - int64(i*z.Slice)})
		}
	}
	return nil
}

// collectAt takes those missing slices that are right if the zone begins at one of starts.
func (f *file) collectAt(z *zone, parity int, starts []int64) error {
	buf := make([]byte, z.Slice)
	for k, start := range starts {
		if z.missing <= parity && k > 0 {
			return nil
		}
		if slices.Contains(starts[:k], start) {
			continue
		}
		for i, at := range z.from {
			if at != nowhere {
				continue
			}
			ok, err := f.readSlice(buf, z.Zone, z.catalog, i, start)
			if err != nil {
				return err
			}
			if ok {
				z.takeSlice(i, start+int64(i*z.Slice), buf)
			}
		}
	}
	return nil
}

// takeSlice takes a slice that was found at a place.
func (z *zone) takeSlice(i int, at int64, slice []byte) {
	copy(z.data[i*z.Slice:], slice)
	z.from[i] = at
	z.missing--
}

// decode makes the missing slices from parity.
func (f *file) decode(z *zone) error {
	if z.missing == 0 {
		return nil
	}
	n := z.Slices()
	shards := make([][]byte, n+z.Parity)
	for i, at := range z.from {
		shards[i] = z.data[i*z.Slice:][:z.Slice:z.Slice]
		if at == nowhere {
			shards[i] = shards[i][:0] // the code fills it
		}
	}
	have := 0
	for i := 0; i < z.Parity && have < z.missing; i++ {
		number := z.Pieces() + i
		at, ok := z.places[number]
		if !ok {
			continue
		}
		body, err := f.readBody(z.Zone, number, at)
		if err != nil {
			return err
		}
		if body != nil {
			shards[n+i] = body
			have++
		}
	}
	if have < z.missing {
		z.lost = true
		return nil
	}
	code, err := newCode(n, z.Parity)
	if err != nil {
		return err
	}
	if code.ReconstructData(shards) != nil {
		z.lost = true
		return nil
	}
	for i, at := range z.from {
		if at == nowhere {
			copy(z.data[i*z.Slice:], shards[i])
			z.lost = z.lost || entry(shards[i]) != entryOf(z.catalog, i)
		}
	}
	// Padding is zeros.
	z.lost = z.lost || len(bytes.Trim(z.data[z.Size:], "\x00")) > 0
	return nil
}

// findStart sets z.begins. What is in front of it belongs to no zone, unless the zone before is a
// neighbour.
func (f *file) findStart(z *zone) error {
	const sample = 32
	if z.main.start == z.after {
		return nil
	}
	for i, at := range z.from {
		if at != nowhere {
			z.begins = min(max(at-int64(i*z.Slice), z.after), z.end())
			break
		}
	}
	if z.lost || z.Size < sample {
		return nil
	}
	// A copy of the zone in front of it is another file.
	least := max(z.after, z.main.start-int64(z.Size)+1)
	if z.begins < least {
		if copied, err := f.copied(z, z.begins); !copied {
			return err
		}
		z.begins = least
	} else if z.from[0] != nowhere {
		return nil
	}
	// Bytes may be inserted in the first slice or behind it, so that all others seem to begin
	// further on.
	at, err := f.find(z.data[:sample], least, min(max(z.begins, z.main.start)+sample, z.end()))
	switch {
	case err != nil:
		return err
	case at != nowhere:
		z.begins = at
	case least == z.after:
		// The front of the zone may be cut away.
		front := make([]byte, sample)
		if ok, err := f.readPart(front, z.after); err != nil {
			return err
		} else if ok && bytes.Contains(z.data, front) {
			z.begins = z.after
		}
	}
	return nil
}

// copied reports whether a slice that was found elsewhere is also in a zone that begins at start.
func (f *file) copied(z *zone, start int64) (bool, error) {
	buf := make([]byte, z.Slice)
	for i, at := range z.from {
		if at == nowhere || at == start+int64(i*z.Slice) {
			continue
		}
		if ok, err := f.readSlice(buf, z.Zone, z.catalog, i, start); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// intact reports whether the source has the zone in place, from z.begins on.
func (z *zone) intact() bool {
	if z.lost {
		return false
	}
	for i, at := range z.from {
		if at != z.begins+int64(i*z.Slice) {
			return false
		}
	}
	return z.begin() == z.begins+int64(z.Size)
}

// sectionIntact reports whether the source has the section as it should be.
func (f *file) sectionIntact(s *found) (bool, error) {
	if s.main.count < s.Packets() { // those of a full section have been verified
		return false, nil
	}
	size := s.SectionSize()
	head := s.AppendHeader(nil)
	footer := section.AppendFooter(nil, size)
	for at, want := range map[int64][]byte{0: head, size - section.FooterSize: footer} {
		got := make([]byte, len(want))
		ok, err := f.readPart(got, s.begin()+at)
		if !ok || !bytes.Equal(got, want) {
			return false, err
		}
	}
	return true, nil
}
