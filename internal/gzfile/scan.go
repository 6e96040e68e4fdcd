package gzfile

import (
	"io"

	"github.com/gopz/compress/internal/container"
)

// Scanner reads a .gz file from the front. It is a [container.Source]. Its units are consecutive
// parts of the file, wherever they begin and end, and one decoder decodes them in order. Where that
// has enough input, units are empty and only make room for content.
type Scanner struct {
	// NewInflater makes the decoder of Deflate streams. Set it before the first call.
	NewInflater func() Inflater

	in          container.Input
	limits      *container.Limits
	nonBlocking bool
	dec         *decoder
	end         error // what follows the input read so far; see container.Serial
	reads       bool  // the unit has input
	begun       bool  // units may be in flight: there were some since ErrNothingYet
}

const (
	// pieceSize is the most content of a unit in bytes. Half of it takes 5% more processor time, as
	// the goroutines wait for each other twice as often.
	pieceSize = 256 << 10

	// lowWater is how much input must wait for the decoder, in bytes, for the Scanner to read no
	// more if reading does not block.
	lowWater = container.InputBuffer / 2

	// lastInput is the most input at the end of a file, in bytes, that gets one unit at first. The
	// content of small files fits into that.
	lastInput = pieceSize / 8

	// decoderMemory is the memory of the decoder in bytes besides one buffer of input: another one,
	// the window, and tables.
	decoderMemory = container.InputBuffer + 64<<10
)

// Spec says what a run for a .gz file must be made for.
func Spec() container.Spec {
	return container.Spec{
		BlockSize: pieceSize,
		Payload:   container.InputBuffer + windowSize,
		Extra:     decoderMemory,
		InOrder:   true,
	}
}

// Begin begins a file. The Scanner decodes no more than limits allow. All units of the file before
// it must have been decoded.
func (s *Scanner) Begin(in *container.Start, limits *container.Limits) {
	s.in.BeginDirect(in)
	s.limits, s.nonBlocking, s.end, s.begun = limits, in.NonBlocking, nil, false
	if s.dec == nil {
		s.dec = &decoder{inflater: s.NewInflater()}
	}
	s.dec.begin(limits)
}

// Release drops the references to the caller's memory and input.
func (s *Scanner) Release() {
	s.in.Release()
	s.limits, s.end = nil, nil
	if d := s.dec; d != nil && d.err == errDecoderPanicked {
		s.dec = nil
	} else if d != nil {
		d.visit, d.end, d.err = nil, nil, nil
	}
}

// Next goes to the next unit. If the input may block, Next returns [container.ErrNothingYet] where
// the decoder may need more.
func (s *Scanner) Next(u *container.Unit) error {
	at, most := s.in.Offset(), int64(lowWater)
	if !s.nonBlocking {
		most = 0
	}
	waits := s.end != nil || at-s.dec.used.Load() > most || s.dec.full.Load()
	if !s.nonBlocking && s.begun && (s.reads || !waits) {
		s.begun = false
		return container.ErrNothingYet
	}
	s.reads, s.begun = !waits, true
	*u = container.Unit{
		Spec: Spec(), Kind: container.Coded, Decoder: s.dec,
		Place: container.Place{Block: -1, Offset: at, Total: -1},
	}
	return nil
}

// Payload reads the input of the unit, in p's memory: one read if that may block.
func (s *Scanner) Payload(u *container.Unit, p []byte) ([]byte, error) {
	if !s.reads {
		u.End = s.end
		return p[:0], nil
	}
	if cap(p) < container.InputBuffer {
		p = make([]byte, container.InputBuffer)
	}
	p = p[:container.InputBuffer]
	n := 0
	for n < len(p) && s.end == nil {
		var m int
		m, s.end = s.in.ReadDirect(p[n:])
		// No content is available before the end of a header.
		if n += m; !s.nonBlocking && s.in.Offset() >= MinHeaderSize {
			break
		}
	}
	u.End = s.end
	u.Pause = !s.nonBlocking || s.end != nil && n <= lastInput
	return p[:n], nil
}

// Walk decodes the rest of the file on the caller's goroutine, and calls visit behind each member.
// It returns nil at the end of the file.
func (s *Scanner) Walk(visit func(Member) error) error {
	var u container.Unit
	var piece container.Serial
	var src []byte
	s.dec.visit = visit
	for {
		err := s.limits.Canceled()
		if err == nil {
			err = s.Next(&u)
		}
		if err == nil {
			src, err = s.Payload(&u, src)
		}
		if err == nil {
			piece.End = u.End
			src = s.dec.Decode(&piece, src)
			err = piece.Stop
		}
		switch err {
		case nil, container.ErrNothingYet:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}
