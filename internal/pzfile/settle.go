package pzfile

import (
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// settle makes blocks and gaps of what the search has found of a stream.
func (s *search) settle() {
	s.firstGap, s.firstBlock = len(s.Gaps), len(s.File.Blocks)
	keep := s.inOrder()
	next, holes := int64(0), s.holes
	var open *hole // in front of the next block
	s.NewRow = true
	for i := range s.found {
		u := &s.found[i]
		for ; len(holes) > 0 && holes[0].before <= i; holes = holes[1:] {
			open = firstHole(open, &holes[0])
		}
		if !keep[i] {
			open = firstHole(open, &hole{at: u.Offset})
			continue
		}
		s.noteGap(open, next, u.number, u.Offset)
		s.AddBlock(u.Block, func() index.Stream { return s.row(u.number) })
		next, open = u.number+1, nil
	}
	if len(holes) > 0 {
		open = firstHole(open, &holes[0])
	}
	s.settleEnd(open, next, len(s.Gaps) > s.firstGap)
}

// firstHole returns the first of two holes, of which a may be nil.
func firstHole(a, b *hole) *hole {
	if a == nil {
		return b
	}
	return a
}

// inOrder says which of the blocks found to keep: as many as have ascending numbers. Others are
// copies of blocks that are elsewhere.
func (s *search) inOrder() []bool {
	numbers := make([]int64, len(s.found))
	where := map[int64]int{}
	for i := range s.found {
		numbers[i] = s.found[i].number
		if s.tail < 0 {
			continue // ascending
		}
		if j, ok := where[numbers[i]]; ok {
			// A block is there twice. One of the two may be damaged.
			if s.isIntact(i) && !s.isIntact(j) {
				numbers[j] = -1
			}
		}
		where[numbers[i]] = i
	}
	return index.Ascending(numbers)
}

// isIntact decodes a block that has been found.
func (s *search) isIntact(i int) bool {
	u := &s.found[i]
	return s.Intact(u.Block, s.row(u.number), 0)
}

// noteGap notes that the blocks from … to−1 are missing in front of an offset, or that something
// is there that is no block.
func (s *search) noteGap(open *hole, from, to, at int64) {
	var read error
	if open != nil {
		at, read = open.at, open.err
	}
	switch {
	case to > from:
		s.lose(index.DamageBlocks, errs.PartBlock, from, to-from, s.listedContent(from, to), at,
			&errs.Error{Kind: errs.Corrupt, Detail: "no block header", Err: read})
	case open == nil:
	case from == 0 && at == s.start:
		s.lose(index.DamageFrame, errs.PartHeader, 0, 0, 0, at,
			&errs.Error{Kind: errs.Corrupt, Detail: "no header", Err: read})
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
// stream. next is the number of the next block. damaged says that gaps have been noted.
func (s *search) settleEnd(open *hole, next int64, damaged bool) {
	switch {
	case s.bare:
		s.settleRest(next)
		return
	case s.tail >= 0:
		s.noteGap(open, next, int64(len(s.list)), s.tail)
		if damaged || open != nil || next < int64(len(s.list)) {
			return // so the sizes of the stream are wrong
		}
	case open != nil:
		s.lose(index.DamageUnknown, errs.PartBlock, next, 0, s.missing(), open.at,
			&errs.Error{Kind: errs.Corrupt, Detail: "no block before the index", Err: open.err})
	}
	if s.stop != nil {
		s.lose(index.DamageFrame, s.stop.Part, next, 0, 0, s.stop.Offset, s.stop)
	}
}

// settleRest notes that the stream ends without an index.
func (s *search) settleRest(next int64) {
	kind, part, missing := index.DamageUnknown, errs.PartBlock, s.missing()
	if missing == 0 || s.cutIndex {
		kind, part, missing = index.DamageFrame, errs.PartIndex, 0
	}
	s.lose(kind, part, next, 0, missing, s.stop.Offset, s.stop)
}

// missing returns how much content the stream lacks at its end by its header; −1 if the header does
// not say, or if so much is not likely.
func (s *search) missing() int64 {
	raw := s.raw()
	if raw < 0 || s.head.ContentSize < raw {
		return -1
	}
	// The header may claim anything. The bytes that are left may not hold as much.
	missing := s.head.ContentSize - raw
	if missing > 0 && (missing-1)/int64(s.head.BlockSize) >= (s.pos-s.back)/minBlock {
		return -1
	}
	return missing
}

// raw returns the content of the stream so far; −1 if it is unknown.
func (s *search) raw() int64 {
	raw := int64(0)
	for _, b := range s.File.Blocks[s.firstBlock:] {
		raw += int64(b.Raw)
	}
	for _, g := range s.Gaps[s.firstGap:] {
		if g.Content < 0 {
			return -1
		}
		raw += g.Content
	}
	return raw
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
