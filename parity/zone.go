package parity

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/section"
)

// A zone is a zone of the file with its section, as far as they are left.
type zone struct {
	*group
	// Rows of packets: the likeliest one, and what is first and last in the section.
	main, first, last *row

	after int64 // the section before ends here, as far as can be told
	hi    int64 // the section ends here, as far as can be told

	at    int64        // in the repaired file
	right map[int]bool // slices that a ReaderAt has found in place
	noted bool         // a ReaderAt has counted its damage
	slots *slots       // nil if the zone is not loaded
	whole []byte       // zone and section as they were; nil if they have not been needed
}

// slots says where the slices of a zone are.
type slots struct {
	from    []int64  // where the source has each slice, or nowhere
	missing int      // how many it does not have; 0 if that is unknown
	parity  int      // packets of parity that are left
	content [][]byte // all slices, padded; nil if none is missing
	lost    bool     // the slices that are missing cannot be made anew
	begins  int64    // where the zone begins in the source, as far as can be told
}

// begin returns where the section begins, by most of its packets.
func (z *zone) begin() int64 { return z.main.start + int64(z.Size) }

// starts returns the places where the zone may begin: by most packets, by the first or the last
// ones, and behind the section before.
func (z *zone) starts() []int64 {
	return []int64{z.main.start, z.first.start, z.last.start, z.after}
}

// readSlice reads slice i of a zone that begins at start, padded, and reports whether it is the one
// that the catalog names. Without a catalog it is not.
func (f *file) readSlice(buf []byte, g *group, i int, start int64) bool {
	catalog := f.catalogOf(g)
	return len(catalog) > 0 && f.readPadded(buf, g, i, start) && entry(buf[:g.Slice]) == entryOf(catalog, i)
}

// readPadded reads slice i of a zone that begins at start, padded. It reports whether the file has
// that place.
func (f *file) readPadded(buf []byte, g *group, i int, start int64) bool {
	n := g.SliceLength(i)
	clear(buf[n:g.Slice])
	return f.readPart(buf[:n], start+int64(i*g.Slice))
}

// readBody returns the body of a packet, or nil if it is lost.
func (f *file) readBody(g *group, number int) []byte {
	if at, ok := g.places[number]; ok {
		return g.ReadPacket(f.src, number, at-g.Place(number))
	}
	return nil
}

// catalogOf returns the catalog of a zone. It is empty if too few of its packets are left.
func (f *file) catalogOf(g *group) []byte {
	if g.catalog != nil {
		return g.catalog
	}
	g.catalog = []byte{}
	k := g.Pieces()
	pieces := make([][]byte, 2*k)
	for number := range g.Packets() {
		if i := g.PieceNumber(number); i >= 0 {
			pieces[i] = f.readBody(g, number)
		}
	}
	if restore(pieces, k) {
		catalog := slices.Concat(pieces[:k]...)[:section.EntrySize*g.Slices()]
		if xxhash.Sum64(catalog) == g.ID {
			g.catalog = catalog
		}
	}
	return g.catalog
}

// makeCatalog makes a catalog that is lost from the zone. It reports whether that is intact: the id
// of the catalog tells.
func (f *file) makeCatalog(z *zone) bool {
	buf := make([]byte, z.Slice)
	for _, start := range z.starts() {
		catalog := []byte{}
		for i := 0; i < z.Slices() && f.readPadded(buf, z.group, i, start); i++ {
			catalog = binary.LittleEndian.AppendUint64(catalog, entry(buf))
		}
		if len(catalog) == section.EntrySize*z.Slices() && xxhash.Sum64(catalog) == z.ID {
			z.catalog = catalog
			return true
		}
	}
	return false
}

// load finds the slices of a zone and makes those anew that are missing.
func (f *file) load(z *zone) {
	f.findPackets(z)
	s := &slots{begins: max(z.main.start, z.after)}
	z.slots = s
	for number := range z.places {
		if z.PieceNumber(number) < 0 {
			s.parity++
		}
	}
	// All memory and work are a few times what the file has of zone and packets.
	s.lost = int64(z.Size) > 2*(z.last.end-z.after)+1<<16
	if s.lost || len(f.catalogOf(z.group)) == 0 && !f.makeCatalog(z) {
		s.lost = true
		return
	}
	s.missing = z.Slices()
	s.from = slices.Repeat([]int64{nowhere}, s.missing)
	f.collect(z)
	f.decode(z)
	f.findStart(z)
}

// unload forgets what load has found.
func (z *zone) unload() { z.catalog, z.right, z.slots, z.whole = nil, nil, nil, nil }

