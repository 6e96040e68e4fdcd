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
func (d *panicDecoder) Drop()                    { d.dropped = true }

// TestDecoderPanic makes sure that a panic of a decoder becomes an error, and that the decoder is
// not used again.
func TestDecoderPanic(t *testing.T) {
	var s Sequential
	var d panicDecoder
	if p := s.Piece(nil, &d); len(p) != 0 || !errors.Is(s.Stop, errs.Internal) || !d.dropped {
		t.Errorf("%d bytes, %v; dropped: %t", len(p), s.Stop, d.dropped)
	}
}
