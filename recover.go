package compress

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// Damage is a damaged part of a file.
type Damage struct {
	Kind          DamageKind
	Stream        int   // number of the stream, or of the .gz member, from 0
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
// Parts that cannot be read are damage like any other; [Damage].Err then wraps the error of src.
//
// A .pz, .gz or .zst file that begins behind one in another format ends the recovery, as it ends a
// Reader. The last damage reported is then a [DamageFrame] with [ErrTrailing], whose Offset is
// where that file begins.
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
	end := v.recoverFile(size)
	if _, ok := formatAt(src, end, size); v.err == nil && ok {
		e := &Error{Kind: ErrTrailing, Part: errs.PartStray, Block: -1, Offset: end}
		v.reportDamage(index.Gap{Kind: index.DamageFrame, Err: e})
	}
	return v.err
}

// recoverFile recovers the file in one format that the source begins with. It returns where that
// ends.
func (v *recovery) recoverFile(size int64) (end int64) {
	in := index.Cancelable{Src: v.src, Limits: &v.opt.limits}
	if f, ok := formatAt(in, 0, size); ok && f == Gzip {
		return v.recoverGzip(size, nil)
	}
	x, gaps, err := salvage(v.src, size, v.opt)
	if errors.Is(err, ErrFormat) {
		return v.recoverGzip(size, err) // perhaps a .gz file that has lost its first header
	}
	if err == nil {
		v.r, err = newReaderAt(v.src, x, *v.opt)
	}
	if err != nil {
		v.err = err
		return 0
	}
	defer v.r.Close()
	v.gaps = gaps
	v.recoverBlocks(0, int64(len(x.Blocks)))
	if !v.damaged {
		v.checkFile(x.Size)
	}
	return x.Size
}

// checkFile reports what a Reader would report of a file in which the search has found no damage.
func (v *recovery) checkFile(size int64) {
	z := v.opt.newReader(v.src, 0, size)
	defer z.Close()
	bad := false
	z.opt.limits.BadSection = func() { bad = true }
	_, err := io.Copy(io.Discard, z)
	if err == nil && bad {
		err = &Error{Kind: ErrCorrupt, Part: PartIndex, Block: -1, Offset: -1, Detail: "parity is damaged"}
	}
	if v.going() && err != nil && !errors.Is(err, ErrMemory) {
		v.reportDamage(index.Gap{Kind: index.DamageFrame, Err: err})
	}
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
	v.recoverBlocks(first, last)
	return v.err
}

