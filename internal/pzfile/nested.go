package pzfile

// Content may be .pz data itself. In a stream whose index is lost, only its own blocks behind the
// damage tell whether another stream in a hole is content of a lost block, or the next stream.

// unknown is the beginning of a stream without a footer.
const unknown = -1

// maxLooked bounds the bytes read to tell nested streams, as a multiple of the file's size.
const maxLooked = 4

// nextOwn returns the next block or stream that is not content of a block of this stream. c is what
// find has found.
func (s *search) nextOwn(c candidate) candidate {
	if s.tail >= 0 || c.at < 0 || !s.known {
		return c
	}
	if s.place == atCutBlock {
		for c.at >= 0 {
			end, ok := s.passStream(c)
			if ok {
				return c
			}
			c = s.find(end)
		}
		return c
	}
	if c.number >= 0 && !s.isOtherStream(c) {
		return c
	}
	if own := s.resumption(c.at + 1); own.at >= 0 {
		return own
	}
	return c
}

// passStream goes past what has been found in a block that is cut off. ok says that it is no
// content of that: a block of the stream, or an intact stream in front of another one, or of the
// end of the file.
func (s *search) passStream(c candidate) (end int64, ok bool) {
	if c.number >= 0 {
		_, end, ok = s.follow(c, &s.head)
		return end, ok || !s.isOtherStream(c)
	}
	h, ok := s.headerAt(c.at)
	switch {
	case !ok:
		return c.at + 1, false
	case h.Small:
		end = c.at + int64(h.smallSize())
	default:
		_, end, ok = s.follow(candidate{at: c.at + int64(h.Size())}, &h)
	}
	return end, ok && (end == s.end || s.beginsAt(end))
}

// resumption looks from an offset on, in the next two blocks, for a block of this stream. Those
// behind it lead to a footer that says where the stream begins.
func (s *search) resumption(from int64) (c candidate) {
	end := s.end
	defer func() { s.end = end }()
	s.end = min(end, s.pos+2*(BlockHeaderSize+int64(s.head.BlockSize)))
	for s.looked <= maxLooked*s.Size {
		c = s.find(from)
		if c.at < 0 {
			s.looked += s.end - from
			return c
		}
		s.looked += c.at - from
		s.end = end
		start, _, ok := s.follow(c, &s.head)
		if ok && start == s.start && c.number >= 0 && s.missingBefore(c) >= 0 {
			return c
		}
		s.end = min(end, s.pos+2*(BlockHeaderSize+int64(s.head.BlockSize)))
		from = c.at + 1
	}
	return candidate{at: -1}
}

// follow goes from the block c to the end of its stream. It returns where that begins, according to
// its footer, and ends. ok is false if the blocks do not lead to a footer, but only to end.
func (s *search) follow(c candidate, head *Header) (start, end int64, ok bool) {
	for at, number := c.at, max(0, c.number); ; number++ {
		s.looked += BlockHeaderSize
		p := s.Peek(s.small[:BlockHeaderSize], at)
		if len(p) < EndMarkerSize || s.looked > maxLooked*s.Size {
			return 0, max(at, c.at+1), false
		}
		if IsEndMarker(p) {
			units := markerUnits(p, number)
			f, ok := s.footerAt(at, units)
			end = at + TailSize(units)
			if end > s.Size && s.isIndexPart(at, number, s.Size) {
				return unknown, s.Size, true
			}
			return end - f.Size, end, ok
		}
		e, _, err := ParseBlockHeader(p, head, number)
		if err != nil {
			return 0, max(at, c.at+1), false
		}
		at += int64(e.HeaderSize()) + int64(e.Payload)
	}
}
