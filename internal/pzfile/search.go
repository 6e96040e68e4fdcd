package pzfile

import (
	"errors"
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/ldm"
)

// A search finds the blocks of a damaged file. First it walks from block to block up to the first
// damage. If there is any, it begins anew: it reads indexes from the end of the file, each in front
// of the next, as long as they are intact. Then it goes through the file from the front: from block
// to block where one follows the other, and from byte to byte where it has to look for the next.
// The header of a block tells its number, so the search knows which blocks are missing. The index
// of a stream tells how large these were, and what is a block of the stream and what only looks
// like one.
//
// Its work is linear in the size of the file. It reads indexes twice more. Short reads overlap
// where headers are dense.
type search struct {
	index.Salvage
	verify Verify
	rules  Rules
	walks  bool          // it ends at the first damage
	ends   []extent      // of the streams ahead, in the order of the file
	ahead  []index.Block // the index of the first of them, if that is loose
	id     int           // number of the stream
	stream

	// The entries behind the end marker at an offset, 0 for none, end here.
	markerAt, entriesEnd int64

	buf   [64 << 10]byte
	part  [4 << 10]byte // of an index, where buf is in use
	small [FooterSize]byte
}

// Rules describes pipelines for a search.
type Rules struct {
	Known   func(pipeline uint8) bool // whether there is a pipeline with a number
	Default uint8                     // the one of a stream that has lost its header

	// Dictionary is the number of the reader's dictionary, 0 for none. A stream that has lost its
	// header counts as one with it: content without a dictionary is the same with one in front.
	Dictionary uint32
}

// Verify reports whether the only block of f can be decoded and has the right check. It may take
// memory bytes. It returns an error, which ends the search, if the block needs more memory or the
// context has ended.
type Verify func(f *index.File, memory int64) (intact bool, err error)

// stream is how far the search has come in a stream.
type stream struct {
	start, end  int64 // the stream lies between these offsets
	pos         int64
	head        Header
	known       bool  // head is the stream's header
	number      int64 // of the next block
	unconfirmed int64 // the bytes from here to pos are payload that nothing has confirmed
	posKind     posKind
	lastDamaged bool // the last block found is damaged, and its number may come again

	list   []index.Block // the stream's index; Offset counts from its end marker
	tail   int64         // offset of the end marker; −1 if unknown
	found  []unit
	damage *damage     // in front of pos
	stop   *errs.Error // what is wrong with the end of the stream

	bare     bool  // the stream has no end marker, index and footer
	cutIndex bool  // but a part of them
	origin   int64 // where the stream begins by its footer; start if that is unknown
	foreign  int   // how many of the blocks found are of another stream than the index

	firstGap, firstBlock int // of the stream, in Gaps and in File.Blocks
}

// A posKind is what the search knows about pos.
type posKind uint8

const (
	anyPos      posKind = iota
	behindBlock         // the last block found ends there
	atCutBlock          // the header there is of a block that goes beyond the end of the stream
)

// A unit is a block that the search has found.
type unit struct {
	index.Block
	number int64
	damage *damage // in front of it
}

// damage is a place in front of a block, or of the end of a stream, that has something else.
type damage struct {
	at  int64
	err error // of a read that failed
}

// Memory in bytes.
const (
	unitMemory   = 48 + 32 // with damage
	extentMemory = 40
)

// Salvage goes through a damaged file from the front. It returns an index of the blocks that it
// finds, and the gaps between them. Other data returns errs.Format.
func Salvage(
	src io.ReaderAt, size int64, limits *container.Limits, rules Rules, verify Verify,
) (*index.File, []index.Gap, error) {
	begin := func() *search {
		return &search{rules: rules, verify: verify, Salvage: index.Salvage{
			Src: src, Limits: limits, Size: size, File: &index.File{Size: size},
		}}
	}
	s := begin()
	s.walks = true // the file may be one of thousands of parts, each with these ends
	if !s.searchStreams() && s.Err == nil {
		s = begin()
		s.findEnds()
		s.searchStreams()
	}
	if s.Err != nil {
		return nil, nil, s.Err
	}
	if !s.Found {
		e := errs.New(errs.Format, "no .pz data: neither a header nor a block")
		var first *errs.Error
		if len(s.Gaps) > 0 && errors.As(s.Gaps[0].Err, &first) {
			e.Err = first.Err // of a read that failed
		}
		return nil, nil, e
	}
	s.lowerBlockSizes()
	s.File.Size = s.Size
	return s.File, s.Gaps, nil
}

