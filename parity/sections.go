package parity

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gopz/compress/internal/section"
)

const (
	maxRows = 1 << 20       // in a file
	samples = 16            // slices of a zone that tell whether it is there
	most    = samples/2 + 1 // more than half of them
)

// A row is intact packets that agree about where their zone begins.
type row struct {
	start       int64 // of the zone
	count       int
	at, end     int64 // of the first packet and behind the last one
	first, last int   // their numbers
	right       int   // of some slices of such a zone, if there are other rows
}

// A group is all intact packets with the same section.Zone. There is one section for it, or several
// if equal zones are in the file.
type group struct {
	section.Zone
	places  map[int]int64  // of one packet with each number; nil if they have not been looked for
	rows    map[int64]*row // by the start of the zone
	catalog []byte         // nil if it has not been read
}

// groups finds the packets from lo to hi.
func (f *file) groups(lo, hi int64) (list []*group) {
	groups := map[section.Zone]*group{}
	rows := 0
	f.packets(lo, hi, func(at int64, h *section.Packet) {
		g := groups[h.Zone]
		if g == nil {
			g = &group{Zone: h.Zone, places: map[int]int64{}, rows: map[int64]*row{}}
			groups[h.Zone] = g
			list = append(list, g)
		}
		start := at - g.Place(h.Number)
		r := g.rows[start]
		if r == nil {
			if rows == maxRows {
				return
			}
			rows++
			r = &row{start: start, at: at, first: h.Number}
			g.rows[start] = r
		}
		r.count++
		r.last, r.end = h.Number, at+int64(h.Length())
		if _, ok := g.places[h.Number]; !ok {
			g.places[h.Number] = at
		}
	})
	return list
}

// zones returns the zones of a group, the likeliest first: those in whose place most of the zone
// is, and of others those of most packets. Rows belong together that are nearer to each other than
// equal zones can be: bytes are missing between them, or too many. Another row is a copy of packets
// if no more than half of its zone is in front of it.
func (f *file) zones(g *group) (list []*zone) {
	rows := slices.Collect(maps.Values(g.rows))
	if len(rows) > 1 {
		for _, r := range rows {
			r.right = f.score(g, r.start)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(
			b.right/most-a.right/most, b.count-a.count, b.right-a.right, cmp.Compare(a.start, b.start))
	})
	radius := (int64(g.Size) + g.SectionSize()) * 3 / 4
	near := map[int64]*zone{} // by their start in this unit
next:
	for _, r := range rows {
		k := (r.start + 1<<30) / radius // not negative: a zone with its section is shorter
		for _, z := range []*zone{near[k-1], near[k], near[k+1]} {
			if z != nil && max(r.start-z.main.start, z.main.start-r.start) < radius {
				z.addRow(r)
				continue next
			}
		}
		if len(list) == 0 || r.right >= most {
			near[k] = &zone{group: g, main: r, first: r, last: r}
			list = append(list, near[k])
		}
	}
	return list
}

// addRow adds a row that is in order with the main one. Another one is a copy that came to this
// place.
func (z *zone) addRow(r *row) {
	switch {
	case r.last < z.main.first && r.end <= z.main.at && r.at < z.first.at:
		z.first = r
	case r.first > z.main.last && r.at >= z.main.end && r.end > z.last.end:
		z.last = r
	}
}

// score counts how many of samples of a zone are right if it begins at start.
func (f *file) score(g *group, start int64) int {
	var numbers []int
	for k := range samples {
		numbers = append(numbers, k*g.Slices()/samples)
	}
	return f.count(g, start, numbers)
}

// count counts how many of some slices are right in a zone that begins at start.
func (f *file) count(g *group, start int64, numbers []int) (right int) {
	buf := make([]byte, g.Slice)
	for _, i := range numbers {
		f.budget -= int64(g.Slice)
		if f.budget >= 0 && f.readSlice(buf, g, i, start) {
			right++
		}
	}
	return right
}

// scan finds the zones of the file that have packets left, in order. It leaves out what is inside
// another section, and sections that are content of another zone.
func (f *file) scan() (zones []*zone) {
	f.budget = 4*f.size + scanChunk
	var list []*zone
	for _, g := range f.groups(0, f.size) {
		list = append(list, f.zones(g)...)
	}
	slices.SortFunc(list, func(a, b *zone) int { return cmp.Compare(a.first.at, b.first.at) })
	for _, z := range list {
		n := len(zones)
		for n > 0 && f.contains(z, zones[n-1]) {
			n--
		}
		zones = zones[:n]
		if n > 0 {
			before := zones[n-1]
			if z.first.at < before.last.end && before.last.count < z.main.count {
				before.last = before.main // the last packets are a copy
			}
			if z.first.at < before.last.end {
				continue
			}
			f.findEnd(before, z.first.at)
			z.after = before.hi
		}
		zones = append(zones, z)
	}
	if n := len(zones); n > 0 {
		f.findEnd(zones[n-1], f.size)
	}
	return zones
}

// contains reports whether a section is content of a zone: its first or last packet is in a slice
// that is right.
func (f *file) contains(z, o *zone) bool {
	var numbers []int
	for _, at := range []int64{o.first.at, o.last.end - 1} {
		at -= z.main.start
		if 0 <= at && at < int64(z.Size) {
			numbers = append(numbers, int(at)/z.Slice)
		}
	}
	return len(numbers) > 0 && f.count(z.group, z.main.start, numbers) > 0
}

// findEnd finds where a section ends: behind its footer, if that is left, at most at limit. Less
// than a slice of bytes may be inserted in front of it.
func (f *file) findEnd(z *zone, limit int64) {
	expected := z.last.start + int64(z.Size) + z.SectionSize()
	z.hi = min(limit, expected)
	footer := section.AppendFooter(nil, z.SectionSize())
	if at := f.find(footer, z.last.end, min(limit, expected+int64(z.Slice))); at != nowhere {
		z.hi = at + section.FooterSize
	}
}

// chain returns the zones of a file in which all sections are in place, from their ends. It looks
// at few packets of each. It returns nil if that is not so.
func (f *file) chain() (list []*zone) {
	next := int64(0) // where the zone behind was written
	for end := f.size; end > 0; {
		size := f.footerBefore(end)
		z, _, ok := section.Check(f.src, end-size, end)
		start := end - size - int64(z.Size)
		if !ok || start < 0 || z.Next() != next {
			return nil
		}
		all := &row{start: start, at: end - size, end: end}
		list = append(list, &zone{
			group: &group{Zone: z}, main: all, first: all, last: all, after: start, hi: end,
		})
		end, next = start, z.Offset
	}
	if next != 0 {
		return nil
	}
	slices.Reverse(list)
	return list
}

// footerBefore returns the size of the section that ends at end, or 0 if its footer is not there.
func (f *file) footerBefore(end int64) int64 {
	var footer [section.FooterSize]byte
	if !f.readPart(footer[:], end-section.FooterSize) {
		return 0
	}
	size, _ := section.ParseFooter(footer[:])
	return size
}

// findPackets finds the intact packets of a zone of a chain.
func (f *file) findPackets(z *zone) {
	if z.places != nil {
		return
	}
	z.group = &group{Zone: z.Zone, places: map[int]int64{}}
	for _, g := range f.groups(z.begin(), z.hi) {
		if g.Zone == z.Zone {
			z.group = g
		}
	}
	if r := z.rows[z.main.start]; r != nil {
		z.main.count = r.count
	}
}
