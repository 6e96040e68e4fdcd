package compress

import (
	"errors"
	"fmt"
	"math/bits"
	"sort"
	"sync"

	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pzfile"
)

// This file has the option for long-distance matches, and makes the content of blocks that repeat parts
// of others, for random access and recovery. Package pipeline does that for a Reader.

// Windows of [WithLongDistance].
const (
	// DefaultWindow is a window for [WithLongDistance], 128 MiB. A Reader without [WithMaxMemory] has
	// the memory for windows of up to 512 MiB.
	DefaultWindow = 128 << 20
	MinWindow     = ldm.MinWindow // 1 MiB
	MaxWindow     = ldm.MaxWindow // 2 GiB
)

// WithLongDistance lets the blocks of a .pz file repeat parts of earlier blocks, as far back as
// window bytes of content that is not itself such a repeat: a power of two from [MinWindow] to
// [MaxWindow], and at least the block size. 0, the default, is for none. It pays for content that
// repeats over longer distances than a block: several versions of a tree of files, images of disks.
//
// A Writer takes up to 1.5 times the window of memory in addition, a Reader 1.4 times, and more if a
// block is larger than a 32nd of the window; [WriterMemory] and [ReaderMemory] count it. If the size of
// the content is known, the window is no larger than that. Blocks are compressed and decompressed in
// parallel all the same. Damage to a block also costs what later blocks repeat of it. To read a block, a
// ReaderAt decompresses up to eight others. [WithRsyncable], other formats and [NewPlan] have no such
// matches: the error is [ErrOption]. docs/notes/long-distance.md has figures.
func WithLongDistance(window int64) Option {
	return func(o *options) error {
		if window != 0 && !ldm.ValidWindow(window) {
			return errs.BadOption("window %d is not a power of two in %d … %d",
				window, int64(MinWindow), int64(MaxWindow))
		}
		o.window = window
		return nil
	}
}

// setWindow checks WithLongDistance against the other options, and lowers the window to what the
// content needs.
func (o *options) setWindow() error {
	switch {
	case o.window == 0:
		return nil
	case o.pipe.Format == Zstd:
		return errs.BadOption("long-distance matches are for .pz; larger blocks make those of .zst longer")
	case o.pipe.Format != PZ:
		return errs.BadOption("long-distance matches are for .pz, not .%v", o.pipe.Format)
	case o.dict != nil:
		return errs.BadOption("WithLongDistance and WithDictionary exclude each other: " +
			"blocks have one or the other in front of them")
	case o.rsyncable:
		return errs.BadOption("WithLongDistance and WithRsyncable exclude each other: " +
			"blocks that repeat others change with them")
	case o.window < int64(o.blockSize):
		return errs.BadOption("window of %d bytes is smaller than a block of %d", o.window, o.blockSize)
	}
	if size := o.contentSize; size >= 0 && size <= int64(o.blockSize) {
		o.window = 0 // a single block
	} else if size >= 0 && size < o.window {
		o.window = max(MinWindow, int64(o.blockSize), 1<<bits.Len64(uint64(size-1)))
	}
	return nil
}

// finder returns what finds long-distance matches, nil without WithLongDistance.
func (o *options) finder() *ldm.Finder {
	if o.window == 0 {
		return nil
	}
	return ldm.NewFinder(o.window, o.blockSize)
}

// spliced is what a blockContent has if the block repeats parts of others, its sources. They come from
// the cache. If there is no slot to load one, the spare loader of the ReaderAt does: a caller that holds
// an entry must not wait for another one.
type spliced struct {
	refs  *ldm.List
	whole []byte // memory for the content
	lost  []ldm.Reference
}

// A spareLoader loads sources one after the other. Its mutex guards all of it and the source's content.
type spareLoader struct {
	mu sync.Mutex
	blockLoader
	own []byte // memory for own content
}

// Close frees the memory.
func (s *spareLoader) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blockLoader.Close()
	s.own = nil
}

// load returns the own content of a block.
func (s *spareLoader) load(n int64) ([]byte, error) {
	size := int(s.r.index.Blocks[n].Raw)
	if cap(s.own) < size {
		s.own = make([]byte, size)
	}
	room := blockcache.Room{s.own[:size]}
	var c blockContent
	err := s.Load(n, room, true)
	if err == nil {
		err = s.FinishLoad(&c, room)
	}
	return c.own, err
}

// splice makes the content of the block from its own content and the sources.
func (c *blockContent) splice() ([]byte, error) {
	data, err := c.spliceSources(nil)
	if err != nil {
		return nil, err
	}
	if !c.matches(data) {
		st, number := c.r.index.StreamOf(c.number)
		return nil, &Error{
			Kind: ErrChecksum, Part: PartBlock, Stream: st.ID, Block: number,
			Offset: c.r.index.Blocks[c.number].Offset, Detail: "checksum mismatch of what it repeats",
		}
	}
	return data, nil
}

// matches reports whether data has the checksum of the whole content, if checksums count.
func (c *blockContent) matches(data []byte) bool {
	st, _ := c.r.index.StreamOf(c.number)
	return !st.Checks || !c.r.opt.limits.Checks ||
		pzfile.Checksum(0, data) == c.refs.Sum
}

