// Package blockcache keeps the content of blocks of a file that several goroutines read at random.
//
// A Cache has a fixed number of entries. An entry loads one block, keeps it while callers hold the
// entry, and then until the entry is needed for another block; the least recently used one goes
// first. A block is in one entry at most, so that callers who want the same block share one load.
//
// A caller may block only while it holds no entry, so callers cannot deadlock. Waiting for an
// entry's content needs no other caller.
package blockcache

import (
	"errors"
	"sync"
)

// A Loader loads one block at a time into memory of its own, for one entry. Calls never overlap.
type Loader interface {
	// Load begins to load a block. Content returns its error, too.
	Load(block int64) error
	// Content waits for the block and returns its content, which is valid until the next Load.
	// Further calls return the same.
	Content() ([]byte, error)
	// Close ends a load that is under way and frees the memory.
	Close()
}

// ErrClosed is returned by the methods of a closed Cache.
var ErrClosed = errors.New("blockcache: closed")

// A Cache holds blocks. Its methods may be called from several goroutines at the same time.
type Cache[L Loader] struct {
	newLoader func() L
	limit     int

	mu      sync.Mutex
	free    sync.Cond
	entries []*Entry[L]
	byBlock map[int64]*Entry[L]
	clock   int64
	waiting int // callers that hold no entry and wait for one
	closed  bool
}

// An Entry holds one block. Callers get one from Get and give it back with Put.
type Entry[L Loader] struct {
	// These belong to Cache.mu.
	block int64 // number in the file, −1 if the entry holds none
	holds int   // callers that hold the entry
	used  int64 // clock at the last use

	mu     sync.Mutex
	loader L
	failed bool
}

// New returns a Cache of so many entries, at least 1. newLoader makes the Loader of each.
func New[L Loader](entries int, newLoader func() L) *Cache[L] {
	c := &Cache[L]{newLoader: newLoader, limit: entries, byBlock: make(map[int64]*Entry[L])}
	c.free.L = &c.mu
	return c
}

// Limit returns the number of entries.
func (c *Cache[L]) Limit() int { return c.limit }

// Closed reports whether Close was called.
func (c *Cache[L]) Closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Loaders calls f for the Loader of every entry, one after the other, also after Close. No other
// method of the Loader runs during the call.
func (c *Cache[L]) Loaders(f func(L)) {
	c.mu.Lock()
	entries := c.entries[:len(c.entries):len(c.entries)]
	c.mu.Unlock()
	for _, e := range entries {
		e.mu.Lock()
		f(e.loader)
		e.mu.Unlock()
	}
}

// Get returns the entry of a block and begins to load the block if it is not there. If all entries
// are held, Get waits for one if wait is set, and otherwise returns nil. A caller that holds an
// entry must not set wait. If Load panics the entry is given back.
func (c *Cache[L]) Get(block int64, wait bool) (*Entry[L], error) {
	c.mu.Lock()
	for {
		if c.closed {
			c.mu.Unlock()
			return nil, ErrClosed
		}
		if e := c.byBlock[block]; e != nil {
			c.hold(e)
			c.mu.Unlock()
			return e, nil
		}
		// A caller that holds an entry already gives way to those that wait for their first.
		if wait || c.waiting == 0 {
			if e := c.victim(); e != nil {
				if e.block >= 0 {
					delete(c.byBlock, e.block)
				}
				e.block = block
				c.byBlock[block] = e
				c.hold(e)
				e.mu.Lock() // only Loaders can hold it now
				c.mu.Unlock()
				c.load(e, block)
				return e, nil
			}
		}
		if !wait {
			c.mu.Unlock()
			return nil, nil
		}
		c.waiting++
		c.free.Wait()
		c.waiting--
	}
}

// load loads a block into a locked entry and unlocks it.
func (c *Cache[L]) load(e *Entry[L], block int64) {
	returned := false
	e.failed = true
	defer func() {
		e.mu.Unlock()
		if !returned {
			c.Put(e)
		}
	}()
	e.failed = e.loader.Load(block) != nil
	returned = true
}

func (c *Cache[L]) hold(e *Entry[L]) {
	c.clock++
	e.used = c.clock
	e.holds++
}

// victim returns an entry that no caller holds: an empty one, a new one, or the least recently
// used.
func (c *Cache[L]) victim() *Entry[L] {
	var oldest *Entry[L]
	for _, e := range c.entries {
		if e.holds > 0 {
			continue
		}
		if e.block < 0 {
			return e
		}
		if oldest == nil || e.used < oldest.used {
			oldest = e
		}
	}
	if len(c.entries) < c.limit {
		oldest = &Entry[L]{block: -1, loader: c.newLoader()}
		c.entries = append(c.entries, oldest)
	}
	return oldest
}

// Content waits for the entry's block and returns its content, which is valid until the caller
// gives the entry back. Any caller that holds the entry may call it.
func (e *Entry[L]) Content() ([]byte, error) {
	return e.Use(func(l L) ([]byte, error) { return l.Content() })
}

// Use is Content with f in place of the Loader's method. Calls for an entry do not overlap. f may use
// other entries, if no f uses this one in turn.
func (e *Entry[L]) Use(f func(L) ([]byte, error)) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, err := f(e.loader)
	e.failed = e.failed || err != nil
	return p, err
}

// Put gives an entry back. A block that failed to load is not kept, so that the next caller tries
// again.
func (c *Cache[L]) Put(e *Entry[L]) {
	c.mu.Lock()
	e.holds--
	end := false
	if e.holds == 0 {
		// No caller holds the entry, so that nothing writes e.failed.
		if e.failed {
			delete(c.byBlock, e.block)
			e.block = -1
		}
		end = c.closed
		// A caller that waits may find its block in an entry that another one has loaded, and then
		// leaves this entry to the next: wake them all.
		c.free.Broadcast()
	}
	c.mu.Unlock()
	if end {
		e.close()
	}
}

func (e *Entry[L]) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.loader.Close()
}

// Close closes the Loaders: those of held entries when they are given back.
func (c *Cache[L]) Close() {
	c.mu.Lock()
	c.closed = true
	var idle []*Entry[L]
	for _, e := range c.entries {
		if e.holds == 0 {
			idle = append(idle, e)
		}
	}
	c.byBlock = nil
	c.free.Broadcast()
	c.mu.Unlock()
	for _, e := range idle {
		e.close()
	}
}
