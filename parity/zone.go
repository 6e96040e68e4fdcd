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

	count    int  // of packets in all rows
	doubtful bool // it may be a copy of a part of a section

	after int64 // the section before ends here, as far as can be told
	next  int64 // where a zone behind that section was written; 0 if another file is expected
	hi    int64 // the section ends here, as far as can be told

	at int64 // in the repaired file

	// What load finds:
	loaded  bool
	from    []int64        // where the source has each slice, or nowhere
	rebuilt map[int][]byte // slices that it does not have
	missing int            // how many those are
	parity  int            // packets of parity that are left
	lost    bool           // they cannot be made anew
	begins  int64          // where the zone begins in the source, as far as can be told

	section []byte // anew; nil if the source has it, or if it has not been read
	checked bool   // section is known
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
	n, catalog := g.SliceLength(i), f.catalogOf(g)
	if len(catalog) == 0 || !f.readPart(buf[:n], start+int64(i*g.Slice)) {
		return false
	}
	clear(buf[n:g.Slice])
	return entry(buf[:g.Slice]) == entryOf(catalog, i)
}

// readBody returns the body of a packet, or nil if it is lost.
func (f *file) readBody(g *group, number int) []byte {
	start := g.start
	if g.places != nil {
		at, ok := g.places[number]
		if !ok {
			return nil
		}
		start = at - g.Place(number)
	}
	return g.ReadPacket(f.src, number, start)
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

// load finds the slices of a zone and makes those anew that are missing.
func (f *file) load(z *zone) {
	f.findPackets(z)
	z.loaded, z.begins, z.parity = true, max(z.main.start, z.after), 0
	for number := range z.places {
		if z.PieceNumber(number) < 0 {
			z.parity++
		}
	}
	// All memory and work are a few times what the file has of zone and packets.
	if int64(z.Size) > 2*(z.last.end-z.after)+1<<16 {
		z.lost = true
		return
	}
	z.missing = z.Slices()
	z.from = slices.Repeat([]int64{nowhere}, z.missing)
	if len(f.catalogOf(z.group)) == 0 {
		f.loadWithoutCatalog(z)
		return
	}
	f.collect(z)
	f.decode(z)
	f.findStart(z)
}

// unload forgets what load has found.
func (z *zone) unload() {
	z.loaded, z.checked, z.lost = false, false, false
	z.catalog, z.from, z.rebuilt, z.section = nil, nil, nil, nil
}

// loadWithoutCatalog loads a zone whose catalog is lost. The id of the catalog tells whether the
// zone is intact; else it is lost.
func (f *file) loadWithoutCatalog(z *zone) {
	z.lost, z.missing = true, 0 // it is unknown how many are
	buf := make([]byte, z.Slice)
	for _, start := range z.starts() {
		var catalog []byte
		for i := range z.from {
			n := z.SliceLength(i)
			z.from[i] = start + int64(i*z.Slice)
			if !f.readPart(buf[:n], z.from[i]) {
				break
			}
			clear(buf[n:])
			catalog = binary.LittleEndian.AppendUint64(catalog, entry(buf))
		}
		if len(catalog) == section.EntrySize*len(z.from) && xxhash.Sum64(catalog) == z.ID {
			z.catalog, z.begins, z.lost = catalog, start, false
			return
		}
	}
}

// collect finds slices in the source, until parity can replace those that are missing.
func (f *file) collect(z *zone) {
	f.collectAt(z, z.starts()...)
	if z.missing <= z.parity {
		return
	}
	f.search(z)
	// The last slice is shorter, so a search does not find it. It may follow another one.
	for i := len(z.from) - 2; i >= 0; i-- {
		if z.from[i] != nowhere {
			f.collectAt(z, z.from[i]-int64(i*z.Slice))
			return
		}
	}
}

// collectAt takes those missing slices that are right if the zone begins at one of starts.
func (f *file) collectAt(z *zone, starts ...int64) {
	buf := make([]byte, z.Slice)
	for k, start := range starts {
		if k > 0 && z.missing <= z.parity || slices.Contains(starts[:k], start) {
			continue
		}
		for i, at := range z.from {
			if at == nowhere && f.readSlice(buf, z.group, i, start) {
				z.from[i] = start + int64(i*z.Slice)
				z.missing--
			}
		}
	}
}

// slices returns the slices of a zone, padded. Those that are missing and not rebuilt are nil.
func (f *file) slices(z *zone) [][]byte {
	all := cutSlices(make([]byte, z.Slices()*z.Slice), z.Slice)
	for i, at := range z.from {
		if at == nowhere {
			all[i] = z.rebuilt[i]
		} else {
			f.read(all[i][:z.SliceLength(i)], at)
		}
	}
	return all
}

// decode makes the missing slices from parity.
func (f *file) decode(z *zone) {
	if z.missing == 0 {
		return
	}
	shards, have := f.slices(z), 0
	for i := range z.Parity {
		var body []byte
		if have < z.missing {
			body = f.readBody(z.group, z.Pieces()+i)
		}
		if body != nil {
			have++
		}
		shards = append(shards, body)
	}
	z.lost = !restore(shards, z.Parity)
	if z.lost {
		return
	}
	z.rebuilt = map[int][]byte{}
	for i, at := range z.from {
		if at != nowhere {
			continue
		}
		padding := bytes.Trim(shards[i][z.SliceLength(i):], "\x00")
		if entry(shards[i]) != entryOf(z.catalog, i) || len(padding) > 0 {
			z.lost, z.rebuilt = true, nil
			return
		}
		z.rebuilt[i] = shards[i]
	}
}

// findStart sets z.begins. What is in front of it belongs to no zone, unless the zone before is a
// neighbour.
func (f *file) findStart(z *zone) {
	const sample = 32
	if z.main.start == z.after {
		return
	}
	least := z.main.start - int64(z.Size) // a copy of the zone in front of it is another file
	for i, at := range z.from {
		if start := at - int64(i*z.Slice); at != nowhere && start > least {
			z.begins = min(max(start, z.after), z.last.end)
			break
		}
	}
	if z.lost || z.Size < sample || z.from[0] == z.begins {
		return
	}
	// More bytes than the zone has may be inserted behind its first slice.
	buf := make([]byte, z.Slice)
	if f.readSlice(buf, z.group, 0, z.after) && !f.readSlice(buf, z.group, z.Slices()-1, z.after) {
		z.begins = z.after
		return
	}
	// Bytes may be inserted in the first slice or behind it, so that all others seem to begin
	// further on.
	head := z.rebuilt[0]
	if head == nil {
		return
	}
	lo := max(z.after, least+1)
	at := f.find(head[:sample], lo, min(max(z.begins, z.main.start)+sample, z.last.end))
	if at != nowhere {
		z.begins = at
		return
	}
	// The front of the zone may be cut away.
	front := make([]byte, sample)
	if lo == z.after && f.readPart(front, lo) && bytes.Contains(slices.Concat(f.slices(z)...), front) {
		z.begins = lo
	}
}

// intact reports whether the source has the zone in place, from z.begins on.
func (z *zone) intact() bool {
	for i, at := range z.from {
		if at != z.begins+int64(i*z.Slice) {
			return false
		}
	}
	return !z.lost && z.begin() == z.begins+int64(z.Size)
}

// sectionIntact reports whether the source has the section as it should be.
func (f *file) sectionIntact(z *zone) bool {
	_, _, ends := section.Check(f.src, z.begin(), z.begin()+z.SectionSize())
	return ends && z.main.count == z.Packets() // those have been verified
}
