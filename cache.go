package compress

import (
	"math/bits"
	"sync"

	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzaccess"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// DefaultCache is how many bytes of content a ReaderAt without [WithCache] keeps: 64 MiB. It is more if
// blocks are so large that those being decompressed take more, and less if [WithMaxMemory] leaves less.
const DefaultCache = 64 << 20

// A Cache keeps content of blocks for any number of ReaderAts, from any goroutines. The blocks that
// were used most often and last stay. Reading a file once from the front does not displace them. Give
// it to [NewReaderAt] with [WithCache].
type Cache struct {
	c *blockcache.Cache[blockContent]
}

// NewCache returns a Cache for so many bytes of content. It never holds more, also while blocks are
// being decompressed. Blocks that do not fit stay in the memory of their ReaderAt, which [WithMaxMemory]
// limits. The Cache frees the blocks of a ReaderAt when that is closed; those of one that is dropped
// without Close stay until others need the room.
func NewCache(bytes int64) *Cache { return &Cache{blockcache.New[blockContent](bytes)} }

// CacheStats says what a Cache has done. Its fields, all int64, are:
//
//	Hits        // requests for blocks that were there or being loaded
//	Misses      // requests that began to load a block
//	Waits       // requests that found their block being loaded, or as many loads as there may be
//	Loads       // blocks that began to load: misses, and blocks that are read ahead
//	LoadedBytes // content of these blocks
//	Evictions   // blocks that made room for others
//	Bytes       // content in the Cache now
//
// A call of ReadAt is one request for each block that it touches.
type CacheStats = blockcache.Stats

// Stats returns the statistics so far.
func (c *Cache) Stats() (s CacheStats) {
	if c.c != nil {
		s = c.c.Stats()
	}
	return s
}

// WithCache has a ReaderAt keep blocks in c, which other ReaderAts may share. Without it, or with nil, a
// ReaderAt has a Cache of [DefaultCache] bytes of its own, which [WithMaxMemory] counts. A Cache that was
// made without [NewCache] is an [ErrOption].
func WithCache(c *Cache) Option {
	return func(o *options) error {
		if c != nil && c.c == nil {
			return errs.BadOption("a Cache that was made without NewCache")
		}
		o.cache = c
		return nil
	}
}

type cacheEntry = blockcache.Entry[blockContent]

// A blockSource says how the cache loads blocks of a file. It is a [blockcache.Source].
type blockSource struct{ r *ReaderAt }

func (s blockSource) Blocks() int64 { return int64(len(s.r.index.Blocks)) }

// Sizes implements blockcache.Source. A Room has the block's own content, and room for the content if
// that is made from other blocks.
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

// contentOf waits for a block and returns its content, which is valid until the entry is given back.
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

// fetch holds the first block, and those behind it that it can get. They are no more than may be loading
// at the same time.
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

	number   int64 // of the block in the file
	blk      *pipeline.Block
	inFlight bool            // blk is with the workers
	small    bool            // blk is for the goroutine that calls FinishLoad
	done     *pipeline.Block // blk, once Ready has taken it back from them
	verifier zstfile.Verifier
	gz       *gzaccess.Decoder
	payload  *buffer // the block as it is in the file
	out      *buffer // what an interval decodes to, behind its window
	err      error   // of Load
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
		cfg := r.opt.config(pipeline.Decompress, pipe, checks && r.gz == nil, 1)
		cfg.LongDistance.Sources = st.Sources
		if r.index.Format == PZ && st.Dictionary == 0 {
			cfg.Dictionary = nil
		}
		l.start(r.sched, cfg)
		l.pipe, l.checks, l.blk = st.Pipeline, st.Checks, l.run.Get()
		l.sources, l.dictionary = st.Sources, st.Dictionary
	}
	if !r.opt.limits.Checks {
		sum = 0
	}
	l.blk.Src, l.blk.Kind, l.blk.Raw, l.blk.Sum = p, kind, int(b.Raw), sum
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
	if err == nil {
		err = b.Serial.Stop
	}
	if err == nil {
		*c = blockContent{r: l.r, number: l.number, own: b.Out()}
		if l.gz != nil {
			c.own = room[0][:copy(room[0], c.own)]
		}
		if b.References().Empty() {
			c.data = c.own
		} else {
			c.whole, c.refs = room[1], b.References().Clone()
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
		l.blk.Src, l.blk.Into = nil, nil
	}
	if l.gz != nil {
		l.gz.SetInterval(nil, 0, false)
		gzipDecoders.Put(l.gz)
		l.gz, l.blk.Serial = nil, container.Serial{}
	}
	putBuffer(&l.payload)
	putBuffer(&l.out)
}

// Cancel ends the run, if there is one. A device may still read the payload afterwards.
func (l *blockLoader) Cancel() {
	l.stop()
	l.blk, l.done, l.inFlight, l.small = nil, nil, false, false
	l.payload, l.out, l.gz = nil, nil, nil
}

// Close ends the run and frees the memory. The statistics stay.
func (l *blockLoader) Close() { l.Cancel() }
