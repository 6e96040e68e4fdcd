package ldm

import "sync"

// A Buffer is memory for own content that several parties use: the window, the block itself, and
// blocks that repeat a part of it. The last one to let go gives it back.
type Buffer struct {
	P     []byte
	arena *arena
	chunk *chunk
	uses  int // arena.mu guards it
}

// Hold adds a use.
func (b *Buffer) Hold() {
	b.arena.mu.Lock()
	b.uses++
	b.arena.mu.Unlock()
}

// Release ends a use.
func (b *Buffer) Release() { b.release(false) }

// Abandon ends a use, and keeps the memory from serving again: a device may still read it.
func (b *Buffer) Abandon() { b.release(true) }

func (b *Buffer) release(abandon bool) {
	a, c := b.arena, b.chunk
	a.mu.Lock()
	defer a.mu.Unlock()
	c.abandoned = c.abandoned || abandon
	b.uses--
	if b.uses > 0 {
		return
	} else if b.uses < 0 {
		panic("ldm: a buffer is released too often")
	}
	b.P, b.chunk = nil, nil
	a.spare = append(a.spare, b)
	c.live--
	if c.live > 0 {
		return
	}
	switch {
	case c.abandoned:
		if a.current == c {
			a.current = nil
		}
	case a.current == c:
		c.used = 0
	default:
		a.free = append(a.free, c)
	}
}

// An arena allocates buffers one behind the other in chunks. A window lets go of its buffers in
// about the order in which it got them, so chunks become free soon after their first buffer.
type arena struct {
	mu      sync.Mutex
	most    int // size of a chunk in bytes
	first   int // size of the first one in bytes
	next    int // size of the next one: it doubles, so that little content takes little memory
	slack   int // bytes behind each buffer that may be written to
	current *chunk
	free    []*chunk
	spare   []*Buffer // not in use, without memory
}

// The size of the first chunk in bytes. A decoder must not believe in the window of a header before
// there is content. For a Finder large chunks are in huge pages from the start.
const (
	firstOfWindow = 64 << 10
	firstOfFinder = 16 << 20
)

// A chunk is memory of several buffers.
type chunk struct {
	p         []byte
	used      int // bytes
	live      int // buffers in use
	abandoned bool
}

// newArena returns an arena for a window and blocks of up to blockSize bytes, whose first chunk has
// so many bytes unless a chunk or its first buffer needs fewer or more.
func newArena(window int64, blockSize, slack, first int) *arena {
	return &arena{most: chunkSize(window, blockSize+slack), next: first, first: first, slack: slack}
}

// chunkSize returns the size of chunks. A buffer that does not fit leaves the rest of a chunk
// unused: less than a block of at least four.
func chunkSize(window int64, block int) int {
	return block * max(4, int(window/16)/block)
}

// arenaMemory returns the most memory that the buffers of a window and of so many blocks in flight
// take, in bytes. The oldest chunk and the current one are in use in part.
func arenaMemory(window int64, block, inFlight int) int64 {
	return window + window/4 + 2*int64(chunkSize(window, block)) + int64(inFlight)*int64(block)
}

// takeBuffer returns a buffer of n bytes with one use.
func (a *arena) takeBuffer(n int) *Buffer {
	size := n + a.slack
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.current
	if c == nil || size > len(c.p)-c.used {
		c = a.chunk(size)
		a.current = c
	}
	p := c.p[c.used : c.used+n : c.used+size]
	c.used += size
	c.live++
	b := &Buffer{arena: a}
	if k := len(a.spare) - 1; k >= 0 {
		b, a.spare = a.spare[k], a.spare[:k]
	}
	b.P, b.chunk, b.uses = p, c, 1
	return b
}

// chunk returns a free chunk, or a new one, that has room for size bytes.
func (a *arena) chunk(size int) *chunk {
	for k := len(a.free) - 1; k >= 0; k-- {
		c := a.free[k]
		a.free = a.free[:k]
		if len(c.p) >= size {
			c.used = 0
			return c
		}
	}
	n := min(max(a.next, size), a.most)
	a.next = min(2*n, a.most)
	return &chunk{p: newMemory[byte](n)}
}

// release frees the memory of all chunks that are not in use.
func (a *arena) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.free, a.next = nil, a.first
	if a.current != nil && a.current.live == 0 {
		a.current = nil
	}
}
