package compress

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzrecover"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// Damage is a damaged part of a file.
type Damage struct {
	Kind          DamageKind
	Stream        int   // number of the stream, from 0
	Block         int64 // number of the first block lost, or of the one that would come next
	Blocks        int64 // how many are lost in a row, with DamageBlocks; 0 otherwise
	ContentOffset int64 // of what is lost, or of Span, in the content of the file; −1 if unknown
	Content       int64 // bytes missing; −1 if unknown
	Span          int64 // bytes of content concerned, with DamageWindow and DamageCheck; 0 otherwise
	Err           error // what is wrong with the first of them
}

// DamageKind says what damage has done.
type DamageKind uint8

// The kinds of damage.
const (
	DamageBlocks  = DamageKind(index.DamageBlocks)  // blocks are lost, and their number is known
	DamageUnknown = DamageKind(index.DamageUnknown) // any number of blocks is lost, or none

	// DamageFrame: no content is lost. The header or the index of a stream is damaged, a block is
	// not at its place, or there are bytes that belong to nothing.
	DamageFrame = DamageKind(index.DamageFrame)
	// DamageWindow: of the next Span bytes, Content bytes are lost. They repeat content that is
	// lost. In a .pz file the Span bytes are a block; see [WithLongDistance].
	DamageWindow = DamageKind(index.DamageWindow)
	// DamageCheck: no check confirms Span bytes, from ContentOffset on, which are all that was
	// saved of a .gz member, or of a damaged .zst frame. The checksum is wrong, or missing, or a
	// part is lost. Bytes right in front of lost content are the most doubtful: damage shows late.
	DamageCheck = DamageKind(index.DamageCheck)
)

// String returns "blocks", "unknown", "frame", "window" or "check".
func (k DamageKind) String() string { return index.DamageKind(k).String() }

// Recover writes to w what is left of the content of a damaged file, in order: at least what a
// Reader returns before its error, and each block and frame that is intact. It calls report for
// each piece of damage, between the writes, and for each file in which a Reader would find damage.
// report may be nil, and an error that it returns ends the recovery. Lost content is left out, or,
// with [WithZeroFill], replaced by zeros where its size is known. The missing end of a file that
// was cut is not replaced, even if the header states the size of the content. docs/RECOVERY.md says
// what is found in each format.
//
// A damaged .pz block costs that block alone, and in a file of [WithLongDistance] the parts of
// later blocks that repeat it. These are left out or zero, and reported as [DamageWindow]. Of a
// damaged .zst frame, what a Reader returns of it is written, and reported as [DamageCheck]. In a
// .gz file Recover goes on behind damage where a member or a Deflate block begins. Content there
// may repeat content that is lost, which is [DamageWindow]. Streams are members there, and Block is
// 0.
//
// Parts that cannot be read are damage like any other; [Damage].Err then wraps the error of src.
//
// Behind intact streams, a file in another of these formats ends the recovery, as it ends a Reader.
// The last damage reported is then a [DamageFrame] with [ErrTrailing], whose Offset is where that
// file begins.
//
// Recover returns nil if it reached the end, however much was lost. Data without the header of a
// stream and without any block is an [ErrFormat], or of .zst an [ErrNoIndex], and nothing is
// written. Other errors are those of w, report, the options, the context and the limits. Zeros
// count for [WithMaxDecodedSize] as content does.
func Recover(
	w io.Writer, src io.ReaderAt, size int64, report func(Damage) error, opts ...ReaderOption,
) error {
	o, err := newOptions(forRecover, opts)
	if err != nil {
		return err
	}
	if size < 0 {
		return errs.BadOption("file size %d is negative", size)
	}
	if report == nil {
		report = func(Damage) error { return nil }
	}
	o.sched, o.workers = &Scheduler{o.scheduler()}, 0 // one for everything that follows
	v := recovery{w: w, src: src, report: report, opt: &o}
	end, err := v.file(size)
	if err != nil {
		return err
	}
	if _, ok := formatAt(src, end, size); !ok {
		return nil
	}
	e := &Error{Kind: ErrTrailing, Part: errs.PartStray, Block: -1, Offset: end}
	return v.tell(Damage{Kind: DamageFrame, ContentOffset: v.offset, Err: e})
}

// file recovers the file in one format that the source begins with. It returns where that ends.
func (v *recovery) file(size int64) (end int64, err error) {
	in := index.Cancelable{Src: v.src, Limits: &v.opt.limits}
	if f, ok := formatAt(in, 0, size); ok && f == Gzip {
		return v.gzip(size, nil)
	}
	x, gaps, err := salvage(v.src, size, v.opt)
	if errors.Is(err, ErrFormat) {
		return v.gzip(size, err) // perhaps a .gz file that has lost its first header
	}
	if err != nil {
		return 0, err
	}
	r, err := newReaderAt(v.src, x, *v.opt)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	v.r, v.gaps = r, gaps
	damaged, report := false, v.report
	v.report = func(d Damage) error {
		damaged = true
		return report(d)
	}
	if err := v.run(0, int64(len(r.index.Blocks))); err != nil || damaged {
		return x.Size, err
	}
	return x.Size, v.check(x.Size)
}

