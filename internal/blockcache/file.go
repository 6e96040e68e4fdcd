package blockcache

import (
	"sync"
	"sync/atomic"
)

// A Loader loads one block at a time. Calls never overlap.
type Loader[V any] interface {
	// Load begins to load a block into room, which has the sizes that the Source names. waits says
	// that the caller needs the block next. FinishLoad returns the error of Load, too, and one if
	// Load panics.
	Load(block int64, room Room, waits bool) error
	// Ready reports whether FinishLoad would wait for nobody.
	Ready() bool
	// FinishLoad waits for the block and sets value, which may refer to the room.
	FinishLoad(value *V, room Room) error
	// Cancel ends a load that is under way. Afterwards nothing uses its room.
	Cancel()
	// Close is Cancel, and frees the memory.
	Close()
}

// A Source says how blocks of a file are loaded.
type Source[V any] interface {
	Blocks() int64
	// Sizes returns the bytes of content of a block, and what the parts of its Room need.
	Sizes(block int64) (content int, room [2]int)
	NewLoader() Loader[V]
}

// A File gives access to the blocks of one file. Its methods may be called from several goroutines
// at the same time. Its fields belong to Cache.mu.
type File[V any] struct {
	cache *Cache[V]
	src   Source[V]
	limit int // slots

	table    []atomic.Pointer[Entry[V]] // by number of the block; ghosts too
	slots    []*slot[V]
	idle     []*slot[V]  // slots without an entry
	attached []*Entry[V] // entries with a slot, the oldest load first
	waiting  int         // callers that hold no entry and wait for a slot
	changed  sync.Cond   // a slot may be to be had
	closed   atomic.Bool
	patience int // blocks in order before the first is loaded ahead
}

// BlockMemory is the bytes that a File takes for each block besides its content.
const BlockMemory = 8

// An Entry is a block of a File. Callers get one from Get and give it back with Release.
type Entry[V any] struct {
	file  *File[V]
	block int64

	// These belong to Cache.mu.
	queue        *queue[V]
	slot         *slot[V]  // that loads the block, or has its content; else nil
	loading      bool      // FinishLoad was not called
	ahead        bool      // nobody has asked for the block yet
	older, newer *Entry[V] // in the queue
	size         int64     // bytes in the queue
	known        bool      // was a ghost when the load began
	run          int       // blocks before this one that were read in order

	early bool         // the load began before a caller needed the block
	holds atomic.Int32 // callers that hold the entry; gone if it has no content
	plain atomic.Bool  // the content is in the Cache, and nothing else is to be done
	grace atomic.Int64 // uses count from this value of Cache.loaded on
	again atomic.Bool  // used since it came to the queue, after the grace
	hits  atomic.Int64 // of the plain entry
	tail  atomic.Int64 // where the last read ended, if this block was read in order; else none

	mu     sync.Mutex
	done   bool        // FinishLoad was called
	ready  atomic.Bool // with success
	failed atomic.Bool // the block is not kept, and not given to other callers
	err    error
	room   Room
	value  V
}

// gone is the value of Entry.holds without content.
const gone = -1

// isBusy reports whether the content has to stay.
func (e *Entry[V]) isBusy() bool { return e.slot != nil || e.holds.Load() > 0 }

// claim reports whether the content may go, and keeps others from holding the entry if so.
func (e *Entry[V]) claim() bool { return e.slot == nil && e.holds.CompareAndSwap(0, gone) }

// File returns the access to a file that may have so many loads in flight, at least 1.
func (c *Cache[V]) File(loads int, src Source[V]) *File[V] {
	f := &File[V]{cache: c, src: src, limit: loads, patience: 1}
	f.table = make([]atomic.Pointer[Entry[V]], src.Blocks())
	f.changed.L = &c.mu
	return f
}

// Limit returns how many loads may be in flight.
func (f *File[V]) Limit() int { return f.limit }

// Closed reports whether Close was called.
func (f *File[V]) Closed() bool { return f.closed.Load() }

