package gzfile

import (
	"bufio"
	"errors"
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// Inflater decodes one Deflate stream after the other.
type Inflater interface {
	io.Reader
	// Reset begins a stream, which it reads no further than to its end.
	Reset(src *bufio.Reader)
	// Buffered returns the number of bytes of content that Read returns without more input. It is 0
	// only if there are none.
	Buffered() int
	// Corrupt reports whether err says that the stream is damaged, and how many bytes of it are
	// before the damage.
	Corrupt(err error) (offset int64, ok bool)
}

// Scanner reads a .gz file (RFC 1952): members, one after the other, and perhaps zeros behind them.
// It is a [container.Source] whose units are pieces of content, decoded in order. In errors members
// count as streams.
type Scanner struct {
	// NewInflater makes the decoder. Set it before the first call.
	NewInflater func() Inflater

	container.Sequential
	dec    Inflater
	member int
	inside bool  // between the header of a member and its trailer
	zeros  bool  // there were zeros behind a member
	offset int64 // of the member
	body   int64 // offset of the member's Deflate stream
	sum    uint32
	size   uint32

	head    Skipper
	trailer [TrailerSize]byte
}

// inflaterMemory is the memory of the decoder in bytes: window and tables.
const inflaterMemory = 128 << 10

// Spec says what a run for a .gz file must be made for.
func Spec() container.Spec {
	return container.Spec{BlockSize: container.PieceSize, Extra: inflaterMemory, InOrder: true}
}

// Begin begins a file. The Scanner reads no more than limits allow.
func (s *Scanner) Begin(in *container.Start, limits *container.Limits) {
	s.Sequential.Begin(in, limits)
	s.member, s.inside, s.zeros, s.offset = 0, false, false, 0
}

// Member returns the number of members read to their end, and the offset of the last one.
func (s *Scanner) Member() (number int, offset int64) { return s.member, s.offset }

func (s *Scanner) fail(kind error, part errs.Part, off int64, detail string) error {
	return &errs.Error{Kind: kind, Part: part, Stream: s.member, Block: -1, Offset: off, Detail: detail}
}

// broken converts a read error. The end of the input becomes errs.Truncated.
func (s *Scanner) broken(err error, part errs.Part) error {
	return container.Broken(err, func() error { return s.fail(errs.Truncated, part, s.In.Offset(), "") })
}

// Next goes to the next piece.
func (s *Scanner) Next(u *container.Unit) error {
	if s.Stop != nil {
		return s.Stop
	}
	if !s.inside {
		if err := s.header(); err != nil {
			return err
		}
	}
	*u = container.Unit{
		Spec:  Spec(),
		Kind:  container.Stored,
		Place: container.Place{Stream: s.member, Block: -1, Offset: s.offset, Total: -1},
	}
	return nil
}

// header reads the header of the next member, if there is one.
func (s *Scanner) header() error {
	br := s.In.Buffer()
	s.offset = s.In.Offset()
	p, err := br.Peek(1)
	switch {
	case err == io.EOF && s.offset > 0:
		return io.EOF
	case err != nil:
		return s.broken(err, errs.PartHeader)
	case s.offset > 0 && (p[0] == 0 || s.zeros):
		return s.padding()
	}
	s.head = Skipper{}
	for {
		if err := s.Limits.Canceled(); err != nil {
			return err
		}
		p, err := br.Peek(max(1, br.Buffered()))
		if len(p) == 0 {
			return s.broken(err, errs.PartHeader)
		}
		n, done, herr := s.head.Skip(p)
		br.Discard(n)
		switch {
		case done:
			return s.enter()
		case herr == nil:
		case errors.Is(herr, ErrMagic) && s.member > 0:
			return s.fail(errs.Trailing, errs.PartStray, s.offset, "")
		default:
			return s.fail(errorKind(herr), errs.PartHeader, s.offset, herr.Error())
		}
	}
}

// errorKind returns the kind of an error about a member's header.
func errorKind(err error) error {
	switch {
	case errors.Is(err, ErrMethod):
		return errs.Version
	case errors.Is(err, ErrChecksum):
		return errs.Checksum
	}
	return errs.Corrupt
}

// padding passes over zeros behind the last member, which tapes leave. Nothing else may follow.
func (s *Scanner) padding() error {
	s.zeros = true
	br := s.In.Buffer()
	p, err := br.Peek(max(1, br.Buffered()))
	for _, c := range p {
		if c != 0 {
			return s.fail(errs.Trailing, errs.PartStray, s.offset, "")
		}
	}
	br.Discard(len(p))
	switch err {
	case nil:
		return container.ErrNothingYet
	case io.EOF:
		return io.EOF
	}
	return s.broken(err, errs.PartUnknown)
}

// enter begins the member whose header has been read.
func (s *Scanner) enter() error {
	s.body = s.In.Offset()
	s.sum, s.size, s.inside = 0, 0, true
	if s.dec == nil {
		s.dec = s.NewInflater()
	}
	s.dec.Reset(s.In.Buffer())
	return nil
}

// Payload decodes a piece.
func (s *Scanner) Payload(u *container.Unit, p []byte) ([]byte, error) {
	p = s.Piece(p, pieces{s})
	if s.Limits.Checks {
		s.sum = Checksum(s.sum, p)
	}
	s.size += uint32(len(p))
	if s.Stop != nil {
		s.Stop = s.end(s.Stop)
	}
	p, err := s.Deliver(u, p)
	if err == nil {
		s.Count(u, pieces{s}.CanContinue(0))
	}
	return p, err
}

// pieces is the Scanner as the decoder of its pieces.
type pieces struct{ *Scanner }

func (s pieces) Read(p []byte) (int, error) { return s.dec.Read(p) }

func (s pieces) Drop() { s.dec = nil }

// CanContinue reports whether the decoder has content that it can give out without more input.
func (s pieces) CanContinue(int) bool {
	return s.inside && s.dec != nil && s.dec.Buffered() > 0
}

// end handles the end of the member's Deflate stream, or the error that comes instead.
func (s *Scanner) end(err error) error {
	if err != io.EOF {
		return s.damaged(err)
	}
	p := &s.trailer
	if _, err := container.ReadFull(s.In.Buffer(), p[:]); err != nil {
		return s.broken(err, errs.PartBlock)
	}
	at := s.In.Offset() - int64(len(p))
	sum, size := ParseTrailer(p[:])
	switch {
	case s.Limits.Checks && sum != s.sum:
		return s.fail(errs.Checksum, errs.PartBlock, at, "")
	case size != s.size:
		detail := "the content is not as long as the gzip trailer says"
		return s.fail(errs.Corrupt, errs.PartBlock, at, detail)
	}
	s.inside = false
	s.member++
	return nil
}

// damaged converts an error of the decoder. The end of the input becomes errs.Truncated.
func (s *Scanner) damaged(err error) error {
	if errors.Is(err, errs.Internal) {
		return err
	}
	if at, ok := s.dec.Corrupt(err); ok {
		return s.fail(errs.Corrupt, errs.PartBlock, s.body+at, "the Deflate stream is damaged")
	}
	return s.broken(err, errs.PartBlock)
}

// ReadHeader reads the header of the first member of a file. Data in another format has an empty
// header. A name or comment that is too long is left out, with everything behind it.
func ReadHeader(src io.Reader) (h Header, err error) {
	var p []byte
	for want := MinHeaderSize; ; want = min(2*len(p), MaxHeaderSize) {
		have := len(p)
		p = append(p, make([]byte, want-have)...)
		n, err := container.ReadFull(src, p[have:])
		p = p[:have+n]
		h, _, herr := ParseHeader(p)
		switch {
		case herr == nil, errors.Is(herr, ErrLong):
			return h, nil
		case errors.Is(herr, ErrMagic):
			return Header{}, nil
		case errors.Is(herr, ErrShort) && err == nil && want < MaxHeaderSize:
			continue
		case errors.Is(herr, ErrShort) && errs.IsEnd(err):
			herr = &errs.Error{Kind: errs.Truncated, Part: errs.PartHeader, Block: -1, Offset: int64(len(p))}
		case errors.Is(herr, ErrShort) && err != nil:
			herr = err
		default:
			herr = &errs.Error{Kind: errorKind(herr), Part: errs.PartHeader, Block: -1, Detail: herr.Error()}
		}
		return Header{}, herr
	}
}
