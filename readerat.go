package compress

import (
	"fmt"
	"io"
	"iter"
	"sort"

	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzaccess"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// ReaderAt gives access to any place of the content of a file: of a .pz file through its index, of a
// .zst file through its seek table, of a .gz file through checkpoints. It reads and decompresses only
// the blocks that a call needs. Damage to a block fails only calls that touch the block.
//
// ReadAt may be called from several goroutines at the same time. Read, Seek and WriteTo share one
// position and are for one goroutine at a time; ReadAt does not touch the position. A ReaderAt
// keeps the blocks that were used last in memory, within its limit. Make one with [NewReaderAt]. The
// zero value describes an empty file, and its methods that can fail, all but Close, return an
// [ErrOption].
type ReaderAt struct {
	opt   options
	sched *pipeline.Scheduler
	src   io.ReaderAt
	index index.File
	gz    *gzaccess.Map                   // nil unless the file is a .gz file
	cache *blockcache.Cache[*blockLoader] // nil in the zero value

	cursor cursor
}

type cacheEntry = blockcache.Entry[*blockLoader]

// NewReaderAt opens the file of size bytes that src holds: one stream, or several. It reads headers
// and indexes. A .zst file without a seek table is an [ErrNoIndex], unless it is one
// frame that states a size of at most 32 MiB. A wrong seek table is an error
// here, or when a frame is read that is not as the table says. Index and blocks in memory together
// stay within [WithMaxMemory]. Content larger than [WithMaxDecodedSize] makes it fail, as does a
// [WithBackend] that is not available.
//
// A .gz file may come from any writer. NewReaderAt decompresses and verifies it once from the front,
// as a Reader does, and keeps a checkpoint about every 512 KiB of content. Its errors are those of a
// Reader. Checkpoints take up to 64 MiB or an eighth of the memory limit; in large files they lie
// further apart. Blocks are the intervals between checkpoints. Two kinds of .gz files are opened
// without decompressing them: BGZF files, by their headers, and files with an index that
// [WithIndex] names.
func NewReaderAt(src io.ReaderAt, size int64, opts ...Option) (*ReaderAt, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, errs.BadOption("file size %d is negative", size)
	}
	if err := o.canceled(); err != nil {
		return nil, err
	}
	if isGzip(src, size) {
		return newGzipReaderAt(src, size, o)
	}
	x, err := readIndex(src, size, &o.limits)
	if err != nil {
		return nil, err
	}
	return newReaderAt(src, x, o)
}

// newReaderAt makes a ReaderAt for the file that x describes.
func newReaderAt(src io.ReaderAt, x *index.File, o options) (*ReaderAt, error) {
	if o.limits.TooLarge(0, x.Content) {
		return nil, tooMuchContent(x.Content, o.limits.MaxDecoded)
	}
	n, err := o.cacheEntries(x)
	if err != nil {
		return nil, err
	}
	r := &ReaderAt{opt: o, sched: o.scheduler(), src: src, index: *x}
	for i := range x.Streams {
		st := &x.Streams[i]
		p := pipelineOf(x.Format, st.Pipeline)
		err := o.checkBackend(r.sched, pipeline.Decompress, p, st.Checks && o.limits.Checks, st.BlockSize)
		if err != nil {
			return nil, err
		}
	}
	r.cache = newCache(r, n)
	return r, nil
}

// newCache returns a cache of blocks.
func newCache(r *ReaderAt, entries int) *blockcache.Cache[*blockLoader] {
	return blockcache.New(entries, func() *blockLoader { return &blockLoader{r: r} })
}

func tooMuchContent(size, limit int64) error {
	e := errs.New(ErrTooLarge, fmt.Sprintf("content of %d bytes is more than %d", size, limit))
	e.Part = PartIndex
	return e
}

// ready returns an error if the ReaderAt cannot read.
func (r *ReaderAt) ready() error {
	switch {
	case r.cache == nil:
		return errs.BadOption("a ReaderAt that was made without NewReaderAt")
	case r.cache.Closed():
		return ErrClosed
	}
	return nil
}

// Size returns the size of the content in bytes.
func (r *ReaderAt) Size() int64 { return r.index.Content }

// Stats returns the statistics of what has been read so far; zero if they were off then.
func (r *ReaderAt) Stats() (sum SchedulerStats) {
	if r.cache == nil {
		return sum
	}
	r.cache.Loaders(func(l *blockLoader) {
		for ; l != nil; l = l.splicer.spare {
			t := l.statistics()
			sum.Add(&t)
		}
	})
	return sum
}

// Info returns what the index says about the file.
func (r *ReaderAt) Info() Info { return infoOf(&r.index) }

// Blocks goes through all blocks of the file in order.
func (r *ReaderAt) Blocks() iter.Seq[BlockInfo] { return blocksOf(&r.index) }

// Block describes the block with that number among all blocks of the file, from 0. It panics if
// there is none.
func (r *ReaderAt) Block(number int64) BlockInfo {
	st := r.index.Streams
	n := sort.Search(len(st), func(i int) bool { return st[i].First > number }) - 1
	return blockInfo(&r.index, n, number-st[n].First)
}

// ReadAt reads len(p) bytes of content from offset off, as [io.ReaderAt] says. It decompresses the
// blocks in parallel. With an error it returns the number of bytes in front of the damage.
func (r *ReaderAt) ReadAt(p []byte, off int64) (n int, err error) {
	if err := r.ready(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, errNegative
	}
	if off >= r.index.Content {
		return 0, io.EOF
	}
	var eof error
	if rest := r.index.Content - off; int64(len(p)) > rest {
		p, eof = p[:rest], io.EOF
	}
	if len(p) == 0 {
		return 0, eof
	}
	first, last := r.index.Find(off), r.index.Find(off+int64(len(p))-1)
	var few [4]*cacheEntry
	w := prefetch{r: r, held: few[:0], next: first, end: last + 1}
	defer w.close()
	for block := first; block <= last; block++ {
		data, err := w.content()
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[off+int64(n)-r.index.Blocks[block].Content:])
		w.advance()
	}
	return n, eof
}

