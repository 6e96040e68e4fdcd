package blockcache

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
)

var errTest = errors.New("test error")

// size is the bytes of a block of a disk.
const size = 1024

// A disk is a file of blocks in memory. It records the loads of its loaders. Some blocks fail.
type disk struct {
	id      int
	blocks  int64
	sources bool // blocks need a second part of their room

	mu          sync.Mutex
	loads       []int64 // blocks in the order of their loads
	canceled    []int64
	closed      int // loaders
	loadFails   map[int64]bool
	loadPanics  map[int64]bool
	finishFails map[int64]bool
	unready     map[int64]bool // Ready reports false
}

func (d *disk) Blocks() int64 { return d.blocks }

func (d *disk) Sizes(int64) (content int, room [2]int) {
	if d.sources {
		return size, [2]int{size, size}
	}
	return size, [2]int{size}
}

func (d *disk) NewLoader() Loader[[]byte] { return &loader{disk: d} }

// loaded returns the blocks loaded since the last call.
func (d *disk) loaded() []int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.loads
	d.loads = nil
	return p
}

// has reports whether p is the content of a block.
func (d *disk) has(p []byte, block int64) bool {
	return len(p) == size && binary.LittleEndian.Uint64(p) == uint64(block) && int(p[size-1]) == d.id
}

type loader struct {
	disk    *disk
	block   int64
	err     error
	loading bool
}

func (l *loader) Load(block int64, room Room, _ bool) error {
	d := l.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.loading {
		panic("Load during a load")
	}
	l.block, l.err = block, errTest
	d.loads = append(d.loads, block)
	if d.loadPanics[block] {
		panic("loader")
	}
	if !d.loadFails[block] {
		l.err, l.loading = nil, true
		clear(room[0])
	}
	return l.err
}

func (l *loader) Ready() bool {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	return !l.disk.unready[l.block]
}

func (l *loader) FinishLoad(value *[]byte, room Room) error {
	d := l.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	l.loading = false
	if l.err != nil || d.finishFails[l.block] {
		return errTest
	}
	binary.LittleEndian.PutUint64(room[0], uint64(l.block))
	room[0][size-1] = byte(d.id)
	*value = room[0]
	return nil
}

func (l *loader) Cancel() {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.loading {
		l.loading = false
		l.disk.canceled = append(l.disk.canceled, l.block)
	}
}

func (l *loader) Close() {
	l.Cancel()
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	l.disk.closed++
}

// newDisk returns a disk with its File in a Cache of so many blocks.
func newDisk(blocks, loads int) (*disk, *File[[]byte]) {
	d := &disk{blocks: 1000}
	return d, New[[]byte](int64(blocks*size)).File(loads, d)
}

// content returns the content of an entry.
func content(e *Entry[[]byte]) ([]byte, error) {
	return e.Use(func(p *[]byte) ([]byte, error) { return *p, nil })
}

// get returns a held entry, which must have the content of the block.
func get(t *testing.T, f *File[[]byte], block int64) *Entry[[]byte] {
	t.Helper()
	e, _, err := f.Get(block, true)
	if err != nil {
		t.Fatalf("Get(%d): %v", block, err)
	}
	if p, err := content(e); err != nil || !f.src.(*disk).has(p, block) {
		t.Fatalf("content of block %d: %.8x, %v", block, p, err)
	}
	return e
}

// use gets blocks and gives them back.
func use(t *testing.T, f *File[[]byte], blocks ...int64) {
	t.Helper()
	for _, b := range blocks {
		f.Release(get(t, f, b))
	}
}

func checkLoads(t *testing.T, d *disk, what string, want ...int64) {
	t.Helper()
	if got := d.loaded(); !slices.Equal(got, want) {
		t.Errorf("%s: loads of blocks %v, want %v", what, got, want)
	}
}

// await returns once n callers wait for a slot.
func await(f *File[[]byte], n int) {
	for {
		f.cache.mu.Lock()
		waiting := f.waiting
		f.cache.mu.Unlock()
		if waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// TestSingleFlight checks that callers of the same block share one load.
func TestSingleFlight(t *testing.T) {
	for _, blocks := range []int{0, 2} {
		d, f := newDisk(blocks, 2)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for block := range int64(2) {
					e, _, err := f.Get(block, true)
					if err != nil {
						t.Error(err)
						return
					}
					if p, err := content(e); err != nil || !d.has(p, block) {
						t.Errorf("block %d: %v", block, err)
					}
					f.Release(e)
				}
			})
		}
		wg.Wait()
		got := d.loaded()
		slices.Sort(got)
		if !slices.Equal(got, []int64{0, 1}) {
			t.Errorf("cache of %d: loads of blocks %v, want one of each", blocks, got)
		}
		if s := f.cache.Stats(); s.Hits+s.Misses != 16 || s.Misses != 2 || s.Loads != 2 {
			t.Errorf("cache of %d: %+v", blocks, s)
		}
	}
}

