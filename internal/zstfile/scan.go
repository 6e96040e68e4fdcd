package zstfile

import (
	"encoding/binary"
	"io"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/zstframe"
)

const (
	// MaxWhole is the most content in bytes of a frame that a ReaderAt loads as a block.
	MaxWhole = 32 << 20

	// firstUnit and laterUnit are the most content in bytes of a frame that is one unit: of a frame
	// that may be the only one, and of others. Files of one frame gain from parts, and take no more
	// memory than the window. Files of many frames gain from decoding frames side by side.
	firstUnit = 1 << 20
	laterUnit = 8 << 20

	// smallFrame is the least size of the blocks of a run for frames that are units, in bytes, so
	// that one run serves all small frames.
	smallFrame = 128 << 10

	// skipStep is how many bytes of a skippable frame are passed over at a time, between two looks
	// at the context.
	skipStep = 1 << 20
)

// Scanner reads a file of zstd frames (RFC 8878). It is a [container.Source]. A frame that says
// how much content it has, and not too much, is a unit that a worker decodes. Other frames are cut
// into parts, which are units that workers decode in order. In errors all frames are in stream 0,
// and blocks are frames.
type Scanner struct {
	// Workers is how many workers decode units. Set it before Reset.
	Workers int
	// Dictionary is the one that the workers decode with, nil for none. Set it before Reset.
	Dictionary Dictionary
	// OpenDictionary returns that dictionary for the decoder of parts.
	OpenDictionary func() (*zstd.Dictionary, error)
	// Single ends the file behind the first frame. Set it before Reset.
	Single bool

	in          container.Input
	limits      *container.Limits
	nonBlocking bool
	ready       func() bool // see container.Start
	mayBlock    bool        // one read may wait: all content up to there has been delivered

	stop    error // what follows the last unit
	content int64 // of the frames so far, in bytes, unless unsized
	unsized bool  // a frame stated no size; from there on all frames are cut into parts
	waited  bool  // all units so far have been delivered

	phase  phase
	frame  Frame
	frames int64
	skip   int64            // bytes of a skippable frame to pass over
	kind   int              // of that frame
	check  *section.Checker // of that frame: it may be a section of parity; nil if that does not matter
	parity bool             // that frame counts as a section, by its kind and size
	magic  [SkippableHeaderSize]byte
	whole  container.Unit // in phase inUnit
	begun  []byte         // the beginning of its frame
	spare  []byte         // the memory that begun gets in exchange

	ordered ordered
	tables  tableCheck
}

// A Dictionary is one that frames may need. Serves reports whether a frame that names an ID, 0 for
// none, can be decoded with it.
type Dictionary interface {
	ID() uint32
	Serves(id uint32) bool
}

// phase is where a Scanner is in its file.
type phase uint8

const (
	betweenFrames phase = iota
	skipping            // in a skippable frame
	beforeTable         // in front of a skippable frame that may be a seek table
	inTable             // in that frame
	inUnit              // in a frame that is one unit
	inOrder             // in a frame that is cut into parts
)

// FrameSpec says what a run must be made for to decode frames with so much content.
func FrameSpec(content int) container.Spec {
	return container.Spec{BlockSize: max(smallFrame, container.CeilPow2(content))}
}

// Reset begins a file. The Scanner reads no more than limits allow.
func (s *Scanner) Reset(in *container.Start, limits *container.Limits) {
	s.in.Reset(in)
	s.limits, s.nonBlocking, s.ready, s.mayBlock = limits, in.NonBlocking, in.Ready, true
	s.resetState()
}

func (s *Scanner) resetState() {
	s.stop, s.content, s.unsized, s.waited = nil, 0, false, false
	s.phase, s.frame, s.frames, s.skip, s.begun = betweenFrames, Frame{}, 0, 0, nil
	s.ordered.reset()
	s.tables.reset()
}

// Release drops the references to the caller's memory and input.
func (s *Scanner) Release() {
	s.in.Release()
	s.limits, s.ready, s.stop, s.frame, s.begun = nil, nil, nil, Frame{}, nil
	s.ordered.release()
}

// DecoderMemory returns the memory of the window of frames that are cut into parts, in bytes. Tests
// use it to see when the Scanner frees it.
func (s *Scanner) DecoderMemory() int64 {
	if s.ordered.dec == nil {
		return 0
	}
	return s.ordered.dec.memory.Load()
}