// searchStreams finds the blocks of all streams. It returns false where a walk has met damage.
func (s *search) searchStreams() bool {
	sound := true // each stream has an intact end
	for s.skipSections(); s.Err == nil && (s.pos < s.Size || s.id == 0); s.id++ {
		if s.id > 0 && sound && s.EndAtOther(s.pos, container.PZ) {
			break
		}
		from := s.pos
		s.searchStream()
		sound = sound && s.stop == nil
		if s.walks && (!sound || s.damage != nil) {
			return false
		}
		s.skipSections()
		s.pos = max(s.pos, from+1) // whatever the file says of its parts
	}
	return len(s.Gaps) == 0 && s.Found
}

// lowerBlockSizes makes the block size of each stream what its blocks need, so that a guess costs
// no memory.
func (s *search) lowerBlockSizes() {
	for i := range s.File.Streams {
		st := &s.File.Streams[i]
		st.BlockSize = MinBlockSize
		for _, b := range s.File.Blocks[st.First : st.First+st.Blocks] {
			st.BlockSize = max(st.BlockSize, container.CeilPow2(int(b.Raw)))
		}
	}
}

// searchStream finds the blocks of the stream at pos, or of what is left of one, and goes to what
// comes after it.
func (s *search) searchStream() {
	s.stream = stream{
		start: s.pos, origin: s.pos, pos: s.pos, tail: -1, found: s.found[:0], list: s.list[:0],
	}
	s.head, s.known = s.headerAt(s.pos)
	if s.known {
		s.Found = true
		s.pos += int64(s.head.Size())
	} else {
		s.head = s.rules.header()
	}
	s.unconfirmed = s.pos
	s.setRegion()
	for s.Err == nil {
		switch s.next() {
		case tookBlock:
			continue
		case tookNothing:
			if s.walks {
				s.damage = &damage{at: s.pos}
				return
			}
			if s.resync() {
				continue
			}
		}
		break
	}
	if s.Err == nil {
		s.settle()
	}
}

// A step is what next has gone past.
type step uint8

const (
	tookBlock   step = iota
	tookEnd          // the end of the stream
	tookNothing      // neither is at pos
)

// next goes past the block at pos, or past the end of the stream.
func (s *search) next() step {
	if s.known && s.head.Small {
		return s.nextSmall()
	}
	p := s.peek(s.small[:BlockHeaderSize], s.pos)
	if len(p) >= EndMarkerSize && IsEndMarker(p) {
		return s.takeEndMarker()
	}
	if !s.known || len(p) == 0 || len(p) < headerSize(p[0]) {
		return tookNothing
	}
	e, _, err := ParseBlockHeader(p, &s.head, s.number)
	switch {
	case err != nil:
		return tookNothing
	case s.endOf(e) > s.end:
		s.posKind, s.unconfirmed = atCutBlock, s.pos+int64(e.HeaderSize())
		return tookNothing
	}
	s.takeBlock(e.block(s.pos), e.HeaderSize())
	return tookBlock
}

// peek is Peek within the stream.
func (s *search) peek(p []byte, off int64) []byte {
	return s.Peek(p[:max(0, min(int64(len(p)), s.end-off))], off)
}

// endOf returns the offset of the end of the block at pos.
func (s *search) endOf(e Entry) int64 { return s.pos + int64(e.HeaderSize()) + int64(e.Payload) }

// headerAt reads the header of a stream, if there is one at off.
func (s *search) headerAt(off int64) (Header, bool) {
	return s.rules.parseHeader(s.Peek(s.small[:MaxHeaderSize], off))
}

// header returns what counts as the header of a stream that has lost it.
func (r *Rules) header() Header {
	return Header{
		Pipeline: r.Default, BlockSize: MaxBlockSize, Checks: true, ContentSize: -1,
		Sources: ldm.MaxSources, Dictionary: r.Dictionary,
	}
}

// parseHeader reads the header of a stream, if p begins with one.
func (r *Rules) parseHeader(p []byte) (h Header, ok bool) {
	if len(p) < LeastHeader || string(p[:len(Magic)]) != Magic {
		return h, false
	}
	n, err := HeaderSize(p)
	if err != nil || n > len(p) {
		return h, false
	}
	h, err = ParseHeader(p[:n])
	return h, err == nil && r.Known(h.Pipeline)
}