// Close frees the memory. Calls of ReadAt that are under way complete or return [ErrClosed], as
// later ones do. Close does not close the underlying reader. It returns nil. It must not be called
// at the same time as Read, Seek or WriteTo.
func (r *ReaderAt) Close() error {
	if r.cache != nil {
		r.cursor.drop(r)
		r.cache.Close()
	}
	return nil
}

// get returns the cache entry of a block. See [blockcache.Cache.Get].
func (r *ReaderAt) get(block int64, wait bool) (*cacheEntry, error) {
	e, err := r.cache.Get(block, wait)
	if err == blockcache.ErrClosed {
		err = ErrClosed
	}
	return e, err
}

// A prefetch holds cache entries of consecutive blocks: the block in use, and blocks behind it that
// are decompressed meanwhile.
type prefetch struct {
	r    *ReaderAt
	held []*cacheEntry
	next int64 // first block that is not held
	end  int64 // first block that is not wanted
}

// content returns the content of the first block.
func (w *prefetch) content() ([]byte, error) {
	if err := w.r.opt.canceled(); err != nil {
		return nil, err
	}
	for w.next < w.end {
		e, err := w.r.get(w.next, len(w.held) == 0)
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		w.held = append(w.held, e)
		w.next++
	}
	return w.held[0].Content()
}

// advance gives the first block back.
func (w *prefetch) advance() {
	w.r.cache.Put(w.held[0])
	w.held = w.held[:copy(w.held, w.held[1:])]
}

// close gives all blocks back.
func (w *prefetch) close() {
	for _, e := range w.held {
		w.r.cache.Put(e)
	}
}

// A blockLoader loads blocks for one cache entry, through a run of one block.
type blockLoader struct {
	r *ReaderAt
	stream
	pipe       uint8 // what the run was made for, up to dictionary
	checks     bool
	sources    int
	dictionary uint32

	number   int64 // of the block in the file
	blk      *pipeline.Block
	inFlight bool // blk is with the workers
	verifier zstfile.Verifier
	gz       *gzaccess.Decoder
	buf      []byte // the block as it is in the file
	own      []byte // what it decodes to: its own content, if it refers to others
	data     []byte // its content; nil if that is still to be made
	err      error
	splicer  splicer // of blocks that refer to others
}

// Load reads a block and gives it to the workers.
func (l *blockLoader) Load(block int64) error {
	l.await(false) // a block that no caller has waited for
	l.number, l.own, l.data, l.err = block, nil, nil, errs.Panicked
	l.splicer.lost = l.splicer.lost[:0]
	if l.blk != nil && l.blk.SrcRetired() {
		l.stop()
		l.buf = nil
	}
	l.err = l.load(block)
	return l.err
}

func (l *blockLoader) load(block int64) error {
	r := l.r
	b := &r.index.Blocks[block]
	st, number := r.index.StreamOf(block)
	if n := int(b.Size); cap(l.buf) < n {
		most := max(pzfile.BlockHeaderSize+st.BlockSize, r.index.MaxFrame)
		if b.Kind == index.Interval {
			most = r.index.MaxFrame
		}
		l.buf = make([]byte, min(container.CeilPow2(n), most))
	}
	p := l.buf[:b.Size]
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
		if detail := pzfile.MissingDictionary(st.Dictionary, r.opt.dict.Number()); detail != "" {
			return &Error{
				Kind: ErrDictionary, Part: PartHeader, Stream: st.ID, Block: -1, Offset: st.Offset,
				Detail: detail,
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
	l.inFlight = true
	l.run.Number(number)
	l.run.Submit(l.blk)
	return nil
}

// Content waits for the block and returns its content.
func (l *blockLoader) Content() ([]byte, error) {
	l.await(true)
	if l.err == nil && l.data == nil {
		l.data, l.err = l.splice()
	}
	return l.data, l.err
}

// Own waits for the block and returns its own content.
func (l *blockLoader) Own() ([]byte, error) {
	l.await(true)
	if l.own == nil {
		return nil, l.err
	}
	return l.own, nil
}

// await takes the block back from the workers if they have it. wanted says that the block's own
// error counts.
func (l *blockLoader) await(wanted bool) {
	if !l.inFlight {
		return
	}
	l.inFlight = false
	b, err := l.run.Next(true)
	if err == nil && b.Err != nil && wanted {
		st, number := l.r.index.StreamOf(l.number)
		ctx, offset := l.r.opt.limits.Context, l.r.index.Blocks[l.number].Offset
		err = blockError(pipeline.Decompress, b.Err, ctx, st.ID, number, offset)
	}
	if err == nil && wanted {
		err = b.Serial.Stop
	}
	if err != nil {
		if b == nil {
			l.stop() // canceled: the block is still in flight, and a device may still read it
			l.buf = nil
		}
		l.data, l.err = nil, err
		return
	}
	if l.own = b.Out(); b.References().Empty() {
		l.data = l.own
	}
	l.releaseScratch()
}

// Close ends the run and frees the memory. The statistics stay.
func (l *blockLoader) Close() {
	l.stop()
	l.blk, l.buf, l.own, l.data, l.gz = nil, nil, nil, nil, nil
	l.splicer.close()
}
