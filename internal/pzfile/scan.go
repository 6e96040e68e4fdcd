package pzfile

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/section"
)

// Scanner reads a .pz file from the front and verifies everything but payloads. It is a
// [container.Source]: each block is a unit.
//
// It keeps nothing per block. That the index repeats the block headers is seen by comparing a hash
// of the headers with a hash of the index.
type Scanner struct {
	// Known reports whether there is a pipeline with a number. Set it before the first call.
	Known func(pipeline uint8) bool
	// Dictionary is the number of the dictionary that blocks are decoded with, 0 for none. Set it
	// before Reset.
	Dictionary uint32

	limits *container.Limits
	src    io.Reader
	mem    []byte // the whole input, if it is in memory; then src is not used
	ahead  bool   // the input does not block, so reading ahead is safe
	off    int64  // bytes read

	stream  int  // number of the current stream
	inside  bool // between the header of a stream and its end
	head    Header
	start   int64 // offset of the stream
	before  int64 // content of earlier streams
	raw     int64 // content of this stream so far
	blocks  int64 // block headers of this stream so far
	size    int64 // bytes of their index entries
	short   bool  // one of them is short
	at      int64 // offset of the last block header
	payload int   // bytes of the current unit's payload

	peeked  int   // bytes of the first header that are in buf already
	peekErr error // why there are no more of them

	seen  maphash.Hash // hash of the entries that the block headers imply
	index maphash.Hash // hash of the entries that the index holds
	buf   [1024]byte

	footer [FooterSize]byte
}

// smallPayload is the most that Payload allocates, in bytes, before it has read any payload.
const smallPayload = 64 << 10

// Reset begins a file. The Scanner reads no more than limits allow.
func (s *Scanner) Reset(in *container.Start, limits *container.Limits) {
	s.resetInput(in.Reader)
	s.limits, s.mem, s.ahead = limits, in.Memory, in.NonBlocking
	s.peeked, s.peekErr = copy(s.buf[:], in.Head), in.HeadErr
	s.off = int64(s.peeked)
	if s.peekErr == io.EOF {
		s.peekErr = s.fail(errs.Truncated, errs.PartHeader, s.off, "")
	}
}

// resetInput begins a file of which nothing has been read.
func (s *Scanner) resetInput(src io.Reader) {
	seed, known, dict := s.seen.Seed(), s.Known, s.Dictionary
	*s = Scanner{src: src, Known: known, Dictionary: dict}
	s.seen.SetSeed(seed)
	s.index.SetSeed(seed)
}

// Release drops the references to the caller's memory and input.
func (s *Scanner) Release() { s.src, s.mem, s.limits, s.peekErr = nil, nil, nil, nil }

// ContentSize returns what the header of the current stream announces, −1 if nothing.
func (s *Scanner) ContentSize() int64 { return s.head.ContentSize }

// Next goes to the next block. At the end of each stream, once it has been verified, it returns
// [container.ErrNothingYet].
func (s *Scanner) Next(u *container.Unit) error {
	e, sum, err := s.next()
	if err != nil {
		return err
	}
	h := &s.head
	if s.limits.TooLarge(s.before, max(s.raw, h.ContentSize)) {
		return s.failBlock(errs.TooLarge, s.at)
	}
	if err := MissingDictionary(h.Dictionary, s.Dictionary); err != nil {
		return &errs.Error{
			Kind: errs.Dictionary, Part: errs.PartHeader, Stream: s.stream, Block: -1, Offset: s.start,
			Err: err,
		}
	}
	total := int64(-1)
	if h.ContentSize >= 0 {
		total = s.before + h.ContentSize
	}
	if !s.limits.Checks {
		sum = 0
	}
	s.payload = e.Payload
	*u = container.Unit{
		Spec: container.Spec{
			Pipeline: h.Pipeline, Checks: h.Checks && s.limits.Checks, BlockSize: h.BlockSize,
			Window: h.Window, Sources: h.Sources, Dictionary: h.Dictionary,
		},
		Kind: e.Kind, Raw: e.Raw, Sum: sum,
		Place: container.Place{
			Stream: s.stream, Block: s.blocks - 1, Offset: s.at, End: s.off + int64(e.Payload),
			Content: s.before + s.raw, Total: total, CallerOwned: s.mem != nil,
		},
		// Behind a flush the next byte may be long in coming.
		Pause: !s.ahead && (e.Short || e.Flushed),
	}
	return nil
}

