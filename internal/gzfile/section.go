package gzfile

import (
	"io"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// A Point is a place in a file where decoding can start: the header of a member, or a Deflate
// block.
type Point struct {
	Bit    int64 // offset in the file, in bits
	Header bool  // of a member
}

// EndOfFile is the Point behind the last member and what follows it.
var EndOfFile = Point{Bit: -1}

// A Section is a part of a file, in memory.
type Section struct {
	From, To Point
	Src      []byte // the file, from the byte that has the first bit of From
	Window   []byte // content before From that blocks may refer to, at most 32 KiB
	Checks   bool   // verify checksums of members

	// Buf is memory for a window and the content. Decode makes it end behind the content.
	Buf []byte
	// Checkpoint is called between two pieces of work, unless nil. It may panic.
	Checkpoint func()
}

// SectionWindow is the memory for the window in Section.Buf, in bytes. The content is behind it.
const SectionWindow = windowSize

// unfit says that a section does not end where it should.
const unfit = "the file does not fit its checkpoints"

// A SectionDecoder decodes sections of a file at once. The zero value is ready for use, by one
// goroutine at a time. It keeps the tables of an inflate.Decoder.
type SectionDecoder struct {
	walker walker
	output output
	check  verifier
}

// Decode decodes s. It verifies the trailers of members that are complete in s. Errors are those of
// a Scanner, but members are counted from the beginning of s. What does not end at s.To, or does
// not fit into s.Buf, is errs.Corrupt. An error comes with the content before it.
func (d *SectionDecoder) Decode(s *Section) error {
	w, o := &d.walker, &d.output
	if w.inflater == nil {
		w.inflater = new(inflate.Decoder)
	}
	d.check = verifier{checks: s.Checks, partial: !s.From.Header}
	o.buf = s.Buf[:0]
	o.reset(s.Window)
	w.resetAt(place{s.From.Bit, s.From.Header}, s.Src)
	w.inflater.StopAtBlock = true
	err := d.decode(s)
	s.Buf, o.buf = o.buf[:o.to], nil
	return err
}

func (d *SectionDecoder) decode(s *Section) error {
	w, o := &d.walker, &d.output
	ended, drained := 0, false
	for {
		bit, ok := w.boundary()
		switch past := bit - s.To.Bit; {
		case !ok || s.To.Header || s.To == EndOfFile || past < 0:
		case past == 0:
			return nil
		default:
			return w.fail(errs.Corrupt, errs.PartBlock, bit>>3, unfit)
		}
		in, room := s.Src[w.at-s.From.Bit>>3:], min(roomStep, cap(o.buf)-o.to)
		if room == 0 {
			return w.fail(errs.Corrupt, errs.PartBlock, w.at, unfit)
		}
		if len(in) == 0 && (drained || w.state != inBody) {
			return d.endError(s)
		}
		before := o.size()
		_, err := w.step(in, o, room)
		drained = o.size()-before < room
		if len(o.ends) > ended {
			ended = len(o.ends)
			if err := d.verify(&o.ends[ended-1]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		if s.Checkpoint != nil {
			s.Checkpoint()
		}
	}
}

// verify compares the last member with its trailer.
func (d *SectionDecoder) verify(e *memberEnd) error {
	content := d.output.buf[d.output.base:d.output.to]
	v := &d.check
	v.members, v.size = d.walker.members-1, int64(len(content))
	if v.checks {
		v.sum = Checksum(0, content)
	}
	return v.endMember(e)
}

// endError returns what it means that s.Src ends here.
func (d *SectionDecoder) endError(s *Section) error {
	w := &d.walker
	switch {
	case s.To == EndOfFile:
		if err := w.endError(io.EOF); err != io.EOF {
			return err
		}
	case !s.To.Header || w.state != betweenMembers:
		return w.fail(errs.Corrupt, errs.PartBlock, w.at, unfit)
	}
	return nil
}

// boundary returns where the walker is in the file, in bits, if a block begins there.
func (w *walker) boundary() (bit int64, ok bool) {
	if w.state != inBody || !w.atBlock && w.at != w.body {
		return 0, false
	}
	return w.body<<3 + w.inflater.Position(), true
}

// ResetAt is Reset at a place in a file, which becomes a mark. in has the file from the byte on
// that has the first bit of p. Before p there is so much content, at most limits.MaxDecoded, and
// blocks may refer to window. Errors and members count from p. The member that p is in is not
// verified.
func (s *Scanner) ResetAt(
	in *container.Start, limits *container.Limits, p Point, content int64, window []byte,
) {
	s.Reset(in, limits)
	d, head := s.dec, in.Head
	if len(head) == 0 {
		head = []byte{0} // the next read fails
	}
	s.from = p.Bit >> 3
	d.input.size = s.from
	d.walker.resetAt(place{p.Bit, p.Header}, head)
	d.used.Store(d.walker.at)
	d.content, d.window = content, append(d.window, window...)
	d.check.start, d.check.partial = content, !p.Header
	if s.Marks != nil {
		d.cell = content / s.Marks.Spacing
	}
}
