package zstfile

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/zstframe"
)

const (
	// MaxWhole is the most content in bytes of a frame that becomes one unit. A file of one large
	// frame is decoded as it comes in, with no more memory than its window. Files of many frames,
	// which gain from being decoded in parallel, have smaller ones.
	MaxWhole = 32 << 20

	// skipStep is how many bytes of a skippable frame are passed over at a time, between two looks
	// at the context.
	skipStep = 1 << 20
)

// Scanner reads a file of zstd frames (RFC 8878). It is a [container.Source]. A frame that says
// how much content it has, and not too much, is a unit that a worker decodes. The Scanner decodes
// other frames in order; their pieces are units. In errors all frames are in stream 0, and blocks
// are frames.
type Scanner struct {
	// NewDecoder makes a decoder for frames that are decoded in order. It compares checksums if
	// checks is set. Set it before the first call.
	NewDecoder func(checks bool) (Decoder, error)
	// Dictionary is the one that NewDecoder and the workers decode with, nil for none. Set it
	// before Reset.
	Dictionary Dictionary

	container.Sequential
	phase  phase
	frame  Frame
	frames int64
	skip   int64            // bytes of a skippable frame to pass over
	kind   int              // of that frame
	check  *section.Checker // of that frame: it may be a section of parity; nil if that does not matter
	magic  [SkippableHeaderSize]byte

	ordered ordered
	tables  tableCheck
}

// phase is where a Scanner is in its file.
type phase uint8

const (
	betweenFrames phase = iota // or in a frame that is one unit
	skipping                   // in a skippable frame
	inTable                    // in a skippable frame that may be a seek table
	startInOrder               // the next call of Next begins to decode the frame in order
	inOrder                    // the Decoder decodes the frame in order
)

// FrameSpec says what a run must be made for to decode frames with so much content. It also takes
// pieces, so that both sorts of frames may alternate in a file.
func FrameSpec(content int) container.Spec {
	return container.Spec{BlockSize: max(container.PieceSize, container.CeilPow2(content))}
}

// Reset begins a file. The Scanner reads no more than limits allow.
func (s *Scanner) Reset(in *container.Start, limits *container.Limits) {
	s.Sequential.Reset(in, limits)
	s.resetState()
}

func (s *Scanner) resetState() {
	s.phase, s.frame, s.frames, s.skip = betweenFrames, Frame{}, 0, 0
	s.ordered.reset()
	s.tables.reset()
}

// Release drops the references to the caller's memory and input.
func (s *Scanner) Release() {
	s.Sequential.Release()
	s.frame.in = nil
	s.ordered.release()
}

// DecoderMemory returns the memory of the decoder for frames in order, in bytes: 0 if the Scanner
// has none. Tests use it to see when the Scanner frees the decoder.
func (s *Scanner) DecoderMemory() int64 { return s.ordered.memory() }

func (s *Scanner) fail(kind error, part errs.Part, off int64, detail string) error {
	e := errs.At(kind, off, detail)
	e.Part = part
	return e
}

// Next goes to the next unit.
func (s *Scanner) Next(u *container.Unit) error {
	if s.Stop != nil {
		return s.Stop
	}
	switch s.phase {
	case inOrder:
		s.setPiece(u)
		return nil
	case startInOrder:
		s.phase = betweenFrames
		return s.decodeInOrder(u, nil)
	}
	if err := s.nextFrame(); err != nil {
		return err
	}
	return s.choose(u)
}