// nextSmall is next within a small stream.
func (s *search) nextSmall() step {
	if h := &s.head; s.number == 0 && h.Only.Kind != 0 {
		b := h.smallBlock(s.start)
		if b.Offset+int64(b.Size) > s.end {
			s.posKind, s.unconfirmed = atCutBlock, s.pos
			return tookNothing
		}
		s.takeBlock(b, h.Size())
		return tookBlock
	}
	next := s.pos + smallFooterSize
	if next > s.end {
		s.endEarly(errs.Truncated, "")
		s.pos = s.end
		return tookEnd
	}
	size, ok := parseSmallFooter(s.Peek(s.small[:smallFooterSize], s.pos))
	if !ok || size != int64(s.head.smallSize()) {
		// Bytes may be missing here. Then the next stream does not begin where it should.
		if next < s.end && !s.beginsAt(next) {
			return tookNothing
		}
		if len(s.found) > 0 && s.head.Checks && !s.isLastIntact() {
			s.damage = &damage{at: s.pos} // bytes may be missing, and streams with them
		}
		s.endEarly(errs.Corrupt, "footer differs from the header")
	}
	s.pos = next
	return tookEnd
}

// takeBlock takes a block with a header of so many bytes, which begins at pos unless the stream is
// small.
func (s *search) takeBlock(b index.Block, header int) {
	s.found = append(s.found, unit{b, s.number, s.damage})
	s.damage = nil
	s.posKind, s.unconfirmed = behindBlock, b.Offset+int64(header)
	s.pos = b.Offset + int64(b.Size)
	s.number++
	s.Found, s.ReadErr = true, nil
	s.account()
}

// account ends the search if there is too much to keep.
func (s *search) account() {
	s.AccountFor(unitMemory*int64(len(s.found)) + index.BlockMemory*int64(len(s.list)+len(s.ahead)) +
		extentMemory*int64(len(s.ends)))
}

// row returns the stream of a row of blocks that begins with the given number.
func (s *search) row(number int64) index.Stream {
	return index.Stream{
		Pipeline: s.head.Pipeline, BlockSize: s.head.BlockSize, Checks: s.head.Checks,
		Sources: s.head.Sources, Dictionary: s.head.Dictionary, ID: s.id, Skipped: number,
	}
}

// endEarly notes what is wrong with the end of the stream.
func (s *search) endEarly(kind error, detail string) {
	s.stop = &errs.Error{
		Kind: kind, Part: errs.PartIndex, Stream: s.id, Block: s.number, Offset: s.pos, Detail: detail,
		Err: s.ReadErr,
	}
	s.ReadErr = nil
}

// takeEndMarker handles an end marker at pos. Part of the index must follow it.
func (s *search) takeEndMarker() step {
	units := s.unitsAt()
	next := s.pos + TailSize(units)
	if next > s.end {
		if !s.isIndexPart(s.pos, s.number, s.end) {
			return tookNothing
		}
		s.endEarly(errs.Truncated, "")
		s.pos = s.end
		return tookEnd
	}
	// Almost everything that only looks like an end marker ends here, before a read as long as an
	// index.
	f, ok := s.footerAt(s.pos, units)
	if !ok && next < s.end && !s.beginsAt(next) {
		return tookNothing
	}
	if err := s.checkTail(s.pos, units); err != nil {
		if err.Kind == errs.Truncated {
			return tookNothing
		}
		s.endEarly(errs.Corrupt, err.Detail)
	} else {
		if s.tail != s.pos {
			s.setList(s.pos, units)
		}
		s.compareTail(f, next)
	}
	s.pos = next
	return tookEnd
}

// unitsAt returns the size of the index behind the end marker at pos, which is in small.
func (s *search) unitsAt() int64 {
	if s.tail != s.pos {
		return markerUnits(s.small[:], s.number)
	}
	size := int64(0)
	for i := range s.list {
		size += int64(entryOf(&s.list[i]).Size())
	}
	return indexUnits(size)
}

// compareTail compares the footer of the stream, which ends at next, with the stream.
func (s *search) compareTail(f Footer, next int64) {
	announced := s.head.ContentSize
	switch {
	case s.tail < 0, f.Size != next-s.start:
		s.endEarly(errs.Corrupt, "index differs from the blocks before it")
		if s.tail >= 0 {
			s.origin = next - f.Size
		}
	case announced >= 0 && announced != f.Content:
		s.endEarly(errs.Corrupt, "content differs in size from what the stream's header announces")
		s.stop.Part = errs.PartHeader
	}
}
