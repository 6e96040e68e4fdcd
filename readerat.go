package compress

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/gopz/compress/pipeline"
)

// ReaderAt gives access to any place of the content of a .pz file through its index, or of a .zst file through its seek table. It reads and decompresses only the
// blocks that are asked for; damage to a block fails only reads that touch it.
//
// ReadAt may be called from several goroutines at the same time. Read, Seek and WriteTo share one position and are for
// one goroutine at a time; ReadAt does not touch that position. A ReaderAt keeps some blocks that were used last in
// memory, within its limit.
// Make one with [NewReaderAt]; the zero value is not usable.
type ReaderAt struct {
	opt   options
	sched *pipeline.Scheduler
	src   io.ReaderAt
	index *index
	slots slots

	cursor cursor
}

// NewReaderAt opens the .pz or .zst file of the given size, in bytes, that src holds: one stream, or several. A .gz file, or a .zst file without a seek table,
// is an [ErrNoIndex]; a seek table that is wrong is an error here, or when a frame is read that is not as the table says. It reads headers
// and indexes; index and blocks in memory together stay within [WithMaxMemory]. Content larger than [WithMaxDecodedSize]
// makes it fail, as does a [WithBackend] that cannot be had.
func NewReaderAt(src io.ReaderAt, size int64, opts ...Option) (*ReaderAt, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, optionError("file size %d is negative", size)
	}
	if err := o.canceled(); err != nil {
		return nil, err
	}
	x, err := readIndex(cancelable{src, &o}, size, o.readerLimit())
	if cerr := o.canceled(); cerr != nil {
		return nil, cerr
	}
	if err != nil {
		return nil, err
	}
	return newReaderAt(src, x, o)
}

// newReaderAt makes a ReaderAt for the file that x describes.
func newReaderAt(src io.ReaderAt, x *index, o options) (*ReaderAt, error) {
	if o.maxDecoded >= 0 && x.content > o.maxDecoded {
		return nil, tooMuchContent(x.content, o.maxDecoded)
	}
	n, err := o.slotCount(x)
	if err != nil {
		return nil, err
	}
	r := &ReaderAt{opt: o, sched: o.scheduler(), src: src, index: x}
	for i := range x.streams {
		h := &x.streams[i].hdr
		if err := o.check(r.sched, pipeline.Decompress, x.streams[i].pipeline(), h.Checks && o.checks, h.BlockSize); err != nil {
			return nil, err
		}
	}
	r.slots.init(n)
	return r, nil
}

func tooMuchContent(size, limit int64) error {
	return &Error{Kind: ErrTooLarge, Block: -1, Offset: -1, Detail: fmt.Sprintf("content of %d bytes is more than %d", size, limit)}
}

// slotCount is the number of blocks that may be in memory.
func (o *options) slotCount(x *index) (int, error) {
	index := x.memory(int64(len(x.blocks)))
	limit := o.readerLimit() - index
	// Four let a few readers at different places of the file do without decompressing the same blocks again and again.
	n := 4
	for i := range x.streams {
		st := &x.streams[i]
		n = max(n, o.inFlight(st.pipeline(), pipeline.Decompress, st.hdr.BlockSize))
	}
	n = min(n, max(1, len(x.blocks)))
	if x.format == pipeline.ZST {
		n, err := o.frameSlots(x, n, limit)
		return n, besides(err, index)
	}
	var worst *Error
	for i := range x.streams {
		h := &x.streams[i].hdr
		p, err := o.newPlan(pipeline.ByID(h.Pipeline), pipeline.Decompress, 0, h.BlockSize, n, max(1, limit))
		var e *Error
		switch {
		case err == nil:
			n = p.inFlight
		case !errors.As(err, &e):
			return 0, err
		case worst == nil || e.Memory > worst.Memory:
			worst = e
		}
	}
	if worst != nil {
		return 0, besides(worst, index)
	}
	return n, nil
}

// besides makes an ErrMemory speak of n bytes more, which have been taken off the limit.
func besides(err error, n int64) error {
	var e *Error
	if errors.As(err, &e) && e.Memory > 0 {
		e.Memory += n
	}
	return err
}

// Size is the size of the content in bytes.
func (r *ReaderAt) Size() int64 { return r.index.content }

// Stats returns the statistics of what has been read so far, zero if they were off when that was.
func (r *ReaderAt) Stats() SchedulerStats { return r.slots.stats() }

// Info returns what the index says about the file.
func (r *ReaderAt) Info() Info { return r.index.info() }

// Blocks goes through all blocks of the file in order.
func (r *ReaderAt) Blocks() iter.Seq[BlockInfo] { return r.index.all() }

// ReadAt reads len(p) bytes of content from offset off, as [io.ReaderAt] says. Blocks are decompressed at the same time.
// With an error comes the number of bytes in front of the damage.
func (r *ReaderAt) ReadAt(p []byte, off int64) (n int, err error) {
	if r.slots.isClosed() {
		return 0, ErrClosed
	}
	if off < 0 {
		return 0, errNegative
	}
	if off >= r.index.content {
		return 0, io.EOF
	}
	var eof error
	if rest := r.index.content - off; int64(len(p)) > rest {
		p, eof = p[:rest], io.EOF
	}
	if len(p) == 0 {
		return 0, eof
	}
	block, last := r.index.find(off), r.index.find(off+int64(len(p))-1)
	var few [4]*slot
	held := few[:0]
	defer func() {
		for _, s := range held {
			r.slots.put(s)
		}
	}()
	for n < len(p) {
		if err := r.opt.canceled(); err != nil {
			return n, err
		}
		for block <= last {
			s, err := r.get(block, len(held) == 0)
			if err != nil {
				return n, err
			}
			if s == nil {
				break
			}
			held = append(held, s)
			block++
		}
		s := held[0]
		data, err := r.wait(s)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[off+int64(n)-r.index.blocks[s.block].content:])
		held = held[:copy(held, held[1:])]
		r.slots.put(s)
	}
	return n, eof
}

var (
	errNegative = errors.New("compress: negative offset")
	errWhence   = errors.New("compress: invalid whence")
)

// Close frees the memory. Calls of ReadAt that are under way complete or return [ErrClosed], as later ones do. It does not close
// what lies under it. It returns nil. It must not be called at the same time as Read, Seek or WriteTo.
func (r *ReaderAt) Close() error {
	r.cursor.drop(r)
	r.slots.close()
	return nil
}
