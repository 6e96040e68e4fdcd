package blockcache

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

// TestMany lets goroutines use the blocks of several files in one Cache at random. Content must be
// right while it is held, memory within its limit, and all of it free in the end.
func TestMany(t *testing.T) {
	for _, blocks := range []int{0, 1, 7, 40} {
		c := New[[]byte](int64(blocks * size))
		var files []*File[[]byte]
		for id := range 5 {
			d := &disk{
				id: id, blocks: 30, sources: id == 4, loadFails: map[int64]bool{5: true},
				finishFails: map[int64]bool{6: true}, unready: map[int64]bool{7: true, 8: true},
			}
			files = append(files, c.File(1+id, d))
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(3, uint64(g)))
				for range 3000 {
					useMany(t, files[rnd.IntN(len(files))], rnd)
					if n := c.Stats().Bytes; n > c.Limit() {
						t.Errorf("%d bytes in a cache of %d", n, c.Limit())
						return
					}
				}
			})
		}
		wg.Wait()
		for _, f := range files {
			f.Close()
			if d := f.src.(*disk); d.closed != len(f.slots) {
				t.Errorf("%d of %d loaders closed", d.closed, len(f.slots))
			}
		}
		if s := c.Stats(); s.Bytes != 0 || s.Hits == 0 || s.Loads < s.Misses {
			t.Errorf("in the end: %+v", s)
		}
	}
}

// useMany uses a few blocks in a row.
func useMany(t *testing.T, f *File[[]byte], rnd *rand.Rand) {
	d := f.src.(*disk)
	var held []*Entry[[]byte]
	var call Reading
	block := rnd.Int64N(d.blocks)
	first := block
	for range 1 + rnd.IntN(4) {
		e, loads, err := f.Get(block, len(held) == 0)
		if err != nil {
			t.Error(err)
		}
		if e == nil || err != nil {
			break
		}
		f.Reads(e, 0, size, true, loads, &call)
		held = append(held, e)
		block++
		if block == d.blocks {
			break
		}
	}
	if rnd.IntN(8) > 0 { // else the loads are abandoned
		for i, e := range held {
			p, err := content(e)
			if n := first + int64(i); err == nil && !d.has(p, n) || err != nil && n != 5 && n != 6 {
				t.Errorf("block %d: %v", n, err)
			}
		}
	}
	runtime.Gosched()
	for i, e := range held {
		if p := e.Value(); p != nil && !d.has(*p, first+int64(i)) {
			t.Errorf("block %d has other content later", first+int64(i))
		}
		f.Release(e)
	}
}

// TestScan checks that a scan in small reads beside random reads of a hot set leaves the hit rate
// of those as it was, if the hot set fits beside the blocks that the scan uses.
func TestScan(t *testing.T) {
	for _, c := range []struct{ blocks, hot int64 }{
		{16, 4}, {16, 8}, {28, 14}, {28, 19}, {64, 32}, {64, 48}, {1024, 512}, {1024, 820},
	} {
		alone, beside := hitRate(t, c.blocks, c.hot, 0), hitRate(t, c.blocks, c.hot, 16)
		if alone-beside > 0.05 {
			t.Errorf("%d hot blocks, cache of %d: hit rate %.3f, and %.3f beside a scan",
				c.hot, c.blocks, alone, beside)
		}
	}
}

// hitRate returns the part of hits among random reads of hot blocks. Beside each, a scan makes so
// many reads of a 64th of a block.
func hitRate(t *testing.T, blocks, hot int64, scan int) float64 {
	d := &disk{blocks: 1 << 20}
	f := New[[]byte](blocks*size).File(4, d)
	rnd := rand.New(rand.NewPCG(5, 6))
	hits, at := 0, 0
	n := 60 * int(hot)
	for range n {
		e, loads, _ := f.Get(rnd.Int64N(hot), true)
		content(e)
		f.Release(e)
		if !loads {
			hits++
		}
		for range scan {
			block, from := hot+1+int64(at/64), at%64*size/64
			e, loads, _ := f.Get(block, true)
			var call Reading
			f.Reads(e, from, from+size/64, from == size-size/64, loads, &call)
			content(e)
			f.Release(e)
			at++
		}
	}
	return float64(hits) / float64(n)
}

// TestCapacity checks the sizes of memory: few, and at most Rounding allows more than is needed.
func TestCapacity(t *testing.T) {
	distinct := map[int]bool{}
	for n := range 300_000 {
		c := capacity(n)
		if c < n || c-n > n/Rounding || capacity(c) != c {
			t.Fatalf("capacity(%d) = %d, capacity(%d) = %d", n, c, c, capacity(c))
		}
		if n > 4096 {
			distinct[c] = true
		}
	}
	if len(distinct) > 7*Rounding {
		t.Errorf("%d capacities", len(distinct))
	}
	if n := capacity(1 << 20); n != 1<<20 {
		t.Errorf("capacity(1 << 20) = %d", n)
	}
}
