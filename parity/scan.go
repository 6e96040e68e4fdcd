package parity

import (
	"bytes"
	"io"
	"slices"

	"github.com/gopz/compress/internal/errs"
)

// file is the file to heal.
type file struct {
	src  io.ReaderAt
	size int64
}

// read fills p from place at.
func (f *file) read(p []byte, at int64) error {
	n, err := f.src.ReadAt(p, at)
	switch {
	case n < 0 || n > len(p):
		return errs.BadCount
	case n == len(p):
		return nil
	case err == io.EOF || err == nil:
		return io.ErrUnexpectedEOF
	}
	return err
}

// packet is an intact packet of the file.
type packet struct {
	at     int64
	number int
}

// pool has the intact packets of all sections with the same geometry. Some may be there twice.
type pool struct {
	packets []packet
	bytes   int64 // of all of them
	assumed bool  // only the first packet is known to be intact; the list is empty
}

// section is what is left of a section: a row of its packets in the file.
type section struct {
	geometry
	pool        *pool
	count       int   // intact packets
	at          int64 // of the first one
	firstNumber int
	end         int64 // behind the last one
	lastNumber  int
	start       int64 // where the zone begins, by the longest row of packets that agree
	agree       int   // how many these are
	whole       bool  // the packets so far are all, in order, and nothing is between them

	zone     int   // number of the zone; rows of packets that may be one section have the same one
	row      int   // the latest packets that agree
	rowStart int64 // on this beginning of the zone

	// The zone and what is in front of it begin at lo, where the section before ends; this one ends
	// at hi.
	lo, hi int64
}

// begin returns where the section begins, by most of its packets.
func (s *section) begin() int64 { return s.start + int64(s.size) }

// byFirst returns where the zone begins, by the first intact packet.
func (s *section) byFirst() int64 { return s.at - s.place(s.firstNumber) }

// byLast returns where the zone begins, by the last intact packet.
func (s *section) byLast() int64 {
	return s.end - headerSize - int64(s.bodySize(s.lastNumber)) - s.place(s.lastNumber)
}

// full reports whether all packets are there, in place.
func (s *section) full() bool { return s.whole && s.count == s.packets() }

// add adds an intact packet behind the others.
func (s *section) add(p packet) {
	if s.count == 0 {
		s.at, s.firstNumber, s.whole = p.at, p.number, p.number == 0
	} else {
		s.whole = s.whole && p.number == s.lastNumber+1 && p.at == s.end
	}
	s.count++
	if start := p.at - s.place(p.number); s.row > 0 && start == s.rowStart {
		s.row++
	} else {
		s.row, s.rowStart = 1, start
	}
	if s.row > s.agree {
		s.agree, s.start = s.row, s.rowStart
	}
	s.lastNumber, s.end = p.number, p.at+headerSize+int64(s.bodySize(p.number))
}

// take adds an intact packet to the section and to its pool.
func (s *section) take(at int64, h packetHeader) {
	p := packet{at, h.number}
	s.add(p)
	s.pool.packets = append(s.pool.packets, p)
	s.pool.bytes += headerSize + int64(h.bodySize(h.number))
}

// near reports whether a packet is so near behind this section that it belongs to the same zone, and
// not to an equal one further on: less than half a zone more than should be is between them.
func (s *section) near(p packet) bool {
	gap := p.at - s.end
	if p.number > s.lastNumber {
		gap -= s.place(p.number) - s.place(s.lastNumber+1)
	}
	return gap < int64(s.size+1)/2
}

const (
	scanChunk   = 1 << 20
	maxSections = 1 << 20
	maxRows     = 4
)

// scanner groups packets.
type scanner struct {
	sections []*section
	zones    int                     // counter
	rows     map[geometry][]*section // of the latest section of each geometry
}

