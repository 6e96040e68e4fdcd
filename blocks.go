package compress

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzaccess"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

type cacheEntry = blockcache.Entry[blockContent]

// A blockSource says how the cache loads blocks of a file. It is a [blockcache.Source].
type blockSource struct{ r *ReaderAt }

func (s blockSource) Blocks() int64 { return int64(len(s.r.index.Blocks)) }

// Sizes implements blockcache.Source. A Room has the block's own content, and room for the content
// if that is made from other blocks.
func (s blockSource) Sizes(block int64) (content int, room [2]int) {
	n := int(s.r.index.Blocks[block].Raw)
	room[0] = n
	if st, _ := s.r.index.StreamOf(block); st.Sources > 0 {
		room[1] = n
	}
	return n, room
}

// roomMemory returns the most memory in bytes that a Room for a block of st takes.
func roomMemory(st *index.Stream) int64 {
	n := int64(st.BlockSize)
	if st.Sources > 0 {
		n *= 2
	}
	return n + n/blockcache.Rounding
}

func (s blockSource) NewLoader() blockcache.Loader[blockContent] { return &blockLoader{r: s.r} }

// A blockContent is what the cache keeps of a block.
type blockContent struct {
	r      *ReaderAt
	number int64 // of the block in the file
	own    []byte
	data   []byte // its content; nil if that is still to be made, by refs
	spliced
}

// content returns the content.
func (c *blockContent) content() (data []byte, err error) {
	if c.data == nil && c.refs != nil {
		c.data, err = c.splice()
	}
	return c.data, err
}

// ownContent returns the own content.
func (c *blockContent) ownContent() ([]byte, error) { return c.own, nil }

// contentOf waits for a block and returns its content, which is valid until the entry is given
// back.
func contentOf(e *cacheEntry) ([]byte, error) {
	if c := e.Value(); c != nil && c.refs == nil {
		return c.data, nil
	}
	return e.Use((*blockContent).content)
}

// A prefetch holds cache entries of consecutive blocks: the block in use, and blocks behind it that
// are decompressed meanwhile.
type prefetch struct {
	r     *ReaderAt
	held  []*cacheEntry
	loads bool  // the first entry began to load for this prefetch
	next  int64 // first block that is not held
	end   int64 // first block that is not wanted
}

// fetch holds the first block, and those behind it that it can get. They are no more than may be
// loading at the same time.
func (w *prefetch) fetch() error {
	if err := w.r.opt.canceled(); err != nil {
		return err
	}
	for w.next < w.end && len(w.held) < w.r.cache.Limit() {
		e, loads, err := w.r.get(w.next, len(w.held) == 0)
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if len(w.held) == 0 {
			w.loads = loads
		}
		w.held = append(w.held, e)
		w.next++
	}
	return nil
}

// content is fetch, and returns the content of the first block.
func (w *prefetch) content() ([]byte, error) {
	if err := w.fetch(); err != nil {
		return nil, err
	}
	return contentOf(w.held[0])
}

// advance gives the first block back.
func (w *prefetch) advance() {
	w.r.cache.Release(w.held[0])
	w.held = w.held[:copy(w.held, w.held[1:])]
}

// close gives all blocks back.
func (w *prefetch) close() {
	for _, e := range w.held {
		w.r.cache.Release(e)
	}
	w.held = w.held[:0]
}

// A buffer is memory that loaders of all ReaderAts share.
type buffer struct{ p []byte }

// buffers holds free buffers, by the bits of their capacity less one.
var buffers [bits.UintSize + 1]sync.Pool

// getBuffer returns a buffer of n bytes. A new one has at most the larger of n and most.
func getBuffer(n, most int) *buffer {
	if b, _ := buffers[bits.Len(uint(n-1))].Get().(*buffer); b != nil && cap(b.p) >= n {
		b.p = b.p[:n]
		return b
	}
	return &buffer{make([]byte, n, max(n, min(container.CeilPow2(n), most)))}
}

