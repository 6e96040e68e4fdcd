package compress

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"

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

// A splicer is what a blockLoader needs for such blocks. Sources come from the cache. If the cache has
// no entry to spare, the splicer decodes a source itself: a caller that holds an entry must not wait
// for another one.
type splicer struct {
	buf   []byte
	held  []*cacheEntry // of the sources; nil for those without an entry
	spare *blockLoader  // nil until it is needed
	lost  []ldm.Reference
}

// close frees the memory.
func (s *splicer) close() {
	s.buf, s.lost = nil, nil
	if s.spare != nil {
		s.spare.Close()
	}
}

// splice makes the content of the block from its own content and the sources.
func (l *blockLoader) splice() ([]byte, error) {
	data, err := l.spliceSources(nil)
	if err != nil {
		return nil, err
	}
	if !l.matches(data) {
		st, number := l.r.index.StreamOf(l.number)
		return nil, &Error{
			Kind: ErrChecksum, Part: PartBlock, Stream: st.ID, Block: number,
			Offset: l.r.index.Blocks[l.number].Offset, Detail: "checksum mismatch of what it repeats",
		}
	}
	return data, nil
}

// matches reports whether data has the checksum of the whole content, if checksums count.
func (l *blockLoader) matches(data []byte) bool {
	st, _ := l.r.index.StreamOf(l.number)
	return !st.Checks || !l.r.opt.limits.Checks ||
		pzfile.Checksum(0, data) == l.blk.References().Sum
}

// partial returns the content of a block although sources are lost. The parts in l.splicer.lost are zeros.
// If all sources are there and the content is wrong, a source is of another file. All that the block
// repeats counts as lost then. It fails if the block itself is lost.
func (l *blockLoader) partial() ([]byte, error) {
	own, err := l.Own()
	if err == nil && (own == nil || l.blk.References().Empty()) {
		err = l.err
	}
	if err != nil {
		return nil, err
	}
	l.splicer.lost = l.splicer.lost[:0]
	data, err := l.spliceSources(l.lose)
	if err == nil && len(l.splicer.lost) == 0 && !l.matches(data) {
		for source := range l.blk.References().Distances() {
			l.lose(data, source)
		}
	}
	return data, err
}

// lose makes zeros of what the block repeats of a source.
func (l *blockLoader) lose(data []byte, source int) {
	for ref := range l.blk.References().All() {
		if ref.Source == source {
			clear(data[ref.At : ref.At+ref.Len])
			l.splicer.lost = append(l.splicer.lost, ref)
		}
	}
}

// spliceSources makes the content of the block. It calls lose for each source that is lost; if that is
// nil it fails.
func (l *blockLoader) spliceSources(lose func(data []byte, source int)) ([]byte, error) {
	r, s, list := l.r, &l.splicer, l.blk.References()
	size := int(r.index.Blocks[l.number].Raw)
	if cap(s.buf) < size {
		s.buf = make([]byte, size)
	}
	data := s.buf[:size]
	list.Spread(data, l.own, nil)
	defer s.release(r)
	for _, d := range list.Distances() { // all begin to load
		var e *cacheEntry
		if n := l.source(d); n >= 0 {
			var err error
			if e, err = r.get(n, false); err != nil {
				return nil, err
			}
		}
		s.held = append(s.held, e)
	}
	for i, d := range list.Distances() {
		own, err := l.sourceContent(i, l.source(d))
		if err == nil {
			err = list.Insert(data, i, own, nil)
		}
		if cerr := r.opt.canceled(); cerr != nil {
			return nil, cerr
		}
		if err != nil && lose == nil {
			return nil, l.sourceError(d, err)
		} else if err != nil {
			lose(data, i)
		}
	}
	return data, nil
}

// release gives the entries of the sources back.
func (s *splicer) release(r *ReaderAt) {
	for _, e := range s.held {
		if e != nil {
			r.cache.Put(e)
		}
	}
	s.held = s.held[:0]
}

// source returns the number in the file of the source at a distance, −1 if there is none.
func (l *blockLoader) source(distance int32) int64 {
	n := l.r.index.Earlier(l.number, int64(distance))
	if n >= 0 && l.r.index.Blocks[n].Kind == container.Fill {
		return -1 // without own content
	}
	return n
}

var errNoSource = errs.New(ErrCorrupt, "not there, or without own content")

// sourceContent returns the own content of source i, which is block n of the file.
func (l *blockLoader) sourceContent(i int, n int64) (own []byte, err error) {
	s := &l.splicer
	switch {
	case n < 0:
		return nil, errNoSource
	case s.held[i] != nil:
		own, err = s.held[i].Use((*blockLoader).Own)
	default:
		if s.spare == nil {
			s.spare = &blockLoader{r: l.r}
		}
		if err = s.spare.Load(n); err == nil {
			own, err = s.spare.Own()
		}
	}
	if err == nil && len(own) == 0 {
		err = errNoSource
	}
	return own, err
}

// sourceError returns the error of a block whose source at a distance has an error.
func (l *blockLoader) sourceError(distance int32, err error) error {
	st, number := l.r.index.StreamOf(l.number)
	e := &Error{
		Kind: ErrCorrupt, Part: PartBlock, Stream: st.ID, Block: number,
		Offset: l.r.index.Blocks[l.number].Offset, Err: err,
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
	data, err = w.held[0].Use(func(l *blockLoader) ([]byte, error) {
		p, err := l.partial()
		lost = l.splicer.lost
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
	slices.SortFunc(lost, func(a, b ldm.Reference) int { return cmp.Compare(a.At, b.At) })
	end := 0
	for _, part := range lost {
		if err := v.write(data[end:part.At]); err != nil {
			return err
		}
		end = part.At + part.Len
	}
	return v.write(data[end:])
}