// check reports what a Reader would report of a file in which the search has found no damage.
func (v *recovery) check(size int64) error {
	z := &Reader{sched: v.opt.scheduler(), opt: *v.opt}
	bad := false
	z.opt.limits.BadSection = func() { bad = true }
	z.opt.limits.MaxDecoded = -1
	defer z.Close()
	z.Reset(io.NewSectionReader(v.src, 0, size))
	_, err := io.Copy(io.Discard, z)
	if err == nil && bad {
		err = &Error{Kind: ErrCorrupt, Part: PartIndex, Block: -1, Offset: -1, Detail: "parity is damaged"}
	}
	if cerr := v.opt.canceled(); cerr != nil || err == nil || errors.Is(err, ErrMemory) {
		return cerr
	}
	return v.tell(Damage{Kind: DamageFrame, ContentOffset: v.offset, Err: err})
}

// Recover writes to w the content of the intact blocks among the blocks first … last−1, numbered as
// [ReaderAt.Blocks] has them. It calls report for each run of lost ones, as the function [Recover]
// does. So parts of a file can be restored, or with [io.Discard] verified, on several machines.
// With a report that returns Damage.Err, Recover ends at the first damage. Errors are as those of
// the function.
func (r *ReaderAt) Recover(w io.Writer, first, last int64, report func(Damage) error) error {
	if err := r.ready(); err != nil {
		return err
	}
	if n := int64(len(r.index.Blocks)); first < 0 || first > last || last > n {
		return errs.BadOption("blocks %d … %d of %d", first, last-1, n)
	}
	if report == nil {
		report = func(Damage) error { return nil }
	}
	v := recovery{w: w, src: r.src, report: report, opt: &r.opt, r: r}
	if first < last {
		v.offset = r.index.Blocks[first].Content
	}
	return v.run(first, last)
}

// salvage searches a damaged file. It returns an index of what the search has found, and the gaps
// between.
func salvage(src io.ReaderAt, size int64, o *options) (*index.File, []index.Gap, error) {
	in := index.Cancelable{Src: src, Limits: &o.limits}
	zst := func() (*index.File, []index.Gap, error) {
		return zstfile.Salvage(src, size, &o.limits, o.verify(src), o.verifyFrame(src))
	}
	if isZstdFile(in, size) {
		return zst()
	}
	rules := pzfile.Rules{Known: isKnown, Default: pipeline.Default(PZ).ID}
	rules.Dictionary = o.dict.Number()
	x, gaps, err := pzfile.Salvage(src, size, &o.limits, rules, o.verify(src))
	if errors.Is(err, ErrFormat) {
		// Perhaps a .zst file that has lost its first frame and its last table.
		if x, gaps, zerr := zst(); !errors.Is(zerr, ErrNoIndex) {
			return x, gaps, zerr
		}
	}
	return x, gaps, err
}

// verify returns a function that decodes a single block of src to see whether it is intact.
func (o *options) verify(src io.ReaderAt) index.Verify {
	return func(f *index.File, memory int64) (bool, error) {
		opt := *o
		opt.limits.Checks, opt.limits.MaxDecoded, opt.limits.MaxMemory = true, -1, memory
		r, err := newReaderAt(src, f, opt)
		if err != nil {
			return false, err
		}
		defer r.Close()
		// A source is no part of f: the block's own content is verified.
		e, _, err := r.get(0, true)
		if err == nil {
			_, err = e.Use((*blockContent).ownContent)
			r.cache.Release(e)
		}
		return err == nil, o.canceled()
	}
}

// verifyFrame returns a function that decodes a frame of src to see whether it is intact.
func (o *options) verifyFrame(src io.ReaderAt) func(offset, size int64) (bool, error) {
	return func(offset, size int64) (bool, error) {
		z := o.frameReader(src, offset, size)
		z.opt.limits.Checks = true
		defer z.Close()
		_, err := io.Copy(io.Discard, z)
		return err == nil, o.canceled()
	}
}

// frameReader returns a Reader of the frame that a part of a .zst file begins with.
func (o *options) frameReader(src io.ReaderAt, offset, size int64) *Reader {
	z := &Reader{sched: o.scheduler(), opt: *o}
	z.opt.limits.MaxDecoded = -1 // recovery.write has the limit
	z.opt.progress = nil         // that of a ReaderAt counts what the caller reads
	z.Reset(io.NewSectionReader(src, offset, size))
	z.sources.zst = &zstfile.Scanner{OpenDictionary: z.sources.openDictionary, Single: true}
	return z
}

