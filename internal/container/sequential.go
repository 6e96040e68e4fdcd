package container

import (
	"fmt"
	"io"

	"github.com/gopz/compress/internal/errs"
)

// Sequential is for a Source that decodes some units itself, in order: an Input, the count of
// content, and units that are pieces of content.
type Sequential struct {
	In          Input
	Limits      *Limits
	NonBlocking bool
	Content     int64 // of the units so far, in bytes

	// Stop is what follows the last piece: an error, or io.EOF at the end of what is decoded.
	Stop error
}

// Reset begins a file.
func (s *Sequential) Reset(in *Start, limits *Limits) {
	s.In.Reset(in)
	s.Limits, s.NonBlocking, s.Content, s.Stop = limits, in.NonBlocking, 0, nil
}

// Release drops the references to the caller's memory and input.
func (s *Sequential) Release() {
	s.In.Release()
	s.Limits, s.Stop = nil, nil
}

// A PieceDecoder decodes content in order, for Piece.
type PieceDecoder interface {
	io.Reader

	// CanContinue reports whether decoding can proceed without more input, when n bytes of a
	// piece have been decoded. Where it cannot, a party that waits for the content so far may be
	// the one that has to send more.
	CanContinue(n int) bool

	// Release gives the decoder up, after a panic.
	Release()
}

// Piece decodes the next piece from d, into p's memory. If decoding ends first, Piece sets s.Stop.
// Deliver returns it once no content is left.
func (s *Sequential) Piece(p []byte, d PieceDecoder) []byte {
	if cap(p) < PieceSize {
		p = make([]byte, PieceSize)
	}
	p = p[:PieceSize]
	var progress ReadProgress
	n, err := 0, error(nil)
	for n < PieceSize && err == nil {
		var m int
		m, err = s.decode(d, p[n:])
		n += m
		if m > 0 && !s.NonBlocking && !d.CanContinue(n) {
			break
		}
		err = progress.Check(m, err)
	}
	s.Stop = err
	return p[:n]
}

// decode reads from d. It recovers from a panic of d, but not from one of the underlying reader.
func (s *Sequential) decode(d PieceDecoder, p []byte) (n int, err error) {
	defer func() {
		if s.In.Reading() {
			d.Release()
			return
		}
		if v := recover(); v != nil {
			e := errs.At(errs.Internal, s.In.Offset(), fmt.Sprint("panic of a decoder: ", v))
			e.Part = errs.PartBlock
			n, err = 0, e
			d.Release()
		}
	}()
	return d.Read(p)
}

// Deliver makes u the piece p, cut where there would be more content than allowed. If the piece is
// empty it returns what Payload returns in place of it.
func (s *Sequential) Deliver(u *Unit, p []byte) ([]byte, error) {
	if s.Limits.TooLarge(s.Content, int64(len(p))) {
		p = p[:s.Limits.MaxDecoded-s.Content]
		s.Stop = &errs.Error{
			Kind: errs.TooLarge, Part: errs.PartBlock,
			Stream: u.Place.Stream, Block: u.Place.Block, Offset: u.Place.Offset,
		}
	}
	u.Raw = len(p)
	switch {
	case len(p) > 0:
		return p, nil
	case s.Stop != nil:
		return p, s.Stop
	}
	return p, ErrNothingYet
}

// Count counts the content of a unit that is complete, and says where the unit ends.
func (s *Sequential) Count(u *Unit, canContinue bool) {
	s.Content += int64(u.Raw)
	u.Place.Content, u.Place.End = s.Content, s.In.Offset()
	u.Pause = !s.NonBlocking && !canContinue
}

// Broken converts a read error. The end of the input becomes the errs.Truncated that truncated
// returns. An error of the underlying reader is returned as it is.
func Broken(err error, truncated func() error) error {
	if e, ok := SourceError(err); ok {
		return e
	}
	if errs.IsEnd(err) {
		return truncated()
	}
	return err
}