// add adds a packet. The packets of a section are in the order of their numbers. Where they are not,
// some of them are copies that came to a place where they do not belong. So a section may be any of
// several rows of packets in order.
func (c *scanner) add(at int64, h packetHeader) error {
	p := packet{at, h.number}
	rows := c.rows[h.geometry]
	var best *section
	isNear := false
	for _, s := range rows {
		isNear = isNear || s.near(p)
		switch {
		case !s.near(p) || p.number <= s.lastNumber:
		case best == nil, s.rowStart == at-s.place(p.number), best.rowStart != at-s.place(p.number) && s.count >= best.count:
			best = s
		}
	}
	if best != nil {
		best.take(at, h)
		return nil
	}
	if len(c.sections) == maxSections {
		return errs.OutOfMemory(0, "more than %d sections of parity", maxSections)
	}
	s := &section{geometry: h.geometry, pool: &pool{}}
	if len(rows) > 0 {
		s.pool = rows[0].pool
	}
	switch {
	case !isNear:
		rows = nil
	case len(rows) == maxRows:
		least := slices.IndexFunc(rows, func(r *section) bool {
			return !slices.ContainsFunc(rows, func(o *section) bool { return o.count < r.count })
		})
		rows = slices.Delete(rows, least, least+1)
	}
	if len(rows) > 0 {
		s.zone = rows[0].zone
	} else {
		c.zones++
		s.zone = c.zones
	}
	s.take(at, h)
	c.rows[h.geometry] = append(rows, s)
	c.sections = append(c.sections, s)
	return nil
}

// scan finds the sections of the file, in order. It reads the file once.
func (f *file) scan() ([]*section, error) {
	c := &scanner{rows: map[geometry][]*section{}}
	if err := f.packets(0, f.size, c.add); err != nil {
		return nil, err
	}
	return f.accept(c.sections)
}

// packets calls found for each intact packet from lo to hi, in order. Packets do not overlap.
func (f *file) packets(lo, hi int64, found func(at int64, h packetHeader) error) error {
	// A false packet costs the check of its body. All true ones together are no more than the file.
	budget := 2*(hi-lo) + scanChunk
	buf := make([]byte, min(scanChunk+headerSize+maxSliceSize, hi-lo))
	for at := lo; at < hi; {
		data := buf[:min(int64(len(buf)), hi-at)]
		if err := f.read(data, at); err != nil {
			return err
		}
		limit := min(scanChunk, len(data))
		i := 0
		for i < limit {
			next := bytes.Index(data[i:min(len(data), limit+len(magic)-1)], []byte(magic))
			if next < 0 {
				i = limit
				break
			}
			i += next
			h, ok := parsePacketHeader(data[i:])
			if ok {
				body := h.bodySize(h.number)
				ok = i+headerSize+body <= len(data) && budget > 0
				if ok {
					ok = checksum(data[i+headerSize:][:body]) == h.body
				}
				if ok {
					if err := found(at+int64(i), h); err != nil {
						return err
					}
					i += headerSize + body
					continue
				}
				budget -= int64(body)
			}
			i++
		}
		at += int64(i)
	}
	return nil
}

// accept returns those sections that end a zone at their place, with the bounds of their zones.
// Others are copies of parts of a section that came to another place.
func (f *file) accept(all []*section) ([]*section, error) {
	most := map[*pool]*section{}
	for _, s := range all {
		if m := most[s.pool]; m == nil || s.count > m.count {
			most[s.pool] = s
		}
	}
	row := map[int]*section{} // the longest one of a zone
	for _, s := range all {
		if m := row[s.zone]; m == nil || s.count > m.count {
			row[s.zone] = s
		}
	}
	var kept []*section
	for _, s := range all {
		if row[s.zone] != s {
			continue
		}
		if len(kept) > 0 {
			before := kept[len(kept)-1]
			if s.at < before.end {
				continue // inside another section
			}
			if err := f.findEnd(before, s.at); err != nil {
				return nil, err
			}
			s.lo = before.hi
		}
		if most[s.pool] != s {
			if ok, err := f.endsZone(s); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
		}
		kept = append(kept, s)
	}
	if len(kept) == 0 {
		return nil, nil
	}
	return slices.Clip(kept), f.findEnd(kept[len(kept)-1], f.size)
}

