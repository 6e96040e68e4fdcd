// Package blockcache keeps contents of blocks of files that several goroutines read at random.
//
// A Cache holds contents of any number of files in limited memory. A File is one file's way into
// it: a table of the blocks that are there, and slots that load blocks. A block has one entry at
// most, from the beginning of its load on, so callers who want the same block share one load.
//
// A caller may block only while it holds no entry, so callers cannot deadlock. Waiting for an
// entry's content needs no other caller.
//
// Content counts in the memory of the Cache from the beginning of its load on. If there is no room,
// because callers hold all other entries or the block is too large, the content stays with the
// slot. It moves to the Cache once there is room, and is lost once the slot has another block to
// load.
package blockcache

import (
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"
)

// ErrClosed is returned by the methods of a closed File.
var ErrClosed = errors.New("blockcache: closed")

// The queue of new blocks shrinks to a part of the Cache, but not below a few blocks: those of a
// scan in use, those loaded ahead of it, and loads elsewhere. With a quarter, random reads of 90%
// of a Cache of 64 blocks lose 10 points of hit rate beside a scan, with an eighth 3.
const (
	freshPart   = 8
	freshBlocks = 5
)

// A Cache holds contents of blocks within limited memory. Its methods may be called from several
// goroutines at the same time. V is what a block's content is to its user.
//
// The policy is 2Q. New blocks are in a FIFO queue, which gives memory to the others down to an
// eighth of the Cache. A block that leaves it is a ghost for a while: its number without the
// content. A ghost that is loaded again goes to the main queue, a CLOCK. So does a new block that
// is used after a grace: as many bytes were loaded behind its first use as the queue of new blocks
// keeps. A scan uses a block many times within the grace, and then never again, so it leaves the
// main queue alone.
type Cache[V any] struct {
	limit int64

	loaded atomic.Int64 // Stats.LoadedBytes

	mu     sync.Mutex
	fresh  queue[V] // new blocks
	main   queue[V] // blocks that were used again
	ghosts queue[V] // blocks that left fresh, without their content
	last   int64    // size of the entry that came last
	stats  Stats    // without what is elsewhere: hits of entries, and LoadedBytes
}

// Stats says what a Cache has done.
type Stats struct {
	Hits        int64 // requests for blocks that were there or being loaded
	Misses      int64 // requests that began a load
	Waits       int64 // requests that found their block being loaded, or all places for loads taken
	Loads       int64 // blocks that began to load: misses and read-ahead
	LoadedBytes int64 // content of these blocks
	Evictions   int64 // blocks that made room for others
	Bytes       int64 // content in the Cache now
}

// New returns a Cache of so many bytes.
func New[V any](bytes int64) *Cache[V] { return &Cache[V]{limit: max(0, bytes)} }

// Limit returns the bytes that the Cache may hold.
func (c *Cache[V]) Limit() int64 { return c.limit }

// Stats returns the statistics so far.
func (c *Cache[V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Bytes, s.LoadedBytes = c.used(), c.loaded.Load()
	for _, q := range []*queue[V]{&c.fresh, &c.main} {
		for e := q.oldest; e != nil; e = e.newer {
			s.Hits += e.hits.Load()
		}
	}
	return s
}

func (c *Cache[V]) used() int64 { return c.fresh.bytes + c.main.bytes }

// Room is memory for the content of a block.
type Room [2][]byte

// Rounding says how much more memory a part of a Room may have than it needs: an n-th. So blocks of
// similar sizes take each other's memory.
const Rounding = 32

// capacity returns how many bytes a part of a Room has for n bytes.
func capacity(n int) int {
	if n < 4096 {
		return n
	}
	step := 1 << bits.Len(uint(n-1)) / (2 * Rounding)
	return (n + step - 1) &^ (step - 1)
}

// memory returns the bytes of a Room with parts of such sizes.
func memory(sizes [2]int) int64 { return int64(capacity(sizes[0])) + int64(capacity(sizes[1])) }

// resize gives the parts their sizes. It keeps memory that fits.
func (r *Room) resize(sizes [2]int) {
	for i, n := range sizes {
		c := capacity(n)
		switch {
		case n == 0:
			r[i] = nil
		case cap(r[i]) != c:
			r[i] = make([]byte, n, c)
		default:
			r[i] = r[i][:n]
		}
	}
}

// A queue is a list of entries, and the sum of their sizes.
type queue[V any] struct {
	oldest, newest *Entry[V]
	bytes          int64
}

// push makes e the newest entry.
func (q *queue[V]) push(e *Entry[V]) {
	e.queue, e.older, e.newer = q, q.newest, nil
	if q.newest != nil {
		q.newest.newer = e
	} else {
		q.oldest = e
	}
	q.newest = e
	q.bytes += e.size
}

// remove takes e out.
func (q *queue[V]) remove(e *Entry[V]) {
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		q.oldest = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		q.newest = e.older
	}
	q.bytes -= e.size
	e.queue, e.older, e.newer = nil, nil, nil
}

