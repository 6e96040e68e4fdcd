package pzfile

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/index"
)

// A candidate is what find has found: a block, the header of a stream or a section, or an index.
type candidate struct {
	at     int64 // offset, −1 if there is none
	number int64 // of the block, −1 for anything else
	block  index.Block
	checks bool   // the block has a check of its content
	footer Footer // of the index whose end marker is at the offset; Size is 0 if there is none
	list   []index.Block
}

// resync goes to what comes next, which is not at pos. It reports whether that is a block of the
// stream.
func (s *search) resync() bool {
	from, damaged := s.pos, false
	if n := len(s.found); n > s.first {
		u := &s.found[n-1]
		damaged = !s.isIntact(&u.Block, u.number, s.head.Checks)
		// Without checks a part of the last block can belong to another stream.
		if damaged || !s.head.Checks {
			from = s.unconfirmed // the end of the block may be missing
		}
	}
	c := s.find(from, s.Size)
	if s.Err != nil {
		return false
	}
	end := s.Size
	if c.at >= 0 {
		end = c.at
	}
	s.damage = &damage{min(s.pos, end), s.ReadErr}
	s.ReadErr = nil
	if end < s.pos && damaged {
		n := len(s.found) - 1
		s.damage.at = s.found[n].Offset
		s.found = s.found[:n] // otherwise bytes would be decoded with many blocks
	}
	switch {
	case c.footer.Size > 0:
		s.takeIndex(c.at, c.footer, c.list)
		return false
	case c.number >= 0 && s.isNext(&c):
		if s.head.BlockSize == 0 {
			s.head = s.rules.header(c.checks)
		}
		s.pos, s.number, s.unconfirmed = c.at, c.number, c.at
		return true
	}
	detail := ""
	if end < s.Size {
		s.head.ContentSize = -1 // other streams may be lost, too
		detail = "no block before the next stream"
	}
	s.endBadly(index.DamageUnknown, detail)
	s.pos = end
	return false
}

// isNext reports whether a block can be one of this stream.
func (s *search) isNext(c *candidate) bool {
	h := &s.head
	return h.BlockSize == 0 || !h.Small && c.number >= s.number && c.checks == h.Checks &&
		int(c.block.Raw) <= h.BlockSize
}

// find looks between two offsets for the header of a block, of a stream or of a section, or for an
// index.
func (s *search) find(from, to int64) candidate {
	// It begins with a short read, for the next header is usually near.
	for off, size := from, 512; ; size = min(4*size, len(s.buf)) {
		p := s.Peek(s.buf[:max(0, min(int64(size), to-off))], off)
		// A header may begin where a footer fits in p, or anywhere at the end.
		n := len(p) - FooterSize + 1
		if off+int64(len(p)) >= min(to, s.Size) {
			n = len(p) - LeastHeader + 1
		}
		if n <= 0 {
			return candidate{at: -1, number: -1}
		}
		for i := range n {
			if c, ok := s.candidateAt(p[i:], off+int64(i)); ok {
				return c
			}
		}
		off += int64(n)
	}
}

// candidateAt is find for the offset at which p begins.
func (s *search) candidateAt(p []byte, at int64) (c candidate, ok bool) {
	switch {
	case p[0] == 'P':
		_, isStream := s.rules.parseHeader(p[:min(len(p), MaxHeaderSize)])
		if _, isSection := sectionSize(p); isStream || isSection {
			return candidate{at: at, number: -1}, true
		}
	case len(p) >= FooterSize && p[FooterSize-1] == FooterMagic[len(FooterMagic)-1]:
		if c, ok := s.isFooter(p, at); ok {
			return c, ok
		}
	}
	e, ok := parseEntry(p, MaxBlockSize)
	switch b := e.block(at); {
	case !ok || len(p) < e.HeaderSize() || at+int64(b.Size) > s.Size:
		return c, false
	case e.Short:
		return s.isShortBlock(p, &b, e.Size())
	default:
		return s.isBlock(p, &b)
	}
}

// isFooter reports whether p begins with the footer of an intact index at offset at. Reading an
// index in vain counts as decoding.
func (s *search) isFooter(p []byte, at int64) (c candidate, ok bool) {
	f, err := ParseFooter(p)
	size := TailSize(f.Units)
	c = candidate{at: at + FooterSize - size, number: -1}
	if err != nil || c.at < s.unconfirmed {
		return c, false
	}
	ok = s.Intact(size, func() (intact bool, err error) {
		c.footer, c.list, err = s.readIndex(c.at, f.Units)
		return err == nil, nil
	})
	return c, ok
}

