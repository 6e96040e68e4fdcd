package compress

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

// search finds the blocks of a file whose index is of no use. Blocks that follow one another make a row, and each row
// becomes a stream of its own in the index that the search leaves.
//
// It goes through the file once, from block to block where one follows the other, and from byte to byte where it has to
// look for the next. Nothing is looked at byte by byte twice, so that hostile files take no longer than others.
type search struct {
	src  io.ReaderAt
	opt  *options
	size int64
	x    *index
	gaps []gap
	err  error // ends the search: the context has ended, or memory has
	bad  error // of the last read that failed, to be told with the damage
	some bool  // the header of a stream or of a block has been found

	position
	row   bool  // the next block begins a row
	last  bool  // what is in front of pos is the last block of x
	back  int64 // from here to pos is payload that nothing has confirmed
	outer outer

	wasted int64 // bytes of blocks that were decompressed and not taken

	buf   [64 << 10]byte
	small [pzfile.FooterSize]byte
}

// position is how far the search has come in a stream.
type position struct {
	pos     int64
	id      int   // number of the stream
	start   int64 // of its header; −1 if that has not been found
	hdr     pzfile.Header
	known   bool  // hdr can be relied on
	number  int64 // of the next block
	raw     int64 // content of the stream so far; −1 if it is not known
	overrun bool  // at pos is the header of a block that the end of the file cuts off
}

// outer is a damaged stream that was left because there is the header of another. Content may hold .pz data itself: the
// header may still turn out to stand in a block of the stream that was left.
type outer struct {
	position
	left    bool
	near    int64 // the stream's next block begins in front of this
	content int64
	streams int
	blocks  int
	gaps    int
}

const (
	gapMemory = 256 // one gap with its error, in bytes
	// More gaps than this without a block between them become one: what follows them says less and less about the file.
	maxGaps = 64
	// The least that a block takes.
	minBlock = pzfile.BlockHeaderSize + 1
	// A read that fails is tried again in pieces of this size, the sector of most disks.
	sector = 4096
)

// searchBlocks goes through a file from the front. It returns an index of the blocks it finds, and what is missing
// between them.
func searchBlocks(src io.ReaderAt, size int64, o *options) (*index, []gap, error) {
	s := &search{src: src, opt: o, size: size, x: &index{size: size}}
	for ; s.err == nil && (s.pos < s.size || s.id == 0); s.id++ {
		s.stream()
	}
	if s.err != nil {
		return nil, nil, s.err
	}
	if !s.some {
		e := &Error{Kind: ErrFormat, Block: -1, Offset: -1, Detail: "no .pz data: neither a header nor a block"}
		var first *Error
		if len(s.gaps) > 0 && errors.As(s.gaps[0].Err, &first) {
			e.Err = first.Err // what could not be read
		}
		return nil, nil, e
	}
	s.settle()
	return s.x, s.gaps, nil
}

// settle lowers the block sizes to what the blocks need, so that guesses do not cost memory.
func (s *search) settle() {
	for i := range s.x.streams {
		st := &s.x.streams[i]
		need := pzfile.MinBlockSize
		for _, b := range s.x.blocks[st.first : st.first+st.blocks] {
			need = max(need, ceilPow2(int(b.raw)))
		}
		st.hdr.BlockSize = need
	}
}

// peek reads up to n bytes at off, fewer at the end of the file, and none if the search is over. What cannot be read is
// given as zeros, which are no header of anything.
func (s *search) peek(p []byte, off int64) []byte {
	p = p[:max(0, min(int64(len(p)), s.size-off))]
	for done := 0; done < len(p); {
		if s.err == nil {
			s.err = s.opt.canceled()
		}
		if s.err != nil {
			return nil
		}
		at := off + int64(done)
		q := p[done:]
		n, err := s.src.ReadAt(q, at)
		if piece := int(sector - at%sector); n != len(q) && err != io.EOF && len(q) > piece {
			q = q[:piece]
			n, err = s.src.ReadAt(q, at)
		}
		if n < 0 || n > len(q) || n < len(q) && err == nil {
			n, err = 0, errBadCount
		}
		if n < len(q) {
			if err == io.EOF { // the file is shorter than it was
				s.size = at + int64(n)
				return p[:done+n]
			}
			s.bad = err
			clear(q[n:])
		}
		done += len(q)
	}
	return p
}

