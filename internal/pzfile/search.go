package pzfile

import (
	"errors"
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/ldm"
)

// A search finds the blocks of a damaged file. It goes through the file once: from block to block
// where one follows the other, and from byte to byte where it has to look for the next. It keeps
// all blocks in the order of the file. A header begins a stream, and so does a block whose number
// is not above the last one. An index ends a stream. It tells where the stream begins and which
// blocks it has, so what else lies between is content of a lost block.
//
// At the end of the file, settle compares the blocks of each stream with its index. Blocks whose
// numbers are missing are lost.
//
// The work is linear in the size of the file. Short reads overlap where headers are dense.
type search struct {
	index.Salvage
	verify Verify
	rules  Rules

	found   []unit   // the blocks of all streams
	streams []stream // in the order of the file
	*stream          // the last one of them

	pos         int64   // how far the search has come
	number      int64   // of the next block
	unconfirmed int64   // the bytes from here to pos are payload that nothing has confirmed
	damage      *damage // in front of pos
	listed      int64   // entries of all indexes
	id          int     // number of the stream that becomes gaps and blocks

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

// stream is what the search has found of a stream, or a damaged section.
type stream struct {
	first int   // of its blocks among those found
	start int64 // where it begins
	head  Header
	list  []index.Block // its index
	tail  int64         // offset of the end marker in front of list; −1 if there is no list

	// All streams up to this one end where their footers say.
	sound   bool
	section bool
	inFront *damage    // of its end
	stop    *index.Gap // what is wrong with its end, or with the section
}

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
	streamMemory = 384     // with what is wrong
)

// Salvage goes through a damaged file from the front. It returns an index of the blocks that it
// finds, and the gaps between them. Other data returns errs.Format.
func Salvage(
	src io.ReaderAt, size int64, limits *container.Limits, rules Rules, verify Verify,
) (*index.File, []index.Gap, error) {
	s := &search{rules: rules, verify: verify, Salvage: index.Salvage{
		Src: src, Limits: limits, Size: size, File: &index.File{},
	}}
	s.searchStreams()
	s.settleStreams()
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
	s.File.Size = s.Size
	return s.File, s.Gaps, nil
}

// searchStreams finds the blocks of all streams.
func (s *search) searchStreams() {
	for s.skipSections(); s.Err == nil && s.pos < s.Size; s.skipSections() {
		if len(s.streams) > 0 && s.sound && s.EndAtOther(s.pos, container.PZ) {
			break
		}
		h, ok := s.headerAt(s.pos)
		s.begin(stream{first: len(s.found), start: s.pos, head: h, tail: -1})
		if ok {
			s.Found = true
			s.pos += int64(h.Size())
			s.unconfirmed = s.pos
		}
		for s.Err == nil && s.next() {
		}
	}
}

// begin begins a stream at pos.
func (s *search) begin(st stream) {
	s.streams = append(s.streams, st)
	s.stream = &s.streams[len(s.streams)-1]
	s.number, s.unconfirmed, s.damage = 0, s.pos, nil
	s.account()
}

// wasSound reports whether all streams in front of stream i end where their footers say.
func (s *search) wasSound(i int) bool { return i == 0 || s.streams[i-1].sound }

// next goes past the block at pos, or past the end of the stream, or to the next block behind
// damage. It reports whether the stream goes on.
func (s *search) next() bool {
	if s.head.Small {
		return s.nextSmall()
	}
	p := s.Peek(s.small[:BlockHeaderSize], s.pos)
	if len(p) >= EndMarkerSize && IsEndMarker(p) {
		return !s.takeEndMarker() && s.resync()
	}
	if s.head.BlockSize == 0 || len(p) == 0 {
		return s.resync()
	}
	e, _, err := ParseBlockHeader(p, &s.head, s.number)
	return err == nil && s.takeBlock(e.block(s.pos)) || s.resync()
}

// headerAt reads the header of a stream, if there is one at off.
func (s *search) headerAt(off int64) (Header, bool) {
	return s.rules.parseHeader(s.Peek(s.small[:MaxHeaderSize], off))
}

// header returns what counts as the header of a stream that has lost it.
func (r *Rules) header(checks bool) Header {
	return Header{
		Pipeline: r.Default, BlockSize: MaxBlockSize, Checks: checks, ContentSize: -1,
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
	if err != nil || !r.Known(h.Pipeline) {
		return Header{}, false
	}
	return h, true
}

// nextSmall is next within a small stream.
func (s *search) nextSmall() bool {
	if h := &s.head; s.number == 0 && h.Only.Kind != 0 {
		return s.takeBlock(h.smallBlock(s.start)) || s.resync()
	}
	end := s.pos + smallFooterSize
	size, ok := parseSmallFooter(s.Peek(s.small[:smallFooterSize], s.pos))
	ok = ok && size == int64(s.head.smallSize())
	switch {
	case ok && end <= s.Size:
		s.sound = s.wasSound(len(s.streams) - 1)
	case end < s.Size && !s.beginsAt(end):
		return s.resync()
	case end > s.Size:
		s.endBadly(index.DamageFrame, "")
	default:
		s.endBadly(index.DamageFrame, "footer differs from the header")
	}
	s.pos = min(end, s.Size)
	return false
}

// takeBlock takes a block, unless it goes beyond the end of the file.
func (s *search) takeBlock(b index.Block) bool {
	end := b.Offset + int64(b.Size)
	if end > s.Size {
		return false
	}
	s.found = append(s.found, unit{b, s.number, s.damage})
	s.damage = nil
	s.pos, s.unconfirmed = end, b.Offset+1
	s.number++
	s.Found, s.ReadErr = true, nil
	s.account()
	return true
}

// account ends the search if there is too much to keep.
func (s *search) account() {
	s.Extra = unitMemory*int64(len(s.found)) + streamMemory*int64(len(s.streams)) +
		index.BlockMemory*s.listed
	s.Account()
}