// partial returns the content of a block although sources are lost. The parts in c.lost are zeros.
// If all sources are there and the content is wrong, a source is of another file. All that the block
// repeats counts as lost then. It fails if the block itself is lost.
func (c *blockContent) partial() ([]byte, error) {
	if c.refs == nil {
		return c.content()
	}
	c.lost = c.lost[:0]
	data, err := c.spliceSources(c.lose)
	if err == nil && len(c.lost) == 0 && !c.matches(data) {
		for source := range c.refs.Distances() {
			c.lose(data, source)
		}
	}
	return data, err
}

// lose makes zeros of what the block repeats of a source.
func (c *blockContent) lose(data []byte, source int) {
	for ref := range c.refs.All() {
		if ref.Source == source {
			clear(data[ref.At : ref.At+ref.Len])
			c.lost = append(c.lost, ref)
		}
	}
}

// spliceSources makes the content of the block. It calls lose for each source that is lost; if that is
// nil it fails.
func (c *blockContent) spliceSources(lose func(data []byte, source int)) ([]byte, error) {
	r := c.r
	data := c.whole[:r.index.Blocks[c.number].Raw]
	c.refs.Spread(data, c.own, nil)
	var held [ldm.MaxSources]*cacheEntry // of the sources; nil for those without an entry
	defer func() {
		for _, e := range held {
			if e != nil {
				r.cache.Release(e)
			}
		}
	}()
	for i, d := range c.refs.Distances() { // all begin to load
		if n := c.source(d); n >= 0 {
			var err error
			held[i], _, err = r.get(n, false)
			if err != nil {
				return nil, err
			}
		}
	}
	for i, d := range c.refs.Distances() {
		err := c.insert(data, i, held[i], c.source(d))
		if cerr := r.opt.canceled(); cerr != nil {
			return nil, cerr
		}
		if err != nil && lose == nil {
			return nil, c.sourceError(d, err)
		} else if err != nil {
			lose(data, i)
		}
	}
	return data, nil
}

// source returns the number in the file of the source at a distance, −1 if there is none.
func (c *blockContent) source(distance int32) int64 {
	n := c.r.index.Earlier(c.number, int64(distance))
	if n >= 0 && c.r.index.Blocks[n].Kind == container.Fill {
		return -1 // without own content
	}
	return n
}

var errNoSource = errs.New(ErrCorrupt, "not there, or without own content")

// insert copies what the block repeats of source i to data. The source is block n of the file and in
// the entry e, which may be nil.
func (c *blockContent) insert(data []byte, i int, e *cacheEntry, n int64) error {
	var own []byte
	var err error
	switch {
	case n < 0:
		return errNoSource
	case e != nil:
		own, err = e.Use((*blockContent).ownContent)
	default:
		c.r.spare.mu.Lock()
		defer c.r.spare.mu.Unlock()
		own, err = c.r.spare.load(n)
	}
	if err == nil && len(own) == 0 {
		err = errNoSource
	}
	if err != nil {
		return err
	}
	return c.refs.Insert(data, i, own, nil)
}

// sourceError returns the error of a block whose source at a distance has an error.
func (c *blockContent) sourceError(distance int32, err error) error {
	st, number := c.r.index.StreamOf(c.number)
	e := &Error{
		Kind: ErrCorrupt, Part: PartBlock, Stream: st.ID, Block: number,
		Offset: c.r.index.Blocks[c.number].Offset, Err: err,
		Detail: fmt.Sprintf("repeats block %d", number-int64(distance)),
	}
	var source *Error
	switch {
	case errors.As(err, &source):
		e.Kind = source.Kind
	case !ldm.IsBad(err):
		return err // of the underlying reader
	}
	return e
}

// partial returns what is left of the first block, after content has failed, and the parts that are
// lost, which are zeros. It fails if that is the whole block.
func (w *prefetch) partial() (data []byte, lost []ldm.Reference, err error) {
	if len(w.held) == 0 {
		return nil, nil, ErrClosed
	}
	data, err = w.held[0].Use(func(c *blockContent) ([]byte, error) {
		p, err := c.partial()
		lost = c.lost
		return p, err
	})
	return data, lost, err
}

// keepPart writes a block of which parts repeat content that is lost. They are zeros in data.
func (v *recovery) keepPart(block int64, data []byte, lost []ldm.Reference, err error) error {
	if err := v.flush(); err != nil {
		return err
	}
	st, number := v.r.index.StreamOf(block)
	d := Damage{
		Kind: DamageWindow, Stream: st.ID, Block: number, ContentOffset: v.offset,
		Span: int64(len(data)), Err: err,
	}
	for _, part := range lost {
		d.Content += int64(part.Len)
	}
	if err := v.report(d); err != nil {
		return err
	}
	if v.offset >= 0 {
		v.offset += int64(len(data))
	}
	if v.opt.zeroFill {
		return v.write(data)
	}
	sort.Slice(lost, func(i, j int) bool { return lost[i].At < lost[j].At })
	end := 0
	for _, part := range lost {
		if err := v.write(data[end:part.At]); err != nil {
			return err
		}
		end = part.At + part.Len
	}
	return v.write(data[end:])
}