// mayRead reports whether n bytes are in the input's buffer, or the input has ended, or reading
// does not block. It reads only what does not have to be waited for, but for one read where that is
// allowed.
func (s *Scanner) mayRead(n int) bool {
	if s.nonBlocking {
		return true
	}
	br := s.in.Buffer()
	for br.Buffered() < n {
		if !s.mayBlock && !s.isReady() {
			return false
		}
		s.mayBlock = false
		if _, err := br.Peek(br.Buffered() + 1); err != nil {
			break // it comes again
		}
	}
	return true
}

// isReady reports whether one read would not wait.
func (s *Scanner) isReady() bool { return s.ready != nil && s.ready() }

// setPause says whether reading on behind u may block.
func (s *Scanner) setPause(u *container.Unit) {
	more := s.nonBlocking
	switch {
	case more:
	case s.phase == inOrder:
		more = s.frame.nextBuffered()
	default:
		more = s.in.Buffer().Buffered() >= zstframe.MaxHeaderSize
	}
	u.Pause = !more && !s.isReady()
	s.mayBlock = u.Pause
}

func (s *Scanner) fail(kind error, part errs.Part, off int64, detail string) error {
	e := errs.At(kind, off, detail)
	e.Part = part
	return e
}

// Next goes to the next unit.
func (s *Scanner) Next(u *container.Unit) error {
	if s.stop != nil {
		return s.stop
	}
	switch s.phase {
	case inOrder:
		s.setPart(u)
		return nil
	case inUnit:
		*u = s.whole
		return nil
	}
	err := s.nextFrame()
	if err == nil {
		err = s.choose(u)
	}
	if err == container.ErrNothingYet {
		s.mayBlock = true
	}
	return err
}