// lose notes that something is missing in front of pos.
func (s *search) lose(kind DamageKind, blocks, content int64, why error, detail string) {
	if s.err != nil {
		return // whatever seems to be missing may be there
	}
	err := &Error{Kind: why, Stream: s.id, Block: s.number, Offset: s.pos, Detail: detail, Err: s.bad}
	s.bad = nil
	s.row = true
	if content < 0 {
		s.raw = -1
	} else if s.raw >= 0 {
		s.raw += content
	}
	d := Damage{Kind: kind, Stream: s.id, Block: s.number, Blocks: blocks, Content: content, Err: err}
	g := gap{int64(len(s.x.blocks)), d}
	if n := len(s.gaps); n >= maxGaps && s.gaps[n-maxGaps].before == g.before {
		s.gaps[n-1].Kind, s.gaps[n-1].Blocks, s.gaps[n-1].Content = DamageUnknown, 0, -1
		return
	}
	s.gaps = append(s.gaps, g)
	s.account()
}

// loseRest notes that the stream ends too early, at the offset to.
func (s *search) loseRest(to int64, why error, detail string) {
	missing := int64(-1)
	if s.hdr.ContentSize >= s.raw && s.raw >= 0 {
		missing = s.hdr.ContentSize - s.raw
	}
	switch size := int64(s.hdr.BlockSize); {
	case missing == 0 || s.known && s.indexPart(to):
		s.lose(DamageFrame, 0, 0, why, detail)
	case missing > 0 && (missing-1)/size < (to-s.pos)/minBlock:
		s.lose(DamageUnknown, 0, missing, why, detail)
	default:
		// The header may claim anything. The bytes that are left cannot be as much.
		s.lose(DamageUnknown, 0, -1, why, detail)
	}
}

// memory is what the blocks and the damage found so far take.
func (s *search) memory() int64 {
	return s.x.memory(int64(len(s.x.blocks))) + gapMemory*int64(len(s.gaps))
}

// account makes sure that memory lasts. As a slice grows there are two of it.
func (s *search) account() {
	if limit := s.opt.readerLimit(); 3*s.memory() > limit {
		s.err = &Error{Kind: ErrMemory, Block: -1, Offset: -1,
			Detail: fmt.Sprintf("too many blocks, or too much damage, for the limit of %d bytes", limit)}
	}
}

// stream finds the blocks of one stream, and goes to what comes after it.
func (s *search) stream() {
	s.position = position{pos: s.pos, id: s.id, start: -1}
	s.row, s.last = true, false
	if s.hdr, s.known = s.headerAt(s.pos); s.known {
		s.start, s.some = s.pos, true
		s.pos += int64(s.hdr.Size())
	} else {
		s.hdr = pzfile.Header{Pipeline: pipeline.ByName(DefaultPipeline).ID, BlockSize: pzfile.MaxBlockSize, Checks: true, ContentSize: -1}
	}
	s.back = s.pos
	for s.err == nil {
		switch s.next() {
		case found:
			continue
		case ended:
			if !s.outer.overrun {
				return
			}
			// Not in a block that was cut off if nothing is behind it, or another stream.
			if _, ok := s.headerAt(s.pos); ok || s.pos == s.size {
				s.outer = outer{}
				return
			}
			s.back, s.last = s.pos, false
		}
		if !s.resync() {
			return
		}
	}
}

// What next finds at pos.
const (
	found = iota // a block
	ended        // the end of the stream
	stuck        // neither
)

// next goes past the block at pos, or the end of the stream.
func (s *search) next() int {
	if !s.known {
		return stuck
	}
	p := s.peek(s.small[:pzfile.BlockHeaderSize], s.pos)
	if len(p) >= pzfile.EndMarkerSize && pzfile.IsEndMarker(p) {
		return s.end()
	}
	if len(p) < pzfile.BlockHeaderSize {
		return stuck
	}
	e, _, err := pzfile.ParseBlockHeader(p, &s.hdr, s.number)
	switch {
	case err == nil && s.pos+pzfile.BlockHeaderSize+int64(e.Payload) > s.size:
		s.overrun, s.last, s.back = true, false, s.pos+pzfile.BlockHeaderSize
		return stuck
	case err == nil:
		s.add(e)
		return found
	}
	if e, ok := s.mend(p); ok {
		s.lose(DamageBlocks, 1, int64(e.Raw), ErrChecksum, "header checksum mismatch")
		s.last, s.back = false, s.pos+pzfile.BlockHeaderSize
		s.pos = s.back + int64(e.Payload)
		s.number++
		return found
	}
	return stuck
}

