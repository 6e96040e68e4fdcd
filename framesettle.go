package compress

import (
	"sort"

	"github.com/gopz/compress/internal/zstfile"
)

// entryFinder finds the entries of a seek table in which frames are, going from the front to the back.
type entryFinder struct {
	sums  bool
	first map[zstfile.Entry]int32 // the first entry like this that has not been passed
	next  []int32                 // the next one that is like it; −1 if there is none
}

func newEntryFinder(list []zstfile.Entry, sums bool) *entryFinder {
	t := &entryFinder{sums: sums, first: make(map[zstfile.Entry]int32, len(list)), next: make([]int32, len(list))}
	for i := len(list) - 1; i >= 0; i-- {
		j, ok := t.first[list[i]]
		if !ok {
			j = -1
		}
		t.next[i], t.first[list[i]] = j, int32(i)
	}
	return t
}

// entry is what a seek table should say of a frame.
func (t *entryFinder) entry(f *foundFrame) zstfile.Entry {
	e := zstfile.Entry{Size: uint32(f.size), Content: uint32(f.content)}
	if t.sums {
		e.Sum = f.sum
	}
	return e
}

// find returns the first entry of a frame that is not in front of from; −1 if there is none.
func (t *entryFinder) find(f *foundFrame, from int) int {
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

// alike reports whether two of the three things that an entry says are right: the frame, or the table, may be damaged.
func (t *entryFinder) alike(f *foundFrame, e *zstfile.Entry) bool {
	have, same := t.entry(f), 0
	for _, ok := range [...]bool{have.Size == e.Size, have.Content == e.Content, have.Sum == e.Sum && t.sums && f.summed} {
		if ok {
			same++
		}
	}
	return same >= 2
}

// settle makes blocks of the frames since the last seek table. t and list are the table behind them; t is nil if there is none.
func (s *frameSearch) settle(t *entryFinder, list []zstfile.Entry) {
	done, fits := 0, true // entries of the list that are in front of the current frame
	front := true         // nothing is missing in front of it
	hole := int64(-1)     // offset of damage that has not been told
	for i := range s.frames {
		f := &s.frames[i]
		if f.broken >= 0 {
			front = false
			if hole < 0 {
				hole = f.broken
			}
		}
		if t == nil {
			if hole >= 0 {
				s.missing(nil, hole)
				hole = -1
			}
			s.take(f)
			continue
		}
		for done < len(list) && list[done].Content == 0 {
			done++
		}
		j := t.find(f, done)
		if j < 0 && f.broken < 0 && done < len(list) && t.alike(f, &list[done]) {
			j = done
			if f.content < 0 {
				f.content = int64(list[j].Content)
			} else {
				fits = fits && !s.decodes(f) // else it is the frame that is damaged
			}
		}
		switch {
		case j >= 0:
			if hole >= 0 || j > done {
				s.missing(list[done:j], max(hole, s.pos))
			}
			done, hole = j+1, -1
		case !front:
			continue // it is content of a frame that is lost
		}
		s.take(f)
	}
	s.frames = s.frames[:0]
	if hole < 0 {
		hole = s.broken
	}
	switch {
	case t == nil && hole >= 0:
		s.missing(nil, hole)
	case t != nil && (hole >= 0 || countContent(list[done:]) > 0):
		s.missing(list[done:], max(hole, s.pos))
	}
	s.broken, s.chain = -1, -1
	if !fits {
		s.lose(DamageFrame, 0, 0, ErrCorrupt, "index: the seek table does not fit the frames")
	}
}

// split settles the frames in front of an offset if those behind are as many as a table lists that begins there: it does not list them.
func (s *frameSearch) split(at int64, list []zstfile.Entry) {
	i := sort.Search(len(s.frames), func(i int) bool { return s.frames[i].offset >= at })
	rest := s.frames[i:]
	if int64(len(rest)) != countContent(list) {
		return
	}
	if len(rest) > 0 {
		s.broken, rest[0].broken = rest[0].broken, -1
	}
	s.frames = s.frames[:i]
	s.settle(nil, nil)
	s.frames = rest
}

// countContent counts the entries of frames with content.
func countContent(list []zstfile.Entry) (n int64) {
	for _, e := range list {
		if e.Content > 0 {
			n++
		}
	}
	return n
}

// missing notes what is missing at an offset: those frames, or, if list is nil, nobody knows what.
func (s *frameSearch) missing(list []zstfile.Entry, at int64) {
	s.pos = at
	if list == nil {
		s.lose(DamageUnknown, 0, -1, ErrCorrupt, "no frame here that is whole")
		return
	}
	content := int64(0)
	for _, e := range list {
		content += int64(e.Content)
	}
	n := countContent(list)
	if n == 0 {
		s.lose(DamageFrame, 0, 0, ErrCorrupt, "bytes that belong to no frame")
		return
	}
	s.lose(DamageBlocks, n, content, ErrCorrupt, "the seek table does not fit the frames: no such frame here")
	s.number += n
}

// take makes a block of a frame.
func (s *frameSearch) take(f *foundFrame) {
	s.pos = f.offset
	if !s.usable(f) {
		s.lose(DamageBlocks, 1, f.content, ErrNoIndex, "the frame does not say how much it holds, or holds too much: only a Reader reads it")
		s.number++
		return
	}
	if s.row {
		s.x.streams = append(s.x.streams, stream{first: int64(len(s.x.blocks)), skip: s.number})
		s.row = false
	}
	s.x.blocks = append(s.x.blocks, f.ref(s.x.content))
	s.x.streams[len(s.x.streams)-1].blocks++
	s.x.content += f.content
	s.x.frame, s.most = max(s.x.frame, int(f.size)), max(s.most, int(f.content))
	s.number++
	s.pos += f.size
	s.bad = nil
	s.account()
}