// recovery is a call of Recover.
type recovery struct {
	w      io.Writer
	report func(Damage) error
	opt    *options
	src    io.ReaderAt
	r      *ReaderAt // nil for a .gz file
	gaps   []index.Gap
	lost   Damage // blocks lost in a row, not reported yet; Blocks is 0 if there are none
	offset int64  // of the next block's content; −1 if unknown
	wrote  int64
	zeros  []byte
}

// run recovers the blocks first … last−1.
func (v *recovery) run(first, last int64) error {
	w := prefetch{r: v.r, next: first, end: last}
	defer w.close()
	for block := first; block < last; block++ {
		if err := v.reportGaps(block); err != nil {
			return err
		}
		data, cause := w.content()
		if cerr := v.opt.canceled(); cerr != nil {
			return cerr
		}
		var err error
		if cause == nil {
			err = v.keep(data)
		} else if p, lost, perr := w.partial(); perr == nil {
			err = v.keepPart(block, p, lost, cause)
		} else {
			err = v.lose(block, cause)
		}
		if err != nil {
			return err
		}
		w.advance()
	}
	if err := v.reportGaps(last); err != nil {
		return err
	}
	if err := v.flush(); err != nil {
		return err
	}
	return v.opt.canceled()
}

// reportGaps reports the gaps in front of a block.
func (v *recovery) reportGaps(block int64) error {
	for len(v.gaps) > 0 && v.gaps[0].Before == block {
		g := &v.gaps[0]
		v.gaps = v.gaps[1:]
		d := Damage{
			Kind: DamageKind(g.Kind), Stream: g.Stream, Block: g.Block, Blocks: g.Blocks,
			Content: g.Content, Err: g.Err,
		}
		if err := v.tellFrame(d, framePart{g.Offset, g.Size, g.Most}); err != nil {
			return err
		}
	}
	return nil
}

// tellFrame writes what a Reader returns of the frame that a part of a .zst file begins with, and
// reports the damage d there, less that content. Without d.Err the frame may be intact.
func (v *recovery) tellFrame(d Damage, part framePart) error {
	given, cause, err := v.copyFrame(part)
	if err != nil || d.Err == nil && cause == nil {
		return err
	}
	if d.Err == nil {
		d.Kind, d.Blocks, d.Err = DamageBlocks, 1, cause
	}
	if d.Content >= 0 {
		d.Content = max(0, d.Content-given)
	}
	if given > 0 {
		check := Damage{
			Kind: DamageCheck, Stream: d.Stream, Block: d.Block, ContentOffset: -1, Span: given, Err: d.Err,
		}
		if v.offset >= 0 {
			check.ContentOffset = v.offset - given
		}
		if err := v.report(check); err != nil || d.Content == 0 {
			return err
		}
	}
	return v.loseRun(d)
}

// A framePart is a part of a .zst file that begins with a frame, of up to most bytes of content; −1
// if that is unknown. There is none if size is 0.
type framePart struct{ offset, size, most int64 }

// copyFrame writes what a Reader returns of a frame. cause is the Reader's error, and err one that
// ends the recovery.
func (v *recovery) copyFrame(part framePart) (given int64, cause, err error) {
	if part.size == 0 {
		return 0, nil, nil
	}
	z := v.opt.frameReader(v.src, part.offset, part.size)
	defer z.Close()
	w := recoveryWriter{v: v}
	src := io.Reader(z)
	if part.most >= 0 {
		src = io.LimitReader(z, part.most)
	}
	given, cause = io.Copy(&w, src)
	if cause == nil && given == part.most {
		_, cause = z.Read(make([]byte, 1)) // the error behind the content
	}
	if cause == io.EOF {
		cause = nil
	}
	if w.err == nil {
		w.err = v.opt.canceled()
	}
	return given, cause, w.err
}

// A recoveryWriter writes content whose checks are not known to be right.
type recoveryWriter struct {
	v   *recovery
	err error
}