// nextFrame reads the header of the next frame. Where it passes over skippable frames it returns
// [container.ErrNothingYet].
func (s *Scanner) nextFrame() error {
	switch s.phase {
	case skipping:
		return s.skipSome()
	case inTable:
		return s.readTable()
	}
	in := &s.In
	at := in.Offset()
	magic := &s.magic
	n, err := container.ReadFull(in, magic[:zstframe.MagicSize])
	switch {
	case err == io.EOF && n == 0:
		return io.EOF
	case err == io.EOF && container.MaybeZstd(magic[:n]):
		return s.fail(errs.Truncated, errs.PartHeader, in.Offset(), "")
	case err != nil && err != io.EOF:
		if e, ok := container.SourceError(err); ok {
			err = e
		}
		return err
	case IsSkippable(magic[:n]):
		s.kind = int(magic[0] & 15)
		if _, err := container.ReadFull(in, magic[n:]); err != nil {
			return s.broken(err)
		}
		s.kind, s.skip, err = ParseSkippable(magic[:])
		if err != nil {
			return s.fail(errs.Corrupt, errs.PartHeader, at, err.Error())
		}
		s.check = nil
		if s.Limits.ChecksSections() && !in.Walks() {
			s.check = new(section.Checker)
		}
		switch {
		case s.kind == SeekTableKind && s.skip >= SeekFooterSize && !in.Walks():
			s.phase = inTable
			s.tables.enter(s.skip)
		case s.skip > 0:
			s.phase = skipping
		}
		return container.ErrNothingYet
	case !IsFrame(magic[:n]):
		// A frame with a damaged magic number looks like this too, and its content would be
		// missing. Therefore this is not taken for data behind the end.
		return s.fail(errs.Corrupt, errs.PartUnknown, at, "no zstd frame follows here")
	}
	err = s.frame.beginFrame(in, s.frames, magic[:n])
	s.frames++
	return err
}

// broken converts a read error in a skippable frame. The end of the input becomes errs.Truncated.
func (s *Scanner) broken(err error) error {
	part := errs.PartStray
	if s.kind == SeekTableKind {
		part = errs.PartIndex
	}
	return container.Broken(err, func() error {
		return s.fail(errs.Truncated, part, s.In.Offset(), "")
	})
}

// skipSome passes over a part of a skippable frame.
func (s *Scanner) skipSome() error {
	in := &s.In
	n := min(s.skip, skipStep)
	if in.Random() {
		n = s.skip
	}
	var err error
	if s.check != nil {
		_, err = io.CopyN(s.check, in, n)
	} else {
		err = in.Skip(n)
	}
	if err != nil {
		s.sawSection(err)
		return s.broken(err)
	}
	if s.skip -= n; s.skip == 0 {
		s.phase = betweenFrames
		s.sawSection(nil)
	}
	return container.ErrNothingYet
}

// sawSection reports a section of parity that was read up to its end or to an error.
func (s *Scanner) sawSection(err error) {
	if s.check != nil && s.check.Found() {
		s.Limits.SawSection(err == nil && s.kind == SectionKind && s.check.Intact())
	}
}

// otherFrames is the detail of an error about a seek table.
const otherFrames = "the frames in front of a seek table are not those that it lists"

// readTable reads a part of a skippable frame that may be a seek table.
func (s *Scanner) readTable() error {
	in, c := &s.In, &s.tables
	n, err := in.Read(c.buf[:min(s.skip, int64(len(c.buf)))])
	if n == 0 && err != nil {
		return s.broken(err)
	}
	c.write(c.buf[:n])
	if s.check != nil {
		s.check.Write(c.buf[:n])
	}
	if s.skip -= int64(n); s.skip > 0 {
		return container.ErrNothingYet
	}
	s.phase = betweenFrames
	s.sawSection(nil)
	if !c.endFrame(s.Limits.Checks) {
		return s.fail(errs.Corrupt, errs.PartIndex, in.Offset()-c.size-SkippableHeaderSize, otherFrames)
	}
	return container.ErrNothingYet
}

// choose decides whether the frame whose header has been read becomes one unit, or is decoded in
// order.
func (s *Scanner) choose(u *container.Unit) error {
	h := &s.frame.Header
	if err := s.frame.checkDictionary(s.Dictionary); err != nil {
		return err
	}
	if h.ContentSize >= 0 && s.Limits.TooLarge(s.Content, h.ContentSize) {
		return s.frame.fail(errs.TooLarge, errs.PartBlock, s.frame.Offset, "")
	}
	s.ordered.shrink()
	if n := h.ContentSize; n >= 0 && n <= MaxWhole {
		*u = container.Unit{
			Spec: FrameSpec(int(n)),
			Kind: container.Coded,
			Raw:  int(n),
			Place: container.Place{
				Block: s.frame.Number, Offset: s.frame.Offset, Total: -1,
				CallerOwned: s.In.Memory() != nil,
			},
		}
		if s.Limits.Checks {
			u.Sum = 1 // the frame's own check is compared
		}
		// What becomes of a frame must not depend on the frames before it: their decoder is
		// dropped if it does not leave enough memory.
		if limit := s.Limits.Memory(); u.Memory(1, 1) <= limit {
			u.Extra = s.ordered.memory()
			if u.Memory(1, 1) > limit {
				s.ordered.releaseDecoder()
				u.Extra = 0
			}
			return nil
		}
	}
	// Decoding in order may wait for input, so the content before the frame is delivered first.
	s.phase = startInOrder
	return container.ErrNothingYet
}

