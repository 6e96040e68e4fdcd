package ldm

import (
	"cmp"
	"slices"

	"github.com/gopz/compress/simd"
)

const (
	// leastMatch is the least length of a reference that a Finder makes, in bytes. A shorter one
	// saves less than its list entry and the context that the own content loses: with 256 in place
	// of 384 two versions of a tree of sources take 0.3% more.
	leastMatch = 384

	// Bits of a table entry: a tag, the low bits of a block's number, and an offset in its own
	// content.
	tagBits    = 21
	numberBits = 17
)

// A Finder finds parts of blocks that repeat earlier ones. Its result depends on the contents of
// the blocks and their order alone. Its methods are for one goroutine at a time.
type Finder struct {
	history history
	arena   *arena
	number  int64    // of the next block
	table   []uint64 // samples of own contents by their hash, the latest of each
	shift   uint     // of a hash that selects the entry

	matches []match
	sources []source
	refs    []Reference
}

// A match is a part of the block that repeats own content of the block at a distance.
type match struct {
	at, len, offset int
	distance        int32
}

// A source is a block that others repeat parts of.
type source struct {
	distance int32
	total    int // bytes repeated
}

// A Block is what a Finder keeps of a block until it is coded. The zero value is ready to use.
type Block struct {
	samples samples
	fill    bool
	own     *Buffer
	list    []byte
}

// FinderMemory returns the memory in bytes of a Finder for blocks of at most blockSize bytes of
// which so many are in flight.
func FinderMemory(window int64, blockSize, inFlight int) int64 {
	perBlock := samplesMemory(blockSize) + listMemory(blockSize)
	return arenaMemory(window, blockSize, inFlight) + tableEntries(window)*8 + int64(inFlight)*perBlock
}

// listMemory returns the most bytes of the references of a block, encoded and not. A slice that has
// grown by appending leaves its old memory.
func listMemory(blockSize int) int64 { return 2 * 72 * int64(blockSize/leastMatch) }

func tableEntries(window int64) int64 { return window >> sampleBits }

// NewFinder returns a Finder for a window.
func NewFinder(window int64, blockSize int) *Finder {
	return &Finder{
		arena:   newArena(window, blockSize, 0, firstOfFinder),
		history: history{window: window},
		table:   newMemory[uint64](int(tableEntries(window))),
		shift:   uint(64 - (WindowLog(window) - sampleBits)),
	}
}

// NewRepeatFinder returns a Finder for FindRepeats. Repeats reach no further back than window
// bytes.
func NewRepeatFinder(window int64, blockSize int) *Finder {
	f := NewFinder(window, blockSize)
	f.history.window = window - int64(blockSize) // a block reaches back from its end, too
	return f
}

// reset makes f ready for another stream, whose next block has a number.
func (f *Finder) reset(number int64) {
	f.history.release()
	f.number = number
	clear(f.table)
}

// Release frees the memory of the window. The next block begins another stream.
func (f *Finder) Release() {
	f.history.release()
	f.arena.release()
	f.number = -1
}

// Prepare chooses the samples of a block's content. If fill is set, the block is a fill, without
// own content. It may be called at any time before Find.
func (b *Block) Prepare(content []byte, fill bool, checkpoint func()) {
	b.own, b.fill, b.list = nil, fill, b.list[:0]
	b.samples.reset()
	if !fill {
		b.samples.choose(content, checkpoint)
	}
}

// Find finds the references of the block with that number in its stream, which has been prepared,
// and adds its own content to the window. A block that does not follow the last one, such as block
// 0, begins another stream. Find returns the encoded list, which the payload begins with, and the
// own content. They are valid until Release. Without references it returns nothing: the own content
// is the content.
func (f *Finder) Find(b *Block, number int64, content []byte, checkpoint func()) (list, own []byte) {
	if number != f.number {
		f.reset(number)
	}
	f.number++
	if b.fill {
		f.history.addBlock(nil)
		return nil, nil
	}
	f.search(b, content, number, leastMatch, checkpoint)
	f.limitSources()
	f.insert(b, number, f.matches)
	b.own = f.copyOwn(content, f.matches, checkpoint)
	f.history.addBlock(b.own)
	if len(f.matches) == 0 {
		b.Release(true)
		return nil, nil
	}
	b.list = f.appendList(b.list)
	return b.list, b.own.P
}

// A Repeat is a part of a block that repeats content in front of it. All fields are in bytes.
type Repeat struct{ At, Len, Distance int }

