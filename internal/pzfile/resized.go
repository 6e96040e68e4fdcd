package pzfile

import (
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// maxResized is the most blocks of a file that placeByIndex takes. Only so many short headers can
// have the same number in them without making it slow.
const maxResized = 1 << 20

// placeByIndex is what a search does at its end if some places are unknown. In a file of one stream
// the index at the end tells them, even if bytes were inserted or deleted in front of it, perhaps
// copies of blocks. So placeByIndex looks for the blocks of that index. The result replaces what
// the search has found only if nothing is lost by that: for each block that the search has found,
// there is one at the same place, or an intact one with the same header. Otherwise the file has
// blocks of another stream. The stream must have checks, as headers differ by those of the content.
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
	copies, ok := s.isWithin(&h)
	if !ok || t.Err != nil || t.ReadErr != nil || s.ReadErr != nil {
		return
	}
	s.File, s.Gaps = x, t.Gaps
	s.reportResized(copies)
}

// reportResized adds to the gaps of a resized file what the search for its blocks does not report.
func (s *search) reportResized(copies []twice) {
	gaps, n := s.Gaps, int64(len(s.File.Blocks))
	s.Gaps = nil
	if !s.known {
		s.note(index.Gap{Kind: index.DamageFrame}, errs.PartHeader, 0, "no header")
	}
	s.Gaps = append(s.Gaps, gaps...)
	for _, c := range copies {
		detail := "in the file twice, as a copy or the rest of another stream"
		if c.last > c.number {
			detail = "in the file twice, with blocks behind it, as copies or the rest of another stream"
		}
		s.note(index.Gap{Before: n, Kind: index.DamageUnknown, Block: c.number, Content: -1},
			errs.PartStray, c.offset, detail)
	}
	if len(s.Gaps) == 0 {
		s.note(index.Gap{Before: n, Kind: index.DamageFrame, Block: n},
			errs.PartIndex, s.last.tail, "the stream has another size than its footer says")
	}
}

// note adds a gap with an error.
func (s *search) note(g index.Gap, part errs.Part, off int64, detail string) {
	g.Err = &errs.Error{Kind: errs.Corrupt, Part: part, Block: g.Block, Offset: off, Detail: detail}
	s.Gaps = append(s.Gaps, g)
}

// isPlaced reports whether the search knows how much content each gap has lost. A file with parts
// that cannot be read counts as placed: only the gaps of the search report these.
func (s *search) isPlaced() bool {
	if s.ReadErr != nil {
		return true
	}
	placed := s.id == 1
	for i := range s.Gaps {
		if e, ok := s.Gaps[i].Err.(*errs.Error); ok && e.Err != nil {
			return true
		}
		placed = placed && s.Gaps[i].Content >= 0
	}
	return placed
}

// readResized makes the index of a file of one stream, as it was before bytes were inserted or
// deleted. excess is how many bytes the file has more than before. For other files it returns nil,
// as for those of which half was inserted or deleted. The header of the file becomes that of the
// search.
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
	s.head, s.known = s.headerAt(0)
	if !s.known {
		s.head = s.rules.header()
	}
	if !ok || max(excess, -excess) >= f.Size/2 || units > maxResized || !s.isOneStream(excess) {
		return nil, 0
	}
	x = &index.File{Format: container.PZ, Size: s.Size, Streams: make([]index.Stream, 1)}
	size, largest := int64(0), 0 // of the blocks; of their content
	var sum indexSum
	ok = s.eachEntry(tail, units, func(e Entry) bool {
		n := len(x.Blocks)
		if n == maxResized || n == cap(x.Blocks) && checkMemory(x, 2*int64(n), limits) != nil {
			return false
		}
		b := e.block(size)
		b.Content = sum.content
		x.Blocks = append(x.Blocks, b)
		size += int64(b.Size)
		largest = max(largest, e.Raw)
		sum.addEntry(e)
		return true
	})
	// The header tells where the first block is, and so does the index.
	h, first := &s.head, f.Size-TailSize(units)-size
	switch {
	case !ok, !s.addsUp(&sum, tail, f), limits.TooLarge(0, f.Content),
		first < MinHeaderSize, first > MaxHeaderSize,
		s.known && first != int64(h.Size()), h.ContentSize >= 0 && h.ContentSize != f.Content:
		return nil, 0
	}
	x.Content = f.Content
	for k := range x.Blocks {
		x.Blocks[k].Offset += first
	}
	x.Streams[0] = index.Stream{
		Size: end, Content: x.Content, Blocks: int64(len(x.Blocks)), Pipeline: h.Pipeline, Checks: true,
		BlockSize: max(MinBlockSize, container.CeilPow2(largest)),
		Sources:   h.Sources, Window: h.Window, Dictionary: h.Dictionary,
	}
	return x, excess
}

// isOneStream reports whether the file can be a stream that has grown by excess bytes. Such a
// stream is not small and has checks.
func (s *search) isOneStream(excess int64) bool {
	switch {
	case !s.known:
		return true
	case s.head.Small, !s.head.Checks:
		return false
	case excess <= 0:
		return true
	}
	if _, ok := s.headerAt(excess); ok {
		return false // the stream is intact there, behind another one
	}
	start, ok := s.startOf(candidate{at: int64(s.head.Size())}, &s.head)
	return !ok || start != 0 // otherwise a whole stream is in front
}

// A twice is a run of blocks that a file has twice. One of the two is left out.
type twice struct {
	number, last int64 // of the first and the last block
	offset, end  int64 // where the file has the run that is left out
}

const (
	maxTwice  = 64 // runs of blocks that are reported as there twice
	maxCopies = 4  // bytes of content of all copies, as a multiple of the file's content
)

// isWithin reports whether the blocks of h include all that the search has found. It returns those
// blocks that have the same header as an intact one of h at another place.
func (s *search) isWithin(h *headers) (copies []twice, ok bool) {
	var small [BlockHeaderSize]byte
	decoded := int64(0)
	for i := range s.File.Streams {
		st := &s.File.Streams[i]
		if !st.Checks {
			return nil, false
		}
		for j, b := range s.File.Blocks[st.First : st.First+st.Blocks] {
			k := st.Skipped + int64(j)
			if k >= int64(len(h.blocks)) || !sameEntry(&b, &h.blocks[k]) {
				return nil, false
			}
			own := h.blocks[k]
			if own.Offset == b.Offset {
				continue
			}
			head := s.Peek(small[:min(len(small), int(b.Size))], b.Offset)
			if !h.matches(int(k), head) || string(head) != string(h.s.Peek(h.small[:len(head)], own.Offset)) {
				return nil, false
			}
			row := h.s.File.Streams[0]
			row.Skipped = k
			decoded += int64(own.Raw)
			switch {
			case decoded > maxCopies*h.s.File.Content:
				return nil, false
			case h.s.Intact(own, row, 0):
				copies = addTwice(copies, k, &b)
			case h.s.Intact(b, row, 0):
				return nil, false
			}
		}
	}
	return copies, !h.s.IsSpent()
}

// addTwice adds block k of the file, which is b at one of its places, to the runs.
func addTwice(runs []twice, k int64, b *index.Block) []twice {
	end := b.Offset + int64(b.Size)
	if n := len(runs); n > 0 && runs[n-1].last+1 == k && runs[n-1].end == b.Offset {
		runs[n-1].last, runs[n-1].end = k, end
		return runs
	}
	if len(runs) == maxTwice {
		return runs
	}
	return append(runs, twice{number: k, last: k, offset: b.Offset, end: end})
}
