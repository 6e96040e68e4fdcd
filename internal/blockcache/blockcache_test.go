package blockcache

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

var errTest = errors.New("test error")

// disk records the loads of its loaders. Some blocks fail.
type disk struct {
	mu           sync.Mutex
	loads        []int64 // blocks in the order of their loads
	closed       int     // loaders
	loadFails    map[int64]bool
	loadPanics   map[int64]bool
	contentFails map[int64]bool
}

func (d *disk) newLoader() *loader { return &loader{disk: d} }

// loaded returns the blocks loaded since the last call.
func (d *disk) loaded() []int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.loads
	d.loads = nil
	return p
}

type loader struct {
	disk  *disk
	block int64
}

func (l *loader) Load(block int64) error {
	d := l.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	l.block = block
	d.loads = append(d.loads, block)
	if d.loadPanics[block] {
		panic("loader")
	}
	if d.loadFails[block] {
		return errTest
	}
	return nil
}

func (l *loader) Content() ([]byte, error) {
	d := l.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.loadFails[l.block] || d.contentFails[l.block] {
		return nil, errTest
	}
	return fmt.Append(nil, l.block), nil
}

func (l *loader) Close() {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	l.disk.closed++
}

// get returns a held entry, which must have the content of the block.
func get(t *testing.T, c *Cache[*loader], block int64) *Entry[*loader] {
	t.Helper()
	e, err := c.Get(block, true)
	if err != nil {
		t.Fatalf("Get(%d): %v", block, err)
	}
	if p, err := e.Content(); err != nil || string(p) != fmt.Sprint(block) {
		t.Fatalf("Content of block %d: %q, %v", block, p, err)
	}
	return e
}

func checkLoads(t *testing.T, d *disk, what string, want ...int64) {
	t.Helper()
	if got := d.loaded(); !slices.Equal(got, want) {
		t.Errorf("%s: loads of blocks %v, want %v", what, got, want)
	}
}

// await returns once n callers wait for an entry.
func await(c *Cache[*loader], n int) {
	for {
		c.mu.Lock()
		waiting := c.waiting
		c.mu.Unlock()
		if waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// TestSingleFlight checks that callers of the same block share one load.
func TestSingleFlight(t *testing.T) {
	d := &disk{}
	c := New(2, d.newLoader)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for block := range int64(2) {
				e, err := c.Get(block, true)
				if err != nil {
					t.Error(err)
					return
				}
				if p, err := e.Content(); err != nil || string(p) != fmt.Sprint(block) {
					t.Errorf("block %d: %q, %v", block, p, err)
				}
				c.Put(e)
			}
		})
	}
	wg.Wait()
	got := d.loaded()
	slices.Sort(got)
	if !slices.Equal(got, []int64{0, 1}) {
		t.Errorf("loads of blocks %v, want one of each", got)
	}
}

// TestLeastRecentlyUsed checks which block an entry gives up.
func TestLeastRecentlyUsed(t *testing.T) {
	d := &disk{}
	c := New(2, d.newLoader)
	for _, block := range []int64{1, 2, 1, 3} {
		c.Put(get(t, c, block))
	}
	checkLoads(t, d, "1, 2, 1, 3", 1, 2, 3)
	c.Put(get(t, c, 1))
	checkLoads(t, d, "1 again")
	c.Put(get(t, c, 2))
	checkLoads(t, d, "2 again", 2)

	// A held entry is not given up, even if it is the least recently used one.
	held := get(t, c, 1)
	for _, block := range []int64{5, 6, 7} {
		c.Put(get(t, c, block))
	}
	c.Put(held)
	d.loaded()
	c.Put(get(t, c, 1))
	checkLoads(t, d, "a block that was held")
	if c.Limit() != 2 || len(c.entries) != 2 {
		t.Errorf("%d entries of %d, want 2", len(c.entries), c.Limit())
	}
}

