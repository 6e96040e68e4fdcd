package gzfile

import (
	"errors"
	"io"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// windowSize is the largest offset of a match in bytes.
const windowSize = inflate.WindowSize

// A walker decodes a file (RFC 1952) from some place on: members, one after the other, and perhaps
// zeros behind them. It is a state machine that can stop wherever input or room ends. In errors
// members count as streams.
//
// It parses trailers, but does not compare them with the content.
type walker struct {
	inflater *inflate.Decoder
	rules    Rules
	state    state
	atBlock  bool // in the body, in front of a block

	at      int64 // offset of the input that comes next, in bytes
	offset  int64 // of the member, or of the zeros behind the last one
	body    int64 // where the inflater counts from
	start   int64 // of the member's Deflate stream
	members int   // that are complete
	head    Skipper
	trailer [TrailerSize]byte
	have    int // bytes of trailer
}

// state says what a walker expects.
type state uint8

const (
	betweenMembers state = iota
	inHeader
	inBody
	inTrailer
	inPadding // zeros behind the last member
)

// reset goes to the beginning of a file.
func (w *walker) reset() {
	*w = walker{inflater: w.inflater, rules: w.rules}
}

// resetAt goes to a place in the file. in is the input from the byte on that has it.
func (w *walker) resetAt(p place, in []byte) {
	*w = walker{inflater: w.inflater, rules: w.rules, at: p.bit >> 3}
	if p.member {
		return
	}
	w.state, w.body, w.atBlock = inBody, w.at, true
	if skip := uint(p.bit & 7); skip > 0 {
		w.inflater.ResetAt(in[0], skip)
		w.at++
	} else {
		w.inflater.Reset()
	}
}

// place returns where the walker is, if a block or a member begins there.
func (w *walker) place() (p place, ok bool) {
	switch {
	case w.state == betweenMembers:
		return place{w.at << 3, true}, true
	case w.state == inBody && w.atBlock:
		return place{w.body<<3 + w.inflater.Position(), false}, true
	}
	return noPlace, false
}

// step does what the state asks for, with the input that comes next: some, but for the body. It
// decodes at most room bytes of content into o. more reports whether another step makes sense
// without more input or room.
func (w *walker) step(in []byte, o *output, room int) (more bool, err error) {
	if w.state == inBody {
		return w.inflate(in, o, room)
	}
	switch w.state {
	case betweenMembers:
		w.offset = w.at
		w.state = inHeader
		if w.offset > 0 && in[0] == 0 && w.rules == GzipRules {
			w.state = inPadding
		}
		w.head = Skipper{Rules: w.rules}
	case inHeader:
		n, done, herr := w.head.Skip(in)
		w.at += int64(n)
		switch {
		case done:
			w.inflater.Reset()
			w.state, w.body, w.start, w.atBlock = inBody, w.at, w.at, false
			o.beginMember()
			o.mark(w.body << 3)
		case errors.Is(herr, ErrMagic) && w.members > 0:
			return false, w.fail(errs.Trailing, errs.PartStray, w.offset, "")
		case herr != nil:
			return false, w.fail(HeaderKind(herr), errs.PartHeader, w.offset, herr.Error())
		}
	case inTrailer:
		n := copy(w.trailer[w.have:], in)
		w.at += int64(n)
		if w.have += n; w.have == TrailerSize {
			sum, size := ParseTrailer(w.trailer[:])
			o.addEnd(memberEnd{o.size(), sum, size, w.offset, w.at - TrailerSize})
			w.state = betweenMembers
			w.members++
		}
	case inPadding:
		// Tapes leave zeros. Nothing else may follow the last member.
		for _, c := range in {
			if c != 0 {
				return false, w.fail(errs.Trailing, errs.PartStray, w.offset, "")
			}
		}
		w.at += int64(len(in))
	}
	return true, nil
}

// inflate decodes content of the member.
func (w *walker) inflate(in []byte, o *output, room int) (more bool, err error) {
	w.atBlock = false
	n, used, err := o.decode(w.inflater, in, room)
	w.at += int64(used)
	switch err {
	case nil:
		return n < room && used < len(in), nil
	case inflate.ErrBlock:
		w.atBlock = true
		o.mark(w.body<<3 + w.inflater.Position())
		return true, nil
	case io.EOF:
		w.state, w.have = inTrailer, 0
		return true, nil
	}
	if at, ok := w.inflater.Corrupt(err); ok {
		at += w.body
		if w.rules == StdRules {
			at -= w.start
		}
		err = w.fail(errs.Corrupt, errs.PartBlock, at, "the Deflate stream is damaged")
	}
	return false, err
}

func (w *walker) fail(kind error, part errs.Part, off int64, detail string) error {
	return &errs.Error{Kind: kind, Part: part, Stream: w.members, Block: -1, Offset: off, Detail: detail}
}

// endError returns what it means that the input ends here, with an error or io.EOF.
func (w *walker) endError(err error) error {
	part := errs.PartBlock
	switch w.state {
	case betweenMembers, inPadding:
		if err == io.EOF && w.at > 0 {
			return io.EOF
		}
		part = errs.PartHeader
	case inHeader:
		part = errs.PartHeader
	case inTrailer:
		if w.rules == StdRules {
			part = errs.PartStray
		}
	}
	return container.Broken(err, func() error { return w.fail(errs.Truncated, part, w.at, "") })
}

// HeaderKind returns the kind of an error about a member's header.
func HeaderKind(err error) error {
	switch {
	case errors.Is(err, ErrMethod):
		return errs.Version
	case errors.Is(err, ErrChecksum):
		return errs.Checksum
	}
	return errs.Corrupt
}
