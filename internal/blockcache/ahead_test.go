package blockcache

import (
	"slices"
	"testing"
)

// reader reads blocks of a File in pieces, as callers do.
type reader struct {
	t *testing.T
	f *File[[]byte]
}

// read reads n bytes from a place of a block, which may go on in later blocks.
func (r reader) read(block int64, from, n int) {
	r.t.Helper()
	var call Reading
	for n > 0 {
		e, loads, err := r.f.Get(block, true)
		if err != nil {
			r.t.Fatal(err)
		}
		to := min(size, from+n)
		r.f.Reads(e, from, to, to == size, loads, &call)
		if p, err := content(e); err != nil || !r.f.src.(*disk).has(p, block) {
			r.t.Fatalf("block %d: %v", block, err)
		}
		r.f.Release(e)
		n -= to - from
		block, from = block+1, 0
	}
}

// TestReadAhead checks which blocks are loaded ahead.
func TestReadAhead(t *testing.T) {
	for _, c := range []struct {
		what  string
		reads [][3]int // block, from, bytes
		want  []int64
	}{
		{"two blocks in order, from the middle of the first", [][3]int{{4, 9, size - 9}, {5, 0, size}},
			[]int64{4, 5}},
		{"two blocks in order", [][3]int{{4, 0, size}, {5, 0, size}}, []int64{4, 5, 6}},
		{"in small pieces", [][3]int{{4, 0, 1000}, {4, 1000, 24}, {5, 0, 10}}, []int64{4, 5, 6}},
		{"over the end of a block", [][3]int{{4, 0, 1000}, {4, 1000, 50}}, []int64{4, 5, 6}},
		{"three blocks", [][3]int{{4, 0, size}, {5, 0, size}, {6, 0, size}}, []int64{4, 5, 6, 7, 8}},
		{"one call of three blocks", [][3]int{{4, 0, 3 * size}}, []int64{4, 5, 6}},
		{"two calls of two blocks", [][3]int{{4, 0, 2 * size}, {6, 0, 2 * size}},
			[]int64{4, 5, 6, 7, 8, 9}},
		{"a gap within a block", [][3]int{{4, 0, 1000}, {4, 1001, 23}, {5, 0, size}}, []int64{4, 5}},
		{"the ends of blocks", [][3]int{{4, 1000, 24}, {5, 1000, 24}, {6, 0, 24}}, []int64{4, 5, 6}},
		{"backwards", [][3]int{{6, 0, size}, {5, 0, size}, {4, 0, size}}, []int64{6, 5, 4}},
		{"two sequences in turn", [][3]int{{4, 0, size}, {50, 0, size}, {5, 0, size}, {51, 0, size}},
			[]int64{4, 50, 5, 6, 51, 52}},
		{"beside other reads",
			[][3]int{{4, 0, 1000}, {90, 7, 1}, {4, 1000, 50}, {90, 80, 10}}, []int64{4, 90, 5, 6}},
		{"the end of the file", [][3]int{{997, 0, size}, {998, 0, size}, {999, 0, size}},
			[]int64{997, 998, 999}},
	} {
		for _, blocks := range []int{0, 50} { // in slots, and in the Cache
			d, f := newDisk(blocks, 8)
			for _, r := range c.reads {
				reader{t, f}.read(int64(r[0]), r[1], r[2])
			}
			checkLoads(t, d, c.what, c.want...)
			s := f.cache.Stats()
			if s.Loads != int64(len(c.want)) || len(d.canceled) > 0 {
				t.Errorf("%s: %+v, loads of %v canceled", c.what, s, d.canceled)
			}
			f.Close()
		}
	}
}

// TestReadAheadSlots checks that read-ahead takes no slot that is in use, and that loads which
// callers want take the slots of read-ahead.
func TestReadAheadSlots(t *testing.T) {
	d, f := newDisk(50, 2)
	d.unready = map[int64]bool{}
	r := reader{t, f}
	held, _, _ := f.Get(100, true)
	r.read(4, 0, 2*size)
	checkLoads(t, d, "two slots, one in use", 100, 4, 5)
	content(held)
	f.Release(held)
	r.read(6, 0, size)
	d.loaded()
	d.unready[8] = true
	r.read(7, 0, size)
	checkLoads(t, d, "two slots, one with a block that a caller holds", 8)
	first, _, _ := f.Get(200, true)
	second, _, _ := f.Get(201, false)
	if !slices.Equal(d.canceled, []int64{8}) || first == nil || second == nil {
		t.Errorf("loads of %v canceled, want [8]", d.canceled)
	}
	f.Release(first)
	f.Release(second)
	f.Close()
}

// TestReadAheadCanceled checks that a miss elsewhere cancels read-ahead that is not done, and that
// the next read-ahead waits for longer sequences.
func TestReadAheadCanceled(t *testing.T) {
	d, f := newDisk(50, 8)
	d.unready = map[int64]bool{6: true, 7: true}
	r := reader{t, f}
	r.read(3, 0, size)
	r.read(4, 0, size)
	r.read(5, 0, size) // reads 6 and 7 ahead
	checkLoads(t, d, "three blocks in order", 3, 4, 5, 6, 7)
	r.read(3, 500, 10)
	if len(d.canceled) > 0 {
		t.Errorf("a hit elsewhere cancels loads of %v", d.canceled)
	}
	d.unready[7] = false
	r.read(90, 500, 10)
	if !slices.Equal(d.canceled, []int64{6}) {
		t.Errorf("a miss elsewhere cancels loads of %v, want [6]", d.canceled)
	}
	d.loaded()
	r.read(20, 0, size)
	r.read(21, 0, size)
	checkLoads(t, d, "two blocks after read-ahead in vain", 20, 21)
	r.read(22, 0, size)
	checkLoads(t, d, "the third", 22, 23)
	r.read(23, 0, size) // was worth it
	d.loaded()
	r.read(40, 0, size)
	r.read(41, 0, size)
	checkLoads(t, d, "two blocks after read-ahead that was used", 40, 41, 42)
	d.unready[42] = true
	f.Close()
	if d.closed != len(f.slots) || !slices.Contains(d.canceled, 42) {
		t.Errorf("%d of %d loaders closed, loads of %v canceled", d.closed, len(f.slots), d.canceled)
	}
}

// TestReadAheadFails checks that a block that fails to load ahead is loaded again for a caller.
func TestReadAheadFails(t *testing.T) {
	d, f := newDisk(50, 8)
	d.loadFails, d.finishFails = map[int64]bool{6: true}, map[int64]bool{7: true}
	r := reader{t, f}
	r.read(4, 0, size)
	r.read(5, 0, size)
	d.loadFails = nil
	r.read(6, 0, size)
	checkLoads(t, d, "read-ahead fails", 4, 5, 6, 6, 7, 8)
	e, _, _ := f.Get(7, true)
	if _, err := content(e); err != errTest {
		t.Errorf("block 7: %v", err)
	}
	f.Release(e)
	d.finishFails = nil
	r.read(7, 0, size)
	checkLoads(t, d, "block 7 again", 7, 9)
}