// Loaders calls do for every Loader, one after the other, also after Close. No other method of the
// Loader runs during the call.
func (f *File[V]) Loaders(do func(Loader[V])) {
	f.cache.mu.Lock()
	slots := f.slots[:len(f.slots):len(f.slots)]
	f.cache.mu.Unlock()
	for _, s := range slots {
		s.mu.Lock()
		do(s.loader)
		s.mu.Unlock()
	}
}

// Get returns the entry of a block. If the block is not there, Get begins to load it and returns
// loads. If all slots are in use, Get waits for one if wait is set, and otherwise returns nil. A
// caller that holds an entry must not set wait. If the Loader panics, the entry is given back.
func (f *File[V]) Get(block int64, wait bool) (e *Entry[V], loads bool, err error) {
	if e := f.pin(block); e != nil {
		return e, false, nil
	}
	c, waited := f.cache, false
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if f.closed.Load() {
			return nil, false, ErrClosed
		}
		if e := f.live(block); e != nil {
			f.hit(e, waited)
			return e, false, nil
		}
		// A caller that holds an entry already gives way to those that wait for their first.
		if wait || f.waiting == 0 {
			s, again := f.takeSlot(true)
			if again {
				continue
			}
			if s != nil {
				c.stats.Misses++
				e := f.beginLoad(block, s)
				e.early = !wait
				f.load(e, wait)
				return e, true, nil
			}
		}
		if !wait {
			return nil, false, nil
		}
		if !waited {
			c.stats.Waits++
			waited = true
		}
		f.waiting++
		f.changed.Wait()
		f.waiting--
	}
}

// pin holds the entry of a block if it is plain. It takes no lock. Entries are not used for other
// blocks, so one that went away meanwhile cannot be held, or shows that it is not plain now.
func (f *File[V]) pin(block int64) *Entry[V] {
	e := f.table[block].Load()
	if e == nil || !e.plain.Load() {
		return nil
	}
	for n := e.holds.Load(); n != gone; n = e.holds.Load() {
		if !e.holds.CompareAndSwap(n, n+1) {
			continue
		}
		if !e.plain.Load() {
			f.Release(e)
			return nil
		}
		e.hits.Add(1)
		f.cache.touch(e)
		return e
	}
	return nil
}

// hit holds an entry for a caller.
func (f *File[V]) hit(e *Entry[V], waited bool) {
	c := f.cache
	c.stats.Hits++
	if e.loading && !waited {
		c.stats.Waits++
	}
	if e.ahead {
		e.ahead, f.patience = false, 1
		if e.queue == &c.fresh {
			c.beginGrace(e) // the first use
		}
	}
	e.holds.Add(1)
	c.touch(e)
	f.simplify(e)
}

// simplify makes an entry plain if it can be.
func (f *File[V]) simplify(e *Entry[V]) {
	if e.queue != nil && e.slot == nil && !e.ahead && e.ready.Load() && !f.closed.Load() {
		e.plain.Store(true)
	}
}

// live returns the entry of a block, nil if there is none, a ghost, or one that failed.
func (f *File[V]) live(block int64) *Entry[V] {
	if e := f.table[block].Load(); e != nil && e.holds.Load() != gone && !e.failed.Load() {
		return e
	}
	return nil
}

// beginLoad makes the entry of a block that a slot is to load. The caller holds it.
func (f *File[V]) beginLoad(block int64, s *slot[V]) *Entry[V] {
	c := f.cache
	e := f.table[block].Load()
	if e == nil || e.failed.Load() {
		e = &Entry[V]{file: f, block: block}
		e.tail.Store(none)
		f.table[block].Store(e)
	} else {
		c.ghosts.remove(e)
		e.known = true
	}
	e.slot, e.loading = s, true
	e.holds.Store(1)
	f.attached = append(f.attached, e)
	content, sizes := f.src.Sizes(block)
	old, ok := c.reserve(e, memory(sizes))
	if !ok {
		old = s.room
	}
	e.room, s.room = old, Room{}
	c.stats.Loads++
	c.loaded.Add(int64(content))
	return e
}

