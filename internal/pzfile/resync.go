package pzfile

import (
	"encoding/binary"
	"sort"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// A candidate is the header of a block, or of a stream, that find has found.
type candidate struct {
	at     int64 // offset, −1 if there is none
	number int64 // of the block, −1 for the header of a stream
	block  index.Block
	checks bool // the block has a check of its content
}

// resync looks for the next block of the stream, whose header is not at pos. It reports whether the
// stream goes on.
func (s *search) resync() bool {
	from := s.pos
	s.lastDamaged = s.posKind == behindBlock && !s.isLastIntact()
	if s.posKind == atCutBlock || s.lastDamaged {
		from = s.unconfirmed // the end of the block may be missing
	}
	c := s.find(from)
	if s.Err != nil {
		return false
	}
	n := len(s.found) - 1
	if c.at >= 0 && c.at < s.pos && s.posKind == behindBlock && !s.isIntact(&s.found[n]) {
		u := s.found[n] // its end is missing
		s.found, s.pos, s.number, s.damage = s.found[:n], u.Offset, u.number, u.damage
	}
	if s.damage == nil {
		s.damage = &damage{s.pos, s.ReadErr}
	}
	s.ReadErr = nil
	ends := c.number < 0 || s.isOtherStream(c)
	switch {
	case !ends || s.tail >= 0:
	case s.isAhead() && s.ends[0].start >= s.unconfirmed && (c.at < 0 || c.at > s.ends[0].tail):
		s.ends[0].loose, c.at = false, s.ends[0].start // all of that stream's blocks are lost, too
	default:
		s.findTail(c.at)
	}
	switch {
	case s.tail >= 0 && (c.at < 0 || c.at >= s.tail):
		s.pos, s.number, s.posKind = s.tail, int64(len(s.list)), anyPos
		return true // to the end marker
	case c.at < 0:
		s.bare, s.cutIndex = true, s.known && s.isIndexPart(s.pos, s.number, s.end)
		why, detail := errs.Corrupt, "no block from here on"
		if s.posKind == atCutBlock || s.end-s.pos < BlockHeaderSize {
			why, detail = errs.Truncated, ""
		}
		s.endEarly(why, detail)
		s.pos = s.end
		return false
	case ends:
		s.bare, s.cutIndex = true, s.known && s.isIndexPart(s.pos, s.number, c.at)
		s.endEarly(errs.Corrupt, "no block before the next stream")
		s.pos = c.at
		return false
	}
	if !s.known || c.at == s.pos {
		// A block at pos contradicts the header, which is that of another stream.
		s.head, s.known = s.rules.header(), true
		s.head.Checks = c.checks
	}
	s.pos, s.number, s.posKind, s.unconfirmed = c.at, c.number, anyPos, c.at
	return true
}

// findTail takes the index in front of an offset, or with −1 in front of the end, if one is there
// that fits the blocks found.
func (s *search) findTail(to int64) {
	if to < 0 {
		to = s.end
	}
	if x, ok := s.extentBefore(to, s.unconfirmed); ok && x.tail >= s.unconfirmed {
		s.setList(x.tail, x.units)
	}
}

// find looks from an offset on for the header of a block or of a stream. In a stream whose index is
// known it looks for blocks that are in the index.
func (s *search) find(from int64) candidate {
	end := s.end
	if s.tail >= 0 {
		end = s.tail
	}
	// It begins with a short read, for the next header is usually near.
	for off, size := from, 512; ; size = min(4*size, len(s.buf)) {
		p := s.Peek(s.buf[:max(0, min(int64(size), end-off))], off)
		// A header may begin where the longest one fits in p, or anywhere at the end.
		n := len(p) - MaxHeaderSize + 1
		if off+int64(len(p)) >= min(end, s.Size) {
			n = len(p) - LeastHeader + 1
		}
		if n <= 0 {
			return candidate{at: -1, number: -1}
		}
		for i := range n {
			q, at := p[i:], off+int64(i)
			if q[0] == 'P' && s.tail < 0 {
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
	e, err := ParseEntry(p, MaxBlockSize)
	b := e.block(at)
	c = candidate{at, BlockNumber(p), b, binary.LittleEndian.Uint32(p[8:]) != 0}
	switch {
	case err != nil:
		return c, false
	case s.tail >= 0:
		return c, s.isListed(&b, c.number)
	}
	// Any bytes are the header of a block with some number, but random bytes have one of four
	// given numbers only once in a billion times. For other numbers the next header must confirm
	// it, or the content if there may be so many blocks.
	ahead := s.missingBefore(c)
	switch {
	case next > s.end:
		return c, false
	case ahead >= 0 && ahead < 4, s.follows(next, c.number+1):
		return c, true
	}
	return c, c.checks && ahead <= nearNumbers+(at-s.start)/minBlock &&
		s.isIntact(&unit{Block: b, number: c.number})
}

// missingBefore returns how many blocks are missing in front of c. It is negative for a block that
// comes too late, but for one that may take the place of the last one found.
func (s *search) missingBefore(c candidate) int64 {
	n := c.number - s.number
	if n == -1 && s.lastDamaged {
		return 0
	}
	return n
}

// isOtherStream reports whether a block cannot be a later one of this stream.
func (s *search) isOtherStream(c candidate) bool {
	ahead := s.missingBefore(c)
	switch {
	case s.tail >= 0:
		return false
	case ahead < 0, s.head.Small:
		return true
	case s.isInPlace(c):
		return true
	case !s.known:
		return false // the number of blocks before it is unknown
	}
	p := s.Peek(s.small[:BlockHeaderSize], c.at)
	_, _, err := ParseBlockHeader(p, &s.head, c.number)
	return err != nil
}

// isInPlace reports whether a block is where the index of the next stream has it.
func (s *search) isInPlace(c candidate) bool {
	if c.number < 0 || c.number >= int64(len(s.ahead)) || !s.isAhead() {
		return false
	}
	return s.ends[0].tail+s.ahead[c.number].Offset == c.at
}

// isAhead reports whether there may be a stream in front of the one whose index is known.
func (s *search) isAhead() bool {
	return len(s.ends) > 0 && s.ends[0].loose && s.ends[0].start > s.start
}

// aheadAt returns the number of the block that the index of the next stream has at the place of b,
// with the same entry; −1 if there is none.
func (s *search) aheadAt(b *index.Block) int64 {
	if len(s.ahead) == 0 || !s.isAhead() {
		return -1
	}
	off := b.Offset - s.ends[0].tail
	k := sort.Search(len(s.ahead), func(k int) bool { return s.ahead[k].Offset >= off })
	if k == len(s.ahead) || s.ahead[k].Offset != off || !sameEntry(&s.ahead[k], b) {
		return -1
	}
	return int64(k)
}

// follows reports whether at offset at there is the block with a number, or the end of a stream
// with so many blocks.
func (s *search) follows(at, number int64) bool {
	return s.continues(s.Peek(s.small[:BlockHeaderSize], at), at, number)
}

// continues is follows for what is at the offset.
func (s *search) continues(p []byte, at, number int64) bool {
	if len(p) < EndMarkerSize || len(p) < min(headerSize(p[0]), minBlockHeader) {
		return false
	}
	if IsEndMarker(p) {
		units := markerUnits(p, number)
		_, ok := s.footerAt(at, units)
		return ok && units <= number || s.isIndexPart(at, number, s.Size)
	}
	if p[0]&shortFlag != 0 {
		_, ok := parseShort(p)
		return ok && shortNumber(p[:headerSize(p[0])]) == uint16(number)
	}
	return len(p) >= BlockHeaderSize && isPlausible(p, MaxBlockSize) &&
		BlockNumber(p[:BlockHeaderSize]) == number
}

// parseShort parses the entry of a short header that p begins with.
func parseShort(p []byte) (e Entry, ok bool) {
	if len(p) < minBlockHeader || len(p) < headerSize(p[0]) {
		return e, false
	}
	e, err := ParseEntry(p, MaxBlockSize)
	return e, err == nil
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
	if !ok || s.known && e.Raw > s.head.BlockSize ||
		!s.known && s.tail < 0 && len(s.ahead) == 0 && size > nearPayload {
		return e, 0, false
	}
	ahead = int64(shortNumber(p[:e.HeaderSize()]) - uint16(s.number))
	b := e.block(at)
	if s.tail >= 0 || ahead < nearNumbers || s.aheadAt(&b) >= 0 {
		return e, ahead, true
	}
	// The longer a block is, the fewer of its kind lie in between.
	gap := at - s.unconfirmed
	return e, ahead, (!s.known || ahead <= gap/minBlock+1) &&
		(size <= nearPayload || (ahead-nearNumbers)*int64(size) < nearNumbers/4*gap)
}

// isShortBlock reports whether p begins with the header of a short block at offset at. Its check
// tells the number only modulo 2¹⁶, so the content must confirm it.
func (s *search) isShortBlock(p []byte, at int64) (c candidate, ok bool) {
	e, ahead, ok := s.maybeShort(p, at)
	size := e.HeaderSize() + e.Payload
	next := at + int64(size)
	if e.Payload == 0 || next > s.end {
		return c, false
	}
	checks := binary.LittleEndian.Uint32(p[e.Size():]) != 0
	b := e.block(at)
	c = candidate{at, s.number + ahead, b, checks}
	if !ok {
		// It may be of another stream, if something follows it that is near.
		c.number = int64(shortNumber(p[:e.HeaderSize()]))
		return c, checks && size+BlockHeaderSize <= len(p) && s.continues(p[size:], next, c.number+1) &&
			s.isIntact(&unit{Block: b, number: c.number})
	}
	if s.tail >= 0 {
		c.number = s.listedNear(&b, c.number)
		if c.number < 0 {
			return c, false
		}
	} else if n := s.aheadAt(&b); n >= 0 && uint16(n) == uint16(c.number) {
		c.number = n
	} else if (ahead >= nearNumbers || e.Raw > nearContent || !checks) && !s.follows(next, c.number+1) {
		return c, false
	}
	return c, !checks || s.isIntact(&unit{Block: b, number: c.number})
}

// isLastIntact decodes the last block to see whether it is intact.
func (s *search) isLastIntact() bool {
	// Without checks a part of the block can belong to another stream.
	return s.head.Checks && s.isIntact(&s.found[len(s.found)-1])
}
