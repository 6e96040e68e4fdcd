package zstfile

import (
	"sort"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// reconcile makes blocks of the frames since the last seek table. list are the entries of the table
// behind them, and t finds entries in it. t is nil if there is no table.
func (s *search) reconcile(t *entryFinder, list []Entry) {
	if t == nil {
		s.takeAll()
	} else {
		s.takeListed(t, list)
	}
	s.broken, s.chain = -1, -1
}

// takeAll makes blocks of all frames. Damage between them is of unknown size.
func (s *search) takeAll() {
	for i := range s.frames {
		f := &s.frames[i]
		if f.broken >= 0 {
			s.missing(nil, f.broken)
		}
		s.takeFrameBlock(f)
	}
	s.frames = s.frames[:0]
	if s.broken >= 0 {
		s.missing(nil, s.broken)
	}
}

// takeListed makes blocks of the frames that a table lists, and reports the listed frames that are
// missing. Behind damage, frames that are not listed are content of a lost frame. Without damage
// the table should list them. In a row of frames with the same entry nothing tells which ones are
// missing: the first ones are taken, unless their places tell more.
func (s *search) takeListed(t *entryFinder, list []Entry) {
	done, fits := 0, true // entries before the current frame; whether the table is right
	intact := true        // nothing is missing so far
	unlisted := false     // there is a frame that is not listed
	hole := int64(-1)     // offset of damage that has not been reported
	gaps := len(s.Gaps)
	limits := t.limits(s.frames)
	for i := range s.frames {
		f := &s.frames[i]
		if f.broken >= 0 {
			intact = false
			if hole < 0 {
				hole = f.broken
			}
		}
		for done < len(list) && list[done].Content == 0 {
			done++
		}
		distance := int64(0)
		if hole >= 0 {
			distance = f.offset - hole
		}
		j := t.find(f, done, limits[i], distance)
		if j < 0 && f.broken < 0 && done < limits[i] {
			var wrong bool
			j, wrong = s.takeSimilar(t, f, done, hole < 0)
			fits = fits && !wrong
		}
		switch {
		case j >= 0:
			if hole >= 0 || j > done {
				s.missing(list[done:j], max(hole, s.pos))
			}
			done, hole = j+1, -1
		case !intact:
			continue
		case f.content > 0:
			unlisted = true
		}
		s.takeFrameBlock(f)
	}
	s.frames = s.frames[:0]
	if hole < 0 {
		hole = s.broken
	}
	if hole >= 0 || countFull(list[done:]) > 0 {
		s.missing(list[done:], max(hole, s.pos))
	}
	if !fits || unlisted && len(s.Gaps) == gaps {
		s.lose(index.DamageFrame, errs.PartIndex, 0, 0, errs.Corrupt,
			"index: the seek table does not fit the frames")
	}
}

// takeSimilar returns the number of an entry if all values of a frame but one fit it, and −1
// otherwise. If the frame is intact, the table is wrong. If not, it gets the content size of the
// entry. Without checksums the size of a damaged frame alone is enough, if next is set: nothing is
// missing in front of it.
func (s *search) takeSimilar(t *entryFinder, f *found, entry int, next bool) (j int, wrong bool) {
	e := &t.list[entry]
	similar := t.isSimilar(f, e)
	if !similar && (t.sums || !next || f.size != int64(e.Size)) {
		return -1, false
	}
	if f.content < 0 || !s.decodes(f) {
		f.content = int64(e.Content)
		return entry, false
	}
	if !similar {
		return -1, false
	}
	return entry, true
}

// split reconciles the frames in front of an offset without a table, if those behind it are as many
// as the table lists whose frames begin there.
func (s *search) split(at int64, list []Entry) {
	i := sort.Search(len(s.frames), func(i int) bool { return s.frames[i].offset >= at })
	rest := s.frames[i:]
	if int64(len(rest)) != countFull(list) {
		return
	}
	if len(rest) > 0 {
		s.broken, rest[0].broken = rest[0].broken, -1
	}
	s.frames = s.frames[:i]
	s.reconcile(nil, nil)
	s.frames = rest
}

// countFull counts the entries of frames with content.
func countFull(list []Entry) (n int64) {
	for _, e := range list {
		if e.Content > 0 {
			n++
		}
	}
	return n
}

// missing notes that the listed frames are missing at an offset, or, if list is nil, an unknown
// number of frames.
func (s *search) missing(list []Entry, at int64) {
	s.pos = at
	if list == nil {
		s.lose(index.DamageUnknown, errs.PartBlock, 0, -1, errs.Corrupt, "no whole frame here")
		return
	}
	content := int64(0)
	for _, e := range list {
		content += int64(e.Content)
	}
	n := countFull(list)
	if n == 0 {
		s.lose(index.DamageFrame, errs.PartStray, 0, 0, errs.Corrupt, "bytes that belong to no frame")
		return
	}
	s.lose(index.DamageBlocks, errs.PartBlock, n, content, errs.Corrupt,
		"the seek table lists a frame that is not here")
	s.number += n
}

// lose notes a gap in front of pos.
func (s *search) lose(
	kind index.DamageKind, part errs.Part, blocks, content int64, why error, detail string,
) {
	if s.Err != nil {
		return // what seems to be missing may be there
	}
	err := &errs.Error{
		Kind: why, Part: part, Block: s.number, Offset: s.pos, Detail: detail, Err: s.ReadErr,
	}
	s.ReadErr = nil
	s.AddGap(index.Gap{Kind: kind, Block: s.number, Blocks: blocks, Content: content, Err: err})
}

// takeFrameBlock makes a block of a frame.
func (s *search) takeFrameBlock(f *found) {
	s.pos = f.offset
	if !s.isUsable(f) {
		s.lose(index.DamageBlocks, errs.PartBlock, 1, f.content, errs.NoIndex,
			"the frame states no content size, or exceeds the memory limit; decompress it with a Reader")
		s.number++
		return
	}
	s.AddBlock(f.block(), func() index.Stream { return index.Stream{Skipped: s.number} })
	s.File.MaxFrame, s.most = max(s.File.MaxFrame, int(f.size)), max(s.most, int(f.content))
	s.number++
	s.pos += f.size
}
