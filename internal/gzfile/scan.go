package gzfile

import (
	"io"

	"github.com/gopz/compress/internal/container"
)

// Scanner reads a .gz file from the front. It is a [container.Source]. Its units are consecutive
// parts of the file, wherever they begin and end, and one decoder decodes them in order. Where that
// has enough input, units are empty and only make room for content.
//
// With several workers, parts of a large file are decoded ahead.
type Scanner struct {
	// Workers is how many workers decode units. Set it before Reset.
	Workers int
	// Marks asks for marks, unless nil. Set it before Reset.
	Marks *Marks
	// Visit is called behind each member, in order, unless nil. It is called by Verify. An error
	// ends the file. Set it before Reset.
	Visit func(Member) error

	in          container.Input
	from        int64 // offset in the file of the input, in bytes
	limits      *container.Limits
	nonBlocking bool
	ready       func() bool // see container.Start
	dec         *decoder
	end         error // what follows the input read so far
	reads       bool  // the unit has input
	begun       bool  // units may be in flight: there were some since ErrNothingYet
	units       int64
	ahead       container.Spec // of units that are decoded ahead; without InFlight none are
	next        int            // size of the next part that is decoded ahead, 0 before the first
	alone       bool           // the machine is busy, and nothing is decoded ahead
	begunPart   []byte         // the beginning of a part that is to be decoded ahead, nil if there is none
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

	// aheadFrom is how much of a file is decoded before parts are decoded ahead, in bytes of input.
	aheadFrom = 2 * container.InputBuffer

	// The size of a part that is decoded ahead, in bytes: as much as has aheadTarget bytes of
	// content, if the file goes on as before.
	leastPart   = 64 << 10
	mostPart    = 512 << 10
	aheadTarget = 1 << 20

	// leastUnits is how many units in flight are worth decoding ahead.
	leastUnits = 4
	// tableMemory is what decoding a unit ahead takes for tables, in bytes.
	tableMemory = 32 << 10
	// endsMemory is what the ends of members in a unit take, in bytes.
	endsMemory = endsMost * (32 + 4)
)

// orderedSpec says what a run for a .gz file must be made for.
func orderedSpec() container.Spec {
	return container.Spec{
		BlockSize: pieceSize,
		Payload:   container.InputBuffer + windowSize + endsMemory,
		Extra:     decoderMemory,
		InOrder:   true,
	}
}

// Spec returns the Spec of the units of a file, with so many workers and within a memory limit.
// InFlight is set if parts are decoded ahead. Such a unit has input, content, symbols of two bytes
// each, a window in front of both and one more, tables, ends of members, and perhaps marks. One
// unit may have content twice.
func Spec(workers int, memory int64, marks bool) container.Spec {
	s := container.Spec{
		BlockSize: aheadContent,
		Payload: mostPart + (mostContent - aheadContent) + 2*mostContent + 4*windowSize +
			tableMemory + endsMemory,
		Extra:    mostPart + decoderMemory + windowSize + mostContent,
		InOrder:  true,
		InFlight: 2 * workers,
	}
	if marks {
		s.Payload += marksMemory
	}
	for s.InFlight >= leastUnits && s.Memory(s.InFlight, workers) > memory {
		s.InFlight--
	}
	if workers < 2 || s.InFlight < leastUnits {
		return orderedSpec()
	}
	return s
}

// Reset begins a file. The Scanner decodes no more than limits allow. All units of the file before
// it must have been decoded.
func (s *Scanner) Reset(in *container.Start, limits *container.Limits) {
	s.in.ResetDirect(in)
	s.limits, s.nonBlocking, s.end, s.begun = limits, in.NonBlocking, nil, false
	s.ready = in.Ready
	if s.dec == nil {
		s.dec = newDecoder()
	}
	s.from, s.ahead = 0, container.Spec{}
	if s.nonBlocking || s.ready != nil {
		s.ahead = Spec(s.Workers, limits.Within(limits.Memory()), s.Marks != nil)
	}
	s.dec.reset(limits)
	s.dec.mostOutputs, s.dec.check.marks = s.ahead.InFlight, s.Marks
	s.dec.check.visit = s.Visit
	s.units, s.next, s.begunPart = 0, 0, nil
}

// Release drops the references to the caller's memory and input.
func (s *Scanner) Release() {
	s.in.Release()
	s.limits, s.end, s.ready, s.begunPart = nil, nil, nil, nil
	if d := s.dec; d != nil && d.err == errDecoderPanicked {
		s.dec = nil
	} else if d != nil {
		d.release()
	}
}