// Payload reads the payload of the block whose header Next has read, into p's memory if there is
// enough. Payload allocates about as much as it has read so far, and doubles that until the payload
// fits. Input in memory is not copied.
func (s *Scanner) Payload(u *container.Unit, p []byte) ([]byte, error) {
	n := s.payload
	if s.mem != nil {
		rest := s.mem[s.off:]
		if len(rest) < n {
			s.off += int64(len(rest))
			return nil, s.failBlock(errs.Truncated, s.off)
		}
		s.off += int64(n)
		return rest[:n:n], nil
	}
	limit := max(cap(p), smallPayload, int(min(s.off, int64(n))))
	for have := 0; have < n; limit *= 2 {
		size := min(limit, n)
		if cap(p) < size {
			// Payloads vary in size. Powers of two save replacing a buffer by one a little larger.
			q := make([]byte, min(container.CeilPow2(size), s.head.BlockSize))
			copy(q, p[:have])
			p = q
		}
		p = p[:size]
		m, err := container.ReadFull(s.src, p[have:])
		s.off += int64(m)
		if err == io.EOF {
			err = s.failBlock(errs.Truncated, s.off)
		}
		if err != nil {
			return p, err
		}
		have = size
	}
	return p, nil
}

// fail returns an error about a place that is in no block.
func (s *Scanner) fail(kind error, part errs.Part, off int64, detail string) error {
	return &errs.Error{Kind: kind, Part: part, Stream: s.stream, Block: -1, Offset: off, Detail: detail}
}

// failBlock returns an error about the block whose header was read last.
func (s *Scanner) failBlock(kind error, off int64) error {
	return &errs.Error{
		Kind: kind, Part: errs.PartBlock, Stream: s.stream, Block: s.blocks - 1, Offset: off,
	}
}

// parseError turns the error of a parse function into one that says where. block is −1 for a part
// that belongs to none.
func (s *Scanner) parseError(err error, part errs.Part, block, off int64) error {
	e := &errs.Error{Kind: errs.Corrupt, Part: part, Stream: s.stream, Block: block, Offset: off}
	what := "header"
	if part == errs.PartIndex {
		what = "index"
	}
	switch {
	case errors.Is(err, ErrMagic):
		e.Detail = what + " does not end as it should"
	case errors.Is(err, ErrChecksum):
		e.Kind, e.Detail = errs.Checksum, what+" checksum mismatch"
	case errors.Is(err, ErrVersion):
		e.Kind = errs.Version
		fallthrough
	default:
		e.Detail = what + ": " + err.Error()
	}
	return e
}

// fill fills p. The end of the input is io.EOF.
func (s *Scanner) fill(p []byte) (n int, err error) {
	if s.mem == nil {
		n, err = container.ReadFull(s.src, p)
	} else if n = copy(p, s.mem[s.off:]); n < len(p) {
		err = io.EOF
	}
	s.off += int64(n)
	return n, err
}

// read fills p. The end of the input is errs.Truncated, in the given block or none.
func (s *Scanner) read(p []byte, part errs.Part, block int64) (int, error) {
	n, err := s.fill(p)
	if err == io.EOF {
		err = s.truncated(part, block)
	}
	return n, err
}

// truncated returns the error of a file that ends in the given block, or in none with −1.
func (s *Scanner) truncated(part errs.Part, block int64) error {
	return &errs.Error{Kind: errs.Truncated, Part: part, Stream: s.stream, Block: block, Offset: s.off}
}

// header reads the header of a stream, and what sections are in front of it. At the end of the
// input it returns io.EOF, unless a stream has to come there.
func (s *Scanner) header() error {
	for {
		if again, err := s.headerOrSection(); !again || err != nil {
			return err
		}
	}
}

// headerOrSection is header, but for one section it returns true.
func (s *Scanner) headerOrSection() (isSection bool, err error) {
	s.start = s.off - int64(s.peeked)
	p := s.buf[:LeastHeader]
	n, err := s.peeked, s.peekErr
	if err == nil {
		var m int
		m, err = s.fill(p[n:])
		n += m
		if err == io.EOF {
			if n == 0 && s.stream > 0 {
				return false, io.EOF
			}
			err = s.truncated(errs.PartHeader, -1)
		}
	}
	s.peeked, s.peekErr = 0, nil
	if m := min(n, len(Magic)); string(p[:m]) != Magic[:m] {
		if s.stream > 0 {
			return false, s.fail(errs.Trailing, errs.PartStray, s.start, "")
		}
		if _, _, maybe := container.Detect(p[:n]); err != nil && maybe {
			return false, err
		}
		return false, s.fail(errs.Format, errs.PartUnknown, s.start, "")
	}
	if err != nil {
		return false, err
	}
	if section.IsHeader(p) {
		return true, s.section(p)
	}
	size, err := HeaderSize(p)
	if err != nil {
		return false, s.parseError(err, errs.PartHeader, -1, s.start)
	}
	if _, err := s.read(s.buf[len(p):size], errs.PartHeader, -1); err != nil {
		return false, err
	}
	s.head, err = ParseHeader(s.buf[:size])
	if err != nil {
		return false, s.parseError(err, errs.PartHeader, -1, s.start)
	}
	if !s.Known(s.head.Pipeline) {
		detail := fmt.Sprintf("unknown pipeline %d", s.head.Pipeline)
		return false, s.fail(errs.Version, errs.PartHeader, s.start, detail)
	}
	if s.head.ContentSize > math.MaxInt64-s.before {
		return false, s.fail(errs.Corrupt, errs.PartHeader, s.start,
			"content sizes add up to over 2^63 bytes")
	}
	s.inside, s.raw, s.blocks, s.size, s.short = true, 0, 0, 0, false
	s.seen.Reset()
	s.index.Reset()
	return false, nil
}