// TestNoRoom checks that content without room in the Cache stays with its slot, and moves to the
// Cache once there is room.
func TestNoRoom(t *testing.T) {
	d, f := newDisk(0, 2)
	use(t, f, 1, 2, 1, 3)
	checkLoads(t, d, "no cache: 1, 2, 1, 3", 1, 2, 3)
	use(t, f, 1)
	checkLoads(t, d, "no cache: the last but one")
	use(t, f, 2, 1)
	checkLoads(t, d, "no cache: the one before, and the last", 2)

	d, f = newDisk(1, 2)
	held := get(t, f, 1)
	use(t, f, 2) // stays with a slot
	if s := f.cache.Stats(); s.Bytes != size {
		t.Errorf("%d bytes beside a held block, want %d", s.Bytes, size)
	}
	f.Release(held)
	use(t, f, 2) // moves, and block 1 goes
	if s := f.cache.Stats(); s.Bytes != size || s.Evictions != 1 {
		t.Errorf("after a held block: %+v", s)
	}
	d.loaded()
	use(t, f, 2, 3, 2)
	checkLoads(t, d, "2, 3, 2 in a cache of one block and a slot", 3, 2)
}

// TestHeldBlocksStay checks that eviction passes over blocks that callers hold.
func TestHeldBlocksStay(t *testing.T) {
	d, f := newDisk(2, 1)
	held := get(t, f, 1)
	use(t, f, 5, 6, 7)
	d.loaded()
	if p, err := content(held); err != nil || !d.has(p, 1) {
		t.Errorf("a held block: %v", err)
	}
	f.Release(held)
	use(t, f, 1)
	checkLoads(t, d, "a block that was held")
}

// TestFailedLoad checks that a block that fails to load is not kept, nor its memory.
func TestFailedLoad(t *testing.T) {
	for _, blocks := range []int{0, 3} {
		d, f := newDisk(blocks, 3)
		d.loadFails, d.finishFails = map[int64]bool{1: true}, map[int64]bool{2: true}
		for _, block := range []int64{1, 2} {
			e, _, err := f.Get(block, true)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := content(e); !errors.Is(err, errTest) {
				t.Errorf("content of block %d: %v, want the loader's error", block, err)
			}
			f.Release(e)
		}
		use(t, f, 3)
		e := get(t, f, 3)
		if _, err := e.Use(func(*[]byte) ([]byte, error) { return nil, errTest }); err != errTest {
			t.Errorf("Use: %v", err)
		}
		f.Release(e)
		if n := f.cache.Stats().Bytes; n != 0 {
			t.Errorf("%d bytes of blocks that failed", n)
		}
		d.loadFails, d.finishFails = nil, nil
		d.loaded()
		use(t, f, 1, 2, 3)
		checkLoads(t, d, "blocks that failed before", 1, 2, 3)
	}
}

// TestLoadPanics checks that the entry is given back if Load panics.
func TestLoadPanics(t *testing.T) {
	d, f := newDisk(1, 1)
	d.loadPanics = map[int64]bool{1: true}
	func() {
		defer func() {
			if v := recover(); v != "loader" {
				t.Errorf("panic %v, want that of the loader", v)
			}
		}()
		f.Get(1, true)
	}()
	d.loadPanics = nil
	use(t, f, 2, 1) // the only slot
	checkLoads(t, d, "after the panic", 1, 2, 1)
}

// TestWait checks that Get waits for a slot only if the caller allows it, and is woken when a load
// ends although its block is still held.
func TestWait(t *testing.T) {
	for _, blocks := range []int{0, 2} {
		d, f := newDisk(blocks, 1)
		held, _, err := f.Get(1, true)
		if err != nil {
			t.Fatal(err)
		}
		if e, _, err := f.Get(2, false); e != nil || err != nil {
			t.Errorf("Get without waiting: %v, %v, want no entry", e, err)
		}
		if e, loads, err := f.Get(1, false); e != held || loads || err != nil {
			t.Errorf("Get of a held block: %v, %v, %v, want its entry", e, loads, err)
		} else {
			f.Release(e)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			e, _, err := f.Get(2, true)
			if err != nil {
				t.Error("Get that waits:", err)
				return
			}
			f.Release(e)
		}()
		await(f, 1)
		if blocks == 0 {
			f.Release(held)
			<-done
		} else {
			content(held)
			<-done
			f.Release(held)
		}
		checkLoads(t, d, "all", 1, 2)
		if s := f.cache.Stats(); s.Waits != 2 {
			t.Errorf("%d waits, want one for the slot and one for block 1", s.Waits)
		}
	}
}

// TestGiveWay checks that a caller that may hold an entry gets none while others wait for their
// first.
func TestGiveWay(t *testing.T) {
	_, f := newDisk(4, 2)
	use(t, f, 1)
	f.waiting = 1
	if e, _, err := f.Get(2, false); e != nil || err != nil {
		t.Errorf("with a waiting caller: %v, %v, want no entry", e, err)
	}
	if e, _, err := f.Get(1, false); e == nil || err != nil {
		t.Errorf("cached block, with a waiting caller: %v, %v", e, err)
	}
	f.waiting = 0
	if e, _, err := f.Get(2, false); e == nil || err != nil {
		t.Errorf("without waiting callers: %v, %v", e, err)
	}
}
