package gzaccess

import (
	"errors"
	"io"

	"github.com/gopz/compress/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
)

// A walker decodes any part of a .gz file: members, one after the other, and perhaps zeros behind
// them. It verifies headers and trailers. Its errors are those of a Reader.
type walker struct {
	inflater   inflate.Decoder
	checks     bool
	maxDecoded int64 // bytes of content; −1 is for no limit

	state   state
	members int   // that are complete
	offset  int64 // of the member in the file, or of the zeros behind the last one
	base    int64 // the byte of the file from which the inflater counts
	start   int64 // offset of the member's content; −1 if the walker has not seen its beginning
	sum     uint32
	head    gzfile.Skipper
	trailer [gzfile.TrailerSize]byte
	have    int // bytes of trailer

	at      int64 // offset in the file of the next input
	content int64 // bytes of content before buf[to]
	buf     []byte
	from    int // where the content of the member begins in buf, 0 if before it
	to      int // end of the content
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

// event says why a step has ended.
type event uint8

const (
	starved  event = iota // input or room has been used up
	atBlock               // at the end of a Deflate block, for which the inflater stops
	atMember              // behind the header of a member
)

// begin begins at a checkpoint. The content before it is buf[:to]. in is the input from the byte
// on that has the checkpoint's first bit. begin returns how many bytes of it have been used.
func (w *walker) begin(c *gzindex.Checkpoint, in []byte) (used int) {
	w.members, w.start, w.from, w.sum = 0, -1, 0, 0
	w.at, w.content = c.Bit>>3, c.Content
	w.offset, w.base = w.at, w.at
	if c.Header {
		w.state = betweenMembers
		return 0
	}
	w.state = inBody
	skip := uint(c.Bit & 7)
	if skip == 0 || len(in) == 0 {
		w.inflater.Reset()
		return 0
	}
	w.inflater.ResetAt(in[0], skip)
	w.at++
	return 1
}

// bit returns the place in the file, in bits.
func (w *walker) bit() int64 {
	if w.state == inBody {
		return w.base*8 + w.inflater.Position()
	}
	return w.at * 8
}

// step goes on until an event, and returns how many bytes of in it has used.
func (w *walker) step(in []byte) (used int, e event, err error) {
	size := len(in)
	for {
		var n int
		var more bool
		if w.state == inBody {
			n, e, more, err = w.inflate(in)
		} else if len(in) == 0 {
			return size, starved, nil
		} else {
			n, e, err = w.frame(in)
			more = e == starved
		}
		w.at += int64(n)
		in = in[n:]
		if err != nil || !more {
			return size - len(in), e, err
		}
	}
}

// inflate decodes content of the member. more says that its last block has ended.
func (w *walker) inflate(in []byte) (used int, e event, more bool, err error) {
	n, used, err := w.inflater.Decode(w.buf[w.from:], w.to-w.from, in)
	if w.checks {
		w.sum = gzfile.Checksum(w.sum, w.buf[w.to:w.to+n])
	}
	if w.maxDecoded >= 0 && int64(n) > w.maxDecoded-w.content {
		return used, e, false, w.fail(errs.TooLarge, errs.PartBlock, w.offset, "")
	}
	w.to += n
	w.content += int64(n)
	switch err {
	case nil:
		return used, starved, false, nil
	case inflate.ErrBlock:
		return used, atBlock, false, nil
	case io.EOF:
		w.state, w.have = inTrailer, 0
		return used, starved, true, nil
	}
	if at, ok := w.inflater.Corrupt(err); ok {
		err = w.fail(errs.Corrupt, errs.PartBlock, w.base+at, "the Deflate stream is damaged")
	}
	return used, starved, false, err
}

// frame reads a part of a header, of a trailer, or of the zeros behind the last member.
func (w *walker) frame(in []byte) (used int, e event, err error) {
	switch w.state {
	case betweenMembers:
		w.offset, w.head = w.at, gzfile.Skipper{}
		if w.state = inHeader; w.offset > 0 && in[0] == 0 {
			w.state = inPadding
		}
	case inHeader:
		n, done, herr := w.head.Skip(in)
		switch {
		case done:
			w.inflater.Reset()
			w.state, w.base, w.start = inBody, w.at+int64(n), w.content
			w.from, w.sum = w.to, 0
			return n, atMember, nil
		case errors.Is(herr, gzfile.ErrMagic) && w.members > 0:
			return n, 0, w.fail(errs.Trailing, errs.PartStray, w.offset, "")
		case herr != nil:
			return n, 0, w.fail(headerKind(herr), errs.PartHeader, w.offset, herr.Error())
		}
		return n, starved, nil
	case inTrailer:
		n := copy(w.trailer[w.have:], in)
		if w.have += n; w.have == gzfile.TrailerSize {
			err = w.endMember(w.at + int64(n) - gzfile.TrailerSize)
		}
		return n, starved, err
	case inPadding:
		// Tapes leave zeros. Nothing else may follow the last member.
		for _, c := range in {
			if c != 0 {
				return 0, 0, w.fail(errs.Trailing, errs.PartStray, w.offset, "")
			}
		}
		return len(in), starved, nil
	}
	return 0, starved, nil
}

// endMember verifies the trailer at an offset and ends the member.
func (w *walker) endMember(at int64) error {
	sum, size := gzfile.ParseTrailer(w.trailer[:])
	if w.start >= 0 && w.checks && sum != w.sum {
		return w.fail(errs.Checksum, errs.PartBlock, at, "")
	}
	if w.start >= 0 && size != uint32(w.content-w.start) {
		detail := "the content is not as long as the gzip trailer says"
		return w.fail(errs.Corrupt, errs.PartBlock, at, detail)
	}
	w.state = betweenMembers
	w.members++
	return nil
}

// end returns what it means that the file ends here: nil, or that it is cut short.
func (w *walker) end() error {
	part := errs.PartBlock
	switch w.state {
	case betweenMembers, inPadding:
		return nil
	case inHeader:
		part = errs.PartHeader
	}
	return w.fail(errs.Truncated, part, w.at, "")
}

func (w *walker) fail(kind error, part errs.Part, off int64, detail string) error {
	return &errs.Error{Kind: kind, Part: part, Stream: w.members, Block: -1, Offset: off, Detail: detail}
}

// headerKind returns the kind of an error about a member's header.
func headerKind(err error) error {
	switch {
	case errors.Is(err, gzfile.ErrMethod):
		return errs.Version
	case errors.Is(err, gzfile.ErrChecksum):
		return errs.Checksum
	}
	return errs.Corrupt
}

// A fileReader reads a file of size bytes in pieces.
type fileReader struct {
	src  io.ReaderAt
	size int64
	at   int64 // of the next piece
	buf  []byte
}

// next returns the next piece, which is empty at the end of the file.
func (r *fileReader) next() ([]byte, error) {
	if r.buf == nil {
		r.buf = make([]byte, container.InputBuffer)
	}
	p := r.buf[:min(int64(len(r.buf)), r.size-r.at)]
	if len(p) == 0 {
		return nil, nil
	}
	if err := container.ReadAt(r.src, p, r.at); err != nil {
		return nil, err
	}
	r.at += int64(len(p))
	return p, nil
}
