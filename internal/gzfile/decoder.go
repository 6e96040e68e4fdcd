package gzfile

import (
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// Inflater decodes one Deflate stream after the other, in pieces.
type Inflater interface {
	// Reset begins a stream.
	Reset()
	// Decode decodes src, which continues the stream, into dst[at:]. The content before it is
	// dst[:at]: at least its last 32 KiB, or all of it. Decode returns the bytes decoded and the
	// bytes of src used. The error is nil if there is no more room, or src has been used up, and
	// io.EOF at the end of the stream.
	Decode(dst []byte, at int, src []byte) (n, used int, err error)
	// Corrupt reports whether err says that the stream is damaged, and how many bytes of it are
	// before the damage.
	Corrupt(err error) (offset int64, ok bool)
}

// windowSize is the largest offset of a match in bytes.
const windowSize = 32 << 10

// A Member is a member of a file, with what is before it.
type Member struct {
	Offset, Size           int64 // of the member, in bytes
	ContentOffset, Content int64 // of its content in the content of the file, in bytes
}

// A decoder decodes a .gz file (RFC 1952): members, one after the other, and perhaps zeros behind
// them. It verifies headers and trailers. It is a [container.SerialDecoder], and a state machine
// that can stop wherever input or room ends. In errors members count as streams.
type decoder struct {
	inflater   Inflater
	checks     bool
	maxDecoded int64
	visit      func(Member) error // called behind each member, unless nil

	state   state
	members int   // that are complete
	offset  int64 // of the member, or of the zeros behind the last one
	start   int64 // of the member's content in the content of the file
	body    int64 // offset of the member's Deflate stream
	sum     uint32
	head    Skipper
	trailer [TrailerSize]byte
	have    int // bytes of trailer

	in       []byte // input; in[at:] is not used yet
	at       int
	queue    [][]byte // input behind in
	spare    [][]byte // memory of input that has been used
	offsetAt int64    // of in[at:] in the file
	window   []byte   // the content that the next piece may refer to
	content  int64    // of the file so far, in bytes
	end      error    // what follows the input; see container.Serial
	err      error    // what follows the content

	used atomic.Int64 // input used by complete calls of Decode, in bytes
	full atomic.Bool  // the last call of Decode stopped for lack of room
}

// state says what a decoder expects.
type state uint8

const (
	betweenMembers state = iota
	inHeader
	inBody
	inTrailer
	inPadding // zeros behind the last member
)

// errDecoderPanicked is what a decoder returns after a panic of its inflater.
var errDecoderPanicked = errs.New(errs.Internal, "a decoder panicked")

// begin begins a file. It keeps memory from file to file.
func (d *decoder) begin(limits *container.Limits) {
	d.checks, d.maxDecoded, d.visit = limits.Checks, limits.MaxDecoded, nil
	d.state, d.members, d.offset, d.start, d.body = betweenMembers, 0, 0, 0, 0
	d.in, d.at, d.offsetAt, d.window, d.content = d.in[:0], 0, 0, d.window[:0], 0
	d.spare, d.queue = append(d.spare, d.queue...), d.queue[:0]
	d.end, d.err = nil, nil
	d.used.Store(0)
	d.full.Store(false)
}

// Decode decodes the next piece of content.
func (d *decoder) Decode(s *container.Serial, src []byte) (free []byte) {
	s.Buf, s.History, s.Stop = s.Buf[:0], 0, d.err
	if d.err != nil {
		return src
	}
	if s.End != nil {
		d.end = s.End
	}
	free = d.take(src)
	d.err = errDecoderPanicked // unless fill returns
	d.err = d.fill(s)
	s.Used, s.Total = d.offsetAt, d.content
	d.used.Store(d.offsetAt)
	s.Stop = d.err
	return free
}

// take keeps src as input that is not used yet. It returns memory in place of src's.
func (d *decoder) take(src []byte) (free []byte) {
	if len(src) == 0 {
		return src
	}
	d.queue = append(d.queue, src)
	if n := len(d.spare); n > 0 {
		free, d.spare = d.spare[n-1], d.spare[:n-1]
	}
	return free
}

// input returns input that is not used yet. It is empty only if there is none.
func (d *decoder) input() []byte {
	for d.at == len(d.in) && len(d.queue) > 0 {
		if cap(d.in) > 0 {
			d.spare = append(d.spare, d.in)
		}
		d.in, d.at = d.queue[0], 0
		d.queue = slices.Delete(d.queue, 0, 1)
	}
	return d.in[d.at:]
}

// fill decodes into s.Buf until room or input ends. It returns what follows the content: nil if
// more may.
func (d *decoder) fill(s *container.Serial) error {
	p := piece{buf: slices.Grow(s.Buf, windowSize+pieceSize)}
	p.to = copy(p.buf[:windowSize], d.window)
	s.History = p.to
	p.buf = p.buf[:p.to+pieceSize]
	err := error(nil)
	for more := true; more && err == nil; {
		more, err = d.step(&p)
	}
	d.full.Store(err == nil && p.to == len(p.buf))
	d.window = d.window[:0]
	if d.state == inBody {
		d.window = append(d.window, p.buf[max(p.base, p.to-windowSize):p.to]...)
	}
	s.Buf = p.buf[:p.to]
	return err
}

// A piece is the memory of one call of Decode.
type piece struct {
	buf  []byte // as long as the content may be
	base int    // where the content of the member begins in buf, 0 if before it
	to   int    // end of the content
}

// step does what the state asks for. It reports whether another step makes sense.
func (d *decoder) step(p *piece) (more bool, err error) {
	if d.state == inBody {
		return d.inflate(p)
	}
	in := d.input()
	if len(in) == 0 {
		return false, d.starved()
	}
	switch d.state {
	case betweenMembers:
		d.offset = d.offsetAt
		if d.state = inHeader; d.offset > 0 && in[0] == 0 {
			d.state = inPadding
		}
		d.head = Skipper{}
	case inHeader:
		n, done, herr := d.head.Skip(in)
		d.skip(n)
		switch {
		case done:
			d.inflater.Reset()
			d.state, d.body, d.start, d.sum, p.base = inBody, d.offsetAt, d.content, 0, p.to
		case errors.Is(herr, ErrMagic) && d.members > 0:
			return false, d.fail(errs.Trailing, errs.PartStray, d.offset, "")
		case herr != nil:
			return false, d.fail(errorKind(herr), errs.PartHeader, d.offset, herr.Error())
		}
	case inTrailer:
		n := copy(d.trailer[d.have:], in)
		d.skip(n)
		if d.have += n; d.have == TrailerSize {
			return true, d.endMember()
		}
	case inPadding:
		// Tapes leave zeros. Nothing else may follow the last member.
		for _, c := range in {
			if c != 0 {
				return false, d.fail(errs.Trailing, errs.PartStray, d.offset, "")
			}
		}
		d.skip(len(in))
	}
	return true, nil
}

// skip counts n bytes of input as used.
func (d *decoder) skip(n int) {
	d.at += n
	d.offsetAt += int64(n)
}

// inflate decodes content of the member.
func (d *decoder) inflate(p *piece) (more bool, err error) {
	n, used, err := d.inflater.Decode(p.buf[p.base:], p.to-p.base, d.input())
	d.skip(used)
	content := p.buf[p.to : p.to+n]
	if d.checks {
		d.sum = Checksum(d.sum, content)
	}
	if d.maxDecoded >= 0 && int64(n) > d.maxDecoded-d.content {
		n = int(d.maxDecoded - d.content)
		err = d.fail(errs.TooLarge, errs.PartBlock, d.offset, "")
	} else if err == io.EOF {
		d.state, d.have, err, more = inTrailer, 0, nil, true
	} else if err != nil {
		err = d.damaged(err)
	} else if p.to+n < len(p.buf) {
		if more = len(d.input()) > 0; !more {
			err = d.starved()
		}
	}
	p.to += n
	d.content += int64(n)
	return more, err
}

// endMember verifies the trailer and ends the member.
func (d *decoder) endMember() error {
	at := d.offsetAt - TrailerSize
	sum, size := ParseTrailer(d.trailer[:])
	content := d.content - d.start
	switch {
	case d.checks && sum != d.sum:
		return d.fail(errs.Checksum, errs.PartBlock, at, "")
	case size != uint32(content):
		detail := "the content is not as long as the gzip trailer says"
		return d.fail(errs.Corrupt, errs.PartBlock, at, detail)
	}
	d.state = betweenMembers
	d.members++
	if d.visit == nil {
		return nil
	}
	return d.visit(Member{d.offset, d.offsetAt - d.offset, d.start, content})
}

// starved returns what the end of the input means: nil if there may be more.
func (d *decoder) starved() error {
	part := errs.PartBlock
	switch d.state {
	case betweenMembers, inPadding:
		if d.end == io.EOF && d.offsetAt > 0 {
			return io.EOF
		}
		part = errs.PartHeader
	case inHeader:
		part = errs.PartHeader
	}
	if d.end == nil {
		return nil
	}
	return container.Broken(d.end, func() error {
		return d.fail(errs.Truncated, part, d.offsetAt, "")
	})
}

// damaged converts an error of the inflater.
func (d *decoder) damaged(err error) error {
	if at, ok := d.inflater.Corrupt(err); ok {
		return d.fail(errs.Corrupt, errs.PartBlock, d.body+at, "the Deflate stream is damaged")
	}
	return err
}

func (d *decoder) fail(kind error, part errs.Part, off int64, detail string) error {
	return &errs.Error{Kind: kind, Part: part, Stream: d.members, Block: -1, Offset: off, Detail: detail}
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