// FindRepeats is Find for formats whose matches reach back into all content of the window, which is
// of repeats as well. It appends the repeats to dst, in the order of the content.
func (f *Finder) FindRepeats(
	dst []Repeat, b *Block, number int64, content []byte, checkpoint func(),
) []Repeat {
	if number != f.number {
		f.reset(number)
	}
	f.number++
	f.search(b, content, number, sampled, checkpoint)
	f.insert(b, number, nil)
	for _, m := range f.matches {
		dst = append(dst, Repeat{m.at, m.len, m.at + f.history.bytes(int(m.distance)) - m.offset})
	}
	own := f.copyOwn(content, nil, checkpoint)
	f.history.addBlock(own)
	own.Release()
	return dst
}

// search finds the matches of a block of at least so many bytes.
func (f *Finder) search(b *Block, p []byte, number int64, least int, checkpoint func()) {
	covered, last, pace := 0, 0, pacer{checkpoint: checkpoint}
	f.matches = f.matches[:0]
	for k, at32 := range b.samples.at {
		at, h := int(at32), b.samples.hash[k]
		e := f.table[h>>f.shift]
		if (e^h)&(1<<tagBits-1) != 0 || at < covered {
			continue
		}
		pace.addWork(at - last)
		last = at
		distance := int((number - int64(e>>tagBits)) & (1<<numberBits - 1))
		source, offset := f.history.own(distance), int(e>>(tagBits+numberBits))
		if source == nil || offset >= len(source.P) {
			continue
		}
		n := simd.MatchLen(source.P[offset:], p[at:])
		if n < sampled {
			continue
		}
		back := commonSuffix(source.P[:offset], p[covered:at])
		n += back
		if n < least {
			continue
		}
		f.matches = append(f.matches, match{at - back, n, offset - back, int32(distance)})
		covered = at - back + n
	}
}

// commonSuffix returns the length of the common suffix of a and b, in bytes.
func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	for i := n - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return n - 1 - i
		}
	}
	return n
}

// limitSources keeps the sources with the most bytes, Sources at most, and their matches. Of
// sources with as many bytes the nearest ones stay.
func (f *Finder) limitSources() {
	f.sources = f.sources[:0]
	for _, m := range f.matches {
		i, found := slices.BinarySearchFunc(f.sources, m.distance, compareDistance)
		if !found {
			f.sources = slices.Insert(f.sources, i, source{distance: m.distance})
		}
		f.sources[i].total += m.len
	}
	if len(f.sources) <= Sources {
		return
	}
	for len(f.sources) > Sources {
		least := 0
		for i, s := range f.sources {
			if s.total <= f.sources[least].total {
				least = i
			}
		}
		f.sources = slices.Delete(f.sources, least, least+1)
	}
	f.matches = slices.DeleteFunc(f.matches, func(m match) bool {
		_, found := slices.BinarySearchFunc(f.sources, m.distance, compareDistance)
		return !found
	})
}

func compareDistance(s source, distance int32) int { return cmp.Compare(s.distance, distance) }

// insert puts the samples of own content into the table. m is what is no own content.
func (f *Finder) insert(b *Block, number int64, m []match) {
	removed := 0 // bytes of matches in front of the sample
	entry := uint64(number) & (1<<numberBits - 1) << tagBits
	for k, at32 := range b.samples.at {
		at := int(at32)
		for len(m) > 0 && at >= m[0].at+m[0].len {
			removed += m[0].len
			m = m[1:]
		}
		if len(m) > 0 && at >= m[0].at {
			continue
		}
		h := b.samples.hash[k]
		f.table[h>>f.shift] = h&(1<<tagBits-1) | entry | uint64(at-removed)<<(tagBits+numberBits)
	}
}

// copyOwn returns the own content: what matches leave of p.
func (f *Finder) copyOwn(p []byte, matches []match, checkpoint func()) *Buffer {
	size := len(p)
	for _, m := range matches {
		size -= m.len
	}
	own := f.arena.takeBuffer(size)
	from, q, pace := 0, own.P, pacer{checkpoint: checkpoint}
	for _, m := range matches {
		n := m.at - from
		pace.copy(q[:n], p[from:m.at])
		q, from = q[n:], m.at+m.len
	}
	pace.copy(q, p[from:])
	return own
}

// appendList appends the encoded list of the matches.
func (f *Finder) appendList(dst []byte) []byte {
	var distances [Sources]int32
	for i, s := range f.sources {
		distances[i] = s.distance
	}
	f.refs = f.refs[:0]
	for _, m := range f.matches {
		i := slices.Index(distances[:len(f.sources)], m.distance)
		f.refs = append(f.refs, Reference{m.at, m.len, i, m.offset})
	}
	return appendList(dst, distances[:len(f.sources)], f.refs)
}

// Release ends the use of what Find has returned. With reused unset, a device may still read the
// own content.
func (b *Block) Release(reused bool) {
	switch {
	case b.own == nil:
	case reused:
		b.own.Release()
	default:
		b.own.Abandon()
	}
	b.own = nil
}
