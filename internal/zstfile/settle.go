package zstfile

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/zstframe"
)

// A table is a seek table behind frames.
type table struct {
	list  []Entry
	sums  bool
	start int64 // offset of the first frame that it lists, if no bytes are missing or inserted
	at    int64 // offset of the table
	wrong bool  // an entry differs from its frame

	places  []int64       // of the frames, from start on
	entries map[key][]int // of each key, in order
}

// settle makes blocks and gaps of the frames since the last table. t is the table behind them, nil
// if there is none, and end is where they end.
func (s *search) settle(t *table, end int64) {
	if t == nil {
		t = &table{start: end}
	}
	numbers := s.match(t)
	moved := s.sortFrames(t, numbers)
	next, extra, gaps := 0, false, len(s.Gaps)
	s.NewRow, s.unlisted = true, false
	for i := range s.frames {
		f, n := &s.frames[i], numbers[i]
		if n >= 0 {
			f.damage = s.noteGap(t, next, n, f.damage, f.offset)
			next = n + 1
		}
		if f.damage != nil {
			s.loseUnknown(f.damage, f.offset, n >= 0)
		}
		s.unlisted = n < 0
		extra = extra || n < 0 && (next > 0 || f.offset >= t.start)
		s.takeBlock(f)
	}
	s.frames = s.frames[:0]
	if s.damage == nil {
		s.damage = moved
	}
	last := s.noteGap(t, next, len(t.list), s.damage, end)
	s.damage = nil
	if last != nil {
		s.loseUnknown(last, end, t.list != nil)
	}
	damaged := slices.ContainsFunc(s.Gaps[gaps:], func(g index.Gap) bool { return g.Err != nil })
	if t.wrong || extra && t.list != nil && !damaged {
		s.lose(index.DamageFrame, errs.PartIndex, 0, 0, t.at,
			&errs.Error{Kind: errs.Corrupt, Detail: "index: the seek table does not fit the frames"})
	}
}

// noteGap notes that the frames of the entries from … n−1 are missing in front of an offset. It
// returns the damage d there if they are not missing because of it.
func (s *search) noteGap(t *table, from, n int, d *damage, to int64) *damage {
	list := t.list[from:n]
	full, content := int64(0), int64(0)
	for _, e := range list {
		if e.Content > 0 {
			full++
			content += int64(e.Content)
		}
	}
	if from == 0 && d != nil && (s.unlisted || !s.mayBeListed(t, d, list)) {
		// Frames in front of those that the table lists may be lost, too.
		s.loseUnknown(d, to, false)
		d = nil
	}
	if full == 0 {
		return d
	}
	g := index.Gap{Kind: index.DamageBlocks, Block: s.number, Blocks: full, Content: content}
	e := &errs.Error{Kind: errs.Corrupt, Detail: "the seek table lists a frame that is not here"}
	s.addGap(g, e, d, to)
	s.number += full
	return nil
}

// mayBeListed reports whether damage may begin with the first of the frames that a table lists and
// that are missing. Bytes inserted in the first of all move it by less than half of it.
func (s *search) mayBeListed(t *table, d *damage, list []Entry) bool {
	if len(list) == 0 {
		return d.at >= t.start
	}
	h, _, err := zstframe.ParseHeader(s.look(d.at, zstframe.MaxHeaderSize))
	same := err == nil && h.ContentSize == int64(list[0].Content)
	if d.at < t.start {
		return same && t.start-d.at < int64(list[0].Size)/2
	}
	return same || err != nil || h.ContentSize < 0
}

// loseUnknown notes damage that ends at an offset. A table lists no frame there; without one any
// number of them may be lost.
func (s *search) loseUnknown(d *damage, to int64, listed bool) {
	if listed {
		s.lose(index.DamageFrame, errs.PartStray, 0, 0, d.at,
			&errs.Error{Kind: errs.Corrupt, Detail: "bytes that belong to no frame", Err: d.err})
		return
	}
	g := index.Gap{Kind: index.DamageUnknown, Block: s.number, Content: -1}
	s.addGap(g, &errs.Error{Kind: errs.Corrupt, Detail: "no whole frame here"}, d, to)
}

// addGap adds a gap with its error. d is damage that ends at an offset, nil for a gap without any.
// The damage may begin with a part of a frame.
func (s *search) addGap(g index.Gap, e *errs.Error, d *damage, to int64) {
	e.Part, e.Block, e.Offset = errs.PartBlock, s.number, to
	if d != nil {
		e.Offset, e.Err = d.at, d.err
		if IsFrame(s.look(d.at, zstframe.MagicSize)) {
			if !slices.ContainsFunc(s.Gaps, func(g index.Gap) bool { return g.Err != nil }) {
				to = s.Size // a Reader ends at the first damage, and knows of no frame behind it
			}
			g.Offset, g.Size = d.at, to-d.at
		}
	}
	g.Err = e
	s.AddGap(g)
}