// Payload returns the bytes of a frame, or decodes a piece.
func (s *Scanner) Payload(u *container.Unit, p []byte) ([]byte, error) {
	var err error
	if s.phase == inOrder {
		p, err = s.piece(u, p)
	} else {
		p, err = s.wholeFrame(u, p)
	}
	if err == nil {
		s.Count(u, s.CanContinue(0))
	}
	return p, err
}

// wholeFrame returns the bytes of the frame whose header has been read, in p's memory if the file
// is not in memory.
func (s *Scanner) wholeFrame(u *container.Unit, p []byte) ([]byte, error) {
	f, memory := &s.frame, s.In.Memory()
	limit := int(container.PayloadLimit(int64(u.Raw)))
	var err error
	if memory != nil {
		kept := p
		err = f.skip(int64(limit))
		p = memory[f.Offset:s.In.Offset():s.In.Offset()]
		if (err == nil || err == io.EOF) && cap(kept) >= len(p) {
			// The buffer has served a piece and may serve one again: copy rather than lose it.
			p, u.Place.CallerOwned = append(kept[:0], p...), false
		}
	} else {
		p, err = f.appendTo(p[:0], limit+1, func() bool { return false })
	}
	if err == nil {
		// No compressor makes a frame this long for its content; decode it in order.
		if err := s.decodeInOrder(u, p); err != nil {
			return nil, err
		}
		return nil, container.ErrNothingYet
	}
	if err != io.EOF {
		return nil, s.decodeCut(u, p, err)
	}
	var sum uint32
	if f.Header.Checksum {
		sum = binary.LittleEndian.Uint32(p[len(p)-zstframe.ChecksumSize:])
	}
	s.tables.frame(int64(len(p)), int64(u.Raw), sum, f.Header.Checksum)
	return p, nil
}

// CanContinue reports whether the next block of the frame is in the input's buffer, or, between
// frames, the next header.
func (s *Scanner) CanContinue(int) bool {
	if s.phase != inOrder {
		return s.In.Buffer().Buffered() >= zstframe.MaxHeaderSize
	}
	return s.frame.nextBuffered()
}

// piece decodes a piece of the frame.
func (s *Scanner) piece(u *container.Unit, p []byte) ([]byte, error) {
	f, o := &s.frame, &s.ordered
	p = s.Piece(p, pieces{s})
	switch err := s.Stop; {
	case err == nil:
	case o.stream.err != nil && o.stream.err != io.EOF:
		s.Stop = o.stream.err
	case err == io.EOF:
		s.Stop, s.phase = nil, betweenFrames
		content := s.Content + int64(len(p)) - o.from
		s.tables.frame(s.In.Offset()-f.Offset, content, f.sum, f.Header.Checksum)
	case errors.Is(err, ErrChecksum):
		s.Stop = f.fail(errs.Checksum, errs.PartBlock, f.Offset, "")
	case errors.Is(err, errs.Internal):
	default:
		s.Stop = &errs.Error{
			Kind: errs.Corrupt, Part: errs.PartBlock, Block: f.Number, Offset: f.Offset, Err: err,
		}
	}
	return s.Deliver(u, p)
}

// pieces is the Scanner as the decoder of its pieces.
type pieces struct{ *Scanner }

func (s pieces) Read(p []byte) (int, error) { return s.ordered.dec.Read(p) }

func (s pieces) Release() { s.ordered.dec = nil }
