package pzfile

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// A candidate is the header of a block, or of a stream, that find has found.
type candidate struct {
	at     int64 // offset, −1 if there is none
	number int64 // of the block, −1 for the header of a stream
	checks bool  // the block has a check of its content
}

// resync looks for the next block of the stream, whose header is not at pos, or for another
// stream. It reports whether this stream goes on.
func (s *search) resync() bool {
	from := s.back
	if s.outer.place == atCutBlock {
		// The stream found in the block that was cut off leads to no end, so that it is content.
		s.restore()
	}
	c := s.find(from)
	if c.at >= 0 && c.at < s.pos && s.place == behindBlock {
		// The candidate lies in the last block. Either that block has .pz data as content, or its
		// own end is missing.
		if s.isLastIntact() {
			c = s.find(s.pos)
		} else {
			s.takeBackBlock()
		}
	}
	if s.Err != nil {
		return false
	}
	o := &s.outer
	if o.start >= 0 && o.left && c.number >= o.number && c.at <= o.near && s.isStart(o.start, c, &o.head) {
		// Everything found since the search left the outer stream is content of it.
		s.restore()
	}
	if c.at >= 0 && s.place == atCutBlock {
		s.leaveStream()
	}
	ahead := c.number - s.number
	switch {
	case c.at < 0:
		why, detail := errs.Corrupt, "no block from here on"
		if s.place == atCutBlock || s.Size-s.pos < BlockHeaderSize {
			why, detail = errs.Truncated, ""
		}
		s.loseRest(s.Size, why, detail)
		s.pos = s.Size
		return false
	case c.number < 0:
		if s.place != atCutBlock && s.start >= 0 && (!s.outer.left || c.at > s.outer.near) {
			s.leaveStream()
		}
		if s.known || c.at > s.pos {
			s.loseRest(c.at, errs.Corrupt, "no block before the next stream")
		}
		s.pos = c.at
		return false
	case s.isOtherStream(c) && !s.lacksBytes(c):
		// The block belongs to a stream that has lost its header.
		s.loseRest(c.at, errs.Corrupt, "no block before those of another stream")
		s.pos = c.at
		return false
	case ahead > 0:
		s.lose(index.DamageBlocks, errs.PartBlock, ahead, -1, errs.Corrupt, "no block header")
	case !s.known && c.at-s.pos <= MaxHeaderSize:
		s.lose(index.DamageFrame, errs.PartHeader, 0, 0, errs.Corrupt, "no header")
	default:
		s.lose(index.DamageUnknown, errs.PartBlock, 0, -1, errs.Corrupt, "no block header")
	}
	s.pos, s.number, s.place = c.at, c.number, anyPlace
	s.back = s.pos
	if !s.known {
		s.head.Checks = c.checks
		s.known = true
	}
	return true
}

// leaveStream remembers the stream, for restore.
func (s *search) leaveStream() {
	s.outer = outer{
		position: s.position, left: true, near: s.pos + 2*(BlockHeaderSize+int64(s.head.BlockSize)),
		content: s.File.Content, streams: len(s.File.Streams), blocks: len(s.File.Blocks), gaps: len(s.Gaps),
	}
}

// restore goes back to the outer stream and drops everything found since.
func (s *search) restore() {
	o, f := &s.outer, s.File
	s.position = o.position
	f.Content, f.Streams, f.Blocks = o.content, f.Streams[:o.streams], f.Blocks[:o.blocks]
	s.Gaps = s.Gaps[:o.gaps]
	s.NewRow = true
	if s.place == behindBlock {
		s.place = anyPlace
	}
	s.outer = outer{}
}

// find looks from an offset on for the header of a block or of a stream.
func (s *search) find(from int64) candidate {
	// It begins with a short read, for the next header is usually near.
	for off, size := from, 512; ; size = min(4*size, len(s.buf)) {
		p := s.Peek(s.buf[:size], off)
		// A header may begin where the longest one fits in p, or anywhere at the end of the file.
		n := len(p) - MaxHeaderSize + 1
		if off+int64(len(p)) >= s.Size {
			n = len(p) - LeastHeader + 1
		}
		if n <= 0 {
			return candidate{at: -1, number: -1}
		}
		for i := range n {
			q, at := p[i:], off+int64(i)
			if q[0] == 'P' {
				_, isStream := s.rules.parseHeader(q[:min(len(q), MaxHeaderSize)])
				if _, isSection := sectionSize(q); isStream || isSection {
					return candidate{at: at, number: -1}
				}
			}
			if q[0]&shortFlag != 0 {
				if c, ok := s.isShortBlock(q, at); ok {
					return c
				}
			} else if len(q) >= BlockHeaderSize && isPlausible(q, MaxBlockSize) {
				if c, ok := s.isBlock(q[:BlockHeaderSize], at); ok {
					return c
				}
			}
		}
		off += int64(n)
	}
}