// Write implements io.Writer.
func (w *recoveryWriter) Write(p []byte) (int, error) {
	w.err = w.v.keep(p)
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// keep writes an intact block.
func (v *recovery) keep(data []byte) error {
	if err := v.flush(); err != nil {
		return err
	}
	if v.offset >= 0 {
		v.offset += int64(len(data))
	}
	return v.write(data)
}

// write writes content, or zeros in its place.
func (v *recovery) write(p []byte) error {
	if l := &v.opt.limits; l.TooLarge(v.wrote, int64(len(p))) {
		return errs.New(ErrTooLarge, fmt.Sprintf("the recovered content is more than %d bytes", l.MaxDecoded))
	}
	n, err := container.WriteFull(v.w, p)
	v.wrote += int64(n)
	return err
}

// lose notes that a block is lost. A Reader may still return something of a frame.
func (v *recovery) lose(block int64, cause error) error {
	st, number := v.r.index.StreamOf(block)
	b := &v.r.index.Blocks[block]
	d := Damage{
		Kind: DamageBlocks, Stream: st.ID, Block: number, Blocks: 1, Content: int64(b.Raw), Err: cause,
	}
	if v.r.index.Format == Zstd {
		return v.tellFrame(d, framePart{b.Offset, int64(b.Size), -1})
	}
	return v.loseRun(d)
}

// loseRun notes damage at the end of what is written. It joins blocks that are lost in a row.
func (v *recovery) loseRun(d Damage) error {
	if d.Kind == DamageBlocks && v.lost.Blocks > 0 && v.lost.Stream == d.Stream &&
		v.lost.Block+v.lost.Blocks == d.Block && d.Content >= 0 {
		v.lost.Blocks += d.Blocks
		v.lost.Content += d.Content
		return nil
	}
	if err := v.flush(); err != nil {
		return err
	}
	d.ContentOffset = v.offset
	if d.Kind == DamageBlocks && d.Content >= 0 {
		v.lost = d
		return nil
	}
	return v.tell(d)
}

// flush reports the blocks lost in a row.
func (v *recovery) flush() error {
	if v.lost.Blocks == 0 {
		return nil
	}
	d := v.lost
	v.lost = Damage{}
	return v.tell(d)
}

// tell reports damage, and fills the place with zeros if the caller wants that.
func (v *recovery) tell(d Damage) error {
	if err := v.report(d); err != nil {
		return err
	}
	switch {
	case d.Content < 0 || d.Content > math.MaxInt64-max(v.offset, 0):
		v.offset = -1
	case v.offset >= 0:
		v.offset += d.Content
	}
	if !v.opt.zeroFill {
		return nil
	}
	if v.zeros == nil {
		v.zeros = make([]byte, 32<<10)
	}
	for n := d.Content; n > 0; {
		if err := v.opt.canceled(); err != nil {
			return err
		}
		p := v.zeros[:min(n, int64(len(v.zeros)))]
		if err := v.write(p); err != nil {
			return err
		}
		n -= int64(len(p))
	}
	return nil
}

// gzip recovers a .gz file, and returns where it ends. If there is nothing to decode, it returns
// otherwise, which may be nil for a damaged file.
func (v *recovery) gzip(size int64, otherwise error) (end int64, err error) {
	limits := &v.opt.limits
	if limit := limits.Memory(); limit < gzrecover.Memory {
		if otherwise != nil {
			return 0, otherwise
		}
		return 0, errs.OutOfMemory(gzrecover.Memory, "recovery takes more than the limit of %d bytes", limit)
	}
	end, found, err := gzrecover.Recover(v.src, size, limits, gzipSink{v})
	switch {
	case err != nil || found:
		return end, err
	case otherwise != nil:
		return 0, otherwise
	}
	e := errs.New(ErrCorrupt, "neither a member nor a block")
	return size, v.tell(Damage{Kind: DamageUnknown, Content: -1, Err: e})
}

// gzipSink takes the content of a .gz file.
type gzipSink struct{ *recovery }

// Known implements gzrecover.Sink.
func (s gzipSink) Known(p []byte) error { return s.keep(p) }

// Mixed implements gzrecover.Sink.
func (s gzipSink) Mixed(p, q []byte, d gzrecover.Damage) error {
	err := s.report(Damage{
		Kind: DamageKind(d.Kind), Stream: d.Member, ContentOffset: s.offset, Content: d.Lost,
		Span: d.Span, Err: d.Err,
	})
	switch {
	case err != nil:
		return err
	case s.offset >= 0:
		s.offset += int64(len(p))
	}
	if s.opt.zeroFill {
		return s.write(p)
	}
	known := make([]byte, 0, len(p)-int(d.Lost))
	for i, c := range p {
		if c == q[i] {
			known = append(known, c)
		}
	}
	if len(known) == 0 {
		return nil
	}
	return s.write(known)
}

// Damage implements gzrecover.Sink.
func (s gzipSink) Damage(d gzrecover.Damage) error {
	out := Damage{
		Kind: DamageKind(d.Kind), Stream: d.Member, ContentOffset: s.offset, Span: d.Span, Err: d.Err,
	}
	switch out.Kind {
	case DamageUnknown:
		out.Content = -1
	case DamageCheck:
		if s.offset >= 0 {
			out.ContentOffset -= d.Span
		}
	}
	return s.tell(out)
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
