package compress

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"sort"

	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzaccess"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/pipeline"
)

// ReaderAt gives access to any place of the content of a file: of a .pz file through its index, of
// a .zst file of [WithSeekable] through its seek table, of a .gz file through checkpoints. It reads
// and decompresses only the blocks that a call needs. Damage to a block fails only calls that touch
// the block.
//
// ReadAt may be called from several goroutines at the same time. Read, Seek and WriteTo share one
// position and are for one goroutine at a time; ReadAt does not touch the position. Blocks that
// were used stay in memory; see [WithCache]. While calls of ReadAt read one block after the other,
// up to two blocks are decompressed ahead. Make a ReaderAt with [NewReaderAt]. The zero value
// describes an empty file, and its methods that can fail, all but Close, return an [ErrOption].
type ReaderAt struct {
	opt   options
	sched *pipeline.Scheduler
	src   io.ReaderAt
	index index.File
	gz    *gzaccess.Map                  // nil unless the file is a .gz file
	cache *blockcache.File[blockContent] // nil in the zero value

	cursor cursor
	spare  spareLoader
}

// NewReaderAt opens the file of size bytes that src holds: one stream, or several. It reads headers
// and indexes. In a .zst file without a seek table it looks for frames by their headers, and each
// that states no size, or one above 32 MiB, is an [ErrNoIndex]. A wrong seek table is an error
// here, or when a frame is read that is not as the table says. Index and blocks in memory together
// stay within [WithMaxMemory]. Content larger than [WithMaxDecodedSize] makes it fail, as does a
// device of [WithDevice] that cannot do what it asks for.
//
// A .gz file may come from any writer. NewReaderAt decompresses and verifies it once from the
// front, as a Reader does, and keeps a checkpoint about every 512 KiB of content. Its errors are
// those of a Reader. Checkpoints take up to 64 MiB or an eighth of the memory limit; in large files
// they lie further apart. Blocks are the intervals between checkpoints. Two kinds of .gz files are
// opened without decompressing them: BGZF files, by their headers, and files with an index that
// [WithIndex] names.
func NewReaderAt(src io.ReaderAt, size int64, opts ...ReaderOption) (*ReaderAt, error) {
	o, err := newOptions(forReaderAt, opts)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, errs.BadOption("file size %d is negative", size)
	}
	if err := o.canceled(); err != nil {
		return nil, err
	}
	if f, ok := formatAt(src, 0, size); ok && f == Gzip {
		return newGzipReaderAt(src, size, o)
	}
	if o.index != nil {
		return nil, errs.BadOption("WithIndex is for .gz files")
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
	loads, bytes, err := o.cacheBudget(x)
	if err != nil {
		return nil, err
	}
	if o.cache == nil {
		o.cache = NewCache(bytes)
	}
	r := &ReaderAt{opt: o, sched: o.scheduler(), src: src, index: *x}
	r.spare.blockLoader = blockLoader{r: r}
	for i := range x.Streams {
		st := &x.Streams[i]
		p := pipelineOf(x.Format, st.Pipeline)
		cfg := o.config(pipeline.Decompress, p, st.Checks && o.limits.Checks, st.BlockSize)
		if err := o.checkBackend(r.sched, cfg); err != nil {
			return nil, err
		}
	}
	r.cache = o.cache.c.File(loads, blockSource{r})
	return r, nil
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

// Stats returns the statistics of what has been read so far, without what was read while they were
// off: see [Scheduler.EnableStats].
func (r *ReaderAt) Stats() Stats {
	var sum pipeline.Stats
	if r.cache == nil {
		return Stats{}
	}
	r.cache.Loaders(func(l blockcache.Loader[blockContent]) {
		t := l.(*blockLoader).statistics()
		sum.Add(&t)
	})
	r.spare.mu.Lock()
	defer r.spare.mu.Unlock()
	t := r.spare.statistics()
	sum.Add(&t)
	return statsOf(sum)
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
	var call blockcache.Reading
	if first == last {
		n, early, err := r.readOne(p, off, first, &call)
		if err != nil && early {
			n, _, err = r.readOne(p, off, first, &call)
		}
		return n, cmp.Or(err, eof)
	}
	w := prefetch{r: r, next: first, end: last + 1}
	defer w.close()
	for block := first; block <= last; {
		if err := w.fetch(); err != nil {
			return n, err
		}
		m, err := r.readBlock(p[n:], off+int64(n), block, w.held[0], w.loads, &call)
		n += m
		if err != nil && w.held[0].Early() {
			w.close()
			w.next = block
			continue
		}
		if err != nil {
			return n, err
		}
		w.advance()
		block++
	}
	return n, eof
}

// readOne reads content that lies in one block. With an error, early says that the load began
// before this call, so that another load may succeed.
func (r *ReaderAt) readOne(
	p []byte, off, block int64, call *blockcache.Reading,
) (n int, early bool, err error) {
	if err := r.opt.canceled(); err != nil {
		return 0, false, err
	}
	e, loads, err := r.get(block, true)
	if err != nil {
		return 0, false, err
	}
	defer r.cache.Release(e)
	n, err = r.readBlock(p, off, block, e, loads, call)
	return n, e.Early(), err
}

// readBlock reads content from offset off on, as far as the block in e has it. loads is what get
// has returned.
func (r *ReaderAt) readBlock(
	p []byte, off, block int64, e *cacheEntry, loads bool, call *blockcache.Reading,
) (int, error) {
	b := &r.index.Blocks[block]
	from := int(off - b.Content)
	to := min(from+len(p), int(b.Raw))
	r.cache.Reads(e, from, to, to == int(b.Raw), loads, call)
	data, err := contentOf(e)
	if err != nil {
		return 0, err
	}
	return copy(p, data[from:to]), nil
}

// Close frees the memory. Calls of ReadAt that are under way complete or return [ErrClosed], as
// later ones do. Close does not close the underlying reader. It returns nil. It must not be called
// at the same time as Read, Seek or WriteTo.
func (r *ReaderAt) Close() error {
	if r.cache != nil {
		r.cursor.drop(r)
		r.cache.Close()
		r.spare.Close()
	}
	return nil
}

// get returns the cache entry of a block. See [blockcache.File.Get].
func (r *ReaderAt) get(block int64, wait bool) (e *cacheEntry, loads bool, err error) {
	e, loads, err = r.cache.Get(block, wait)
	if err == blockcache.ErrClosed {
		err = ErrClosed
	}
	return e, loads, err
}

// A cursor is the position of a ReaderAt's Read, Seek and WriteTo. It holds the cache entry of the
// block at the position, and some ahead of it.
type cursor struct {
	pos    int64
	held   []*cacheEntry // of blocks that follow one another
	first  int64         // number of the first of them
	ahead  int           // how many besides the first are wanted
	passed int64         // blocks used
}

// drop gives all entries back.
func (c *cursor) drop(r *ReaderAt) {
	for _, e := range c.held {
		r.cache.Release(e)
	}
	c.held, c.ahead = c.held[:0], 0
}

// most returns how many entries the cursor may hold. It leaves one for ReadAt, which may wait for
// an entry while the cursor is idle.
func (c *cursor) most(r *ReaderAt) int { return max(1, r.cache.Limit()-1) }

// seek holds the block at the position, and those ahead that it can get. It returns the rest of
// the block.
func (c *cursor) seek(r *ReaderAt) ([]byte, error) {
	if err := r.opt.canceled(); err != nil {
		c.drop(r)
		return nil, err
	}
	x := &r.index
	block := c.first
	if len(c.held) == 0 || c.pos < x.Blocks[block].Content || c.pos >= x.Blocks[block].ContentEnd() {
		block = x.Find(c.pos)
	}
	if len(c.held) > 0 && block != c.first {
		if block == c.first+1 { // sequential reading: look further ahead
			c.ahead = min(2*c.ahead+1, c.most(r)-1)
			r.cache.Release(c.held[0])
			c.held = c.held[:copy(c.held, c.held[1:])]
		} else {
			c.drop(r)
		}
	}
	fresh := block != c.first || c.passed == 0
	c.first = block
	for next := block + int64(len(c.held)); len(c.held) <= c.ahead && next < int64(len(x.Blocks)); next++ {
		e, _, err := r.get(next, len(c.held) == 0)
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		c.held = append(c.held, e)
	}
	data, err := contentOf(c.held[0])
	if err != nil {
		early := c.held[0].Early()
		c.drop(r)
		if early { // perhaps the source has recovered
			return c.seek(r)
		}
		return nil, err
	}
	b := &x.Blocks[block]
	if fresh {
		c.passed++
		if r.opt.progress != nil {
			r.opt.progress(Progress{
				Content: b.ContentEnd(), Compressed: b.Offset + int64(b.Size),
				Total: x.Content, Blocks: c.passed,
			})
		}
	}
	return data[c.pos-b.Content:], nil
}

// release is called at the end of a Read: where there is a single entry the cursor must not keep
// it.
func (c *cursor) release(r *ReaderAt) {
	if r.cache.Limit() == 1 {
		c.drop(r)
	}
}

// Read reads content from the position. Once it goes from block to block it reads ahead.
func (r *ReaderAt) Read(p []byte) (n int, err error) {
	c := &r.cursor
	if err := r.ready(); err != nil {
		return 0, err
	}
	if c.pos >= r.index.Content {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	defer c.release(r)
	data, err := c.seek(r)
	if err != nil {
		return 0, err
	}
	n = copy(p, data)
	c.pos += int64(n)
	return n, nil
}

// Seek sets the position of Read and WriteTo, as [io.Seeker] says.
func (r *ReaderAt) Seek(offset int64, whence int) (int64, error) {
	if r.cache == nil {
		return 0, r.ready()
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += r.cursor.pos
	case io.SeekEnd:
		offset += r.index.Content
	default:
		return 0, errWhence
	}
	if offset < 0 {
		return 0, errNegative
	}
	r.cursor.pos = offset
	return offset, nil
}

// WriteTo writes the content from the position to the end to w, straight from the buffers of the
// blocks.
func (r *ReaderAt) WriteTo(w io.Writer) (n int64, err error) {
	c := &r.cursor
	if err := r.ready(); err != nil {
		return 0, err
	}
	defer c.drop(r)
	for c.pos < r.index.Content {
		c.ahead = c.most(r) - 1
		data, err := c.seek(r)
		if err != nil {
			return n, err
		}
		m, err := container.WriteFull(w, data)
		n += int64(m)
		c.pos += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
