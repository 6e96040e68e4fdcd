package pzfile

import (
	"cmp"
	"slices"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// settle makes blocks and gaps of what the search has found of a stream.
func (s *search) settle() {
	s.firstGap, s.firstBlock = len(s.Gaps), len(s.File.Blocks)
	copied := s.sortFound()
	s.noteFront()
	next := int64(0)
	s.NewRow = true
	for i := range s.found {
		u := &s.found[i]
		if i > 0 && i == s.foreign {
			s.lose(index.DamageUnknown, errs.PartBlock, next, 0, -1, u.Offset,
				&errs.Error{Kind: errs.Corrupt, Detail: "a block of another stream"})
		}
		s.noteGap(u.damage, next, u.number, u.Offset)
		s.AddBlock(u.Block, func() index.Stream { return s.row(u.number) })
		next = u.number + 1
	}
	if s.damage == nil {
		s.damage = copied
	}
	s.settleEnd(next)
	s.inferContent()
}

// noteFront notes that other streams may be lost in front of this one, if there is room for them in
// the damage in front of its first block.
func (s *search) noteFront() {
	if len(s.found) == 0 || s.found[0].damage == nil {
		return
	}
	u := &s.found[0]
	room := s.origin - u.damage.at
	if room < minSmallStream || s.origin >= u.Offset {
		return
	}
	s.lose(index.DamageUnknown, errs.PartBlock, 0, 0, -1, u.damage.at,
		&errs.Error{Kind: errs.Corrupt, Detail: "no block before the next stream", Err: u.damage.err})
	s.id++
	s.firstGap++
	u.damage.at, s.start = s.origin, s.origin
}

// sortFound sorts the blocks found by number: those that have moved come to their places. Of blocks
// with the same number, it keeps an intact one, and returns where another one is.
func (s *search) sortFound() (copied *damage) {
	slices.SortStableFunc(s.found, func(a, b unit) int { return cmp.Compare(a.number, b.number) })
	kept := s.found[:0]
	for _, u := range s.found {
		n := len(kept) - 1
		switch {
		case n < 0 || kept[n].number != u.number:
			kept = append(kept, u)
			continue
		case !s.isIntact(&kept[n]) && s.isIntact(&u):
			kept[n], u = u, kept[n]
		}
		copied = &damage{at: u.Offset}
	}
	s.found = kept
	return copied
}

// isIntact decodes a block that has been found.
func (s *search) isIntact(u *unit) bool {
	st := s.row(u.number)
	st.BlockSize, st.Blocks, st.Content = max(MinBlockSize, container.CeilPow2(int(u.Raw))), 1, int64(u.Raw)
	f := &index.File{
		Size: s.Size, Content: st.Content, Streams: []index.Stream{st}, Blocks: []index.Block{u.Block},
	}
	return s.Intact(int64(u.Size)+st.Content, func() (bool, error) {
		return s.verify(f, max(1, s.Limits.Memory()-s.Memory()))
	})
}

// noteGap notes that the blocks from … to−1 are missing in front of an offset, or that something
// is there that is no block.
func (s *search) noteGap(d *damage, from, to, at int64) {
	var read error
	end := at
	if d != nil {
		at, read = d.at, d.err
	}
	switch {
	case to > from:
		s.lose(index.DamageBlocks, errs.PartBlock, from, to-from, s.listedContent(from, to), at,
			&errs.Error{Kind: errs.Corrupt, Detail: "no block header", Err: read})
	case d == nil:
	case from == 0 && at == s.start:
		s.lose(index.DamageFrame, errs.PartHeader, 0, 0, 0, at,
			&errs.Error{Kind: errs.Corrupt, Detail: "no header", Err: read})
	case s.tail < 0 && end-at > int64(s.head.BlockSize):
		// The block may be of another stream, whose first blocks are lost.
		s.lose(index.DamageUnknown, errs.PartBlock, from, 0, -1, at,
			&errs.Error{Kind: errs.Corrupt, Detail: "more bytes than a block has belong to none", Err: read})
	default:
		s.lose(index.DamageFrame, errs.PartStray, from, 0, 0, at,
			&errs.Error{Kind: errs.Corrupt, Detail: "bytes that belong to no block", Err: read})
	}
}

// listedContent returns the content of the blocks from … to−1 by the index, −1 without one.
func (s *search) listedContent(from, to int64) (n int64) {
	if s.tail < 0 {
		return -1
	}
	for _, b := range s.list[from:to] {
		n += int64(b.Raw)
	}
	return n
}

// settleEnd notes what is missing behind the last block, and what is wrong with the end of the
// stream. next is the number of the next block.
func (s *search) settleEnd(next int64) {
	switch {
	case s.bare:
		s.settleRest(next)
		return
	case s.tail >= 0:
		s.noteGap(s.damage, next, int64(len(s.list)), s.tail)
		switch {
		case len(s.Gaps) > s.firstGap:
			return // so the sizes of the stream are wrong
		case s.origin < s.start: // what is missing was no block of it
			s.lose(index.DamageUnknown, errs.PartBlock, next, 0, -1, s.stop.Offset, s.stop)
			s.Gaps[len(s.Gaps)-1].Before = int64(s.firstBlock)
			return
		}
	case s.damage != nil:
		s.lose(index.DamageUnknown, errs.PartBlock, next, 0, -1, s.damage.at,
			&errs.Error{Kind: errs.Corrupt, Detail: "no block before the index", Err: s.damage.err})
	}
	switch {
	case s.stop == nil:
	case len(s.found) == 0: // all of its blocks may be lost
		s.lose(index.DamageUnknown, errs.PartBlock, next, 0, -1, s.stop.Offset, s.stop)
	default:
		s.lose(index.DamageFrame, s.stop.Part, next, 0, 0, s.stop.Offset, s.stop)
	}
}

// settleRest notes that the stream ends without an index.
func (s *search) settleRest(next int64) {
	kind, part, content := index.DamageUnknown, errs.PartBlock, int64(-1)
	switch missing, unknown := s.missing(s.pos - s.damage.at); {
	case s.cutIndex:
		kind, part, content = index.DamageFrame, errs.PartIndex, 0
	case s.pos == s.Size && missing > 0 && unknown < 0: // otherwise other streams may be lost, too
		content = missing
	}
	s.stop.Err = s.damage.err
	s.lose(kind, part, next, 0, content, s.damage.at, s.stop)
}

// missing returns how much content the stream lacks, by its header; −1 if the header does not say,
// if so many bytes of the file have no room for so much, or if the content of several gaps is
// unknown. gap is the only one of which it is, −1 if there is none.
func (s *search) missing(room int64) (missing int64, gap int) {
	missing, gap = s.head.ContentSize, -1
	for _, b := range s.File.Blocks[s.firstBlock:] {
		missing -= int64(b.Raw)
	}
	for i := s.firstGap; i < len(s.Gaps); i++ {
		switch n := s.Gaps[i].Content; {
		case n >= 0:
			missing -= n
		case gap >= 0:
			return -1, gap
		default:
			gap = i
		}
	}
	// The header may claim anything.
	if missing < 0 || (missing-1)/int64(s.head.BlockSize) >= room/minBlock {
		return -1, gap
	}
	return missing, gap
}

// inferContent makes the content of the only gap of unknown content what is missing of the size
// that the stream's header states.
func (s *search) inferContent() {
	missing, gap := s.missing(s.pos - s.start)
	others := s.foreign > 0 || s.bare && gap == len(s.Gaps)-1 // other streams may be lost there
	if missing >= 0 && gap >= 0 && !others && !s.head.Small {
		s.Gaps[gap].Content = missing
	}
}

// lose notes a gap at an offset.
func (s *search) lose(
	kind index.DamageKind, part errs.Part, block, blocks, content, at int64, err *errs.Error,
) {
	err.Part, err.Stream, err.Block, err.Offset = part, s.id, block, at
	s.AddGap(index.Gap{
		Kind: kind, Stream: s.id, Block: block, Blocks: blocks, Content: content, Err: err,
	})
}

// entryOf returns the entry of a block, of which block is the inverse.
func entryOf(b *index.Block) Entry {
	e := Entry{Kind: b.Kind, Raw: int(b.Raw), Short: b.Short, Flushed: b.Flushed}
	e.Payload = int(b.Size) - e.HeaderSize()
	return e
}
