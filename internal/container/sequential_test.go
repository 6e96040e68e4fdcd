package container

import (
	"errors"
	"testing"

	"github.com/gopz/compress/internal/errs"
)

// panicDecoder panics when it reads.
type panicDecoder struct{ dropped bool }

func (d *panicDecoder) Read([]byte) (int, error) { panic("test") }
func (d *panicDecoder) CanContinue(int) bool     { return true }
func (d *panicDecoder) Release()                 { d.dropped = true }

// TestDecoderPanic makes sure that a panic of a decoder becomes an error, and that the decoder is
// not used again.
func TestDecoderPanic(t *testing.T) {
	var s Sequential
	var d panicDecoder
	if p := s.Piece(nil, &d); len(p) != 0 || !errors.Is(s.Stop, errs.Internal) || !d.dropped {
		t.Errorf("%d bytes, %v; dropped: %t", len(p), s.Stop, d.dropped)
	}
	var e *errs.Error
	if !errors.As(s.Stop, &e) || e.Part != errs.PartBlock {
		t.Errorf("%+v, want part %v", s.Stop, errs.PartBlock)
	}
}

// TestTooLarge checks the error about a piece that is cut at the limit.
func TestTooLarge(t *testing.T) {
	s := Sequential{Limits: &Limits{MaxDecoded: 10}, Content: 7}
	u := Unit{Place: Place{Stream: 2, Block: -1, Offset: 5}}
	p, err := s.Deliver(&u, []byte("content"))
	var e *errs.Error
	if len(p) != 3 || err != nil || !errors.As(s.Stop, &e) ||
		e.Kind != errs.TooLarge || e.Part != errs.PartBlock || e.Stream != 2 || e.Offset != 5 {
		t.Errorf("%q, %v, then %+v; want 3 bytes, then errs.TooLarge in a block", p, err, s.Stop)
	}
}