// headerAt reads the header of a stream, if there is one at off.
func (s *search) headerAt(off int64) (pzfile.Header, bool) {
	return parseHeader(s.peek(s.small[:pzfile.MaxHeaderSize], off))
}

// parseHeader reads the header of a stream, if p begins with one.
func parseHeader(p []byte) (h pzfile.Header, ok bool) {
	if len(p) < pzfile.MinHeaderSize || string(p[:len(pzfile.Magic)]) != pzfile.Magic {
		return h, false
	}
	n, err := pzfile.HeaderSize(p)
	if err != nil || n > len(p) {
		return h, false
	}
	h, err = pzfile.ParseHeader(p[:n])
	return h, err == nil && pipeline.ByID(h.Pipeline) != nil
}

// add takes the block whose header is at pos.
func (s *search) add(e pzfile.Entry) {
	if s.row {
		s.x.streams = append(s.x.streams, stream{hdr: s.hdr, id: s.id, first: int64(len(s.x.blocks)), skip: s.number})
		s.row = false
	}
	b := blockRef{offset: s.pos, content: s.x.content, payload: int32(e.Payload), raw: int32(e.Raw), kind: e.Kind}
	s.x.blocks = append(s.x.blocks, b)
	s.x.streams[len(s.x.streams)-1].blocks++
	s.x.content += int64(e.Raw)
	s.last, s.back = true, s.pos+pzfile.BlockHeaderSize
	s.bad, s.some = nil, true
	s.pos += b.size()
	s.number++
	if s.raw >= 0 {
		s.raw += int64(e.Raw)
	}
	s.account()
}

// drop gives back the last block.
func (s *search) drop() {
	n := len(s.x.blocks) - 1
	b, st := s.x.blocks[n], &s.x.streams[len(s.x.streams)-1]
	s.x.blocks = s.x.blocks[:n]
	if st.blocks--; st.blocks == 0 {
		s.x.streams = s.x.streams[:len(s.x.streams)-1]
		s.row = true
	}
	s.x.content = b.content
	s.pos, s.last = b.offset, false
	s.number--
	if s.raw >= 0 {
		s.raw -= int64(b.raw)
	}
}

// mend tells what a block header with a wrong check says, if that can be known: because one bit of it is wrong, or
// because the next header is where it says.
func (s *search) mend(p []byte) (e pzfile.Entry, ok bool) {
	for bit := range 8 * len(p) {
		p[bit/8] ^= 1 << (bit % 8)
		e, _, err := pzfile.ParseBlockHeader(p, &s.hdr, s.number)
		p[bit/8] ^= 1 << (bit % 8)
		if err == nil {
			return e, s.pos+pzfile.BlockHeaderSize+int64(e.Payload) <= s.size
		}
	}
	e, err := pzfile.ParseEntry(p, s.hdr.BlockSize)
	return e, err == nil && s.follows(s.pos+pzfile.BlockHeaderSize+int64(e.Payload), s.number+1)
}

// end deals with the end marker at pos: it is one if index and footer are behind it, whole or not.
func (s *search) end() int {
	size := pzfile.TailSize(s.number)
	footer, next := s.pos+size-pzfile.FooterSize, s.pos+size
	if next > s.size {
		if !s.indexPart(s.size) {
			return stuck
		}
		s.lose(DamageFrame, 0, 0, ErrTruncated, "")
		s.pos = s.size
		return ended
	}
	// Almost all that looks like an end marker and is none ends here, before something as long as an index is read.
	if _, ok := s.footerAt(s.pos, s.number); !ok && next < s.size {
		if _, ok := s.headerAt(next); !ok {
			return stuck
		}
	}
	var sum uint32
	for pos := s.pos; pos < footer; {
		p := s.peek(s.buf[:min(int64(len(s.buf)), footer-pos)], pos)
		if len(p) == 0 {
			return stuck
		}
		sum = pzfile.Checksum(sum, p)
		pos += int64(len(p))
	}
	p := s.peek(s.small[:], footer)
	if len(p) < pzfile.FooterSize {
		return stuck
	}
	f, err := pzfile.ParseFooter(p)
	if err == nil {
		err = f.CheckTail(sum, p)
	}
	if err != nil {
		s.lose(DamageFrame, 0, 0, ErrCorrupt, "index: "+err.Error())
	}
	s.pos = next
	return ended
}
