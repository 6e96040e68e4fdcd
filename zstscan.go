package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

const (
	// maxWhole is the most content a frame may have to be one block of a run, in bytes. A file of one large frame is better off when it is decoded as it comes in,
	// with no more memory than its window; files of many frames, which are worth it, have smaller ones.
	maxWhole = 32 << 20

	// maxWindow is how large a window may be without WithMaxMemory, in bytes: what zstd itself takes without being told.
	maxWindow = 128 << 20

	// freeWindow is what a frame gets on the word of its header: the window every decoder should have (RFC 8878, section 3.1.1.1.2). For
	// more the frame has to show more; so it does for less than that if nobody waits for its content.
	freeWindow      = 8 << 20
	freeWindowQuick = 256 << 10

	// earned is how many times the content that blocks may have, before a frame gets its window.
	earned = 16

	// windowExtra is what a decoder takes besides the window and an eighth of it for blocks that have been read ahead, in bytes.
	windowExtra = 3 << 20

	// skipStep is how much of a skippable frame is passed over before the context is asked again, in bytes.
	skipStep = 1 << 20
)

// payloadLimit is how long a frame may be that has so much content, in bytes, to be a block: much longer than any compressor makes it.
func payloadLimit(content int64) int64 { return content + content/8 + 1024 }

// zstScanner reads a file of zstd's frames (RFC 8878). Frames that say how much content they have, and not too much, are blocks of a run. Others are decoded
// in order. In errors all frames are in stream 0, and blocks are frames.
type zstScanner struct {
	f      *foreign
	frame  zstFrame
	frames int64
	inside bool  // the frame is being decoded in order
	due    bool  // or will be from the next call on
	skip   int64 // bytes of a skippable frame to pass over
	kind   int   // of that frame
	magic  [zstfile.SkippableHeaderSize]byte

	dec    *zstd.Decoder
	ignore bool                        // that the decoder ignores checksums
	window int64                       // the largest that the decoder has had
	stream zstStream                   // what it reads
	kept   []byte                      // memory of stream.head
	hdr    [zstfile.MaxHeaderSize]byte // and of stream.hdr
	from   int64                       // content before the frame
	pipe   *pipeline.Pipeline
	tables tableCheck
}

// zstStream is a frame of which the first bytes have been read.
type zstStream struct {
	hdr   []byte // in place of the one that has been read
	head  []byte
	frame *zstFrame
	err   error // what has been said last
}

func (s *zstStream) Read(p []byte) (int, error) {
	for _, part := range [...]*[]byte{&s.hdr, &s.head} {
		if len(*part) > 0 {
			n := copy(p, *part)
			*part = (*part)[n:]
			return n, nil
		}
	}
	n, err := s.frame.Read(p)
	s.err = err
	return n, err
}

func (z *zstScanner) begin(f *foreign) {
	*z = zstScanner{f: f, dec: z.dec, ignore: z.ignore, window: z.window, kept: z.kept, pipe: pipeline.ByName("lzf"), tables: tableCheck{prefix: z.tables.prefix}}
	z.tables.begin()
}

func (z *zstScanner) forget() {
	z.stream, z.frame.in = zstStream{}, nil
	z.shrink()
	if z.dec != nil {
		z.dec.Reset(nil)
	}
}

// shrink lets go of memory that is too much to be kept for a next time.
func (z *zstScanner) shrink() {
	if z.window > freeWindow {
		z.drop()
	}
}

// drop lets go of the decoder.
func (z *zstScanner) drop() {
	if z.dec != nil {
		z.dec.Close()
	}
	z.dec, z.window, z.kept = nil, 0, nil
}

func (z *zstScanner) fail(kind error, off int64, detail string) error {
	return z.f.fail(kind, 0, -1, off, detail)
}

func (z *zstScanner) next(u *unit) error {
	switch {
	case z.inside:
		z.serial(u)
		return nil
	case z.due:
		z.due = false
		return z.decodeInOrder(u, nil)
	}
	if err := z.nextFrame(); err != nil {
		return err
	}
	return z.choose(u)
}