// collect finds slices in the source: where the zone may begin, and if parity cannot replace the
// others, by a search.
func (f *file) collect(z *zone) {
	s := z.slots
	f.collectAt(z, z.starts()...)
	if s.missing <= s.parity {
		return
	}
	f.search(z)
	// The last slice is shorter, so a search does not find it. It may follow another one.
	for i := len(s.from) - 2; i >= 0; i-- {
		if s.from[i] != nowhere {
			f.collectAt(z, s.from[i]-int64(i*z.Slice))
			return
		}
	}
}

// collectAt takes those missing slices that are right if the zone begins at one of starts.
func (f *file) collectAt(z *zone, starts ...int64) {
	s := z.slots
	buf := make([]byte, z.Slice)
	for k, start := range starts {
		if s.missing == 0 || slices.Contains(starts[:k], start) {
			continue
		}
		for i, at := range s.from {
			if at == nowhere && f.readSlice(buf, z.group, i, start) {
				s.from[i] = start + int64(i*z.Slice)
				s.missing--
			}
		}
	}
}

// slices reads the slices of a zone that is loaded, padded. Those that are missing are nil.
func (f *file) slices(z *zone) [][]byte {
	all := cutSlices(make([]byte, z.Slices()*z.Slice), z.Slice)
	for i, at := range z.slots.from {
		if !f.readSlice(all[i], z.group, i, at-int64(i*z.Slice)) {
			all[i] = nil
		}
	}
	return all
}

// decode makes the missing slices from parity.
func (f *file) decode(z *zone) {
	s := z.slots
	if s.missing == 0 {
		return
	}
	shards, have := f.slices(z), 0
	for i := range z.Parity {
		var body []byte
		if have < s.missing {
			body = f.readBody(z.group, z.Pieces()+i)
		}
		if body != nil {
			have++
		}
		shards = append(shards, body)
	}
	s.lost = !restore(shards, z.Parity)
	s.content = shards[:z.Slices()]
	for i := 0; i < len(s.content) && !s.lost; i++ {
		padding := bytes.Trim(s.content[i][z.SliceLength(i):], "\x00")
		s.lost = entry(s.content[i]) != entryOf(z.catalog, i) || len(padding) > 0
	}
}

// heal makes zone and section of a zone that is loaded, if they are not lost.
func (f *file) heal(z *zone) {
	content := z.slots.content
	if content == nil {
		content = f.slices(z)
	}
	z.whole = make([]byte, 0, int64(z.Size)+z.SectionSize())
	for i, s := range content {
		z.whole = append(z.whole, s[:z.SliceLength(i)]...)
	}
	z.whole = appendSection(z.whole, z.Zone, content)
}

// findStart sets begins of a zone that does not begin behind the section before. What is in front
// of it belongs to no zone, unless the zone before is a neighbour.
func (f *file) findStart(z *zone) {
	s := z.slots
	if z.main.start == z.after {
		return
	}
	least := z.main.start - int64(z.Size) // a copy of the zone in front of it is another file
	for i, at := range s.from {
		if start := at - int64(i*z.Slice); at != nowhere && start > least {
			s.begins = min(max(start, z.after), z.last.end)
			break
		}
	}
	buf := make([]byte, z.Slice)
	switch {
	case s.from[0] == s.begins:
	case f.readSlice(buf, z.group, 0, z.after):
		// More bytes than the zone has may be inserted behind its first slice.
		if !f.readSlice(buf, z.group, z.Slices()-1, z.after) {
			s.begins = z.after
		}
	case z.after > least:
		// Bytes may be inserted in the first slice or behind it, so that all others seem to begin
		// further on, or the front may be cut away.
		const sample = 32
		front := make([]byte, min(sample, z.Size))
		if f.readPart(front, z.after) && bytes.Contains(slices.Concat(s.content...), front) {
			s.begins = z.after
		}
	}
}

// state returns the state of a zone that is loaded, without what is in front of it.
func (f *file) state(z *zone) State {
	if z.slots.lost {
		return Lost
	}
	for i, at := range z.slots.from {
		if at != z.main.start+int64(i*z.Slice) {
			return Healed
		}
	}
	if !f.sectionIntact(z) {
		return Healed
	}
	return Intact
}

// sectionIntact reports whether the source has the section as it should be.
func (f *file) sectionIntact(z *zone) bool {
	_, _, ends := section.Check(f.src, z.begin(), z.begin()+z.SectionSize())
	return ends && z.main.count == z.Packets() // those have been verified
}
