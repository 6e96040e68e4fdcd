package pzfile

import (
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// endBadly notes what is wrong with the end of the stream, which is at pos, or damage in front of
// it. Without detail the file ends there.
func (s *search) endBadly(kind index.DamageKind, detail string) {
	e := &errs.Error{Kind: errs.Corrupt, Part: errs.PartIndex, Offset: s.pos, Detail: detail, Err: s.ReadErr}
	s.stop = &index.Gap{Kind: kind, Err: e}
	if kind == index.DamageUnknown {
		e.Part, s.stop.Content = errs.PartBlock, -1
	}
	if detail == "" {
		e.Kind = errs.Truncated
	}
	if s.damage != nil {
		e.Offset, e.Err = s.damage.at, s.damage.err
	}
	s.ReadErr = nil
}

// settleStreams makes blocks and gaps of what the search has found.
func (s *search) settleStreams() {
	for i := range s.streams {
		s.stream = &s.streams[i]
		end := len(s.found)
		if i+1 < len(s.streams) {
			end = s.streams[i+1].first
		}
		s.settle(s.found[s.first:end])
		if !s.section {
			s.id++
		}
		if s.Err != nil {
			return
		}
	}
}

// settle makes blocks and gaps of what the search has found of a stream.
func (s *search) settle(units []unit) {
	firstGap, next, largest := len(s.Gaps), int64(0), MinBlockSize
	for i := range units {
		largest = max(largest, container.CeilPow2(int(units[i].Raw)))
	}
	content := int64(0)
	s.NewRow = true
	for i := range units {
		u := &units[i]
		s.noteGap(u.damage, next, u.number, u.Offset)
		s.AddBlock(u.Block, func() index.Stream {
			st := s.row(u.number)
			st.BlockSize = largest // what the blocks need: a guess costs no memory
			return st
		})
		next = u.number + 1
		content += int64(u.Raw)
	}
	if s.tail >= 0 {
		s.noteGap(s.inFront, next, int64(len(s.list)), s.tail)
	}
	if s.stop != nil {
		s.lose(*s.stop, next, s.stop.Err.(*errs.Error))
	}
	s.inferContent(s.Gaps[firstGap:], s.head.ContentSize-content)
}

// noteGap notes that the blocks from … to−1 are missing in front of an offset, or that something
// is there that is no block.
func (s *search) noteGap(d *damage, from, to, at int64) {
	e := &errs.Error{Kind: errs.Corrupt, Part: errs.PartBlock, Offset: at}
	if d != nil {
		e.Offset, e.Err = d.at, d.err
	}
	switch {
	case to > from:
		g := index.Gap{Kind: index.DamageBlocks, Blocks: to - from, Content: -1}
		if s.tail >= 0 {
			g.Content = 0
			for _, b := range s.list[from:to] {
				g.Content += int64(b.Raw)
			}
		}
		e.Detail = "no block header"
		s.lose(g, from, e)
	case d == nil:
	case from == 0 && d.at == s.start:
		e.Part, e.Detail = errs.PartHeader, "no header"
		s.lose(index.Gap{Kind: index.DamageFrame}, 0, e)
	case s.tail < 0 && at-d.at > int64(s.head.BlockSize):
		// The block may be of another stream, whose first blocks are lost.
		e.Detail = "more bytes than a block has belong to none"
		s.lose(index.Gap{Kind: index.DamageUnknown, Content: -1}, from, e)
	default:
		e.Part, e.Detail = errs.PartStray, "bytes that belong to no block"
		s.lose(index.Gap{Kind: index.DamageFrame}, from, e)
	}
}

// inferContent makes the content of the only gap of unknown content what is missing of the content
// that the stream's header states. missing is how much the blocks lack.
func (s *search) inferContent(gaps []index.Gap, missing int64) {
	var unknown *index.Gap
	for i := range gaps {
		switch {
		case gaps[i].Content >= 0:
			missing -= gaps[i].Content
		case unknown == nil:
			unknown = &gaps[i]
		default:
			return
		}
	}
	switch h := &s.head; {
	case unknown == nil || h.BlockSize == 0 || h.ContentSize < 0:
	case missing == 0:
		unknown.Kind, unknown.Content = index.DamageFrame, 0
		unknown.Err.(*errs.Error).Part = errs.PartIndex
	case missing > 0 && (missing-1)/int64(h.BlockSize) < (s.Size-s.start)/minBlock:
		unknown.Content = missing // which is not more than the file has room for
	}
}

// lose notes a gap in front of a block.
func (s *search) lose(g index.Gap, block int64, e *errs.Error) {
	e.Stream, e.Block = s.id, block
	g.Stream, g.Block, g.Err = s.id, block, e
	s.AddGap(g)
}
