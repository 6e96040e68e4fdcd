package zstfile

import (
	"sort"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// An entryFinder finds the entries of a seek table that describe frames, from the front to the
// back.
type entryFinder struct {
	sums  bool
	first map[Entry]int32 // first entry with these values that has not been passed
	next  []int32         // the next entry with the same values, −1 if there is none
}

func newEntryFinder(list []Entry, sums bool) *entryFinder {
	t := &entryFinder{
		sums: sums, first: make(map[Entry]int32, len(list)), next: make([]int32, len(list)),
	}
	for i := len(list) - 1; i >= 0; i-- {
		j, ok := t.first[list[i]]
		if !ok {
			j = -1
		}
		t.next[i], t.first[list[i]] = j, int32(i)
	}
	return t
}

// entry returns the entry that a seek table should have for a frame.
func (t *entryFinder) entry(f *found) Entry {
	e := Entry{Size: uint32(f.size), Content: uint32(f.content)}
	if t.sums {
		e.Sum = f.sum
	}
	return e
}

// find returns the first entry of a frame at or behind from, −1 if there is none.
func (t *entryFinder) find(f *found, from int) int {
	e := t.entry(f)
	i, ok := t.first[e]
	if !ok {
		return -1
	}
	for i >= 0 && int(i) < from {
		i = t.next[i]
	}
	t.first[e] = i
	return int(i)
}

// isSimilar reports whether two of the three values of an entry fit the frame. Either of the two
// may be damaged.
func (t *entryFinder) isSimilar(f *found, e *Entry) bool {
	have, same := t.entry(f), 0
	sum := have.Sum == e.Sum && t.sums && f.summed
	for _, ok := range [...]bool{have.Size == e.Size, have.Content == e.Content, sum} {
		if ok {
			same++
		}
	}
	return same >= 2
}

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
		s.take(f)
	}
	s.frames = s.frames[:0]
	if s.broken >= 0 {
		s.missing(nil, s.broken)
	}
}

// takeListed makes blocks of the frames that a table lists, and reports the listed frames that are
// missing. Behind damage, frames that are not listed are content of a lost frame.
func (s *search) takeListed(t *entryFinder, list []Entry) {
	done, fits := 0, true // entries before the current frame; whether the table is right
	intact := true        // nothing is missing so far
	hole := int64(-1)     // offset of damage that has not been reported
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
		j := t.find(f, done)
		if j < 0 && f.broken < 0 && done < len(list) && t.isSimilar(f, &list[done]) {
			j = done
			if f.content < 0 {
				f.content = int64(list[j].Content)
			} else {
				fits = fits && !s.isIntact(f) // otherwise it is the frame that is damaged
			}
		}
		switch {
		case j >= 0:
			if hole >= 0 || j > done {
				s.missing(list[done:j], max(hole, s.pos))
			}
			done, hole = j+1, -1
		case !intact:
			continue
		}
		s.take(f)
	}
	s.frames = s.frames[:0]
	if hole < 0 {
		hole = s.broken
	}
	if hole >= 0 || countFull(list[done:]) > 0 {
		s.missing(list[done:], max(hole, s.pos))
	}
	if !fits {
		s.lose(index.DamageFrame, errs.PartIndex, 0, 0, errs.Corrupt,
			"index: the seek table does not fit the frames")
	}
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

// take makes a block of a frame.
func (s *search) take(f *found) {
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