// mostMissing returns how many blocks can be missing in front of an offset.
func (s *search) mostMissing(at int64) int64 { return nearNumbers + (at-s.start)/minBlock }

// missingBefore returns how many blocks are missing in front of a block at an offset, in this
// stream or in the next one.
func (s *search) missingBefore(number, at int64) int64 {
	if n := number - s.number; n >= 0 && n <= s.mostMissing(at) {
		return n
	}
	return number
}

// isBlock reports whether p begins with the header of a block that its entry fits.
func (s *search) isBlock(p []byte, b *index.Block) (c candidate, ok bool) {
	c = candidate{at: b.Offset, number: BlockNumber(p[:BlockHeaderSize]), block: *b}
	c.checks = binary.LittleEndian.Uint32(p[UnitSize:]) != 0
	// Any bytes are the header of a block with some number, but random bytes have one of four
	// given numbers only once in a billion times. For other numbers the next header must confirm
	// it, or the content if there may be so many blocks. A check of 0, for none, is as rare.
	missing := s.missingBefore(c.number, c.at)
	if missing < 4 || s.follows(c.at+int64(b.Size), c.number+1) {
		return c, true
	}
	return c, missing <= s.mostMissing(c.at) && (!c.checks || s.isIntact(b, c.number, true))
}

// Random bytes are often a short entry, mostly of a long block, and have one of so many numbers
// once in a thousand times. The fewer blocks are missing and the shorter a block is, the fewer of
// its kind a search meets by chance, and the less it decodes in vain.
const (
	nearNumbers = 64
	mostDecoded = 1 << 20 // bytes of content times the blocks that are missing in front of it
)

// isShortBlock is isBlock for a short header with an entry of so many bytes. Its check tells only
// the number modulo 2¹⁶, so the content must confirm it, and for longer blocks the next header too.
func (s *search) isShortBlock(p []byte, b *index.Block, entry int) (c candidate, ok bool) {
	at, size := b.Offset, int64(b.Size)
	number := int64(shortNumber(p[:entry+shortChecks]))
	missing := int64(uint16(number) - uint16(s.number))
	if missing <= s.mostMissing(at) {
		number = s.number + missing
	} else {
		missing = number
	}
	c = candidate{at: at, number: number, block: *b, checks: binary.LittleEndian.Uint32(p[entry:]) != 0}
	switch {
	case c.checks && (missing+1)*int64(b.Raw) <= mostDecoded:
		ok = true
	case size+BlockHeaderSize <= int64(len(p)):
		ok = s.continues(p[size:], at+size, number+1)
	case missing < nearNumbers, missing*size < nearNumbers/4*(at-s.pos): // otherwise it reads too often
		ok = s.follows(at+size, number+1)
	}
	return c, ok && (!c.checks || s.isIntact(b, number, true))
}

// follows reports whether at offset at there is the block with a number, or the end of a stream
// with so many blocks.
func (s *search) follows(at, number int64) bool {
	return s.continues(s.Peek(s.small[:BlockHeaderSize], at), at, number)
}

// continues is follows for what is at the offset.
func (s *search) continues(p []byte, at, number int64) bool {
	if len(p) < EndMarkerSize {
		return false
	}
	if IsEndMarker(p) {
		units := markerUnits(p, number)
		_, ok := s.footerAt(at, units)
		return ok && units <= number
	}
	n := headerSize(p[0])
	if _, ok := parseEntry(p, MaxBlockSize); !ok || len(p) < n {
		return false
	}
	if p[0]&shortFlag != 0 {
		return shortNumber(p[:n]) == uint16(number)
	}
	return BlockNumber(p[:n]) == number
}

// isIntact decodes a block. checks says whether it has a check.
func (s *search) isIntact(b *index.Block, number int64, checks bool) bool {
	st := s.row(number)
	st.Checks, st.Blocks, st.Content = checks, 1, int64(b.Raw)
	st.BlockSize = max(MinBlockSize, container.CeilPow2(int(b.Raw)))
	f := &index.File{
		Size: s.Size, Content: st.Content, Streams: []index.Stream{st}, Blocks: []index.Block{*b},
	}
	return s.Intact(int64(b.Size)+st.Content, func() (bool, error) {
		return s.verify(f, max(1, s.Limits.Memory()-s.Memory()))
	})
}

// row returns the stream of a row of blocks that begins with the given number.
func (s *search) row(number int64) index.Stream {
	h := s.head
	if h.BlockSize == 0 {
		h = s.rules.header(true)
	}
	return index.Stream{
		Pipeline: h.Pipeline, BlockSize: h.BlockSize, Checks: h.Checks, Sources: h.Sources,
		Dictionary: h.Dictionary, ID: s.id, Skipped: number,
	}
}