// isPlausible is a quick test of whether p can be a block header that is not short.
func isPlausible(p []byte, blockSize int) bool {
	first, raw := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
	payload := first >> 4
	if raw == 0 || raw > uint32(blockSize) || payload == 0 || payload > raw {
		return false
	}
	switch container.Kind(first & 7) {
	case Coded:
		return payload < raw
	case Stored:
		return payload == raw
	case Fill:
		return payload == 1
	}
	return false
}

// isBlock reports whether p, which is plausible, is the header of a block at offset at.
func (s *search) isBlock(p []byte, at int64) (c candidate, ok bool) {
	next := at + BlockHeaderSize + int64(binary.LittleEndian.Uint32(p)>>4)
	if next > s.Size {
		return c, false
	}
	c = candidate{at, BlockNumber(p), binary.LittleEndian.Uint32(p[8:]) != 0}
	// Any bytes are the header of a block with some number, but random bytes have one of four
	// given numbers only once in a billion times. For other numbers the next header must confirm
	// it.
	ahead := c.number - s.number
	if (ahead < 0 || ahead >= 4) && !s.follows(next, c.number+1) {
		return c, false
	}
	// A block that was cut off may have .pz data of any other stream as content.
	return c, s.place != atCutBlock || !s.isOtherStream(c)
}

// isOtherStream reports whether a block cannot be a later one of this stream.
func (s *search) isOtherStream(c candidate) bool {
	ahead := c.number - s.number
	if ahead < 0 || s.head.Small {
		return true
	}
	if !s.known {
		return false // the number of blocks before it is unknown
	}
	if ahead > (c.at-s.pos)/minBlock {
		return true
	}
	p := s.Peek(s.small[:BlockHeaderSize], c.at)
	_, _, err := ParseBlockHeader(p, &s.head, c.number)
	return err != nil
}

// lacksBytes reports whether a block, which has too high a number for its place, is of this stream
// nevertheless, because bytes in front of it were deleted. Then the stream is shorter than its
// footer says.
func (s *search) lacksBytes(c candidate) bool {
	if !s.known || s.start < 0 || c.number < s.number || s.walked > s.Size/minBlock {
		return false
	}
	if start, ok := s.startOf(c, &s.head); ok {
		return start < s.start
	}
	return s.isInLastIndex(c) // there is more damage behind it
}

// follows reports whether at offset at there is the block with a number, or the end of a stream
// with so many blocks.
func (s *search) follows(at, number int64) bool {
	p := s.Peek(s.small[:BlockHeaderSize], at)
	if len(p) < EndMarkerSize || len(p) < min(headerSize(p[0]), minBlockHeader) {
		return false
	}
	if IsEndMarker(p) {
		units := markerUnits(p, number)
		_, ok := s.footerAt(at, units)
		return ok && units <= number
	}
	if p[0]&shortFlag != 0 {
		_, ok := parseShort(p)
		return ok && shortNumber(p[:headerSize(p[0])]) == uint16(number)
	}
	return len(p) >= BlockHeaderSize && isPlausible(p, MaxBlockSize) && BlockNumber(p) == number
}

// parseShort parses the entry of a short header that p begins with.
func parseShort(p []byte) (e Entry, ok bool) {
	if len(p) < minBlockHeader {
		return e, false
	}
	v := uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16
	e = Entry{Kind: container.Kind(v & 3), Raw: int(v >> 3), Payload: int(v >> 3), Short: true}
	switch e.Kind {
	case Fill:
		e.Payload = 1
	case Coded:
		e.Payload = int(p[shortEntry]) | int(p[shortEntry+1])<<8
		if e.Payload >= e.Raw || len(p) < e.HeaderSize() {
			return e, false
		}
	case 0:
		return e, false
	}
	return e, e.Payload > 0 && e.Raw > 0
}

// Random bytes are often a short entry, mostly of a long block. So a search believes in long blocks
// only if few numbers are missing: their next header is not at hand, and reading it takes long.
const (
	nearNumbers = 64       // may be missing at any distance; random bytes have one once in a thousand times
	nearPayload = 4 << 10  // bytes of payload of a block that is not long
	nearContent = 64 << 10 // bytes of content that may be decoded in vain
)