// Next goes to the next unit. If the input may block, Next returns [container.ErrNothingYet] where
// the decoder may need more.
func (s *Scanner) Next(u *container.Unit) error {
	at, used := s.from+s.in.Offset(), s.dec.used.Load()
	free := s.isFree()
	if s.begunPart != nil {
		s.begun = true
		s.unit(u)
		return nil
	}
	if s.ahead.InFlight > 0 && s.next == 0 && used > 0 && at >= aheadFrom {
		s.next = leastPart
	}
	s.alone = s.next > 0 && s.dec.isBusy()
	most := int64(lowWater)
	switch {
	case !free:
		most = 0
	case s.next > 0 && !s.alone:
		most = int64(s.ahead.InFlight) * mostPart
	}
	waits := s.end != nil || at-used > most || s.dec.full.Load()
	if !free && s.begun && (s.reads || !waits) {
		s.begun = false
		return container.ErrNothingYet
	}
	s.reads, s.begun = !waits, true
	s.units++
	s.unit(u)
	return nil
}

// isFree reports whether a read would not wait.
func (s *Scanner) isFree() bool { return s.nonBlocking || s.ready != nil && s.ready() }

// unit makes u the last unit.
func (s *Scanner) unit(u *container.Unit) {
	*u = container.Unit{
		Spec: orderedSpec(), Kind: container.Coded, Decoder: s.dec, Number: s.units - 1,
		Place: container.Place{Block: -1, Total: -1}, Alone: s.alone,
	}
	u.Place.Offset = s.from + s.in.Offset() - int64(len(s.begunPart))
	if s.next > 0 {
		u.Spec = s.ahead
	}
}

// Payload reads the input of the unit, for the decoder: one read if that may block. The payload is
// empty. While other units are in flight, Payload returns [container.ErrNothingYet] where more of a
// part that is to be decoded ahead has not come. The next call goes on there.
func (s *Scanner) Payload(u *container.Unit, p []byte) ([]byte, error) {
	if !s.reads {
		return p[:0], nil
	}
	ahead, want := false, container.InputBuffer
	if s.next > 0 && !s.alone {
		ahead = s.dec.pays(u.Number)
		if s.begunPart == nil {
			s.next = s.dec.partSize()
		}
		want = s.next
	}
	data, owned := s.begunPart, s.in.Memory() == nil
	if !owned {
		data = s.takeMemory(want)
	} else {
		if data == nil {
			data = s.dec.input.memory(want)[:0]
		}
		data = s.read(data, want)
		s.begunPart = nil
		if len(data) < want && s.next > 0 && s.end == nil && s.inFlight(u) {
			s.begunPart = data
			return nil, container.ErrNothingYet
		}
	}
	s.dec.input.addPart(data, owned, u.Number, ahead && len(data) >= leastPart/2, s.end)
	u.Raw = len(data)
	u.Pause = !s.isFree() || s.end != nil && u.Raw <= lastInput
	return p[:0], nil
}

// inFlight reports whether units in front of u have not been delivered.
func (s *Scanner) inFlight(u *container.Unit) bool { return s.dec.check.units < u.Number }

// takeMemory returns the next n bytes of an input in memory, or as many as are left.
func (s *Scanner) takeMemory(n int) []byte {
	all, at := s.in.Memory(), s.in.Offset()
	n = int(min(int64(n), s.in.Left()))
	s.in.Skip(int64(n))
	if s.in.Left() == 0 {
		s.end = io.EOF
	}
	return all[at : at+int64(n)]
}

// read reads into p, until that has n bytes or another read may block.
func (s *Scanner) read(p []byte, n int) []byte {
	p = p[:n:cap(p)]
	at := len(s.begunPart)
	for at < n && s.end == nil {
		// No content is available before the end of a header.
		if at > 0 && s.in.Offset() >= MinHeaderSize && !s.isFree() {
			break
		}
		var m int
		m, s.end = s.in.ReadDirect(p[at:])
		at += m
	}
	return p[:at]
}

// Walk decodes the rest of the file on the caller's goroutine. It returns nil at the end of the
// file.
func (s *Scanner) Walk() error {
	var u container.Unit
	var piece container.Serial
	for {
		err := s.limits.Canceled()
		if err == nil {
			err = s.Next(&u)
		}
		if err == nil {
			_, err = s.Payload(&u, nil)
		}
		if err == nil {
			piece.Unit = u.Number
			s.dec.Decode(&piece)
			s.dec.FinishContent(&piece)
			s.dec.Verify(&piece)
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