// putBuffer gives a buffer back and clears the pointer, which may be nil.
func putBuffer(b **buffer) {
	if *b != nil {
		buffers[bits.Len(uint(cap((*b).p)-1))].Put(*b)
		*b = nil
	}
}

// A blockLoader loads one block at a time, through a run of one block. It is a [blockcache.Loader].
type blockLoader struct {
	r *ReaderAt
	stream
	pipe       uint8 // what the run was made for, up to dictionary
	checks     bool
	sources    int
	dictionary uint32

	number   int64           // of the block in the file
	blk      *pipeline.Block // nil between two loads
	inFlight bool            // blk is with the workers
	small    bool            // blk is for the goroutine that calls FinishLoad
	done     *pipeline.Block // blk, once Ready has taken it back from them
	verifier zstfile.Verifier
	gz       *gzaccess.Decoder
	serial   container.Serial // of gz
	payload  *buffer          // the block as it is in the file
	out      *buffer          // what an interval decodes to, behind its window
	err      error            // of Load
}

// Load reads a block and gives it to the workers. If the caller waits for it and it is small, the
// goroutine that calls FinishLoad decodes it; see smallContent.
func (l *blockLoader) Load(block int64, room blockcache.Room, waits bool) error {
	l.number, l.err = block, errs.Panicked
	if l.err = l.load(block, room); l.err != nil {
		l.recycle()
		return l.err
	}
	if l.small = waits && l.blk.Raw <= smallContent; !l.small {
		l.inFlight = true
		l.run.Submit(l.blk)
	}
	return nil
}

func (l *blockLoader) load(block int64, room blockcache.Room) error {
	r := l.r
	b := &r.index.Blocks[block]
	st, number := r.index.StreamOf(block)
	most := max(pzfile.BlockHeaderSize+st.BlockSize, r.index.MaxFrame)
	if b.Kind == index.Interval {
		most = r.index.MaxFrame
	}
	l.payload = getBuffer(int(b.Size), most)
	p := l.payload.p
	if err := container.ReadAt(r.src, p, b.Offset); err != nil {
		if e, ok := err.(*Error); ok {
			e.Part, e.Stream, e.Block = PartBlock, st.ID, number
		}
		return err
	}
	checks := st.Checks && r.opt.limits.Checks
	kind, sum := b.Kind, b.Sum
	var err error
	switch b.Kind {
	case index.Interval:
		kind, sum = container.Coded, 0 // the Decoder verifies the content
	case index.Frame:
		kind = container.Coded
		l.verifier.Dictionary = r.opt.zstDictionary()
		err = l.verifier.Verify(p, b, number, checks)
		if !checks {
			sum = 1 // the frame's own check is compared
		}
	default:
		if err := pzfile.MissingDictionary(st.Dictionary, r.opt.dict.Number()); err != nil {
			return &Error{
				Kind: ErrDictionary, Part: PartHeader, Stream: st.ID, Block: -1, Offset: st.Offset,
				Err: err,
			}
		}
		p, sum, err = pzfile.OpenBlock(p, b, st, number)
	}
	if err != nil {
		return err
	}
	if l.run == nil || l.pipe != st.Pipeline || l.checks != st.Checks || l.sources != st.Sources ||
		l.dictionary != st.Dictionary {
		pipe := pipelineOf(r.index.Format, st.Pipeline)
		cfg := r.opt.config(pipeline.Decompress, pipe, checks && r.gz == nil, st.BlockSize)
		cfg.InFlight, cfg.Sources = 1, st.Sources
		if r.index.Format == PZ && st.Dictionary == 0 {
			cfg.Dictionary = nil
		}
		l.start(r.sched, cfg)
		l.pipe, l.checks = st.Pipeline, st.Checks
		l.sources, l.dictionary = st.Sources, st.Dictionary
	}
	if !r.opt.limits.Checks {
		sum = 0
	}
	l.blk = l.run.Get()
	l.blk.Src, l.blk.Kind, l.blk.Raw, l.blk.Sum = p, uint8(kind), int(b.Raw), sum
	if r.gz != nil {
		l.interval(block)
	}
	l.blk.Into = room[0]
	l.run.Number(number)
	return nil
}

