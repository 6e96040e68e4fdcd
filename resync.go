package compress

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/pzfile"
)

// candidate is what find finds.
type candidate struct {
	at     int64 // offset; −1 if there is none
	number int64 // of the block; −1 if it is the header of a stream
	checks bool  // the block has a check of its content
}

// resync looks for the next block of the stream, whose header is not at pos, or for another stream. It reports whether
// this stream goes on.
func (s *search) resync() bool {
	from := s.back
	if s.outer.overrun {
		// What was found in the block that was cut off does not lead to the end of a stream, so that it is content.
		s.restore()
	}
	c := s.find(from)
	if c.at >= 0 && c.at < s.pos && s.last {
		// In front of what should have been the next block: either the last block has .pz data in it, or its own
		// end is missing.
		if s.intact() {
			c = s.find(s.pos)
		} else {
			s.drop()
		}
	}
	if s.err != nil {
		return false
	}
	if o := &s.outer; o.start >= 0 && o.left && c.number >= o.number && c.at <= o.near && s.startOf(c, &o.hdr) == o.start {
		// What has been found since then is content of the stream that was left.
		s.restore()
	}
	if c.at >= 0 && s.overrun {
		s.leave()
	}
	ahead := c.number - s.number
	switch {
	case c.at < 0:
		why, detail := ErrCorrupt, "no block from here on"
		if s.overrun || s.size-s.pos < pzfile.BlockHeaderSize {
			why, detail = ErrTruncated, ""
		}
		s.loseRest(s.size, why, detail)
		s.pos = s.size
		return false
	case c.number < 0:
		if !s.overrun && s.start >= 0 && (!s.outer.left || c.at > s.outer.near) {
			s.leave()
		}
		if s.known || c.at > s.pos {
			s.loseRest(c.at, ErrCorrupt, "no block before the next stream")
		}
		s.pos = c.at
		return false
	case s.foreign(c):
		// A block of a stream that has lost its header.
		s.loseRest(c.at, ErrCorrupt, "no block before those of another stream")
		s.pos = c.at
		return false
	case ahead > 0:
		s.lose(DamageBlocks, ahead, -1, ErrCorrupt, "no block header")
	case !s.known && c.at-s.pos <= pzfile.MaxHeaderSize:
		s.lose(DamageFrame, 0, 0, ErrCorrupt, "no header")
	default:
		s.lose(DamageUnknown, 0, -1, ErrCorrupt, "no block header")
	}
	s.pos, s.number, s.last, s.overrun = c.at, c.number, false, false
	s.back = s.pos
	if !s.known {
		s.hdr.Checks = c.checks
		s.known = true
	}
	return true
}

// leave remembers the stream, for restore.
func (s *search) leave() {
	s.outer = outer{
		position: s.position, left: true, near: s.pos + 2*(pzfile.BlockHeaderSize+int64(s.hdr.BlockSize)),
		content: s.x.content, streams: len(s.x.streams), blocks: len(s.x.blocks), gaps: len(s.gaps),
	}
}

// restore goes back to the stream that was left, and forgets what has been found since.
func (s *search) restore() {
	o := &s.outer
	s.position = o.position
	s.x.content, s.x.streams, s.x.blocks, s.gaps = o.content, s.x.streams[:o.streams], s.x.blocks[:o.blocks], s.gaps[:o.gaps]
	s.row, s.last = true, false
	s.outer = outer{}
}

// find looks from an offset on for a block, or for the header of a stream.
func (s *search) find(from int64) candidate {
	// It begins with little, for what it looks for is near as a rule.
	for off, size := from, 512; ; size = min(4*size, len(s.buf)) {
		p := s.peek(s.buf[:size], off)
		// Headers may begin where all of the longest fits in p, or else at the end of the file.
		n := len(p) - pzfile.MaxHeaderSize + 1
		if off+int64(len(p)) >= s.size {
			n = len(p) - pzfile.MinHeaderSize + 1
		}
		if n <= 0 {
			return candidate{at: -1, number: -1}
		}
		for i := range n {
			q, at := p[i:], off+int64(i)
			if q[0] == 'P' {
				if _, ok := parseHeader(q[:min(len(q), pzfile.MaxHeaderSize)]); ok {
					return candidate{at: at, number: -1}
				}
			}
			if len(q) >= pzfile.BlockHeaderSize && plausible(q, pzfile.MaxBlockSize) {
				if c, ok := s.block(q[:pzfile.BlockHeaderSize], at); ok {
					return c
				}
			}
		}
		off += int64(n)
	}
}

// plausible is a quick look at what may be a block header.
func plausible(p []byte, blockSize int) bool {
	first, raw := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
	payload := first >> 4
	if raw == 0 || raw > uint32(blockSize) || payload == 0 || payload > raw {
		return false
	}
	kind := first & 15
	return kind == pzfile.Coded && payload < raw || kind == pzfile.Stored && payload == raw || kind == pzfile.Fill && payload == 1
}

// block tells whether p, which is plausible, at offset at, is the header of a block.
func (s *search) block(p []byte, at int64) (c candidate, ok bool) {
	next := at + pzfile.BlockHeaderSize + int64(binary.LittleEndian.Uint32(p)>>4)
	if next > s.size {
		return c, false
	}
	c = candidate{at, pzfile.BlockNumber(p), binary.LittleEndian.Uint32(p[8:]) != 0}
	// Any bytes have the number of some block, but happen to have one of four numbers only once in a billion times. If
	// more would do, what is behind the block has to bear witness.
	ahead := c.number - s.number
	if (ahead < 0 || ahead >= 4) && !s.follows(next, c.number+1) {
		return c, false
	}
	// In a block that was cut off there may be .pz data of anybody.
	return c, !s.overrun || !s.foreign(c)
}