// lose notes a gap without damage in front of it.
func (s *search) lose(
	kind index.DamageKind, part errs.Part, blocks, content, at int64, err *errs.Error,
) {
	err.Part, err.Block, err.Offset = part, s.number, at
	s.AddGap(index.Gap{Kind: kind, Block: s.number, Blocks: blocks, Content: content, Err: err})
}

// takeBlock makes a block of a frame, or, if it cannot be one, a gap that a Reader decodes.
func (s *search) takeBlock(f *found) {
	if !s.isUsable(f) {
		s.AddGap(index.Gap{
			Kind: index.DamageUnknown, Block: s.number, Content: f.content, Offset: f.offset, Size: f.size,
		})
		s.number++
		return
	}
	s.AddBlock(f.block(), func() index.Stream { return index.Stream{Skipped: s.number} })
	s.File.MaxFrame, s.most = max(s.File.MaxFrame, int(f.size)), max(s.most, int(f.content))
	s.number++
}

// What match returns for frames without an entry.
const (
	unlisted = -1
	dropped  = -2 // no frame of the file, but content of a lost one, or a copy
)

func isListed(n int) bool { return n >= 0 }

// match returns, for each frame, its entry in the table, or unlisted, or dropped.
func (s *search) match(t *table) []int {
	numbers := make([]int, len(s.frames))
	if t.list == nil {
		for i := range numbers {
			numbers[i] = unlisted
		}
		return numbers
	}
	s.matchEqual(t, numbers)
	t.place(s.frames, numbers)
	s.matchNeighbors(t, numbers)
	for i, n := range numbers {
		f := &s.frames[i]
		switch {
		case n >= 0:
			s.compareEntry(t, f, &t.list[n])
		case f.offset >= t.start && f.summed && !s.decodes(f):
			numbers[i] = dropped
			if f.damage == nil {
				f.damage = &damage{at: f.offset}
			}
		}
	}
	for from := 0; from < len(s.frames); {
		to := from + 1
		for to < len(s.frames) && s.frames[to].damage == nil {
			to++
		}
		if !s.isAnchored(t, numbers, from, to) {
			for i := from; i < to; i++ {
				numbers[i] = dropped
			}
		}
		from = to
	}
	return numbers
}

// A key is what tells frames apart. The content size is not part of it, for a frame need not state
// that.
type key struct{ size, sum uint32 }

// matchEqual matches frames and entries with the same key. Of several entries a frame gets the one
// whose place is nearest. If the table has no checksums, the frames must be in order.
func (s *search) matchEqual(t *table, numbers []int) {
	sums := t.sums
	for i := range s.frames {
		sums = sums && s.frames[i].summed
	}
	t.entries = map[key][]int{}
	at := t.start
	for i, e := range t.list {
		t.places = append(t.places, at)
		at += int64(e.Size)
		if e.Content > 0 {
			k := keyOf(int64(e.Size), e.Sum, sums)
			t.entries[k] = append(t.entries[k], i)
		}
	}
	for i := range s.frames {
		f := &s.frames[i]
		numbers[i] = t.nearest(t.entries[keyOf(f.size, f.sum, sums)], f.offset, f.offset-s.begin+t.start)
	}
	if sums {
		return
	}
	for i, next := 0, 0; i < len(numbers); i++ {
		if numbers[i] < next {
			numbers[i] = unlisted
		}
		next = max(next, numbers[i]+1)
	}
}

// place corrects where the frames that the table lists begin, if bytes are missing or inserted
// behind the first of them that is there. Of copies of that, the nearest to its place counts.
func (t *table) place(frames []found, numbers []int) {
	first, moved := len(t.list), int64(0)
	for i, n := range numbers {
		if n < 0 || n > first || !t.sums {
			continue
		}
		m := frames[i].offset - t.places[n]
		if n < first || max(m, -m) < max(moved, -moved) {
			first, moved = n, m
		}
	}
	t.start += moved
}

// nearest returns the entry of a list whose place is nearest to one of two offsets: that of a
// frame, if bytes are missing or inserted in front of it, or behind it.
func (t *table) nearest(list []int, a, b int64) int {
	best, distance := unlisted, int64(math.MaxInt64)
	for _, off := range [...]int64{a, b} {
		k := sort.Search(len(list), func(k int) bool { return t.places[list[k]] >= off })
		for _, k := range [...]int{k, k - 1} {
			if k < 0 || k >= len(list) {
				continue
			}
			at := t.places[list[k]]
			if d := max(at-off, off-at); d < distance {
				best, distance = list[k], d
			}
		}
	}
	return best
}

func keyOf(size int64, sum uint32, sums bool) key {
	k := key{size: uint32(size)}
	if sums {
		k.sum = sum
	}
	return k
}

