package pzfile

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/index"
)

// takeEndMarker handles an end marker at pos. It reports whether end marker, index and footer fill
// their place in the file, intact or not.
func (s *search) takeEndMarker() bool {
	units := markerUnits(s.small[:], s.number)
	end := s.pos + TailSize(units)
	if end > s.Size {
		return false
	}
	// Almost everything that only looks like an end marker ends here, before a read as long as an
	// index.
	if _, ok := s.footerAt(s.pos, units); !ok && end < s.Size && !s.beginsAt(end) {
		return false
	}
	f, list, err := s.readIndex(s.pos, units)
	if err != nil {
		s.ReadErr = err
		s.endBadly(index.DamageFrame, "index")
		s.pos = end
		return true
	}
	s.takeIndex(s.pos, f, list)
	return true
}

// takeIndex ends a stream with the index behind the end marker at tail, which is intact.
func (s *search) takeIndex(tail int64, f Footer, list []index.Block) {
	end, damage := tail+TailSize(f.Units), s.damage
	start := end - f.Size
	behind := sort.Search(len(s.streams), func(i int) bool { return s.streams[i].start > start })
	i := max(0, behind-1)
	// A stream that has ended where its own index says has no second one.
	sound := s.streams[i].start == start && !s.streams[i].sound && s.keepListed(i, list)
	if !sound {
		s.splitStream(start, tail, list)
	}
	s.list, s.tail, s.inFront, s.stop = list, tail, damage, nil
	s.sound = sound && s.wasSound(i)
	s.pos = end
	s.listed += int64(len(list))
	s.account()
}

// keepListed makes everything from stream i on this one stream. Of the blocks it keeps those that
// the index of the stream has, in the order of their numbers, and of two with one number an intact
// one. It returns false if the index contradicts blocks in front of all damage.
func (s *search) keepListed(i int, list []index.Block) bool {
	first := s.streams[i].first
	listed, damaged := s.found[:first], false
	for _, u := range s.found[first:] {
		damaged = damaged || u.damage != nil
		switch {
		case isListed(list, &u):
			listed = append(listed, u)
		case !damaged:
			return false
		}
	}
	s.streams = s.streams[:i+1]
	s.stream = &s.streams[i]
	s.found = listed[:first]
	byNumber := func(a, b unit) int { return cmp.Compare(a.number, b.number) }
	slices.SortStableFunc(listed[first:], byNumber)
	for _, u := range listed[first:] {
		n := len(s.found)
		switch {
		case n == first || s.found[n-1].number < u.number:
			s.found = append(s.found, u)
		case !s.isIntact(&s.found[n-1].Block, u.number, s.head.Checks):
			s.found[n-1] = u
		}
	}
	return true
}

// splitStream ends the stream in front of the last blocks that an index has, whose end marker is at
// tail. They become another stream, which begins at start unless bytes are missing or inserted. If
// the index has all blocks, it does so only if there is room for another stream in front of start.
// Blocks in front of all damage stay with a stream that begins at start: a Reader gives them.
func (s *search) splitStream(start, tail int64, list []index.Block) {
	k := len(s.found)
	for k > s.first && isListed(list, &s.found[k-1]) {
		k--
	}
	if start == s.start && k > s.first {
		k = max(k, s.undamaged())
	}
	at, d := tail, s.damage
	if k < len(s.found) {
		at, d = s.found[k].Offset, s.found[k].damage
	}
	if k == s.first && (d == nil || start-d.at < minSmallStream || start >= at) {
		return
	}
	if d == nil {
		d = &damage{at: at}
	}
	s.damage = d
	s.endBadly(index.DamageUnknown, "no block before the next stream")
	s.head.ContentSize = -1
	s.begin(stream{first: k, start: min(max(start, d.at), at), head: s.head})
	if k < len(s.found) {
		s.found[k].damage = &damage{s.start, d.err}
	}
}

// undamaged returns the end of the stream's first blocks that no damage interrupts.
func (s *search) undamaged() int {
	n := s.first
	for n < len(s.found) && s.found[n].damage == nil && s.found[n].number == int64(n-s.first) {
		n++
	}
	return n
}

// isListed reports whether an index has an entry of a block.
func isListed(list []index.Block, u *unit) bool {
	return u.number < int64(len(list)) && sameEntry(&list[u.number], &u.Block)
}

// readIndex reads the index behind the end marker at tail, which has so many units. It fails if the
// index is not intact, or takes too much memory.
func (s *search) readIndex(tail, units int64) (f Footer, list []index.Block, err error) {
	limits := container.Limits{MaxMemory: max(1, s.Limits.Memory()/3-s.Memory())}
	r := indexReader{x: &index.File{}, blockSize: MaxBlockSize, limits: &limits}
	f, err = r.readTail(s.Src, s.part[:], tail, units)
	return f, r.x.Blocks, err
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
