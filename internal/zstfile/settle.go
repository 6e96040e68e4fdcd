package zstfile

import (
	"slices"
	"sort"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/zstframe"
)

// A table is a seek table behind frames.
type table struct {
	list    []Entry
	sums    bool
	places  []int64       // where the frames begin if no bytes are missing or inserted, and the table
	entries map[key][]int // of each key, in order
	extra   map[key]bool  // keys of frames that it does not list, or not there
}

// unlisted is the entry of a frame that the table does not list, and of damage.
const unlisted = -1

// A key is what tells frames apart. The content size is not part of it, for a frame need not state
// that.
type key struct{ size, sum uint32 }

func (t *table) keyOf(size int64, sum uint32) key {
	k := key{size: uint32(size)}
	if t.sums {
		k.sum = sum
	}
	return k
}

// newTable returns the table at an offset. It gives the frames in front the entries with their
// keys: as many as are in the order of the frames.
func (s *search) newTable(list []Entry, sums bool, at int64) *table {
	t := &table{list: list, sums: sums, entries: map[key][]int{}, extra: map[key]bool{}}
	for _, e := range list {
		at -= int64(e.Size)
	}
	for i, e := range list {
		t.places = append(t.places, at)
		at += int64(e.Size)
		k := t.keyOf(int64(e.Size), e.Sum)
		t.entries[k] = append(t.entries[k], i)
	}
	t.places = append(t.places, at)
	next, shift := 0, s.begin-t.places[0]
	for i := range s.items {
		f := &s.items[i]
		f.entry = unlisted
		if n := t.find(f, next, shift); n >= 0 {
			f.entry, next, shift = n, n+1, f.offset-t.places[n]
		}
	}
	s.keepOrder()
	for i := range s.items {
		if f := &s.items[i]; f.entry < 0 {
			t.extra[t.keyOf(f.size, f.sum)] = true
		}
	}
	return t
}

// find returns an entry with the key of a frame. Of several, it takes one whose place is right, if
// the frame has moved by as much as the one in front or not at all, and else the first from entry
// next on.
func (t *table) find(f *item, next int, shift int64) int {
	list := t.entries[t.keyOf(f.size, f.sum)]
	if len(list) == 0 {
		return unlisted
	}
	for _, place := range [...]int64{f.offset - shift, f.offset} {
		n, ok := slices.BinarySearch(t.places, place)
		if _, equal := slices.BinarySearch(list, n); ok && equal {
			return n
		}
	}
	i, _ := slices.BinarySearch(list, next)
	return list[min(i, len(list)-1)]
}

// keepOrder makes frames unlisted until the entries of the others are in order, as few as possible.
func (s *search) keepOrder() {
	ends := []int{}                     // where rows in order of 1, 2, … frames end with the lowest entry
	before := make([]int, len(s.items)) // the frame in front of each one in its row
	for i := range s.items {
		f := &s.items[i]
		if f.entry < 0 {
			continue
		}
		n := sort.Search(len(ends), func(n int) bool { return s.items[ends[n]].entry >= f.entry })
		if n == len(ends) {
			ends = append(ends, i)
		}
		ends[n], before[i] = i, -1
		if n > 0 {
			before[i] = ends[n-1]
		}
	}
	last := -1
	if len(ends) > 0 {
		last = ends[len(ends)-1]
	}
	for i := len(s.items) - 1; i >= 0; i-- {
		if i == last {
			last = before[i]
		} else {
			s.items[i].entry = unlisted
		}
	}
}

// settle makes blocks and gaps of the frames since the last table. t is the table behind them, and
// end is where they end. Without one t lists nothing.
func (s *search) settle(t *table, end int64) {
	s.NewRow = true
	g := between{at: s.begin}
	from := 0
	for i := range s.items {
		f := &s.items[i]
		if f.entry < 0 {
			continue
		}
		g.items, g.last, g.end = s.items[from:i], f.entry, f.offset
		s.settleBetween(t, g)
		s.takeListed(f, &t.list[f.entry])
		g.first, g.at, from = f.entry+1, f.end(), i+1
	}
	g.items, g.last, g.end = s.items[from:], len(t.list), end
	s.settleBetween(t, g)
	s.items, s.damaged = s.items[:0], false
}

// between is a part of the file between two frames that the table lists.
type between struct {
	items       []item // of which it does not list any
	first, last int    // the entries first … last−1 are missing
	at, end     int64  // offsets
	placed      bool   // there is damage in it, and it is as long as the table says
}

// settleBetween makes blocks and gaps of what is between two listed frames. Frames beside these,
// with no damage between, have the entries beside: a frame or its entry is damaged. Behind damage
// they do not if the part is as long as the table says and they are not at their places.
func (s *search) settleBetween(t *table, g between) {
	n, behind := len(g.items), g.last
	start := g.end - t.places[g.last] + t.places[g.first] // if no bytes are missing or inserted behind
	g.placed = start == g.at && slices.ContainsFunc(g.items, func(f item) bool { return f.isDamage() })
	for n > 0 && g.first < g.last && !g.items[n-1].isDamage() {
		f := &g.items[n-1]
		if g.placed && f.offset-g.at != t.places[g.last-1]-t.places[g.first] {
			break
		}
		n--
		g.last--
		g.end = f.offset
	}
	rest := g.items[n:]
	g.items = g.items[:n]
	start = g.end - t.places[g.last] + t.places[g.first]
	for len(g.items) > 0 && g.first < g.last && !g.items[0].isDamage() &&
		(g.first > 0 || g.items[0].offset == start) {
		s.takeListed(&g.items[0], &t.list[g.first])
		g.at, g.items, g.first = g.items[0].end(), g.items[1:], g.first+1
	}
	if g.last > 0 {
		s.dropContent(t, &g, start)
	}
	var d *item
	for i := range g.items {
		switch f := &g.items[i]; {
		case !f.isDamage():
			if d != nil {
				s.loseUnknown(d, f.offset)
			}
			d = nil
			s.takeBlock(f)
		case d == nil:
			d = f
		}
	}
	s.noteMissing(t, &g, d)
	for i := range rest {
		s.takeListed(&rest[i], &t.list[behind-len(rest)+i])
	}
}