// reserve makes room for an entry of size bytes and puts it into a queue. It returns the memory of
// a block that had to go, for reuse. If there is no room, it returns false.
func (c *Cache[V]) reserve(e *Entry[V], size int64) (old Room, ok bool) {
	if size > c.limit {
		return old, false
	}
	for c.used()+size > c.limit {
		victim := c.victim()
		if victim == nil {
			return old, false
		}
		old = c.evict(victim)
	}
	e.size, c.last = size, size
	if e.known {
		c.main.push(e)
		e.grace.Store(0)
	} else {
		c.fresh.push(e)
		c.beginGrace(e)
	}
	e.known = false
	e.again.Store(false)
	return old, true
}

// victim claims the entry that goes next, nil if callers or loads need all of them.
func (c *Cache[V]) victim() *Entry[V] {
	first, second := &c.fresh, &c.main
	if c.fresh.bytes <= c.freshLimit() {
		first, second = second, first
	}
	if e := c.claim(first); e != nil {
		return e
	}
	return c.claim(second)
}

// claim claims the oldest entry of a queue that may go. It moves entries that were used since they
// came, and may stay for that, to the end of the main queue.
func (c *Cache[V]) claim(q *queue[V]) *Entry[V] {
	for e := q.oldest; e != nil; {
		next := e.newer
		switch {
		case e.again.Load() && !e.isBusy():
			e.again.Store(false)
			q.remove(e)
			c.main.push(e)
			e.grace.Store(0)
			if next == nil {
				next = q.oldest
			}
		case e.claim():
			return e
		}
		e = next
	}
	return nil
}

// evict drops the content of a claimed entry, and returns its memory.
func (c *Cache[V]) evict(e *Entry[V]) Room {
	c.stats.Evictions++
	if e.ahead {
		e.file.lowerAhead()
	}
	fresh := e.queue == &c.fresh
	room := c.dropEntry(e)
	if !fresh {
		c.forgetEntry(e)
		return room
	}
	c.ghosts.push(e)
	for c.ghosts.bytes > c.limit {
		c.forgetEntry(c.ghosts.oldest)
	}
	return room
}

// dropEntry takes a claimed entry out of its queue, and its content from it. It returns the memory.
func (c *Cache[V]) dropEntry(e *Entry[V]) Room {
	if e.queue != nil {
		e.queue.remove(e)
	}
	var none V
	room := e.room
	e.room, e.value, e.err = Room{}, none, nil
	e.done, e.loading, e.ahead = false, false, false
	e.failed.Store(false)
	e.plain.Store(false)
	e.ready.Store(false)
	c.stats.Hits += e.hits.Swap(0)
	return room
}

// forgetEntry removes an entry without content from its file.
func (c *Cache[V]) forgetEntry(e *Entry[V]) {
	if e.queue != nil {
		e.queue.remove(e)
	}
	e.file.table[e.block].CompareAndSwap(e, nil)
}

// freshLimit returns the bytes of new blocks that no others displace.
func (c *Cache[V]) freshLimit() int64 {
	return max(c.limit/freshPart, min(freshBlocks*c.last, c.limit/2))
}

// beginGrace begins the grace of a new block.
func (c *Cache[V]) beginGrace(e *Entry[V]) { e.grace.Store(c.loaded.Load() + c.freshLimit()) }

// touch notes a use of e.
func (c *Cache[V]) touch(e *Entry[V]) {
	if !e.again.Load() && c.loaded.Load() >= e.grace.Load() {
		e.again.Store(true)
	}
}
