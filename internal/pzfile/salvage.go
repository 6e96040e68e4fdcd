package pzfile

import (
	"errors"
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/ldm"
)

// A search finds the blocks of a file whose index is unusable. It goes through the file once: from
// block to block where one follows the other, and from byte to byte where it has to look for the
// next. Its work is linear in the size of the file. Short reads overlap where headers are dense: it
// reads a file of nothing but headers 55 times.
type search struct {
	index.Salvage
	rules Rules

	position
	back  int64 // the bytes from here to pos are payload that nothing has confirmed
	outer outer
	last  lastIndex

	walked int64 // blocks that startOf has followed

	buf   [64 << 10]byte
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

// position is how far the search has come in a stream.
type position struct {
	pos    int64
	place  place
	id     int   // number of the stream
	start  int64 // offset of its header, −1 if that has not been found
	head   Header
	known  bool  // head is the stream's header
	number int64 // of the next block
	raw    int64 // content of the stream so far, −1 if unknown

	firstGap, firstBlock int // of the stream, in Gaps and in File.Blocks
}

// place is what the search knows about pos.
type place uint8

const (
	anyPlace    place = iota
	behindBlock       // the last block of File ends there
	atCutBlock        // the header there is of a block that the end of the file cuts off
)

// outer is a damaged stream that the search has left for the header of another one. Content may be
// .pz data itself, so that the header may turn out to be part of a block of the outer stream.
type outer struct {
	position
	left    bool
	near    int64 // the stream's next block begins before this offset
	content int64
	streams int
	blocks  int
	gaps    int
}

// Salvage goes through a damaged file from the front. It returns an index of the blocks that it
// finds, and the gaps between them. Other data returns errs.Format.
func Salvage(
	src io.ReaderAt, size int64, limits *container.Limits, rules Rules, verify index.Verify,
) (*index.File, []index.Gap, error) {
	s := &search{rules: rules, Salvage: index.Salvage{
		Src: src, Limits: limits, Verify: verify, Size: size, File: &index.File{Size: size},
	}}
	for ; s.Err == nil && (s.pos < s.Size || s.id == 0); s.id++ {
		s.stream()
		s.skipSections()
	}
	if s.Err == nil && s.Found {
		s.placeByIndex()
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
	return s.File, s.Gaps, nil
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

// lose notes a gap in front of pos.
func (s *search) lose(
	kind index.DamageKind, part errs.Part, blocks, content int64, why error, detail string,
) {
	if s.Err != nil {
		return // what seems to be missing may be there
	}
	err := &errs.Error{
		Kind: why, Part: part, Stream: s.id, Block: s.number, Offset: s.pos, Detail: detail, Err: s.ReadErr,
	}
	s.ReadErr = nil
	if content < 0 {
		s.raw = -1
	} else if s.raw >= 0 {
		s.raw += content
	}
	s.AddGap(index.Gap{
		Kind: kind, Stream: s.id, Block: s.number, Blocks: blocks, Content: content, Err: err,
	})
}

// loseRest notes that the blocks of the stream end too early. The stream ends at the offset to.
func (s *search) loseRest(to int64, why error, detail string) {
	missing := int64(-1)
	if s.head.ContentSize >= s.raw && s.raw >= 0 {
		missing = s.head.ContentSize - s.raw
	}
	switch size := int64(s.head.BlockSize); {
	case missing == 0 || s.known && s.isIndexPart(to):
		s.lose(index.DamageFrame, errs.PartIndex, 0, 0, why, detail)
	case missing > 0 && (missing-1)/size < (to-s.pos)/minBlock:
		s.lose(index.DamageUnknown, errs.PartBlock, 0, missing, why, detail)
	default:
		// The header may claim anything. The bytes that are left cannot hold as much.
		s.lose(index.DamageUnknown, errs.PartBlock, 0, -1, why, detail)
	}
	s.reconcileRest(to)
}

// stream finds the blocks of one stream and goes to what comes after it.
func (s *search) stream() {
	s.position = position{
		pos: s.pos, id: s.id, start: -1, firstGap: len(s.Gaps), firstBlock: len(s.File.Blocks),
	}
	s.NewRow = true
	s.head, s.known = s.headerAt(s.pos)
	if s.known {
		s.start, s.Found = s.pos, true
		s.pos += int64(s.head.Size())
	} else {
		s.head = s.rules.header()
	}
	s.back = s.pos
	for s.Err == nil {
		switch s.next() {
		case atBlock:
			continue
		case atEnd:
			if s.outer.place != atCutBlock {
				return
			}
			// The stream does not lie in a block that was cut off if the file ends here, or if
			// another stream follows.
			if s.beginsAt(s.pos) || s.pos == s.Size {
				s.outer = outer{}
				return
			}
			s.back, s.place = s.pos, anyPlace
		}
		if !s.resync() {
			return
		}
	}
}

// found is what the search finds at pos.
type found uint8

const (
	atBlock found = iota // a block
	atEnd                // the end of the stream
	atOther              // neither
)

// next goes past the block at pos, or past the end of the stream.
func (s *search) next() found {
	if !s.known {
		return atOther
	}
	if s.head.Small {
		return s.nextSmall()
	}
	p := s.Peek(s.small[:BlockHeaderSize], s.pos)
	if len(p) >= EndMarkerSize && IsEndMarker(p) {
		return s.takeEndMarker()
	}
	if len(p) == 0 || len(p) < headerSize(p[0]) {
		return atOther
	}
	e, _, err := ParseBlockHeader(p, &s.head, s.number)
	switch {
	case err == nil && s.endOf(e) > s.Size:
		s.place, s.back = atCutBlock, s.pos+int64(e.HeaderSize())
		return atOther
	case err == nil:
		s.takeBlock(e.block(s.pos), e.HeaderSize())
		return atBlock
	}
	if e, ok := s.mend(p); ok {
		s.lose(index.DamageBlocks, errs.PartBlock, 1, int64(e.Raw), errs.Checksum, "header checksum mismatch")
		s.place, s.back = anyPlace, s.pos+int64(e.HeaderSize())
		s.pos = s.endOf(e)
		s.number++
		return atBlock
	}
	return atOther
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
func (s *search) nextSmall() found {
	if h := &s.head; s.number == 0 && h.Only.Kind != 0 {
		b := h.smallBlock(s.start)
		if b.Offset+int64(b.Size) > s.Size {
			s.place, s.back = atCutBlock, s.pos
			return atOther
		}
		s.takeBlock(b, h.Size())
		return atBlock
	}
	next := s.pos + smallFooterSize
	if next > s.Size {
		s.lose(index.DamageFrame, errs.PartIndex, 0, 0, errs.Truncated, "")
		s.pos = s.Size
		return atEnd
	}
	size, ok := parseSmallFooter(s.Peek(s.small[:smallFooterSize], s.pos))
	if !ok || size != int64(s.head.smallSize()) {
		// Bytes may be missing here. Then the next stream does not begin where it should.
		if next < s.Size && !s.beginsAt(next) {
			return atOther
		}
		s.lose(index.DamageFrame, errs.PartIndex, 0, 0, errs.Corrupt, "footer differs from the header")
	}
	s.pos = next
	return atEnd
}

// takeBlock takes a block with a header of so many bytes, which begins at pos unless the stream is
// small.
func (s *search) takeBlock(b index.Block, header int) {
	s.AddBlock(b, func() index.Stream { return s.row(s.number) })
	s.place, s.back = behindBlock, b.Offset+int64(header)
	s.pos = b.Offset + int64(b.Size)
	s.number++
	if s.raw >= 0 {
		s.raw += int64(b.Raw)
	}
}

// row returns the stream of a row of blocks that begins with the given number.
func (s *search) row(number int64) index.Stream {
	return index.Stream{
		Pipeline: s.head.Pipeline, BlockSize: s.head.BlockSize, Checks: s.head.Checks,
		Sources: s.head.Sources, Dictionary: s.head.Dictionary, ID: s.id, Skipped: number,
	}
}

// takeBackBlock takes back the last block.
func (s *search) takeBackBlock() {
	b := s.DropBlock()
	s.pos, s.place = b.Offset, anyPlace
	s.number--
	if s.raw >= 0 {
		s.raw -= int64(b.Raw)
	}
}

// mend repairs a block header with a wrong check: it flips each bit, or trusts the sizes if a
// header follows the block.
func (s *search) mend(p []byte) (e Entry, ok bool) {
	for bit := range 8 * len(p) {
		p[bit/8] ^= 1 << (bit % 8)
		e, _, err := ParseBlockHeader(p, &s.head, s.number)
		p[bit/8] ^= 1 << (bit % 8)
		// The check of a short header is too weak for so many attempts.
		if err == nil && (!e.Short || s.follows(s.endOf(e), s.number+1)) {
			return e, s.endOf(e) <= s.Size
		}
	}
	e, err := ParseEntry(p, s.head.BlockSize)
	return e, err == nil && s.follows(s.endOf(e), s.number+1)
}

// compareTail compares the stream with its index, of so many units, and its footer. These begin at
// pos, end at next, and are intact.
func (s *search) compareTail(units, next int64) {
	lossless := len(s.Gaps) == s.firstGap
	f, ok := s.footerAt(s.pos, units)
	ok = ok && s.reconcile(s.pos, f)
	announced := s.head.ContentSize
	switch {
	case !lossless: // what contradicts it may be lost
	case !ok, f.Size != next-s.start:
		s.lose(index.DamageFrame, errs.PartIndex, 0, 0, errs.Corrupt,
			"index differs from the blocks before it")
	case announced >= 0 && announced != s.raw:
		s.lose(index.DamageFrame, errs.PartHeader, 0, 0, errs.Corrupt,
			"content differs in size from what the stream's header announces")
	}
}

// takeEndMarker handles an end marker at pos. Part of the index must follow it.
func (s *search) takeEndMarker() found {
	units := markerUnits(s.small[:], s.number)
	size := TailSize(units)
	next := s.pos + size
	if next > s.Size {
		if !s.isIndexPart(s.Size) {
			return atOther
		}
		s.lose(index.DamageFrame, errs.PartIndex, 0, 0, errs.Truncated, "")
		s.pos = s.Size
		return atEnd
	}
	// Almost everything that only looks like an end marker ends here, before a read as long as an
	// index.
	if _, ok := s.footerAt(s.pos, units); !ok && next < s.Size && !s.beginsAt(next) {
		return atOther
	}
	if err := s.checkTail(s.pos, units); err != nil {
		if err.Kind == errs.Truncated {
			return atOther
		}
		s.lose(index.DamageFrame, errs.PartIndex, 0, 0, errs.Corrupt, err.Detail)
	} else {
		s.compareTail(units, next)
	}
	s.pos = next
	return atEnd
}