// load begins to load the block of an entry. It unlocks Cache.mu meanwhile.
func (f *File[V]) load(e *Entry[V], waits bool) {
	s, returned, failed := e.slot, false, true
	_, sizes := f.src.Sizes(e.block)
	e.mu.Lock() // no other caller has e
	f.cache.mu.Unlock()
	s.mu.Lock()
	defer func() {
		e.failed.Store(failed)
		s.mu.Unlock()
		e.mu.Unlock()
		f.cache.mu.Lock()
		if !returned {
			f.releaseLocked(e)
		}
	}()
	e.room.resize(sizes)
	failed = s.loader.Load(e.block, e.room, waits) != nil
	returned = true
}

// Use waits for the entry's block and returns what do returns for its content, which is valid until
// the caller gives the entry back. Calls for an entry do not overlap. do may use other entries, if
// no do uses this one in turn. After an error the block is not kept.
func (e *Entry[V]) Use(do func(*V) ([]byte, error)) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.finishLoad()
	if e.err != nil {
		return nil, e.err
	}
	p, err := do(&e.value)
	if err != nil {
		e.failed.Store(true)
		e.ready.Store(false)
		e.plain.Store(false)
	}
	return p, err
}

// Early reports whether the load began before a caller needed the block, for read-ahead or by a Get
// that does not wait. If it failed, the reason may have passed: another Get loads the block anew.
func (e *Entry[V]) Early() bool { return e.early }

// Value returns the value without waiting, if the block is loaded, else nil.
func (e *Entry[V]) Value() *V {
	if e.ready.Load() {
		return &e.value
	}
	return nil
}

// finishLoad waits for the block. The caller holds the entry and e.mu.
func (e *Entry[V]) finishLoad() {
	if e.done {
		return
	}
	f, s := e.file, e.slot
	s.mu.Lock()
	e.err = s.loader.FinishLoad(&e.value, e.room)
	s.mu.Unlock()
	e.done = true
	if e.err != nil {
		e.failed.Store(true)
	}
	e.ready.Store(!e.failed.Load())
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	e.loading = false
	if e.queue != nil {
		f.releaseSlot(f.detachSlot(e))
		f.simplify(e)
	}
}

// Release gives an entry back. A block that failed to load is not kept. Get gives no caller an
// entry that is known to have failed, even while others hold it, but loads the block anew.
func (f *File[V]) Release(e *Entry[V]) {
	c := f.cache
	if e.plain.Load() {
		if e.holds.Add(-1) > 0 || e.plain.Load() {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		f.unheld(e)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.releaseLocked(e)
}

// releaseLocked is Release for a caller that holds Cache.mu. It may unlock that meanwhile.
func (f *File[V]) releaseLocked(e *Entry[V]) {
	e.holds.Add(-1)
	f.unheld(e)
}

// unheld is called when an entry may have lost its last holder. It may unlock Cache.mu meanwhile.
func (f *File[V]) unheld(e *Entry[V]) {
	if e.holds.Load() != 0 {
		return
	}
	failed := e.failed.Load() // no caller holds the entry, so that nothing writes it
	switch {
	case f.closed.Load() && e.loading && !failed:
		f.cancelLoad(e)
	case f.closed.Load() || failed:
		f.removeEntry(e)
	case e.slot != nil && !e.loading:
		f.adopt(e)
	}
	if f.waiting > 0 {
		// A caller that waits may find its block in an entry that another one has loaded, and then
		// leaves this slot to the next: wake them all.
		f.changed.Broadcast()
	}
}

// adopt moves content that a slot has to the Cache, if that has room now. Else the slot counts as
// the last one that was used.
func (f *File[V]) adopt(e *Entry[V]) {
	_, sizes := f.src.Sizes(e.block)
	_, ok := f.cache.reserve(e, memory(sizes))
	s := f.detachSlot(e)
	if ok {
		f.releaseSlot(s)
		f.simplify(e)
		return
	}
	e.slot = s
	f.attached = append(f.attached, e)
}