// nextFrame reads the header of the next frame. Where skippable ones are passed over it returns errStreamEnd.
func (z *zstScanner) nextFrame() error {
	if z.skip > 0 {
		return z.skipSome()
	}
	in := &z.f.in
	at := in.off()
	magic := &z.magic
	n, err := readFull(in, magic[:zstfile.MagicSize])
	switch {
	case err == io.EOF && n == 0:
		return io.EOF
	case err == io.EOF && maybeFrame(magic[:n]):
		return z.fail(ErrTruncated, in.off(), "")
	case err != nil && err != io.EOF:
		if e, ok := underneath(err); ok {
			err = e
		}
		return err
	case zstfile.IsSkippable(magic[:n]):
		if _, err := readFull(in, magic[n:]); err != nil {
			return z.cut(err)
		}
		z.kind, z.skip, err = zstfile.ParseSkippable(magic[:])
		if err != nil {
			return z.fail(ErrCorrupt, at, err.Error())
		}
		if z.kind == zstfile.SeekTableKind && z.skip >= zstfile.SeekFooterSize && in.at == nil {
			z.tables.enter(z.skip)
		}
		return errStreamEnd
	case !zstfile.IsFrame(magic[:n]):
		// A frame whose magic number is damaged looks like this, too, and content would be missing: this is not taken for something behind the data.
		return z.fail(ErrCorrupt, at, "what follows is no zstd frame")
	}
	err = z.frame.begin(in, z.frames, magic[:n])
	z.frames++
	return err
}

// cut says what it means that the input ends, or fails, outside of frames with content.
func (z *zstScanner) cut(err error) error {
	if e, ok := underneath(err); ok {
		return e
	}
	if isEnd(err) {
		return z.fail(ErrTruncated, z.f.in.off(), "")
	}
	return err
}

// skipSome passes over a part of a skippable frame.
func (z *zstScanner) skipSome() error {
	in := &z.f.in
	if z.tables.inside {
		return z.tableSome()
	}
	n := min(z.skip, skipStep)
	if in.random() {
		n = z.skip
	}
	if err := in.skip(n); err != nil {
		return z.cut(err)
	}
	z.skip -= n
	return errStreamEnd
}

// tableSome reads a part of what may be a seek table.
func (z *zstScanner) tableSome() error {
	in, c := &z.f.in, &z.tables
	n, err := in.Read(c.buf[:min(z.skip, int64(len(c.buf)))])
	if n == 0 && err != nil {
		return z.cut(err)
	}
	c.write(c.buf[:n])
	if z.skip -= int64(n); z.skip == 0 {
		if !c.end(z.f.opt.checks) {
			return z.fail(ErrCorrupt, in.off()-c.size-zstfile.SkippableHeaderSize, "the frames in front of a seek table are not those that it lists")
		}
	}
	return errStreamEnd
}

// choose decides what becomes of the frame whose header has been read.
func (z *zstScanner) choose(u *unit) error {
	h, f := &z.frame.hdr, z.f
	if h.ContentSize >= 0 && f.tooLarge(h.ContentSize) {
		return z.frame.fail(ErrTooLarge, z.frame.offset, "")
	}
	z.shrink()
	if n := h.ContentSize; n >= 0 && n <= maxWhole {
		*u = unit{
			need:  *frameNeed(z.pipe, int(n)),
			kind:  pipeline.Coded,
			raw:   int(n),
			place: place{block: z.frame.number, offset: z.frame.offset, total: -1, borrowed: f.in.mem != nil},
		}
		u.extra = z.extra()
		if f.opt.checks {
			u.sum = 1
		}
		// What becomes of the frame must not depend on those before it.
		if u.memory(1, 1)-u.extra <= f.opt.readerLimit() {
			if u.memory(1, 1) > f.opt.readerLimit() {
				z.drop()
				u.extra = 0
			}
			return nil
		}
	}
	// Decoding in order may wait for input: what is in front of the frame is given out before it.
	z.due = true
	return errStreamEnd
}

