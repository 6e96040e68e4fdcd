package zstfile

import "sort"

// An entryFinder finds the entries of a seek table that describe frames, from the front to the
// back.
type entryFinder struct {
	sums  bool
	list  []Entry
	at    []int64         // offset of each entry's frame, from the first frame
	first map[Entry]int32 // first entry with these values that has not been passed
	next  []int32         // the next entry with the same values, −1 if there is none

	// For before: the last entry with the values of an entry that is the first one with them, and
	// the entry in front of each that has the same values, −1 if there is none.
	last, previous []int32

	steps int // entries that find has gone through
}

func newEntryFinder(list []Entry, sums bool) *entryFinder {
	t := &entryFinder{
		sums: sums, list: list, at: make([]int64, len(list)),
		first: make(map[Entry]int32, len(list)), next: make([]int32, len(list)),
		last: make([]int32, len(list)), previous: make([]int32, len(list)),
	}
	at := int64(0)
	for i, e := range list {
		t.at[i] = at
		at += int64(e.Size)
		first, ok := t.first[e]
		t.next[i], t.previous[i] = -1, -1
		if ok {
			t.previous[i] = t.last[first]
			t.next[t.last[first]] = int32(i)
		} else {
			first = int32(i)
			t.first[e] = first
		}
		t.last[first] = int32(i)
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

// find returns an entry of a frame at or behind from, and in front of limit, −1 if there is none.
// Of several it returns the one whose distance from the entry from, in bytes, is nearest to
// distance. It goes through at most one entry behind the one that it returns. The next call begins
// behind that, so all calls together take steps in proportion to the entries.
func (t *entryFinder) find(f *found, from, limit int, distance int64) int {
	e := t.entry(f)
	i, ok := t.first[e]
	if !ok {
		return -1
	}
	for i >= 0 && int(i) < from {
		i = t.next[i]
		t.steps++
	}
	t.first[e] = i
	best, least := -1, int64(0)
	for ; i >= 0 && int(i) < limit; i = t.next[i] {
		t.steps++
		d := t.at[i] - t.at[from] - distance
		if d = max(d, -d); best >= 0 && d >= least {
			break
		}
		best, least = int(i), d
	}
	return best
}

// limits returns, for each frame, an entry in front of which its own entry must be. Copies of
// frames and frames in the wrong order may lie anywhere. So the entries that only one frame has
// tell where the others can be: as many of these as are in order. In between, each frame leaves an
// entry for those behind it.
func (t *entryFinder) limits(frames []found) []int {
	list := t.anchors(frames)
	floors := make([]int, len(list))
	floor := -1
	for i, j := range list {
		floors[i], floor = floor, max(floor, j)
	}
	limit := len(t.list)
	for i := len(list) - 1; i >= 0; i-- {
		j := list[i]
		list[i] = limit
		if j >= 0 {
			list[i], limit = j+1, j
		} else if j = t.before(&frames[i], limit); j > floors[i] {
			limit = j
		}
	}
	return list
}

// anchors returns, for each frame, its entry if no other entry and no other frame is like it, and
// −1 otherwise. The entries ascend.
func (t *entryFinder) anchors(frames []found) []int {
	list, count := make([]int, len(frames)), make([]int32, len(t.list))
	for i := range frames {
		list[i] = -1
		if j, ok := t.first[t.entry(&frames[i])]; ok && t.next[j] < 0 {
			list[i] = int(j)
			count[j]++
		}
	}
	for i, j := range list {
		if j >= 0 && count[j] > 1 {
			list[i] = -1
		}
	}
	keepAscending(list)
	return list
}

// before returns the last entry of a frame in front of limit, −1 if there is none. Each call has a
// limit that is not above that of the call before, and no find has come before.
func (t *entryFinder) before(f *found, limit int) int {
	first, ok := t.first[t.entry(f)]
	if !ok {
		return -1
	}
	for t.last[first] >= int32(limit) {
		t.last[first] = t.previous[t.last[first]]
	}
	return int(t.last[first])
}

// keepAscending sets numbers to −1 so that the others, as many as possible, ascend.
func keepAscending(list []int) {
	var ends []int // indexes of the numbers that end the best rows of 1, 2, 3 … numbers
	before := make([]int, len(list))
	for i, v := range list {
		if v < 0 {
			continue
		}
		n := sort.Search(len(ends), func(n int) bool { return list[ends[n]] >= v })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		}
		ends[n] = i
	}
	keep := -1
	if len(ends) > 0 {
		keep = ends[len(ends)-1]
	}
	for i := len(list) - 1; i >= 0; i-- {
		if i == keep {
			keep = before[i]
		} else {
			list[i] = -1
		}
	}
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