// maybeShort is a quick test of whether p can begin with the header of a short block at offset at.
// It returns by how many the number is ahead, modulo 2¹⁶.
func (s *search) maybeShort(p []byte, at int64) (e Entry, ahead int64, ok bool) {
	e, ok = parseShort(p)
	size := e.Payload
	if e.Kind == Fill {
		size = e.Raw
	}
	if !ok || s.known && e.Raw > s.head.BlockSize || !s.known && size > nearPayload {
		return e, 0, false
	}
	ahead = int64(shortNumber(p[:e.HeaderSize()]) - uint16(s.number))
	if ahead < nearNumbers {
		return e, ahead, true
	}
	// The longer a block is, the fewer of its kind lie in between.
	gap := at - s.back
	return e, ahead, (!s.known || ahead <= gap/minBlock+1) &&
		(size <= nearPayload || (ahead-nearNumbers)*int64(size) < nearNumbers/4*gap)
}

// isShortBlock reports whether p begins with the header of a short block at offset at. Its check
// tells the number only modulo 2¹⁶, so the content must confirm it.
func (s *search) isShortBlock(p []byte, at int64) (c candidate, ok bool) {
	e, ahead, ok := s.maybeShort(p, at)
	next := at + int64(e.HeaderSize()) + int64(e.Payload)
	if !ok || next > s.Size {
		return c, false
	}
	checks := binary.LittleEndian.Uint32(p[e.Size():]) != 0
	c = candidate{at, s.number + ahead, checks}
	if s.place == atCutBlock && s.isOtherStream(c) ||
		(ahead >= nearNumbers || e.Raw > nearContent || !checks) && !s.follows(next, c.number+1) {
		return c, false
	}
	b := e.block(at)
	st := s.row(c.number)
	st.Checks, st.BlockSize = true, max(MinBlockSize, container.CeilPow2(e.Raw))
	return c, !checks || s.Intact(b, st, 0)
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

// isStart reports whether the stream that begins at an offset has the block c.
func (s *search) isStart(start int64, c candidate, head *Header) bool {
	at, ok := s.startOf(c, head)
	return ok && at == start
}

// startOf follows the blocks from c on to the end of their stream. It returns where the stream
// begins according to its footer. If bytes are missing in front of c, that is too low, and perhaps
// negative. ok is false if the blocks do not lead to a footer.
func (s *search) startOf(c candidate, head *Header) (start int64, ok bool) {
	for at, number := c.at, c.number; ; number++ {
		s.walked++
		p := s.Peek(s.small[:BlockHeaderSize], at)
		if len(p) < EndMarkerSize {
			return 0, false
		}
		if IsEndMarker(p) {
			units := markerUnits(p, number)
			f, ok := s.footerAt(at, units)
			if !ok {
				return 0, false
			}
			return at + TailSize(units) - f.Size, true
		}
		e, _, err := ParseBlockHeader(p, head, number)
		if err != nil {
			return 0, false
		}
		at += int64(e.HeaderSize()) + int64(e.Payload)
	}
}

// isIndexPart reports whether the bytes between pos and to can be the beginning of an index: an end
// marker, and then nothing but entries.
func (s *search) isIndexPart(to int64) bool {
	if s.head.Small {
		return false
	}
	p := s.Peek(s.small[:EndMarkerSize], s.pos)
	if len(p) < EndMarkerSize || to-s.pos < EndMarkerSize || !IsEndMarker(p) {
		return false
	}
	units := markerUnits(p, s.number)
	if to-s.pos >= TailSize(units) {
		return false
	}
	pos := s.pos + EndMarkerSize
	to = min(to, pos+UnitSize*units)
	for pos < to {
		p := s.Peek(s.buf[:min(int64(len(s.buf)), to-pos)], pos)
		used := 0
		for used < len(p) && p[used] != 0 && len(p)-used >= entrySize(p[used]) {
			e, err := ParseEntry(p[used:], s.head.BlockSize)
			if err != nil {
				return false
			}
			used += e.Size()
		}
		if used == 0 { // a part of an entry, or zeros, which fill the last unit
			return to-pos < UnitSize
		}
		pos += int64(used)
	}
	return true
}

// isLastIntact decodes the last block to see whether it is intact.
func (s *search) isLastIntact() bool {
	// Without checks a part of the block can belong to another stream.
	if !s.head.Checks {
		return false
	}
	b := s.File.Blocks[len(s.File.Blocks)-1]
	st := s.row(s.number - 1)
	st.BlockSize = max(MinBlockSize, container.CeilPow2(int(b.Raw)))
	return s.Intact(b, st, 0)
}