// extra is the memory that the decoder has.
func (z *zstScanner) extra() int64 {
	if z.dec == nil {
		return 0
	}
	return windowMemory(z.window)
}

// windowMemory is what a decoder with that window takes, in bytes.
func windowMemory(window int64) int64 { return window + window/8 + windowExtra }

// frameNeed is what a frame with so much content needs to be a block. A run for frames does for pieces, so that frames of both sorts may follow one
// another by turns.
func frameNeed(p *pipeline.Pipeline, content int) *need {
	return &need{pipe: p, size: max(pieceSize, ceilPow2(content))}
}

// serial makes u a piece of the frame.
func (z *zstScanner) serial(u *unit) {
	total := int64(-1)
	if n := z.frame.hdr.ContentSize; n >= 0 {
		total = z.from + n
	}
	*u = unit{
		need:  need{pipe: z.pipe, size: pieceSize, extra: z.extra(), serial: true},
		kind:  pipeline.Stored,
		place: place{block: z.frame.number, offset: z.frame.offset, total: total},
	}
}

// orderedExtra is what decoding in order takes besides the window and an eighth of it, in bytes.
const orderedExtra = windowExtra + inputBuffer + 2*pieceSize

// orderedMemory is the least limit with which a frame with that window is decoded in order.
func orderedMemory(window int64) int64 { return (window+7)/8*9 + orderedExtra }

// windowLimit is the largest window that is taken.
func (o *options) windowLimit() int64 {
	limit := int64(maxWindow)
	if o.maxMemory > 0 {
		limit = (o.maxMemory - orderedExtra) / 9 * 8
	}
	return min(limit, math.MaxInt/2)
}

// decodeInOrder begins to decode the frame in order. head is what has been read of it.
func (z *zstScanner) decodeInOrder(u *unit, head []byte) error {
	h, fr, f := z.frame.hdr, &z.frame, z.f
	if h.Window > f.opt.windowLimit() {
		limit := f.opt.maxMemory
		if limit == 0 {
			limit = orderedMemory(maxWindow)
		}
		m := orderedMemory(h.Window)
		fr.err = &Error{Kind: ErrMemory, Block: fr.number, Offset: fr.offset, Memory: m,
			Detail: fmt.Sprintf("the window of %d bytes takes %d bytes of memory, more than the limit of %d", h.Window, m, limit)}
		return fr.err
	}
	free := int64(freeWindow)
	if f.quick {
		free = freeWindowQuick
	}
	if h.Window > free && fr.err == nil {
		// An error is the stream's last word: it comes again when what is in front of it has been decoded.
		head, _ = fr.gather(append(z.kept[:0], head...), math.MaxInt32, func() bool {
			// What has been flushed somebody may wait for: that a block of it is there, and more to come, has to do.
			flushed := !f.quick && !fr.buffered() && fr.bound > 0 && fr.between() && !fr.last
			return flushed || fr.blocks*zstfile.MaxBlock*earned >= h.Window
		})
		z.kept = head[:0]
	}
	z.stream = zstStream{head: head, frame: fr}
	window := h.Window
	if enough := max(fr.bound, zstfile.MaxBlock); fr.err != nil && enough < window { // as begun expects it
		// There is no more of the frame than this: its window need not be larger than what it can have.
		size, err := zstfile.HeaderSize(head)
		if err != nil {
			return fr.fail(ErrInternal, fr.offset, err.Error())
		}
		h.Window, h.SingleSegment = enough, false
		z.stream.hdr, z.stream.head = h.Append(z.hdr[:0]), head[size:]
		window = enough + enough/8
	}
	if z.window > window && z.extra() > f.opt.readerLimit()/2 {
		z.drop()
	}
	if check := f.opt.checks; z.dec == nil || z.ignore == check {
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(1<<41), zstd.WithDecoderMaxMemory(1<<62), zstd.IgnoreChecksum(!check))
		if err != nil {
			return fr.fail(ErrInternal, fr.offset, err.Error())
		}
		z.dec, z.ignore, z.window = dec, !check, 0
	}
	z.window = max(z.window, window)
	if err := z.dec.Reset(&z.stream); err != nil {
		return fr.fail(ErrInternal, fr.offset, err.Error())
	}
	z.inside, z.from = true, f.before
	z.serial(u)
	return nil
}

