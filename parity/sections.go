package parity

import (
	"cmp"
	"slices"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/section"
)

const (
	maxRows     = 1 << 20 // in a file
	sectionRows = 64      // that one section is made of
	samples     = 16      // slices that proven compares
)

// A row is intact packets that agree about where their zone begins.
type row struct {
	start       int64 // of the zone
	count       int
	at          int64 // of the first packet
	firstNumber int
	end         int64 // behind the last packet
	lastNumber  int
}

// A group is all intact packets with the same zone. There is one section for it, or several if
// equal zones are in the file.
type group struct {
	section.Zone
	places  map[int]int64  // of one packet with each number; nil if all are in place
	bytes   int64          // of these packets
	byStart map[int64]*row // all packets
	rivals  int            // what may be sections for it
	best    *found         // of these

	catalog   []byte // for score
	anyProven bool   // one of them is behind its zone for sure
}

// A found is a section of the file, as far as it is left.
type found struct {
	*group
	main *row   // the row with most packets
	rows []*row // all, in the order of the file and of the packets' numbers

	right int // of some slices of the zone, if there are rivals

	lo    int64 // the last packet of the section before ends here
	after int64 // the section before ends here, as far as can be told
	hi    int64 // the section ends here, as far as can be told
}

// at returns where the first packet begins.
func (s *found) at() int64 { return s.rows[0].at }

// end returns where the last packet ends.
func (s *found) end() int64 { return s.rows[len(s.rows)-1].end }

// begin returns where the section begins, by most of its packets.
func (s *found) begin() int64 { return s.main.start + int64(s.Size) }

// starts returns the places where the zone may begin: by most packets, by the first or the last
// ones, and behind the section before.
func (s *found) starts() []int64 {
	return []int64{s.main.start, s.rows[0].start, s.rows[len(s.rows)-1].start, s.after}
}

// parityLeft returns how many packets of parity are left.
func (s *found) parityLeft() int {
	left := 0
	for number := range s.places {
		if s.ParityNumber(number) >= 0 {
			left++
		}
	}
	return left
}

// addPacket adds an intact packet.
func (g *group) addPacket(at int64, number int) {
	if _, ok := g.places[number]; !ok {
		g.places[number] = at
		g.bytes += int64(g.PacketSize(number))
	}
	start := at - g.Place(number)
	r := g.byStart[start]
	if r == nil {
		r = &row{start: start, at: at, firstNumber: number}
		g.byStart[start] = r
	}
	r.count++
	r.lastNumber, r.end = number, at+int64(g.PacketSize(number))
}

// scan finds the sections from lo to hi, in order.
func (f *file) scan(lo, hi int64) ([]*found, error) {
	groups := map[section.Zone]*group{}
	var order []*group
	rows := 0
	err := f.packets(lo, hi, func(at int64, h section.Packet) error {
		g := groups[h.Zone]
		if g == nil {
			g = &group{Zone: h.Zone, places: map[int]int64{}, byStart: map[int64]*row{}}
			groups[h.Zone] = g
			order = append(order, g)
		}
		before := len(g.byStart)
		g.addPacket(at, h.Number)
		if rows += len(g.byStart) - before; rows > maxRows {
			return errs.OutOfMemory(0, "more than %d sections of parity", maxRows)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list []*found
	for _, g := range order {
		list = append(list, g.sections()...)
	}
	slices.SortStableFunc(list, func(a, b *found) int { return cmp.Compare(a.at(), b.at()) })
	list, err = f.choose(list)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list, f.findEnd(list[len(list)-1], f.size)
}

// count returns how many packets there are.
func (s *found) count() (n int) {
	for _, r := range s.rows {
		n += r.count
	}
	return n
}

// sections returns what may be sections of the group, those with most packets first, and of equal
// ones that which is nearest to where it was written. Rows belong together that are nearer to each
// other than equal zones can be: bytes are missing between them, or too many.
func (g *group) sections() (list []*found) {
	rows := make([]*row, 0, len(g.byStart))
	for _, r := range g.byStart {
		rows = append(rows, r)
	}
	moved := func(r *row) int64 { return max(r.start-g.Offset, g.Offset-r.start) }
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(moved(a), moved(b)),
			cmp.Compare(a.start, b.start))
	})
	half := (int64(g.Size) + g.SectionSize()) / 2
	near := map[int64]*found{} // by their start in this unit
next:
	for _, r := range rows {
		k := (r.start + 1<<30) / half // not negative: a zone with its section is shorter
		for _, s := range []*found{near[k-1], near[k], near[k+1]} {
			if s != nil && max(r.start-s.main.start, s.main.start-r.start) < half {
				s.addRow(r)
				continue next
			}
		}
		s := &found{group: g, main: r, rows: []*row{r}}
		near[k] = s
		list = append(list, s)
	}
	g.best, g.rivals = list[0], len(list)
	return list
}

// addRow adds a row if it is in order with the others. Else it is a copy that came to this place.
func (s *found) addRow(r *row) {
	if len(s.rows) == sectionRows {
		return
	}
	i := len(s.rows)
	for k, o := range s.rows {
		switch {
		case r.firstNumber > o.lastNumber && r.at >= o.end:
		case r.lastNumber < o.firstNumber && r.end <= o.at:
			i = min(i, k)
		default:
			return
		}
	}
	s.rows = slices.Insert(s.rows, i, r)
}