// dropContent makes damage of frames that are content of frames that are lost: those that are
// damaged themselves, and those that follow one another behind damage where the table has no place.
// In a part of another length than the table says, frames that no damage follows are kept: in front
// of the first frame that it lists there may be those of another file.
func (s *search) dropContent(t *table, g *between, start int64) {
	for i := range g.items {
		if f := &g.items[i]; !f.isDamage() && !s.decodes(f) {
			f.size = 0
		}
	}
	for i := 0; i < len(g.items); i++ {
		from := i
		for i < len(g.items) && !g.items[i].isDamage() {
			i++
		}
		if i == from {
			continue
		}
		at := g.items[from].offset
		_, front := slices.BinarySearch(t.places, at-g.at+t.places[g.first])
		_, back := slices.BinarySearch(t.places, at-g.end+t.places[g.last])
		if from == 0 || i == len(g.items) && !g.placed || g.first == 0 && at < start || front || back {
			if g.first == 0 {
				return
			}
			continue
		}
		for j := from; j < i; j++ {
			g.items[j].size = 0
		}
	}
}

// noteMissing notes that the frames of some entries are missing. d is the damage in front of the
// end, nil if there is none.
func (s *search) noteMissing(t *table, g *between, d *item) {
	if d != nil && g.first == 0 && !s.isListed(t, g, d) {
		s.loseUnknown(d, g.end)
		d = nil
	}
	blocks, content := int64(0), int64(0)
	for _, e := range t.list[g.first:g.last] {
		if e.Content > 0 && !(t.sums && t.extra[t.keyOf(int64(e.Size), e.Sum)]) {
			blocks++
			content += int64(e.Content)
		}
	}
	switch {
	case blocks > 0:
		s.addGap(index.Gap{Kind: index.DamageBlocks, Blocks: blocks, Content: content},
			"the seek table lists a frame that is not here", d, g.end)
	case d != nil:
		s.addGap(index.Gap{Kind: index.DamageFrame}, "bytes that belong to no frame", d, g.end)
	}
}

// isListed reports whether damage in front of the first frame that is there is that of the frames
// that the table lists in front of it, and of no other file: it is no longer, or begins with the
// header of the first.
func (s *search) isListed(t *table, g *between, d *item) bool {
	if g.last == 0 {
		return false
	}
	h, _, err := zstframe.ParseHeader(s.look(d.offset, zstframe.MaxHeaderSize))
	return g.end-d.offset <= t.places[g.last]-t.places[0] ||
		err == nil && h.ContentSize == int64(t.list[0].Content)
}

// loseUnknown notes that any number of frames may be lost in damage that ends at an offset.
func (s *search) loseUnknown(d *item, end int64) {
	s.addGap(index.Gap{Kind: index.DamageUnknown, Content: -1}, "no whole frame here", d, end)
}

// addGap adds a gap that ends at an offset. d is damage there, nil for a gap without any. It may
// begin with a part of a frame.
func (s *search) addGap(g index.Gap, detail string, d *item, end int64) {
	e := &errs.Error{
		Kind: errs.Corrupt, Part: errs.PartBlock, Block: s.number, Offset: end, Detail: detail,
	}
	if d != nil {
		e.Offset, e.Err = d.offset, d.err
	}
	switch {
	case g.Kind == index.DamageFrame:
		e.Part = errs.PartStray
	case d != nil && IsFrame(s.look(d.offset, zstframe.MagicSize)):
		if !s.lost {
			end = s.Size // a Reader ends at the first damage, and knows of no frame behind it
		}
		g.Offset, g.Size = d.offset, end-d.offset
	}
	s.lost = true
	g.Block, g.Err = s.number, e
	s.number += g.Blocks
	s.AddGap(g)
}

// takeListed makes a block of a frame that a table lists. If they differ, a frame that can be
// decoded is right. A frame that cannot gets the content size of the entry.
func (s *search) takeListed(f *item, e *Entry) {
	if f.content != int64(e.Content) && !s.decodes(f) {
		f.content = int64(e.Content)
	}
	s.takeBlock(f)
}

// takeBlock makes a block of a frame, or, if it cannot be one, a gap that a Reader decodes.
func (s *search) takeBlock(f *item) {
	if s.isUsable(f) {
		b := index.Block{
			Offset: f.offset, Size: int32(f.size), Raw: int32(f.content), Kind: index.Frame,
		}
		s.AddBlock(b, func() index.Stream { return index.Stream{Skipped: s.number} })
		s.File.MaxFrame, s.most = max(s.File.MaxFrame, int(f.size)), max(s.most, int(f.content))
	} else {
		s.AddGap(index.Gap{
			Kind: index.DamageUnknown, Block: s.number, Content: f.content, Offset: f.offset, Size: f.size,
		})
	}
	s.number++
}