// matchNeighbors gives a frame that follows a listed one, or that a listed one follows, the entry
// beside, if no other frame has it. One of the two is damaged.
func (s *search) matchNeighbors(t *table, numbers []int) {
	taken := make([]bool, len(t.list))
	for _, n := range numbers {
		if n >= 0 {
			taken[n] = true
		}
	}
	assign := func(i, n int) {
		if numbers[i] < 0 && n >= 0 && n < len(taken) && !taken[n] && s.isSimilar(t, &s.frames[i], n) {
			numbers[i], taken[n] = n, true
		}
	}
	for i := range numbers {
		f := &s.frames[i]
		switch {
		case i > 0 && numbers[i-1] >= 0 && f.damage == nil:
			assign(i, numbers[i-1]+1)
		case i == 0 && len(t.list) > 0 && t.mayBegin(f, s.begin):
			assign(i, 0)
		}
	}
	for i := len(numbers) - 2; i >= 0; i-- {
		if numbers[i+1] >= 0 && s.frames[i+1].damage == nil {
			assign(i, numbers[i+1]-1)
		}
	}
}

// mayBegin reports whether a frame, the first behind begin, is where the first entry has it. Bytes
// that are missing or inserted in the frame move it by less than half of its size.
func (t *table) mayBegin(f *found, begin int64) bool {
	size := int64(t.list[0].Size)
	return max(f.offset-t.start, t.start-f.offset) < size/2 || f.offset == begin && f.size == size
}

// isSimilar reports whether a frame has the size or the checksum of entry n. The content size
// suffices if the frame is damaged, or is at its place and has no checksum.
func (s *search) isSimilar(t *table, f *found, n int) bool {
	e := &t.list[n]
	return f.size == int64(e.Size) || t.sums && f.summed && f.sum == e.Sum ||
		f.content == int64(e.Content) && (!f.summed && f.offset == t.places[n] || !s.decodes(f))
}

// compareEntry compares a frame with its entry. If they differ, a frame that can be decoded is
// right. A frame that cannot gets the content size of the entry.
func (s *search) compareEntry(t *table, f *found, e *Entry) {
	sameSum := !t.sums || !f.summed || f.sum == e.Sum
	if f.content == int64(e.Content) && f.size == int64(e.Size) && sameSum {
		return
	}
	if f.content >= 0 && s.decodes(f) {
		t.wrong = true
		return
	}
	f.content = int64(e.Content)
}

// isAnchored reports whether the frames from … to−1, which follow one another behind damage, are
// frames of the file, and not content of a frame that is lost.
func (s *search) isAnchored(t *table, numbers []int, from, to int) bool {
	first, last := &s.frames[from], &s.frames[to-1]
	if first.damage == nil || first.offset < t.start || last.offset+last.size == t.at {
		return true
	}
	if slices.ContainsFunc(numbers[from:to], isListed) {
		return true
	}
	// Behind frames of another file there may be more of it.
	if from > 0 && numbers[from-1] == unlisted && !slices.ContainsFunc(numbers[:from], isListed) {
		return true
	}
	return t.isPlace(first.offset) || len(t.places) > 0 && t.isPlace(first.offset-s.begin+t.places[0])
}

// isPlace reports whether a frame that the table lists begins at an offset, if no bytes are missing
// or inserted behind it.
func (t *table) isPlace(off int64) bool {
	i := sort.Search(len(t.places), func(i int) bool { return t.places[i] >= off })
	return i < len(t.places) && t.places[i] == off
}

// sortFrames sorts frames by their numbers: those that have moved come to their places. It drops
// frames that are content of a frame that is lost, and, of those with the same number, all but an
// intact one. A frame that is not listed stays behind the one in front of it. moved is where a
// frame is that has moved, or that it has dropped.
func (s *search) sortFrames(t *table, numbers []int) (moved *damage) {
	owner := map[int]int{} // the frame of each entry
	for i, n := range numbers {
		if n < 0 {
			continue
		}
		j, twice := owner[n]
		if !twice {
			owner[n] = i
			continue
		}
		if s.isBetter(t, n, i, j) {
			owner[n], i = i, j
		}
		if s.frames[i].offset < t.start {
			numbers[i] = unlisted // it is of another file in front
			continue
		}
		numbers[i] = dropped
		moved = &damage{at: s.frames[i].offset}
	}
	type placed struct {
		found
		number, after int
	}
	list := make([]placed, 0, len(s.frames))
	after := unlisted
	var d *damage // in front of frames that are dropped
	for i := range s.frames {
		f := &s.frames[i]
		if d != nil {
			f.damage = d
		}
		d = nil
		if numbers[i] == dropped {
			d = f.damage
			continue
		}
		if numbers[i] >= 0 && numbers[i] < after && moved == nil {
			moved = &damage{at: f.offset}
		}
		if numbers[i] >= 0 {
			after = numbers[i]
		}
		list = append(list, placed{*f, numbers[i], after})
	}
	if d != nil {
		s.damage = d
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.after, b.after) })
	for i := range list {
		s.frames[i], numbers[i] = list[i].found, list[i].number
	}
	s.frames = s.frames[:len(list)]
	return moved
}

// isBetter reports whether frame i fits entry n better than frame j does: it is intact, or nearer
// to its place.
func (s *search) isBetter(t *table, n, i, j int) bool {
	a, b := &s.frames[i], &s.frames[j]
	if x, y := s.decodes(a), s.decodes(b); x != y {
		return x
	}
	return max(a.offset-t.places[n], t.places[n]-a.offset) < max(b.offset-t.places[n], t.places[n]-b.offset)
}
