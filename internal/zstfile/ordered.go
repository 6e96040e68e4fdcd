package zstfile

import (
	"errors"
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/zstframe"
)

// A frame is decoded in order, piece by piece, if its content size is unknown, too large or wrong.

// Decoder decodes frames, one after the other. Read returns ErrChecksum, or an error that wraps it,
// if the checksum of a frame does not match.
type Decoder interface {
	io.Reader
	Reset(io.Reader) error
	Release()
}

// A Dictionary is one that frames may need. Serves reports whether a frame that names an ID, 0 for
// none, can be decoded with it.
type Dictionary interface {
	ID() uint32
	Serves(id uint32) bool
}

const (
	// maxWindow is the largest window in bytes if the caller sets no limit: the default limit of
	// zstd.
	maxWindow = 128 << 20

	// freeWindow is the largest window allocated before any block has been read, in bytes. Every
	// decoder should support it (RFC 8878, section 3.1.1.1.2). For input that does not block it is
	// smaller.
	freeWindow            = 8 << 20
	freeWindowNonBlocking = 256 << 10

	// windowFactor bounds the window, as a multiple of the content that the blocks read so far may
	// have.
	windowFactor = 16

	// windowExtra is the memory in bytes of a decoder besides the window, and an eighth of it for
	// blocks that have been read ahead.
	windowExtra = 3 << 20

	// orderedExtra is the memory in bytes that decoding in order takes besides the window and an
	// eighth of it.
	orderedExtra = windowExtra + container.InputBuffer + 2*container.PieceSize
)

// windowMemory returns the bytes that a decoder with such a window takes.
func windowMemory(window int64) int64 { return window + window/8 + windowExtra }

// OrderedSpec returns the Spec of frames decoded in order. window is in bytes.
func OrderedSpec(window int64) container.Spec {
	return container.Spec{BlockSize: container.PieceSize, Extra: windowMemory(window), InOrder: true}
}

// orderedMemory returns the least memory limit with which a frame with such a window is decoded.
func orderedMemory(window int64) int64 { return (window+7)/8*9 + orderedExtra }

// windowLimit returns the largest window that the limits allow, in bytes.
func windowLimit(l *container.Limits) int64 {
	limit := int64(maxWindow)
	if l.MaxMemory > 0 {
		limit = (l.MaxMemory - orderedExtra) / 9 * 8
	}
	return min(limit, math.MaxInt/2)
}

// ordered is a Scanner's state of decoding in order. It outlives a file.
type ordered struct {
	dec    Decoder
	checks bool       // dec compares checksums
	dict   Dictionary // of dec
	window int64      // the largest that dec has had, in bytes

	stream frameStream                  // what dec reads
	kept   []byte                       // memory of stream.head
	header [zstframe.MaxHeaderSize]byte // memory of stream.header
	from   int64                        // content of the file before the frame
}

func (o *ordered) reset() { o.stream, o.from = frameStream{}, 0 }

func (o *ordered) release() {
	o.stream = frameStream{}
	o.shrink()
	if o.dec != nil {
		o.dec.Reset(nil)
	}
}

// shrink drops memory that is too much to be kept.
func (o *ordered) shrink() {
	if o.window > freeWindow {
		o.releaseDecoder()
	}
}

// releaseDecoder releases the decoder.
func (o *ordered) releaseDecoder() {
	if o.dec != nil {
		o.dec.Release()
	}
	o.dec, o.window, o.kept = nil, 0, nil
}

// memory returns the bytes that the decoder takes.
func (o *ordered) memory() int64 {
	if o.dec == nil {
		return 0
	}
	return windowMemory(o.window)
}

// frameStream is a frame whose first bytes have been read, for a Decoder.
type frameStream struct {
	header []byte // in place of the one that has been read
	head   []byte
	frame  *Frame
	err    error // the last one that Read has returned
}

