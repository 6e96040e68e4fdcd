package blockcache

import (
	"slices"
	"sync"
)

// A slot loads blocks, one after the other.
type slot[V any] struct {
	mu     sync.Mutex // of loader
	loader Loader[V]
	room   Room // for content that has no room in the Cache
}

// detachSlot takes the slot from an entry.
func (f *File[V]) detachSlot(e *Entry[V]) *slot[V] {
	s := e.slot
	i := slices.Index(f.attached, e)
	f.attached = slices.Delete(f.attached, i, i+1)
	e.slot = nil
	return s
}

// releaseSlot makes a slot idle, or closes it if the file is closed. It unlocks Cache.mu meanwhile.
func (f *File[V]) releaseSlot(s *slot[V]) {
	if !f.closed.Load() {
		f.idle = append(f.idle, s)
		if f.waiting > 0 {
			f.changed.Broadcast()
		}
		return
	}
	f.cache.mu.Unlock()
	s.mu.Lock()
	s.loader.Close()
	s.room = Room{}
	s.mu.Unlock()
	f.cache.mu.Lock()
}

// removeEntry drops an entry that is not plain, that no caller holds and nothing loads. It may
// unlock Cache.mu.
func (f *File[V]) removeEntry(e *Entry[V]) {
	c := f.cache
	if !e.holds.CompareAndSwap(0, gone) {
		return
	}
	var s *slot[V]
	counted := e.queue != nil
	if e.slot != nil {
		s = f.detachSlot(e)
	}
	room := c.dropEntry(e)
	c.forgetEntry(e)
	if s == nil {
		return
	}
	if !counted {
		s.room = room
	}
	f.releaseSlot(s)
}

// cancelLoad ends a load that nobody waits for. It unlocks Cache.mu meanwhile.
func (f *File[V]) cancelLoad(e *Entry[V]) {
	c, s := f.cache, e.slot
	if e.ahead {
		f.lowerAhead()
	}
	f.table[e.block].Store(nil)
	e.holds.Add(1)
	c.mu.Unlock()
	s.mu.Lock()
	s.loader.Cancel()
	s.mu.Unlock()
	c.mu.Lock()
	e.failed.Store(true) // if pin holds it for a moment, its Release removes it
	e.holds.Add(-1)
	f.removeEntry(e)
}

// settle finishes the load of an entry that no caller holds. It unlocks Cache.mu meanwhile.
func (f *File[V]) settle(e *Entry[V]) {
	c := f.cache
	e.holds.Add(1)
	c.mu.Unlock()
	e.mu.Lock()
	e.finishLoad()
	e.mu.Unlock()
	c.mu.Lock()
	f.releaseLocked(e)
}

// takeSlot returns a slot that nothing uses. It takes them in this order: an idle one; a new one;
// that of a block that is loaded and that no caller holds; with cancel, that of a load that no
// caller waits for. It returns again if it has unlocked Cache.mu: the caller looks at everything
// anew.
func (f *File[V]) takeSlot(cancel bool) (s *slot[V], again bool) {
	if n := len(f.idle); n > 0 {
		s, f.idle = f.idle[n-1], f.idle[:n-1]
		return s, false
	}
	if len(f.slots) < f.limit {
		s = &slot[V]{loader: f.src.NewLoader()}
		f.slots = append(f.slots, s)
		return s, false
	}
	var late *Entry[V]
	for _, e := range f.attached {
		switch {
		case e.holds.Load() > 0:
		case !e.loading:
			f.removeEntry(e) // makes the slot idle
			return nil, true
		case e.slot.ready():
			f.settle(e)
			return nil, true
		case late == nil:
			late = e
		}
	}
	if late == nil || !cancel {
		return nil, false
	}
	f.cancelLoad(late)
	return nil, true
}

// ready is Loader.Ready.
func (s *slot[V]) ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loader.Ready()
}

// Close drops the blocks of the file and closes the Loaders: those of held entries when they are
// given back.
func (f *File[V]) Close() {
	c := f.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	f.closed.Store(true)
	f.changed.Broadcast()
	for i := range f.table {
		e := f.table[i].Load()
		switch {
		case e == nil:
		case e.holds.Load() == gone:
			c.forgetEntry(e)
		default:
			e.plain.Store(false)
			if e.slot == nil && e.holds.Load() == 0 {
				f.removeEntry(e)
			}
		}
	}
	for {
		i := slices.IndexFunc(f.attached, func(e *Entry[V]) bool { return e.holds.Load() == 0 })
		if i < 0 {
			break
		}
		if e := f.attached[i]; e.loading {
			f.cancelLoad(e)
		} else {
			f.removeEntry(e)
		}
	}
	for n := len(f.idle); n > 0; n = len(f.idle) {
		s := f.idle[n-1]
		f.idle = f.idle[:n-1]
		f.releaseSlot(s)
	}
}