// salvage searches a damaged file. It returns an index of what the search has found, and the gaps
// between.
func salvage(src io.ReaderAt, size int64, o *options) (*index.File, []index.Gap, error) {
	in := index.Cancelable{Src: src, Limits: &o.limits}
	zst := func() (*index.File, []index.Gap, error) {
		return zstfile.Salvage(src, size, &o.limits, o.verifyFrame(src))
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
func (o *options) verify(src io.ReaderAt) pzfile.Verify {
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
func (o *options) verifyFrame(src io.ReaderAt) zstfile.Verify {
	return func(offset, size int64) (bool, error) {
		z := o.newFrameReader(src, offset, size)
		z.opt.limits.Checks = true
		defer z.Close()
		_, err := io.Copy(io.Discard, z)
		return err == nil, o.canceled()
	}
}

// newReader returns a Reader of a part of a file.
func (o *options) newReader(src io.ReaderAt, offset, size int64) *Reader {
	z := &Reader{sched: o.scheduler(), opt: *o}
	z.opt.limits.MaxDecoded = -1 // recovery.write has the limit
	z.opt.progress = nil         // that of a ReaderAt counts what the caller reads
	z.Reset(io.NewSectionReader(src, offset, size))
	return z
}

// newFrameReader returns a Reader of the frame that a part of a .zst file begins with.
func (o *options) newFrameReader(src io.ReaderAt, offset, size int64) *Reader {
	z := o.newReader(src, offset, size)
	z.sources.zst = &zstfile.Scanner{OpenDictionary: z.sources.openDictionary, Single: true}
	return z
}

// recovery is a call of Recover. Once it has an error, it writes and reports nothing.
type recovery struct {
	w       io.Writer
	report  func(Damage) error
	opt     *options
	src     io.ReaderAt
	r       *ReaderAt // nil for a .gz file
	gaps    []index.Gap
	lost    index.Gap // blocks lost in a row, not reported yet; Blocks is 0 if there are none
	offset  int64     // of the next block's content; −1 if unknown
	wrote   int64
	zeros   []byte
	damaged bool // there was damage to report
	err     error
}

// going reports whether nothing has ended the recovery.
func (v *recovery) going() bool {
	if v.err == nil {
		v.err = v.opt.canceled()
	}
	return v.err == nil
}

// recoverBlocks recovers the blocks first … last−1.
func (v *recovery) recoverBlocks(first, last int64) {
	w := prefetch{r: v.r, next: first, end: last}
	defer w.close()
	for block := first; block < last; block++ {
		v.noteGaps(block)
		data, cause := w.content()
		if !v.going() {
			return
		}
		if cause == nil {
			v.keepContent(data)
		} else if p, lost, err := w.partial(); err == nil {
			v.keepPart(block, p, lost, cause)
		} else {
			v.loseBlock(block, cause)
		}
		w.advance()
	}
	v.noteGaps(last)
	v.reportLost()
	v.going()
}

// noteGaps notes the gaps in front of a block.
func (v *recovery) noteGaps(block int64) {
	for len(v.gaps) > 0 && v.gaps[0].Before == block && v.going() {
		v.noteGap(v.gaps[0])
		v.gaps = v.gaps[1:]
	}
}

// noteGap notes a gap at the end of what is written. If a frame begins there, noteGap writes what a
// Reader returns of it, and takes that off the gap. Without g.Err the frame may be intact.
func (v *recovery) noteGap(g index.Gap) {
	given, cause := v.copyFrame(&g)
	if g.Err == nil {
		g.Kind, g.Blocks, g.Err = index.DamageBlocks, 1, cause
	}
	if g.Err == nil || !v.going() {
		return
	}
	if g.Content >= 0 {
		g.Content = max(0, g.Content-given)
	}
	if given > 0 {
		v.reportDamage(index.Gap{
			Kind: index.DamageCheck, Stream: g.Stream, Block: g.Block, Span: given, Err: g.Err,
		})
	}
	if given == 0 || g.Content != 0 {
		v.noteDamage(g)
	}
}

// copyFrame writes what a Reader returns of the frame in a gap, if there is one, and returns the
// Reader's error.
func (v *recovery) copyFrame(g *index.Gap) (given int64, cause error) {
	if g.Size == 0 {
		return 0, nil
	}
	z := v.opt.newFrameReader(v.src, g.Offset, g.Size)
	defer z.Close()
	given, cause = io.Copy(contentWriter{v}, z)
	return given, cause
}

// A contentWriter takes content of a recovery.
type contentWriter struct{ v *recovery }

// Write implements [io.Writer].
func (w contentWriter) Write(p []byte) (int, error) {
	w.v.keepContent(p)
	return len(p), w.v.err
}

// keepContent writes content that is intact.
func (v *recovery) keepContent(data []byte) error {
	v.reportLost()
	v.move(int64(len(data)))
	return v.write(data)
}

// move moves the offset behind n bytes of content; −1 if their number is unknown.
func (v *recovery) move(n int64) {
	switch {
	case n < 0 || n > math.MaxInt64-max(v.offset, 0):
		v.offset = -1
	case v.offset >= 0:
		v.offset += n
	}
}

// write writes content, or zeros in its place.
func (v *recovery) write(p []byte) error {
	if v.err != nil {
		return v.err
	}
	if l := &v.opt.limits; l.TooLarge(v.wrote, int64(len(p))) {
		text := fmt.Sprintf("the recovered content is more than %d bytes", l.MaxDecoded)
		v.err = errs.New(ErrTooLarge, text)
		return v.err
	}
	n, err := container.WriteFull(v.w, p)
	v.wrote += int64(n)
	v.err = err
	return err
}

// loseBlock notes that a block is lost. A Reader may still return something of a frame.
func (v *recovery) loseBlock(block int64, cause error) {
	st, number := v.r.index.StreamOf(block)
	b := &v.r.index.Blocks[block]
	g := index.Gap{
		Kind: index.DamageBlocks, Stream: st.ID, Block: number, Blocks: 1, Content: int64(b.Raw), Err: cause,
	}
	if v.r.index.Format == Zstd {
		g.Offset, g.Size = b.Offset, int64(b.Size)
	}
	v.noteGap(g)
}

// noteDamage notes damage without content. It joins blocks that are lost in a row.
func (v *recovery) noteDamage(g index.Gap) {
	known := g.Kind == index.DamageBlocks && g.Content >= 0
	if known && v.lost.Blocks > 0 && v.lost.Stream == g.Stream && v.lost.Block+v.lost.Blocks == g.Block {
		v.lost.Blocks += g.Blocks
		v.lost.Content += g.Content
		return
	}
	v.reportLost()
	if known {
		v.lost = g
	} else {
		v.reportDamage(g)
	}
}

// reportLost reports the blocks lost in a row.
func (v *recovery) reportLost() {
	if g := v.lost; g.Blocks > 0 {
		v.lost = index.Gap{}
		v.reportDamage(g)
	}
}

// reportGap reports damage at the end of what is written.
func (v *recovery) reportGap(g *index.Gap) {
	d := Damage{
		Kind: DamageKind(g.Kind), Stream: g.Stream, Block: g.Block, Blocks: g.Blocks,
		ContentOffset: v.offset, Content: g.Content, Span: g.Span, Err: g.Err,
	}
	if d.Kind == DamageCheck && v.offset >= 0 {
		d.ContentOffset -= g.Span
	}
	v.damaged = true
	if v.err == nil {
		v.err = v.report(d)
	}
}

// reportDamage reports damage, and fills the place with zeros if the caller wants that.
func (v *recovery) reportDamage(g index.Gap) error {
	v.reportGap(&g)
	v.move(g.Content)
	if v.opt.zeroFill && v.zeros == nil {
		v.zeros = make([]byte, 32<<10)
	}
	for n := g.Content; n > 0 && v.opt.zeroFill && v.going(); {
		p := v.zeros[:min(n, int64(len(v.zeros)))]
		v.write(p)
		n -= int64(len(p))
	}
	return v.err
}

// recoverGzip recovers a .gz file, and returns where it ends. otherwise is the error if there is
// nothing to decode, nil for a file that begins as a .gz file does.
func (v *recovery) recoverGzip(size int64, otherwise error) (end int64) {
	limits := &v.opt.limits
	if limit := limits.Memory(); limit < gzfile.RecoverMemory {
		v.err = otherwise
		if otherwise == nil {
			v.err = errs.OutOfMemory(gzfile.RecoverMemory,
				"recovery takes more than the limit of %d bytes", limit)
		}
		return 0
	}
	end, found, err := gzfile.Recover(v.src, size, limits, otherwise == nil, gzfile.Sink{
		Known: v.keepContent, Mixed: v.keepMixed, Damage: v.reportDamage,
	})
	if err == nil && !found {
		err = otherwise
	}
	v.err = err
	return end
}

// keepPart writes a block of which parts repeat content that is lost.
func (v *recovery) keepPart(block int64, data []byte, refs []ldm.Reference, err error) {
	v.reportLost()
	st, number := v.r.index.StreamOf(block)
	g := index.Gap{
		Kind: index.DamageWindow, Stream: st.ID, Block: number, Span: int64(len(data)), Err: err,
	}
	lost := make([]bool, len(data))
	for _, part := range refs {
		g.Content += int64(part.Len)
		for i := range part.Len {
			lost[part.At+i] = true
		}
	}
	v.keepMixed(data, lost, g)
}

// keepMixed writes p, of which bytes repeat content that is lost. They are zeros in p.
func (v *recovery) keepMixed(p []byte, lost []bool, g index.Gap) error {
	v.reportGap(&g)
	v.move(g.Span)
	if v.opt.zeroFill {
		return v.write(p)
	}
	known := make([]byte, 0, g.Span-g.Content)
	for i, c := range p {
		if !lost[i] {
			known = append(known, c)
		}
	}
	return v.write(known)
}