// Ready reports whether the workers do not have the block.
func (l *blockLoader) Ready() bool {
	if l.inFlight && l.done == nil {
		l.done, _ = l.run.Next(false)
	}
	return !l.inFlight || l.done != nil
}

// FinishLoad waits for the block and sets its content.
func (l *blockLoader) FinishLoad(c *blockContent, room blockcache.Room) error {
	if l.err != nil {
		return l.err
	}
	if l.small {
		l.small = false
		l.run.Do(l.blk)
	}
	b, err := l.done, error(nil)
	if b == nil {
		b, err = l.run.Next(true)
	}
	l.inFlight, l.done = false, nil
	if err != nil {
		l.Cancel() // the context has ended: the block is still in flight
		return err
	}
	if b.Err != nil {
		st, number := l.r.index.StreamOf(l.number)
		ctx, offset := l.r.opt.limits.Context, l.r.index.Blocks[l.number].Offset
		err = blockError(pipeline.Decompress, b.Err, ctx, st.ID, number, offset)
	}
	if err == nil && l.gz != nil {
		err = l.serial.Stop
	}
	var refs *ldm.List
	if err == nil {
		refs, err = l.references(b)
	}
	if err == nil {
		*c = blockContent{r: l.r, number: l.number, own: b.Out()}
		if l.gz != nil {
			c.own = room[0][:copy(room[0], c.own)]
		}
		if refs == nil {
			c.data = c.own
		} else {
			c.whole, c.refs = room[1], refs
		}
	}
	l.releaseScratch()
	if b.SrcRetired() {
		l.Cancel()
	}
	l.recycle()
	return err
}

// recycle lets other loaders have the memory.
func (l *blockLoader) recycle() {
	if l.blk != nil {
		l.blk.Src = nil
		l.run.Put(l.blk)
		l.blk = nil
	}
	if l.gz != nil {
		l.gz.SetInterval(nil, 0, false)
		gzipDecoders.Put(l.gz)
		l.gz, l.serial = nil, container.Serial{}
	}
	putBuffer(&l.payload)
	putBuffer(&l.out)
}

// Cancel ends the run, if there is one. A device may still read the payload afterwards.
func (l *blockLoader) Cancel() {
	l.stop()
	l.blk, l.done, l.inFlight, l.small = nil, nil, false, false
	l.payload, l.out, l.gz, l.serial = nil, nil, nil, container.Serial{}
}

// Close ends the run and frees the memory. The statistics stay.
func (l *blockLoader) Close() { l.Cancel() }

// spliced is what a blockContent has if the block repeats parts of others, its sources. They come
// from the cache. If there is no slot to load one, the spare loader of the ReaderAt does: a caller
// that holds an entry must not wait for another one.
type spliced struct {
	refs  *ldm.List
	whole []byte // memory for the content
	lost  []ldm.Reference
}

// A spareLoader loads sources one after the other. Its mutex guards all of it and the source's
// content.
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

// references returns the references of a block whose own content has been decoded, nil if it has
// none.
func (l *blockLoader) references(b *pipeline.Block) (*ldm.List, error) {
	p := b.Src
	if l.sources == 0 || container.Kind(b.Kind) != container.Coded || p[0] != ldm.LayoutID {
		return nil, nil
	}
	var list ldm.List
	_, _, err := list.Parse(p[1:], b.Raw, l.sources, nil)
	if err != nil {
		return nil, errs.Wrap(ErrCorrupt, err)
	}
	return list.Clone(), nil
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
// If all sources are there and the content is wrong, a source is of another file. All that the
// block repeats counts as lost then. It fails if the block itself is lost.
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

// spliceSources makes the content of the block. It calls lose for each source that is lost; if that
// is nil it fails.
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

// insert copies what the block repeats of source i to data. The source is block n of the file and
// in the entry e, which may be nil.
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