// nextFrame reads the header of the next frame. Where it passes over skippable frames, or would
// have to wait, it returns [container.ErrNothingYet].
func (s *Scanner) nextFrame() error {
	switch s.phase {
	case skipping:
		return s.skipSome()
	case beforeTable:
		if s.unsized && !s.waited {
			s.waited = true
			return container.ErrWait
		}
		s.phase, s.waited = inTable, false
		s.tables.enter(s.skip)
		return container.ErrNothingYet
	case inTable:
		return s.readTable()
	}
	if s.Single && s.frames > 0 {
		return io.EOF
	}
	if !s.headerReady() {
		return container.ErrNothingYet
	}
	in := &s.in
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
		s.check, s.parity = nil, isSectionKind(s.kind, s.skip)
		if s.limits.ChecksSections() && !in.Walks() {
			s.check = new(section.Checker)
		}
		switch {
		case s.kind == SeekTableKind && s.skip >= SeekFooterSize && !in.Walks():
			s.phase = beforeTable
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

// headerReady reports whether the header of the next frame can be read without waiting.
func (s *Scanner) headerReady() bool {
	switch {
	case s.nonBlocking:
		return true
	case !s.mayRead(zstframe.MagicSize):
		return false
	}
	br := s.in.Buffer()
	p, _ := br.Peek(min(br.Buffered(), zstframe.MagicSize))
	if IsSkippable(p) {
		return s.mayRead(SkippableHeaderSize)
	} else if !IsFrame(p) {
		return true
	}
	if !s.mayRead(zstframe.MinHeaderSize) {
		return false
	}
	p, _ = br.Peek(min(br.Buffered(), zstframe.MinHeaderSize))
	size, err := zstframe.HeaderSize(p)
	return err != nil || s.mayRead(size)
}

// broken converts a read error in a skippable frame. The end of the input becomes errs.Truncated.
func (s *Scanner) broken(err error) error {
	part := errs.PartStray
	if s.kind == SeekTableKind {
		part = errs.PartIndex
	}
	return container.Broken(err, func() error {
		return s.fail(errs.Truncated, part, s.in.Offset(), "")
	})
}

// skipSome passes over a part of a skippable frame.
func (s *Scanner) skipSome() error {
	in := &s.in
	n := min(s.skip, skipStep)
	switch {
	case in.Random():
		n = s.skip
	case s.nonBlocking:
	case !s.mayRead(1):
		return container.ErrNothingYet
	default:
		n = min(n, int64(max(1, in.Buffer().Buffered())))
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
	if s.check != nil && (s.parity || s.check.Found()) {
		s.limits.SawSection(err == nil && s.kind == SectionKind && s.check.Intact())
	}
}

// readTable reads a part of a skippable frame that may be a seek table.
func (s *Scanner) readTable() error {
	in, c := &s.in, &s.tables
	if !s.mayRead(1) {
		return container.ErrNothingYet
	}
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
	if fault := c.endFrame(s.limits.Checks); fault != "" {
		return s.fail(errs.Corrupt, errs.PartIndex, in.Offset()-c.size-SkippableHeaderSize, fault)
	}
	return container.ErrNothingYet
}

// choose decides whether the frame whose header has been read becomes one unit, or is cut into
// parts.
func (s *Scanner) choose(u *container.Unit) error {
	h := &s.frame.Header
	if err := s.frame.checkDictionary(s.Dictionary); err != nil {
		return err
	}
	if most := s.limits.MaxWindow; most > 0 && h.Window > most {
		return s.frame.fail(errs.Memory, errs.PartHeader, s.frame.Offset, "window larger than the limit")
	}
	n := h.ContentSize
	if n >= 0 && !s.unsized && s.limits.TooLarge(s.content, n) {
		return s.frame.fail(errs.TooLarge, errs.PartBlock, s.frame.Offset, "")
	}
	most := int64(laterUnit)
	if s.frame.Number == 0 && n > firstUnit && s.in.Known() <= container.PayloadLimit(n) {
		most = firstUnit
	}
	if n >= 0 && n <= most && !s.unsized {
		*u = container.Unit{
			Spec: FrameSpec(int(n)),
			Kind: container.Coded,
			Raw:  int(n),
			Place: container.Place{
				Block: s.frame.Number, Offset: s.frame.Offset, Total: -1,
				CallerOwned: s.in.Memory() != nil,
			},
		}
		if s.limits.Checks {
			u.Sum = 1 // the frame's own check is compared
		}
		u.Extra, u.InFlight = s.ordered.memory, s.ordered.spec.InFlight
		if s.ordered.memory == 0 {
			u.InFlight = 0
		}
		if u.Memory(1, 1) <= s.limits.Memory() {
			s.phase, s.whole = inUnit, *u
			return nil
		}
	}
	if err := s.beginOrdered(neededWindow(h)); err != nil {
		return err
	}
	s.setPart(u)
	return nil
}

// Payload returns the bytes of a frame, or of a part.
func (s *Scanner) Payload(u *container.Unit, p []byte) ([]byte, error) {
	if s.phase == inOrder {
		return s.passPart(u, p)
	}
	p, err := s.wholeFrame(u, p)
	if err == nil {
		s.phase = betweenFrames
		s.content += int64(u.Raw)
		u.Place.Content, u.Place.End = s.content, s.in.Offset()
		s.setPause(u)
	}
	return p, err
}

// wholeFrame returns the bytes of the frame whose header has been read, in p's memory if the file
// is not in memory.
func (s *Scanner) wholeFrame(u *container.Unit, p []byte) ([]byte, error) {
	f, memory := &s.frame, s.in.Memory()
	limit := int(container.PayloadLimit(int64(u.Raw)))
	var err error
	if memory != nil {
		err = f.skip(int64(limit))
		p = memory[f.Offset:s.in.Offset():s.in.Offset()]
	} else {
		if s.begun != nil {
			p, s.begun, s.spare = s.begun, nil, p
		} else {
			p = p[:0]
		}
		p, err = f.appendTo(p, limit+1, s.mayRead)
	}
	switch err {
	case nil:
		// No compressor makes a frame this long for its content.
		damage := s.fail(errs.Corrupt, errs.PartBlock, f.Offset, errSize.Error())
		return nil, s.decodeAgain(p, neededWindow(&f.Header), damage)
	case io.EOF:
	case container.ErrNothingYet:
		s.begun, s.mayBlock = p, true
		return s.spare[:0], err
	default:
		return nil, s.decodeCut(p, err)
	}
	var sum uint32
	if f.Header.Checksum {
		sum = binary.LittleEndian.Uint32(p[len(p)-zstframe.ChecksumSize:])
	}
	s.tables.frame(int64(len(p)), int64(u.Raw), sum, f.Header.Checksum)
	return p, nil
}