// TestFailedLoad checks that a block that fails to load is not kept.
func TestFailedLoad(t *testing.T) {
	d := &disk{loadFails: map[int64]bool{1: true}, contentFails: map[int64]bool{2: true}}
	c := New(3, d.newLoader)
	for _, block := range []int64{1, 2} {
		e, err := c.Get(block, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Content(); !errors.Is(err, errTest) {
			t.Errorf("Content of block %d: %v, want the loader's error", block, err)
		}
		c.Put(e)
	}
	d.loadFails, d.contentFails = nil, nil
	d.loaded()
	c.Put(get(t, c, 1))
	c.Put(get(t, c, 2))
	checkLoads(t, d, "blocks that failed before", 1, 2)
}

// TestLoadPanics checks that the entry is given back if Load panics.
func TestLoadPanics(t *testing.T) {
	d := &disk{loadPanics: map[int64]bool{1: true}}
	c := New(1, d.newLoader)
	func() {
		defer func() {
			if v := recover(); v != "loader" {
				t.Errorf("panic %v, want that of the loader", v)
			}
		}()
		c.Get(1, true)
	}()
	d.loadPanics = nil
	c.Put(get(t, c, 2)) // needs the only entry
	c.Put(get(t, c, 1))
	checkLoads(t, d, "after the panic", 1, 2, 1)
}

// TestWait checks that Get waits for an entry only if the caller allows it.
func TestWait(t *testing.T) {
	d := &disk{}
	c := New(1, d.newLoader)
	held := get(t, c, 1)
	if e, err := c.Get(2, false); e != nil || err != nil {
		t.Errorf("Get without waiting: %v, %v, want no entry", e, err)
	}
	if e, err := c.Get(1, false); e != held || err != nil {
		t.Errorf("Get of a held block: %v, %v, want its entry", e, err)
	} else {
		c.Put(e)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e, err := c.Get(2, true)
		if err != nil {
			t.Error("Get that waits:", err)
			return
		}
		c.Put(e)
	}()
	await(c, 1)
	c.Put(held)
	<-done
	checkLoads(t, d, "all", 1, 2)
}

// TestGiveWay checks that a caller that may hold an entry gets none while others wait for their
// first.
func TestGiveWay(t *testing.T) {
	d := &disk{}
	c := New(2, d.newLoader)
	c.Put(get(t, c, 1))
	c.waiting = 1
	if e, err := c.Get(2, false); e != nil || err != nil {
		t.Errorf("with a waiting caller: %v, %v, want no entry", e, err)
	}
	if e, err := c.Get(1, false); e == nil || err != nil {
		t.Errorf("cached block, with a waiting caller: %v, %v", e, err)
	}
	c.waiting = 0
	if e, err := c.Get(2, false); e == nil || err != nil {
		t.Errorf("without waiting callers: %v, %v", e, err)
	}
}

// TestClose checks that Close closes idle loaders at once and those of held entries at Put, and
// that it wakes waiting callers.
func TestClose(t *testing.T) {
	d := &disk{}
	c := New(2, d.newLoader)
	held := get(t, c, 1)
	second := get(t, c, 2)
	got := make(chan error)
	go func() {
		_, err := c.Get(3, true)
		got <- err
	}()
	await(c, 1)
	c.Close()
	if err := <-got; err != ErrClosed {
		t.Errorf("Get that waits: %v, want ErrClosed", err)
	}
	if !c.Closed() || d.closed != 0 {
		t.Errorf("Closed() = %v, %d loaders closed, want true and 0", c.Closed(), d.closed)
	}
	if p, err := held.Content(); err != nil || string(p) != "1" {
		t.Errorf("Content of a held entry: %q, %v", p, err)
	}
	c.Put(held)
	c.Put(second)
	if d.closed != 2 {
		t.Errorf("%d loaders closed, want 2", d.closed)
	}
	if _, err := c.Get(1, true); err != ErrClosed {
		t.Errorf("Get: %v, want ErrClosed", err)
	}
	n := 0
	c.Loaders(func(*loader) { n++ })
	if n != 2 {
		t.Errorf("Loaders visits %d loaders, want 2", n)
	}
}

// TestCloseIdle checks that Close closes the loaders of idle entries.
func TestCloseIdle(t *testing.T) {
	d := &disk{}
	c := New(3, d.newLoader)
	c.Put(get(t, c, 1))
	c.Put(get(t, c, 2))
	c.Close()
	if d.closed != 2 {
		t.Errorf("%d loaders closed, want 2", d.closed)
	}
}