// next reads the header of the next block and leaves the payload to be read.
func (s *Scanner) next() (e Entry, sum uint32, err error) {
	if !s.inside {
		if err := s.header(); err != nil {
			return e, 0, err
		}
	}
	if s.head.Small {
		return s.nextSmall()
	}
	s.at = s.off
	// The end of a stream, and a block, are longer than the shortest header, so that this does not
	// read past them.
	p := s.buf[:minBlockHeader]
	if _, err := s.read(p, errs.PartBlock, s.blocks); err != nil {
		return e, 0, err
	}
	if IsEndMarker(p) {
		if err := s.verifyIndex(); err != nil {
			return e, 0, err
		}
		s.leaveStream()
		return e, 0, container.ErrNothingYet
	}
	if size := headerSize(p[0]); size > len(p) {
		rest := s.buf[len(p):size]
		if _, err := s.read(rest, errs.PartBlock, s.blocks); err != nil {
			return e, 0, err
		}
		p = s.buf[:size]
	}
	e, sum, err = ParseBlockHeader(p, &s.head, s.blocks)
	if err != nil {
		return e, 0, s.parseError(err, errs.PartBlock, s.blocks, s.at)
	}
	if s.head.ContentSize >= 0 && int64(e.Raw) > s.head.ContentSize-s.raw {
		return e, 0, &errs.Error{
			Kind: errs.Corrupt, Part: errs.PartBlock, Stream: s.stream, Block: s.blocks, Offset: s.at,
			Detail: "more content than the stream's header announces",
		}
	}
	s.seen.Write(p[:e.Size()])
	s.size += int64(e.Size())
	s.short = s.short || e.Short
	s.raw += int64(e.Raw)
	s.blocks++
	return e, sum, nil
}

// leaveStream goes to what follows the stream.
func (s *Scanner) leaveStream() {
	s.before += s.raw
	s.inside = false
	s.stream++
}

// padding fills the last unit of an index.
var padding [UnitSize]byte

// verifyIndex verifies index and footer. The end marker and what follows it, up to the size of the
// shortest block header, are in s.buf.
func (s *Scanner) verifyIndex() error {
	footer := &s.footer
	units := indexUnits(s.size)
	var marker [EndMarkerSize]byte
	appendEndMarker(marker[:0], units, s.short)
	fits := [EndMarkerSize]byte(s.buf[:EndMarkerSize]) == marker
	sum := Checksum(0, s.buf[:EndMarkerSize])
	index := units * UnitSize
	s.seen.Write(padding[:index-s.size])
	size := index + FooterSize
	p := s.buf[EndMarkerSize:minBlockHeader]
	for pos := int64(0); ; {
		if pos < index {
			m := min(int64(len(p)), index-pos)
			sum = Checksum(sum, p[:m])
			s.index.Write(p[:m])
			pos, p = pos+m, p[m:]
		}
		if pos >= index {
			pos += int64(copy(footer[pos-index:], p))
		}
		if pos == size {
			break
		}
		p = s.buf[:min(int64(len(s.buf)), size-pos)]
		if _, err := s.read(p, errs.PartIndex, -1); err != nil {
			return err
		}
	}
	f, err := ParseFooter(footer[:])
	if err == nil {
		err = f.CheckTail(sum, footer[:])
	}
	switch {
	case err != nil:
		return s.parseError(err, errs.PartIndex, -1, s.at)
	case s.index.Sum64() != s.seen.Sum64(), !fits, f.Units != units, f.Content != s.raw,
		f.Size != s.off-s.start:
		return s.fail(errs.Corrupt, errs.PartIndex, s.at, "index differs from the blocks before it")
	case s.head.ContentSize >= 0 && s.head.ContentSize != s.raw:
		return s.fail(errs.Corrupt, errs.PartIndex, s.at, "less content than the stream's header announces")
	}
	return nil
}