// findEnd finds where a section ends: behind its footer, if that is left, at most at limit.
func (f *file) findEnd(s *section, limit int64) error {
	if s.hi > 0 {
		return nil
	}
	footer := appendFooter(nil, s.sectionSize())
	expected := s.byLast() + int64(s.size) + s.sectionSize()
	if at := expected - footerSize; at >= s.end && expected <= limit {
		got := make([]byte, footerSize)
		if err := f.read(got, at); err != nil {
			return err
		}
		if bytes.Equal(got, footer) {
			s.hi = expected
			return nil
		}
	}
	at, err := f.find(footer, s.end, min(limit, expected+maxSliceSize))
	if err != nil {
		return err
	}
	s.hi = min(limit, expected)
	if at != nowhere {
		s.hi = at + footerSize
	}
	return nil
}

// find returns the first place of a pattern from lo to hi, or nowhere.
func (f *file) find(pattern []byte, lo, hi int64) (int64, error) {
	overlap := int64(len(pattern) - 1)
	if hi-lo <= overlap {
		return nowhere, nil
	}
	buf := make([]byte, min(hi-lo, scanChunk))
	for lo+overlap < hi {
		data := buf[:min(hi-lo, int64(len(buf)))]
		if err := f.read(data, lo); err != nil {
			return nowhere, err
		}
		if i := bytes.Index(data, pattern); i >= 0 {
			return lo + int64(i), nil
		}
		lo += int64(len(data)) - overlap
	}
	return nowhere, nil
}

// endsZone reports whether a section that is not the only one of its geometry is behind its zone.
// It compares a few slices, in front of the section or behind lo.
func (f *file) endsZone(s *section) (bool, error) {
	const samples = 16
	if s.count < ceilDiv(s.packets(), 2) {
		return false, nil
	}
	catalog, err := f.readCatalog(s)
	if err != nil || catalog == nil {
		return false, err
	}
	buf := make([]byte, s.slice)
	taken, right := 0, 0
	for i := 0; i < s.slices(); i += max(1, s.slices()/samples) {
		taken++
		for _, start := range []int64{s.start, s.lo} {
			ok, err := f.readSlice(buf, s, catalog, i, start, s.end)
			if err != nil {
				return false, err
			}
			if ok {
				right++
				break
			}
		}
	}
	return 2*right >= taken, nil
}

// readSlice reads slice i of a zone that begins at start, padded, and reports whether it is the one
// that the catalog names. It reads nothing at limit or behind it.
func (f *file) readSlice(buf []byte, s *section, catalog []byte, i int, start, limit int64) (bool, error) {
	at, n := start+int64(i)*int64(s.slice), s.sliceLength(i)
	if at < 0 || at+int64(n) > limit {
		return false, nil
	}
	if err := f.read(buf[:n], at); err != nil {
		return false, err
	}
	clear(buf[n:s.slice])
	return entry(buf[:s.slice]) == entryOf(catalog, i), nil
}

// readCatalog returns the catalog of a zone, or nil if too few of its packets are left.
func (f *file) readCatalog(s *section) ([]byte, error) {
	pieces := make([][]byte, 2*s.pieces())
	packets := s.pool.packets
	if s.pool.assumed {
		for i := range s.geometry.packets() {
			packets = append(packets, packet{s.lo + s.place(i), i})
		}
	}
	for _, p := range packets {
		i := s.pieceNumber(p.number)
		if i < 0 || pieces[i] != nil {
			continue
		}
		body, err := f.readBody(s, p)
		if err != nil {
			return nil, err
		}
		pieces[i] = body
	}
	return joinCatalog(pieces, s.geometry), nil
}

// readBody returns the body of a packet, or nil if the packet is not intact.
func (f *file) readBody(s *section, p packet) ([]byte, error) {
	n := s.bodySize(p.number)
	if p.at+headerSize+int64(n) > f.size {
		return nil, nil
	}
	buf := make([]byte, headerSize+n)
	if err := f.read(buf, p.at); err != nil {
		return nil, err
	}
	h, ok := parsePacketHeader(buf)
	body := buf[headerSize:]
	if !ok || h.geometry != s.geometry || h.number != p.number || checksum(body) != h.body {
		return nil, nil
	}
	return body, nil
}