// foreign reports whether a block cannot be a later one of this stream.
func (s *search) foreign(c candidate) bool {
	ahead := c.number - s.number
	if ahead < 0 {
		return true
	}
	if !s.known {
		return false // nobody knows how much was in front of it
	}
	if ahead > (c.at-s.pos)/minBlock {
		return true
	}
	p := s.peek(s.small[:pzfile.BlockHeaderSize], c.at)
	if len(p) < pzfile.BlockHeaderSize {
		return true
	}
	_, _, err := pzfile.ParseBlockHeader(p, &s.hdr, c.number)
	return err != nil
}

// follows reports whether at offset at there is the block with that number, or the end of a stream with so many blocks.
func (s *search) follows(at, number int64) bool {
	p := s.peek(s.small[:pzfile.BlockHeaderSize], at)
	if len(p) < pzfile.BlockHeaderSize {
		return false
	}
	if pzfile.IsEndMarker(p) {
		_, ok := s.footerAt(at, number)
		return ok
	}
	return plausible(p, pzfile.MaxBlockSize) && pzfile.BlockNumber(p) == number
}

// footerAt reads the footer that belongs to the end marker at off in a stream of so many blocks. It does not look at the
// index.
func (s *search) footerAt(off, blocks int64) (pzfile.Footer, bool) {
	p := s.peek(s.small[:], off+pzfile.TailSize(blocks)-pzfile.FooterSize)
	if len(p) < pzfile.FooterSize {
		return pzfile.Footer{}, false
	}
	f, err := pzfile.ParseFooter(p)
	return f, err == nil && f.Blocks == blocks
}

// startOf follows the blocks from c on to the end of their stream, and returns where its footer says that it begins; −1
// if they do not lead there.
func (s *search) startOf(c candidate, hdr *pzfile.Header) int64 {
	for at, number := c.at, c.number; ; number++ {
		p := s.peek(s.small[:pzfile.BlockHeaderSize], at)
		if len(p) < pzfile.BlockHeaderSize {
			return -1
		}
		if pzfile.IsEndMarker(p) {
			f, ok := s.footerAt(at, number)
			if !ok {
				return -1
			}
			return at + pzfile.TailSize(number) - f.Size
		}
		e, _, err := pzfile.ParseBlockHeader(p, hdr, number)
		if err != nil {
			return -1
		}
		at += pzfile.BlockHeaderSize + int64(e.Payload)
	}
}

// indexPart reports whether what is between pos and to can be the beginning of an index: an end marker, and then nothing
// but entries.
func (s *search) indexPart(to int64) bool {
	if to-s.pos >= pzfile.TailSize(s.number) {
		return false
	}
	p := s.peek(s.small[:pzfile.EndMarkerSize], s.pos)
	if len(p) < pzfile.EndMarkerSize || to-s.pos < pzfile.EndMarkerSize || !pzfile.IsEndMarker(p) {
		return false
	}
	pos := s.pos + pzfile.EndMarkerSize
	to = min(to, pos+pzfile.EntrySize*s.number)
	for pos+pzfile.EntrySize <= to {
		p := s.peek(s.buf[:min(int64(len(s.buf)), (to-pos)/pzfile.EntrySize*pzfile.EntrySize)], pos)
		if len(p) < pzfile.EntrySize {
			return false
		}
		for ; len(p) >= pzfile.EntrySize; p = p[pzfile.EntrySize:] {
			if _, err := pzfile.ParseEntry(p, s.hdr.BlockSize); err != nil {
				return false
			}
			pos += pzfile.EntrySize
		}
	}
	return true
}

// intact decompresses the last block to see whether it is.
func (s *search) intact() bool {
	b := s.x.blocks[len(s.x.blocks)-1]
	// Without checks a part of it can be that of another stream.
	if !s.hdr.Checks {
		return false
	}
	st := stream{hdr: s.hdr, id: s.id, blocks: 1, skip: s.number - 1}
	st.hdr.BlockSize = max(pzfile.MinBlockSize, ceilPow2(int(b.raw)))
	b.content = 0
	return s.try(&index{size: s.size, content: int64(b.raw), streams: []stream{st}, blocks: []blockRef{b}})
}

// try decompresses the only block of x to see whether it is intact.
func (s *search) try(x *index) bool {
	// Blocks that are not intact may overlap: not all the time of the world is theirs.
	if s.wasted > 4*s.size {
		return false
	}
	b := &x.blocks[0]
	o := *s.opt
	o.checks, o.maxDecoded, o.maxMemory = true, -1, max(1, o.readerLimit()-s.memory())
	r, err := newReaderAt(s.src, x, o)
	if err != nil {
		s.err = err // it takes too much memory
		return false
	}
	defer r.Close()
	sl, err := r.get(0, true)
	if err != nil {
		return false
	}
	defer r.slots.put(sl)
	_, err = r.wait(sl)
	if cerr := o.canceled(); cerr != nil {
		s.err = cerr
	}
	if err != nil {
		s.wasted += int64(b.raw) + int64(b.payload)
	}
	return err == nil
}
