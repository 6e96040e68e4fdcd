package pzfile

import (
	"bytes"
	"math"
	"slices"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// An extent is a stream with an intact index and footer, or a small stream.
type extent struct {
	start int64 // as the footer says
	tail  int64 // offset of the end marker; −1 for a small stream
	units int64 // of the index
	end   int64
	loose bool // nothing confirms start: bytes are missing, or inserted, or the header is damaged
}

// findEnds finds streams from the end of the file, as long as one ends where the next one begins.
func (s *search) findEnds() {
	for pos := s.Size; pos > 0 && s.Err == nil; {
		x, ok := s.extentBefore(pos, 0)
		if ok && x.units < 0 { // a section
			pos = x.start
			continue
		}
		if ok && x.tail >= 0 {
			s.list, ok = s.readList(s.list[:0], x.tail, x.units)
		}
		if !ok {
			break
		}
		if x.start < 0 || !s.beginsAt(x.start) {
			_, ok := s.extentBefore(max(0, x.start), 0)
			x.loose = !ok
		}
		s.ends = append(s.ends, x)
		s.account()
		if x.loose {
			s.ahead, s.list = s.list, nil
			break
		}
		pos = x.start
	}
	slices.Reverse(s.ends)
}

// extentBefore returns the stream that ends at an offset, or the section, with units −1. The index
// of a stream begins at least at an offset.
func (s *search) extentBefore(end, least int64) (x extent, ok bool) {
	n := min(end, FooterSize)
	p := s.Peek(s.small[:n], end-n)
	if start, err := sectionBefore(s.Src, end, p); err == nil && start < end {
		return extent{start: start, tail: -1, units: -1, end: end}, true
	}
	if size, ok := parseSmallFooter(p); ok && size <= end {
		h, ok := s.headerAt(end - size)
		return extent{start: end - size, tail: -1, end: end}, ok && h.Small && int64(h.smallSize()) == size
	}
	if len(p) < FooterSize {
		return x, false
	}
	f, err := ParseFooter(p)
	tail := end - TailSize(f.Units)
	if err != nil || tail < least || s.checkTail(tail, f.Units) != nil {
		return x, false
	}
	return extent{start: end - f.Size, tail: tail, units: f.Units, end: end}, true
}

// setRegion sets where the stream at pos ends, as far as the ends of streams tell, and takes its
// index if that is known.
func (s *search) setRegion() {
	for len(s.ends) > 0 && s.ends[0].end <= s.pos {
		s.ends = s.ends[1:]
	}
	s.end = s.Size
	if len(s.ends) == 0 {
		return
	}
	switch x := s.ends[0]; {
	case x.loose && s.mayBegin(&x):
		s.end = x.end
		s.setList(x.tail, x.units)
	case x.loose:
		s.end = x.end
	case x.start > s.start:
		s.end = x.start
	default:
		s.end = x.end
		s.setList(x.tail, x.units)
	}
}

// mayBegin reports whether the stream at pos is the one with a loose index: its first block is
// listed, it begins near to where the index says, and no other stream begins nearer.
func (s *search) mayBegin(x *extent) bool {
	if s.known && s.head.Small {
		return false
	}
	far, most := max(x.start-s.start, s.start-x.start), int64(MinStreamSize)
	if s.known || s.start == 0 {
		most = (x.end - x.start) / 2
	}
	if c := s.find(s.pos); c.number >= 0 {
		same := func(b index.Block) bool { return sameEntry(&b, &c.block) }
		first := slices.IndexFunc(s.ahead, same)
		switch {
		case c.number >= int64(len(s.ahead)), !same(s.ahead[c.number]):
			return false
		case s.known && int64(first) == c.number && !slices.ContainsFunc(s.ahead[first+1:], same):
			most = math.MaxInt64 // no other block has such an entry
		}
	}
	if far >= most {
		return false
	}
	off, end := max(x.start-far, s.start)+1, min(x.start+far, x.tail)
	for ; off < end; off += int64(len(s.buf)) - MaxHeaderSize {
		p := s.Peek(s.buf[:min(int64(len(s.buf)), end+MaxHeaderSize-off)], off)
		for i := range p {
			if _, ok := s.rules.parseHeader(p[i:]); ok && off+int64(i) < end {
				return false
			}
		}
	}
	return true
}

// readList appends the blocks of the index behind the end marker at tail to list. Their offsets
// count from tail. ok is false if the index contradicts itself.
func (s *search) readList(list []index.Block, tail, units int64) (_ []index.Block, ok bool) {
	if tail < 0 {
		return list, false
	}
	f, ok := s.footerAt(tail, units)
	var sum indexSum
	if !ok {
		return list, false
	}
	end := tail + EndMarkerSize + UnitSize*units
	pos := s.entries(s.buf[:], tail+EndMarkerSize, end, func(e Entry) bool {
		list = append(list, e.block(sum.blocks))
		sum.addEntry(e)
		s.AccountFor(index.BlockMemory * int64(len(list)))
		return s.Err == nil
	})
	p := s.Peek(s.small[:min(UnitSize, end-pos)], pos) // zeros fill the last unit
	if end-pos >= UnitSize || len(bytes.Trim(p, "\x00")) > 0 || !s.addsUp(&sum, tail, f) {
		return list[:0], false
	}
	for i := range list {
		list[i].Offset -= sum.blocks
	}
	return list, true
}

// setList makes the index behind the end marker at tail that of the stream, unless it contradicts
// itself, or a block that has been found.
func (s *search) setList(tail, units int64) {
	s.tail = -1
	list, ok := s.readList(s.list[:0], tail, units)
	s.list = list
	switch {
	case !ok:
	case s.isAllListed():
		s.tail = tail
	default: // the blocks in front of those that are listed are of another stream
		s.foreign = len(s.found)
		for s.foreign > 0 && s.isListed(&s.found[s.foreign-1].Block, s.found[s.foreign-1].number) {
			s.foreign--
		}
	}
}

// isAllListed reports whether the index has an entry of each block found.
func (s *search) isAllListed() bool {
	for i := range s.found {
		if !s.isListed(&s.found[i].Block, s.found[i].number) {
			return false
		}
	}
	return true
}

// isListed reports whether the index has an entry of a block.
func (s *search) isListed(b *index.Block, number int64) bool {
	return number < int64(len(s.list)) && sameEntry(&s.list[number], b)
}

// listedNear returns the number of a block that is the given number but for a multiple of 2¹⁶, as
// its short header tells; −1 if the index has no such block.
func (s *search) listedNear(b *index.Block, number int64) int64 {
	const step = 1 << 16
	for n := number; n < int64(len(s.list)); n += step {
		if s.isListed(b, n) {
			return n
		}
	}
	for n := number - step; n >= 0; n -= step {
		if s.isListed(b, n) {
			return n
		}
	}
	return -1
}

// An indexSum adds up the entries of an index.
type indexSum struct {
	content int64
	size    int64 // of the entries, in bytes
	blocks  int64 // bytes of the blocks
	short   bool  // one of them is short
}

func (t *indexSum) addEntry(e Entry) {
	t.content += int64(e.Raw)
	t.size += int64(e.Size())
	t.blocks += int64(e.HeaderSize() + e.Payload)
	t.short = t.short || e.Short
}

// addsUp reports whether the end marker at tail and the footer belong to an index with that sum.
func (s *search) addsUp(sum *indexSum, tail int64, f Footer) bool {
	var marker [EndMarkerSize]byte
	appendEndMarker(marker[:0], f.Units, sum.short)
	return sum.content == f.Content && indexUnits(sum.size) == f.Units &&
		string(s.Peek(s.small[:EndMarkerSize], tail)) == string(marker[:])
}

// checkTail compares the check of the footer with end marker and index, which begin at tail. The
// Detail of an error says what is wrong; one without Detail means that the tail cannot be read.
func (s *search) checkTail(tail, units int64) *errs.Error {
	var sum uint32
	footer := tail + TailSize(units) - FooterSize
	for pos := tail; pos < footer; {
		p := s.Peek(s.buf[:min(int64(len(s.buf)), footer-pos)], pos)
		if len(p) == 0 {
			return &errs.Error{Kind: errs.Truncated}
		}
		sum = Checksum(sum, p)
		pos += int64(len(p))
	}
	p := s.Peek(s.small[:], footer)
	if len(p) < FooterSize {
		return &errs.Error{Kind: errs.Truncated}
	}
	f, err := ParseFooter(p)
	if err == nil {
		err = f.CheckTail(sum, p)
	}
	if err != nil {
		return &errs.Error{Kind: errs.Corrupt, Detail: "index: " + err.Error()}
	}
	return nil
}

// footerAt reads the footer that belongs to the end marker at off in front of an index of so many
// units. It does not read the index.
func (s *search) footerAt(off, units int64) (Footer, bool) {
	p := s.Peek(s.small[:], off+TailSize(units)-FooterSize)
	if len(p) < FooterSize {
		return Footer{}, false
	}
	f, err := ParseFooter(p)
	return f, err == nil && f.Units == units
}

// entries calls f for each entry from pos on, until f returns false, or an entry is not valid or
// goes beyond end, or has kind 0. It returns where that is.
func (s *search) entries(buf []byte, pos, end int64, f func(Entry) bool) int64 {
	for pos < end {
		p := s.Peek(buf[:min(int64(len(buf)), end-pos)], pos)
		used := 0
		for used < len(p) && p[used] != 0 && len(p)-used >= entrySize(p[used]) {
			e, err := ParseEntry(p[used:], MaxBlockSize)
			if err != nil || !f(e) {
				return pos + int64(used)
			}
			used += e.Size()
		}
		if used == 0 {
			break
		}
		pos += int64(used)
	}
	return pos
}

// isIndexPart reports whether the bytes between two offsets can be the beginning of an index: an
// end marker behind so many blocks, and then nothing but entries.
func (s *search) isIndexPart(at, blocks, to int64) bool {
	p := s.Peek(s.small[:EndMarkerSize], at)
	if s.head.Small || len(p) < EndMarkerSize || to-at < EndMarkerSize || !IsEndMarker(p) {
		return false
	}
	units := markerUnits(p, blocks)
	if to-at >= TailSize(units) {
		return false
	}
	last := s.Peek(s.small[:len(FooterMagic)], to-int64(len(FooterMagic)))
	if string(last) == FooterMagic {
		return false // of a footer, whose index is missing
	}
	to = min(to, at+EndMarkerSize+UnitSize*units)
	end := s.entriesEnd
	if s.markerAt != at {
		end = s.entries(s.part[:], at+EndMarkerSize, s.Size, func(Entry) bool { return true })
		if end-at > int64(len(s.part)) { // many blocks may lead to it
			s.markerAt, s.entriesEnd = at, end
		}
	}
	pos := min(end, to)
	return to-pos < UnitSize // a part of an entry, or zeros, which fill the last unit
}
