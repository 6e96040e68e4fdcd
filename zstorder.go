package compress

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// Frames that are not blocks of a run are decoded in order, piece by piece: those that do not say how much they hold, or hold too much, or less than they say.

const (
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
)

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

// windowMemory is what a decoder with that window takes, in bytes.
func windowMemory(window int64) int64 { return window + window/8 + windowExtra }

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
