package zstfile

import (
	"slices"
	"testing"
)

// TestFindEntries finds entries of frames between those that only one frame has.
func TestFindEntries(t *testing.T) {
	// Entries of the same size differ in their sum.
	entries := func(sums string) (list []Entry) {
		for _, c := range sums {
			list = append(list, Entry{Size: 100, Content: 200, Sum: uint32(c)})
		}
		return list
	}
	for _, c := range []struct {
		list, frames string
		want         []int // −1 if a frame has no entry
	}{
		{"abcdef", "abcdef", []int{0, 1, 2, 3, 4, 5}},
		{"abcdef", "abdef", []int{0, 1, 3, 4, 5}},
		{"abcdef", "aebcdef", []int{0, -1, 1, 2, 3, 4, 5}}, // a copy in front
		{"abcdef", "acbdef", []int{0, -1, 1, 3, 4, 5}},     // another order
		{"abcdef", "xabycdef", []int{-1, 0, 1, -1, 2, 3, 4, 5}},
		{"aaabaa", "aabaa", []int{0, 1, 3, 4, 5}},
		{"aaaaaa", "aaaaaa", []int{0, 1, 2, 3, 4, 5}},
		{"", "ab", []int{-1, -1}},
	} {
		finder := newEntryFinder(entries(c.list), true)
		var frames []found
		for _, e := range entries(c.frames) {
			f := found{size: int64(e.Size), content: int64(e.Content), sum: e.Sum, summed: true}
			frames = append(frames, f)
		}
		limits, done := finder.limits(frames), 0
		var got []int
		for i := range frames {
			j := finder.find(&frames[i], done, limits[i], 0)
			got = append(got, j)
			if j >= 0 {
				done = j + 1
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("frames %s of entries %s: %v, want %v", c.frames, c.list, got, c.want)
		}
	}
}

// TestFindNearestEntry finds the entry whose place is nearest to that of a frame.
func TestFindNearestEntry(t *testing.T) {
	list := slices.Repeat([]Entry{{Size: 100, Content: 200, Sum: 1}, {Size: 50, Content: 200, Sum: 2}}, 5)
	f := found{size: 100, content: 200, sum: 1, summed: true}
	for distance, want := range map[int64]int{0: 0, 60: 0, 80: 2, 150: 2, 310: 4, 1e6: 8, -1000: 0} {
		finder := newEntryFinder(list, true)
		if got := finder.find(&f, 0, len(list), distance); got != want {
			t.Errorf("distance %d: entry %d, want %d", distance, got, want)
		}
	}
}

// TestFindSteps finds frames in tables with many entries that are alike. The steps must be in
// proportion to the entries.
func TestFindSteps(t *testing.T) {
	const n = 1000
	var different []Entry
	for i := range n {
		different = append(different, Entry{Size: 100, Content: 200, Sum: uint32(i)})
	}
	same := slices.Repeat(different[:1], n)
	for name, c := range map[string]struct {
		list, frames []Entry
		distance     int64
	}{
		"twice":    {slices.Repeat(different, 2), different, 0},
		"far":      {slices.Repeat(different, 2), different, 1e9},
		"same":     {slices.Repeat(same, 2), same, 0},
		"same far": {slices.Repeat(same, 2), same, 700},
	} {
		finder, done := newEntryFinder(c.list, true), 0
		for _, e := range c.frames {
			f := found{size: int64(e.Size), content: int64(e.Content), sum: e.Sum, summed: true}
			if j := finder.find(&f, done, len(c.list), c.distance); j >= 0 {
				done = j + 1
			}
			if done == len(c.list) {
				break
			}
		}
		if finder.steps > 3*len(c.list) {
			t.Errorf("%s: %d steps for %d entries", name, finder.steps, len(c.list))
		}
	}
}