func (s *frameStream) Read(p []byte) (int, error) {
	for _, part := range [...]*[]byte{&s.header, &s.head} {
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

// setPiece makes u a piece of the frame.
func (s *Scanner) setPiece(u *container.Unit) {
	total := int64(-1)
	if n := s.frame.Header.ContentSize; n >= 0 {
		total = s.ordered.from + n
	}
	*u = container.Unit{
		Spec:  container.Spec{BlockSize: container.PieceSize, Extra: s.ordered.memory(), InOrder: true},
		Kind:  container.Stored,
		Place: container.Place{Block: s.frame.Number, Offset: s.frame.Offset, Total: total},
	}
}

// decodeInOrder begins to decode the frame in order. head is what has been read of it.
func (s *Scanner) decodeInOrder(u *container.Unit, head []byte) error {
	h, f, o := s.frame.Header, &s.frame, &s.ordered
	if h.Window > windowLimit(s.Limits) {
		return s.windowTooLarge()
	}
	if free := s.freeWindow(); h.Window > free && f.err == nil {
		// The Frame keeps an error and returns it again once the bytes before it are decoded.
		head, _ = f.appendTo(append(o.kept[:0], head...), math.MaxInt32, s.windowEarned)
		o.kept = head[:0]
	}
	o.stream = frameStream{head: head, frame: f}
	window := h.Window
	if most, cut := f.cutWindow(); cut {
		size, err := zstframe.HeaderSize(head)
		if err != nil {
			return f.fail(errs.Internal, errs.PartHeader, f.Offset, err.Error())
		}
		h.Window, h.SingleSegment = most, false
		o.stream.header, o.stream.head = h.Append(o.header[:0]), head[size:]
		window = most + most/8
	}
	if o.window > window && o.memory() > s.Limits.Memory()/2 {
		o.releaseDecoder()
	}
	if checks := s.Limits.Checks; o.dec == nil || o.checks != checks || o.dict != s.Dictionary {
		dec, err := s.NewDecoder(checks)
		if err != nil {
			return f.fail(errs.Internal, errs.PartHeader, f.Offset, err.Error())
		}
		o.dec, o.checks, o.dict, o.window = dec, checks, s.Dictionary, 0
	}
	o.window = max(o.window, window)
	if err := o.dec.Reset(&o.stream); err != nil {
		return f.fail(errs.Internal, errs.PartHeader, f.Offset, err.Error())
	}
	s.phase, o.from = inOrder, s.Content
	s.setPiece(u)
	return nil
}

// windowTooLarge returns the error about a window larger than the limit.
func (s *Scanner) windowTooLarge() error {
	f, limit := &s.frame, s.Limits.MaxMemory
	if limit == 0 {
		limit = orderedMemory(maxWindow)
	}
	window := f.Header.Window
	e := errs.OutOfMemory(orderedMemory(window),
		"the window of %d bytes takes %d bytes of memory, more than the limit of %d",
		window, orderedMemory(window), limit)
	e.Part, e.Block, e.Offset = errs.PartHeader, f.Number, f.Offset
	f.err = e
	return e
}

// freeWindow returns the largest window allocated before any block has been read, in bytes.
func (s *Scanner) freeWindow() int64 {
	if s.NonBlocking {
		return freeWindowNonBlocking
	}
	return freeWindow
}

// windowEarned reports whether enough blocks have been read to allocate the window. If the next
// block is not available yet, one block is enough: the other side may wait for its content.
func (s *Scanner) windowEarned() bool {
	f := &s.frame
	flushed := !s.NonBlocking && !f.nextBuffered() &&
		f.bound > 0 && f.betweenBlocks() && f.phase < lastBlock
	return flushed || f.blocks*zstframe.MaxBlock*windowFactor >= f.Header.Window
}

// cutWindow returns, for a frame that ends early, the most content that its blocks can have, if
// the frame needs no larger window than that.
func (f *Frame) cutWindow() (most int64, cut bool) {
	most = max(f.bound, zstframe.MaxBlock)
	return most, f.err != nil && most < f.Header.Window
}

// decodeCut handles a frame that was to be a unit and ends in the error cut: it is cut short, or a
// block has a damaged header. head is what has been read of it. If memory suffices its blocks are
// decoded in order, so that their content comes before the error.
func (s *Scanner) decodeCut(u *container.Unit, head []byte, cut error) error {
	f := &s.frame
	window := f.Header.Window
	if most := max(f.bound, zstframe.MaxBlock); most < window {
		window = most + most/8
	}
	piece := container.Spec{
		BlockSize: container.PieceSize,
		Extra:     windowMemory(window) + 2*(s.In.Offset()-f.Offset),
		InOrder:   true,
	}
	var e *errs.Error
	if errors.As(cut, &e) && errors.Is(cut, errs.Corrupt) && f.phase < lastBlock {
		head = head[:min(int64(len(head)), e.Offset-f.Offset)] // without that header
	} else if !errors.Is(cut, errs.Truncated) {
		return cut
	}
	if f.bound == 0 || f.Header.Window > windowLimit(s.Limits) ||
		piece.Memory(1, 1) > s.Limits.Memory() || s.decodeInOrder(u, head) != nil {
		return cut
	}
	return container.ErrNothingYet
}