func (z *zstScanner) payload(u *unit, p []byte) ([]byte, error) {
	if z.inside {
		return z.piece(u, p)
	}
	fr, in := &z.frame, &z.f.in
	limit := int(payloadLimit(int64(u.raw)))
	var err error
	if in.mem != nil {
		kept := p
		p = nil
		if err = fr.whole(int64(limit)); err == nil || err == io.EOF {
			q := in.mem[fr.offset:in.off():in.off()]
			if cap(kept) < len(q) {
				p = q
			} else {
				// The memory has been of use for a piece, and may be again.
				p, u.place.borrowed = append(kept[:0], q...), false
			}
		} else {
			p = in.mem[fr.offset:in.off():in.off()]
		}
	} else {
		p, err = fr.gather(p[:0], limit+1, func() bool { return false })
	}
	if err == nil {
		// It is longer than its content gives reason for: decode it in order.
		if err := z.decodeInOrder(u, p); err != nil {
			return nil, err
		}
		return nil, errStreamEnd
	}
	if err != io.EOF {
		return nil, z.begun(u, p, err)
	}
	var sum uint32
	if fr.hdr.Checksum {
		sum = binary.LittleEndian.Uint32(p[len(p)-zstfile.ChecksumSize:])
	}
	z.tables.frame(int64(len(p)), int64(u.raw), sum, fr.hdr.Checksum)
	return p, nil
}

// begun is for a frame that was to be a block, and of which head is all there is: what its blocks hold comes before the error, as of a frame that is decoded in order, if memory suffices.
func (z *zstScanner) begun(u *unit, head []byte, cut error) error {
	fr, opt := &z.frame, z.f.opt
	window := fr.hdr.Window
	if enough := max(fr.bound, zstfile.MaxBlock); enough < window {
		window = enough + enough/8
	}
	piece := need{size: pieceSize, extra: windowMemory(window) + 2*(z.f.in.off()-fr.offset), serial: true}
	if !errors.Is(cut, ErrTruncated) || fr.bound == 0 || fr.hdr.Window > opt.windowLimit() || piece.memory(1, 1) > opt.readerLimit() || z.decodeInOrder(u, head) != nil {
		return cut
	}
	return errStreamEnd
}

// sure reports whether the next block of the frame is there, or, between frames, the next header.
func (z *zstScanner) sure(int) bool {
	if !z.inside {
		return z.f.in.br.Buffered() >= zstfile.MaxHeaderSize
	}
	return z.frame.buffered()
}

// piece decodes a piece of the frame.
func (z *zstScanner) piece(u *unit, p []byte) ([]byte, error) {
	f, fr := z.f, &z.frame
	p = f.piece(p, z.dec)
	switch err := f.stop; {
	case err == nil:
	case z.stream.err != nil && z.stream.err != io.EOF:
		f.stop = z.stream.err
	case err == io.EOF:
		f.stop, z.inside = nil, false
		z.tables.frame(f.in.off()-fr.offset, f.before+int64(len(p))-z.from, fr.sum, fr.hdr.Checksum)
	case err == zstd.ErrCRCMismatch:
		f.stop = fr.fail(ErrChecksum, fr.offset, "")
	case errors.Is(err, ErrInternal):
	default:
		f.stop = &Error{Kind: ErrCorrupt, Block: fr.number, Offset: fr.offset, Detail: err.Error()}
	}
	p = f.limit(u, p)
	if len(p) == 0 {
		if f.stop != nil {
			return p, f.stop
		}
		return p, errStreamEnd
	}
	u.raw = len(p)
	return p, nil
}
