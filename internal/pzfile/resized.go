package pzfile

import (
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// maxResized is the most blocks of a file that placeByIndex takes. Only so many short headers can have
// the same number in them without making it slow.
const maxResized = 1 << 20

// placeByIndex is what a search does at its end if some places are unknown. In a file of one stream the
// index at the end tells them, even if bytes were inserted or deleted in front of it, perhaps copies
// of blocks. So placeByIndex looks for the blocks of that index. The result replaces what the search
// has found only if nothing is lost by that: for each block that the search has found, there is one at
// the same place, or an intact one with the same header. Otherwise the file has blocks of another
// stream. The stream must have checks, as headers differ by those of the content.
func (s *search) placeByIndex() {
	if s.isPlaced() {
		return
	}
	limits := *s.Limits
	limits.MaxMemory = s.Limits.Memory() - s.Memory()
	x, excess := s.readResized(&limits)
	if x == nil {
		return
	}
	t := index.Salvage{Src: s.Src, Limits: &limits, Verify: s.Verify, Size: s.Size, File: x}
	h := headers{s: &t, blocks: x.Blocks, head: s.head, excess: excess}
	inPlace := 0
	for k := range x.Blocks {
		if h.IsAt(k, x.Blocks[k].Offset) {
			inPlace++
		}
	}
	// Of a stream that is lost but for its header no block is in place.
	if inPlace == 0 || t.Relocate(h.blocks, &x.Streams[0], &h) != nil {
		return
	}
	copied, ok := s.isWithin(&h)
	if !ok || t.Err != nil || t.ReadErr != nil || s.ReadErr != nil {
		return
	}
	s.File, s.Gaps = x, t.Gaps
	s.endResized(copied)
}

// endResized reports at the end of a resized file what else is wrong with it.
func (s *search) endResized(copied *twice) {
	n := int64(len(s.File.Blocks))
	gap := index.Gap{Before: n, Kind: index.DamageFrame, Block: n}
	err := &errs.Error{
		Kind: errs.Corrupt, Part: errs.PartIndex, Block: -1, Offset: s.last.tail,
		Detail: "the stream has another size than its footer says",
	}
	switch {
	case copied != nil:
		gap.Kind, gap.Block, gap.Content = index.DamageUnknown, copied.number, -1
		err.Part, err.Block, err.Offset = errs.PartStray, copied.number, copied.offset
		err.Detail = "in the file twice: a copy, or what is left of another stream"
	case len(s.Gaps) > 0:
		return
	}
	gap.Err = err
	s.Gaps = append(s.Gaps, gap)
}

// isPlaced reports whether the search knows how much content each gap has lost. It tells nothing of
// the parts of the file that could not be read, so with these it reports true.
func (s *search) isPlaced() bool {
	if s.ReadErr != nil {
		return true
	}
	for i := range s.Gaps {
		if e, ok := s.Gaps[i].Err.(*errs.Error); ok && e.Err != nil {
			return true
		}
	}
	for i := range s.Gaps {
		if s.Gaps[i].Content < 0 {
			return false
		}
	}
	return s.id == 1
}

// readResized makes the index of a file of one stream, as it was before bytes were inserted or
// deleted. excess is how many bytes the file has more than before. For other files it returns nil, as
// for those of which half was inserted or deleted.
func (s *search) readResized(limits *container.Limits) (x *index.File, excess int64) {
	if !s.last.read {
		s.readLastIndex()
	}
	if s.last.tail < 0 {
		return nil, 0
	}
	tail, units := s.last.tail, s.last.units
	f, ok := s.footerAt(tail, units)
	end := tail + TailSize(units)
	excess = end - f.Size
	if !ok || max(excess, -excess) >= f.Size/2 || units > maxResized || !s.isOneStream(excess) {
		return nil, 0
	}
	// The header tells where the first block is, and so does the index.
	blocks, size, content, largest := int64(0), int64(0), int64(0), 0
	entries, short := int64(0), false
	ok = s.eachEntry(tail, units, func(e Entry) bool {
		size += int64(e.HeaderSize() + e.Payload)
		content += int64(e.Raw)
		largest = max(largest, e.Raw)
		entries, short = entries+int64(e.Size()), short || e.Short
		blocks++
		return blocks <= maxResized
	})
	h, first := &s.head, f.Size-TailSize(units)-size
	switch {
	case !ok, content != f.Content, indexUnits(entries) != units, !s.isMarker(tail, units, short),
		first < MinHeaderSize, first > MaxHeaderSize, s.known && first != int64(h.Size()),
		h.ContentSize >= 0 && h.ContentSize != content:
		return nil, 0
	}
	x = &index.File{Format: container.PZ, Size: s.Size, Content: content, Streams: []index.Stream{{
		Size: end, Content: content, Blocks: blocks, Pipeline: h.Pipeline, Checks: true,
		BlockSize: max(MinBlockSize, container.CeilPow2(largest)),
		Sources:   h.Sources, Window: h.Window, Dictionary: h.Dictionary,
	}}}
	if checkMemory(x, blocks, limits) != nil {
		return nil, 0
	}
	x.Blocks = make([]index.Block, 0, blocks)
	at := first
	content = 0
	s.eachEntry(tail, units, func(e Entry) bool {
		b := e.block(at)
		b.Content = content
		x.Blocks = append(x.Blocks, b)
		at += int64(b.Size)
		content += int64(b.Raw)
		return true
	})
	return x, excess
}

// isOneStream reports whether the file can be a stream that has grown by excess bytes. It makes the
// header of the file that of the search.
func (s *search) isOneStream(excess int64) bool {
	s.head, s.known = s.headerAt(0)
	if !s.known {
		s.head = s.rules.header()
		return true
	}
	if s.head.Small || !s.head.Checks {
		return false
	}
	if excess <= 0 {
		return true
	}
	if _, ok := s.headerAt(excess); ok {
		return false // the stream is intact there, behind another one
	}
	start, ok := s.startOf(candidate{at: int64(s.head.Size())}, &s.head)
	return !ok || start != 0 // otherwise a whole stream is in front
}

// A twice is a block that a file has twice.
type twice struct {
	number int64
	offset int64 // of the one that is left out
}

// isWithin reports whether the blocks of h include all that the search has found. It returns the first
// one of these that has the same content as another one, nil if there is none.
func (s *search) isWithin(h *headers) (first *twice, ok bool) {
	var small [BlockHeaderSize]byte
	for i := range s.File.Streams {
		st := &s.File.Streams[i]
		for j, b := range s.File.Blocks[st.First : st.First+st.Blocks] {
			k := int(st.Skipped) + j
			if k >= len(h.blocks) || !sameEntry(&b, &h.blocks[k]) {
				return nil, false
			}
			own := h.blocks[k]
			if own.Offset == b.Offset {
				continue
			}
			head := s.Peek(small[:min(len(small), int(b.Size))], b.Offset)
			if !h.matches(k, head) || string(head) != string(h.s.Peek(h.small[:len(head)], own.Offset)) {
				return nil, false
			}
			row := h.s.File.Streams[0]
			row.Skipped = int64(k)
			if !h.s.Intact(b, row, 0) {
				continue // a part of a copy
			}
			if !h.s.Intact(own, row, 0) {
				return nil, false
			}
			if first == nil {
				first = &twice{number: int64(k), offset: b.Offset}
			}
		}
	}
	return first, !h.s.IsSpent()
}