// choose returns those of what may be sections that are sections of the file, with their bounds. Of
// several for one zone those are that have it in front of them. The others are copies of parts of a
// section.
func (f *file) choose(list []*found) (sections []*found, err error) {
	budget := 4 * f.size // for work that copies make
	score := func(s *found, starts ...int64) error {
		if budget -= samples * int64(s.Slice); budget < 0 {
			return nil
		}
		return f.score(s, starts)
	}
	for _, s := range list {
		if s.rivals > 1 {
			if err := score(s, s.main.start); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range list {
		var before *found
		next := int64(0) // where the zone behind was written
		if n := len(sections); n > 0 {
			before = sections[n-1]
			if s.at() < before.end() {
				continue // inside another section
			}
			if err := f.findEnd(before, s.at()); err != nil {
				return nil, err
			}
			s.lo, s.after = before.end(), before.hi
			if !before.Last {
				next = before.EndOffset()
			}
		}
		if s.rivals == 1 {
			sections = append(sections, s)
			continue
		}
		if before != nil && before.group == s.group && sameZone(before, s) {
			// Only one of them can be right.
			s.lo, s.after = before.lo, before.after
			if err := score(s, s.starts()...); err != nil {
				return nil, err
			}
			if err := score(before, before.starts()...); err != nil {
				return nil, err
			}
			if cmp.Or(cmp.Compare(s.right, before.right), cmp.Compare(s.count(), before.count())) > 0 {
				sections[len(sections)-1] = s
			}
			continue
		}
		expected := s.Offset == next && 2*s.count() >= s.Packets()
		if !s.proven() && !expected {
			if err := score(s, s.starts()...); err != nil {
				return nil, err
			}
		}
		if s.proven() || expected || s == s.best && !s.anyProven {
			sections = append(sections, s)
		}
	}
	return sections, nil
}

// sameZone reports whether two sections for one zone, one behind the other, are so near that there
// cannot be a zone for each.
func sameZone(a, b *found) bool {
	return 2*(a.at()-a.after+b.at()-a.end()) < 3*int64(a.Size)
}

// score counts how many of some slices of a zone are right if it begins at one of starts.
func (f *file) score(s *found, starts []int64) error {
	if s.catalog == nil {
		catalog, err := f.readCatalog(s)
		if err != nil {
			return err
		}
		s.catalog = append([]byte{}, catalog...)
	}
	s.right = 0
	if len(s.catalog) == 0 {
		return nil
	}
	buf := make([]byte, s.Slice)
	for k := range samples {
		for _, start := range starts {
			ok, err := f.readSlice(buf, s.Zone, s.catalog, k*s.Slices()/samples, start)
			if err != nil {
				return err
			}
			if ok {
				s.right++
				break
			}
		}
	}
	s.anyProven = s.anyProven || s.proven()
	return nil
}

// proven reports whether the zone is in front of the section for sure.
func (s *found) proven() bool { return 2*s.right >= samples }

// findEnd finds where a section ends: behind its footer, if that is left, at most at limit.
func (f *file) findEnd(s *found, limit int64) error {
	expected := s.rows[len(s.rows)-1].start + int64(s.Size) + s.SectionSize()
	footer := section.AppendFooter(nil, s.SectionSize())
	at, err := f.find(footer, s.end(), min(limit, expected+section.MaxSlice))
	s.hi = min(limit, expected)
	if at != nowhere {
		s.hi = at + section.FooterSize
	}
	return err
}

// chain returns the sections of a file in which all are in place, from their ends. It returns nil
// if that is not so.
func (f *file) chain() ([]*found, error) {
	var list []*found
	for end := f.size; end > 0; {
		s, err := f.sectionBefore(end)
		if s == nil || err != nil {
			return nil, err
		}
		next := int64(0) // where the zone behind was written
		if !s.Last {
			next = s.EndOffset()
		}
		if n := len(list); n == 0 && !s.Last || n > 0 && list[n-1].Offset != next {
			return nil, nil
		}
		list = append(list, s)
		end = s.after
	}
	if len(list) == 0 || list[len(list)-1].Offset != 0 {
		return nil, nil
	}
	slices.Reverse(list)
	return list, nil
}

// sectionBefore returns the section that ends at end, or nil if none does that is intact at both
// ends. It does not look at all packets.
func (f *file) sectionBefore(end int64) (*found, error) {
	footer := make([]byte, section.FooterSize)
	if ok, err := f.readPart(footer, end-section.FooterSize); !ok {
		return nil, err
	}
	size, ok := section.ParseFooter(footer)
	if !ok || size > end {
		return nil, nil
	}
	z, _, ok := section.Check(f.src, end-size, end)
	start := end - size - int64(z.Size)
	if !ok || start < 0 {
		return nil, nil
	}
	all := &row{
		start: start, count: z.Packets(), at: start + z.Place(0),
		end: end - section.FooterSize, lastNumber: z.Packets() - 1,
	}
	return &found{
		group: &group{Zone: z}, main: all, rows: []*row{all}, lo: start, after: start, hi: end,
	}, nil
}

// packetsOf returns a section of a chain with the packets that are intact now. If none is left, it
// is a section without packets.
func (f *file) packetsOf(s *found) (*found, error) {
	if s.places != nil {
		return s, nil
	}
	list, err := f.scan(s.begin(), s.hi)
	if err != nil {
		return nil, err
	}
	best := &found{group: &group{Zone: s.Zone, places: map[int]int64{}}, main: new(row), rows: s.rows}
	for _, o := range list {
		if o.Zone == s.Zone && o.main.count > best.main.count {
			best = o
		}
	}
	best.lo, best.after, best.hi = s.lo, s.after, s.hi
	if best.main.count == 0 {
		best.main = &row{start: s.main.start}
	}
	return best, nil
}
