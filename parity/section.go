package parity

import (
	"cmp"
	"slices"

	"github.com/gopz/compress/internal/errs"
)

// packet is an intact packet of the file.
type packet struct {
	at     int64
	number int
}

// pool has an intact packet of each number, of all sections with the same geometry.
type pool struct {
	packets []packet
	seen    map[int]bool // numbers of packets
	bytes   int64        // of all of them
	assumed bool         // all packets are in place, but only the first one has been looked at
}

// section is what is left of a section: its intact packets in the file, in the order of their
// numbers.
type section struct {
	geometry
	pool        *pool
	count       int   // intact packets
	at          int64 // of the first one
	firstNumber int
	end         int64 // behind the last one
	lastNumber  int
	start       int64 // where the zone begins, by most of the packets
	agree       int   // how many these are
	zone        int   // counts the zones that sections may be of

	lo    int64 // slices of the zone are behind this: the last packet of the section before
	after int64 // where the section before ends, as far as can be told
	hi    int64 // where this section ends, as far as can be told

	pinned bool // header and footer of all sections are in place: the zone begins at after
}

// newSection returns a section of one packet.
func newSection(g geometry, p packet, pool *pool) *section {
	s := &section{geometry: g, pool: pool, at: p.at, firstNumber: p.number}
	s.start = p.at - s.place(p.number)
	s.addPacket(p)
	return s
}

// addPacket adds an intact packet behind the others, which agrees with them about the zone's
// beginning.
func (s *section) addPacket(p packet) {
	s.count++
	s.agree++
	s.lastNumber, s.end = p.number, p.at+headerSize+int64(s.bodySize(p.number))
}

// beginOffset returns where the section begins, by most of its packets.
func (s *section) beginOffset() int64 { return s.start + int64(s.size) }

// byFirst returns where the zone begins, by the first intact packet.
func (s *section) byFirst() int64 { return s.at - s.place(s.firstNumber) }

// byLast returns where the zone begins, by the last intact packet.
func (s *section) byLast() int64 {
	return s.end - headerSize - int64(s.bodySize(s.lastNumber)) - s.place(s.lastNumber)
}

// full reports whether all packets are there, in place.
func (s *section) full() bool { return s.agree == s.packets() }

// near reports whether a packet is so near behind this section that it belongs to the same zone,
// and not to an equal one further on: less than half a zone more than should be is between them.
func (s *section) near(p packet) bool {
	gap := p.at - s.end
	if p.number > s.lastNumber {
		gap -= s.place(p.number) - s.place(s.lastNumber+1)
	}
	return gap < int64(s.size+1)/2
}

const (
	maxSections = 1 << 20
	openRows    = 4  // rows of packets that may go on
	maxRows     = 64 // rows that one section is made of
)

// scanner finds rows of packets that agree about where their zone begins.
type scanner struct {
	rows  []*section
	open  map[geometry][]*section // the latest rows of each geometry
	zones int
}

// addPacket adds a packet.
func (c *scanner) addPacket(at int64, h packetHeader) error {
	p, open := packet{at, h.number}, c.open[h.geometry]
	var all *pool
	if len(open) > 0 {
		all = open[0].pool
	} else {
		all = &pool{seen: map[int]bool{}}
	}
	if !all.seen[p.number] {
		all.seen[p.number] = true
		all.packets = append(all.packets, p)
		all.bytes += headerSize + int64(h.bodySize(h.number))
	}

	zone := 0
	for _, s := range open {
		if !s.near(p) {
			continue
		}
		zone = s.zone
		if p.number > s.lastNumber && at-s.place(p.number) == s.start {
			s.addPacket(p)
			return nil
		}
	}
	if len(c.rows) == maxSections {
		return errs.OutOfMemory(0, "more than %d sections of parity", maxSections)
	}
	s := newSection(h.geometry, p, all)
	s.zone = zone
	if zone == 0 {
		c.zones++
		s.zone, open = c.zones, nil
	}
	if len(open) == openRows {
		open = slices.Delete(open, 0, 1)
	}
	c.open[h.geometry] = append(open, s)
	c.rows = append(c.rows, s)
	return nil
}

// sections returns the sections between lo and hi, in order. It reads the file once.
func (f *file) sections(lo, hi int64) ([]*section, error) {
	c := &scanner{open: map[geometry][]*section{}}
	if err := f.packets(lo, hi, c.addPacket); err != nil {
		return nil, err
	}
	rows := make([][]*section, c.zones)
	for _, s := range c.rows {
		rows[s.zone-1] = append(rows[s.zone-1], s)
	}
	list := make([]*section, 0, c.zones)
	for _, r := range rows {
		s, rest := join(r)
		list = append(list, s)
		if len(rest) > 0 {
			// It may be the other way round.
			if other, _ := join(rest); 2*other.count >= s.count {
				list = append(list, other)
			}
		}
	}
	slices.SortFunc(list, func(a, b *section) int { return cmp.Compare(a.at, b.at) })
	return list, nil
}

// join makes a section of rows of packets. The packets of a section are in the order of their
// numbers. Rows where they are not are copies of parts of it, which came to a place where they do
// not belong. So join takes as many packets in order as there are, and returns the rows without
// them.
func join(rows []*section) (s *section, rest []*section) {
	if len(rows) > maxRows {
		slices.SortStableFunc(rows, func(a, b *section) int { return cmp.Compare(b.count, a.count) })
		rows = rows[:maxRows]
		slices.SortFunc(rows, func(a, b *section) int { return cmp.Compare(a.at, b.at) })
	}
	sum, from := make([]int, len(rows)), make([]int, len(rows))
	best := 0
	for i, s := range rows {
		from[i] = -1
		for k, before := range rows[:i] {
			if before.lastNumber < s.firstNumber && before.end <= s.at && sum[k] > sum[i] {
				sum[i], from[i] = sum[k], k
			}
		}
		if sum[i] += s.count; sum[i] > sum[best] {
			best = i
		}
	}
	joined := *rows[best]
	used := map[*section]bool{rows[best]: true}
	for i := from[best]; i >= 0; i = from[i] {
		s := rows[i]
		used[s] = true
		joined.at, joined.firstNumber = s.at, s.firstNumber
		if s.agree >= joined.agree {
			joined.start, joined.agree = s.start, s.agree
		}
	}
	joined.count = sum[best]
	return &joined, slices.DeleteFunc(rows, func(r *section) bool { return used[r] })
}
