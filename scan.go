package compress

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

// errStreamEnd is what scanner.next says at the end of each stream, once it has been verified.
var errStreamEnd = errors.New("end of stream")

// scanner reads a .pz file from the front, verifying everything but payloads. It keeps nothing per block: that the index
// repeats the block headers is seen by their hashes.
type scanner struct {
	src    io.Reader
	mem    []byte // the whole input, if it is in memory; then src is not used
	off    int64  // bytes read
	stream int    // number of the current stream
	inside bool   // behind the header of a stream and before its end
	hdr    pzfile.Header
	start  int64 // offset of the stream
	before int64 // content of the streams before
	raw    int64 // content of this stream so far
	blocks int64 // block headers of this stream so far
	at     int64 // offset of the last block header

	peeked  int   // bytes of the first header that are in buf already
	peekErr error // what came instead of more of them

	seen  maphash.Hash // of index entries as they should be
	index maphash.Hash // and as they are
	buf   [1024]byte
}

func (s *scanner) reset(src io.Reader) {
	seed := s.seen.Seed()
	*s = scanner{src: src}
	s.seen.SetSeed(seed)
	s.index.SetSeed(seed)
}

// fail describes what is wrong at an offset, in the current block if block is set.
func (s *scanner) fail(kind error, block bool, off int64, detail string) error {
	e := &Error{Kind: kind, Stream: s.stream, Block: -1, Offset: off, Detail: detail}
	if block {
		e.Block = s.blocks
	}
	return e
}

// wrong is fail for an error of package pzfile.
func (s *scanner) wrong(err error, block bool, off int64, what string) error {
	kind := ErrCorrupt
	switch {
	case errors.Is(err, pzfile.ErrMagic):
		return s.fail(kind, block, off, what+" does not end as it should")
	case errors.Is(err, pzfile.ErrChecksum):
		return s.fail(ErrChecksum, block, off, what+" checksum mismatch")
	case errors.Is(err, pzfile.ErrVersion):
		kind = ErrVersion
	}
	return s.fail(kind, block, off, what+": "+err.Error())
}

// read fills p. The end of the input is ErrTruncated.
func (s *scanner) read(p []byte, block bool) (int, error) {
	var n int
	var err error
	if s.mem == nil {
		n, err = readFull(s.src, p)
	} else if n = copy(p, s.mem[s.off:]); n < len(p) {
		err = io.EOF
	}
	s.off += int64(n)
	if err == io.EOF {
		err = s.fail(ErrTruncated, block, s.off, "")
	}
	return n, err
}

// peek reads the first bytes of the input, which tell its format. They stay there for header.
func (s *scanner) peek() []byte {
	s.peeked, s.peekErr = s.read(s.buf[:sniffSize], false)
	return s.buf[:s.peeked]
}

// header reads the header of a stream. At the end of the input it returns io.EOF, unless that is no place for it.
func (s *scanner) header() error {
	s.start = s.off - int64(s.peeked)
	p := s.buf[:pzfile.MinHeaderSize]
	n, err := s.peeked, s.peekErr
	if err == nil {
		var m int
		m, err = s.read(p[n:], false)
		n += m
	}
	s.peeked, s.peekErr = 0, nil
	if m := min(n, len(pzfile.Magic)); string(p[:m]) != pzfile.Magic[:m] {
		if s.stream > 0 {
			return s.fail(ErrTrailing, false, s.start, "")
		}
		if _, known, maybe := sniff(p[:n]); err != nil && (known || maybe) {
			return err
		}
		return s.fail(ErrFormat, false, s.start, "")
	}
	if err != nil {
		if n == 0 && s.stream > 0 && errors.Is(err, ErrTruncated) {
			return io.EOF
		}
		return err
	}
	size, err := pzfile.HeaderSize(p)
	if err != nil {
		return s.wrong(err, false, s.start, "header")
	}
	if _, err := s.read(s.buf[len(p):size], false); err != nil {
		return err
	}
	s.hdr, err = pzfile.ParseHeader(s.buf[:size])
	if err != nil {
		return s.wrong(err, false, s.start, "header")
	}
	if pipeline.ByID(s.hdr.Pipeline) == nil {
		return s.fail(ErrVersion, false, s.start, fmt.Sprintf("unknown pipeline %d", s.hdr.Pipeline))
	}
	if s.hdr.ContentSize > math.MaxInt64-s.before {
		return s.fail(ErrCorrupt, false, s.start, "content sizes add up to more than there can be")
	}
	s.inside, s.raw, s.blocks = true, 0, 0
	s.seen.Reset()
	s.index.Reset()
	return nil
}

// next goes to the next block of the current stream, reads its header and leaves the payload to be read. After the last
// block it verifies the stream's end and returns errStreamEnd; the call after that begins the next stream, or returns
// io.EOF.
func (s *scanner) next() (e pzfile.Entry, sum uint32, err error) {
	if !s.inside {
		if err := s.header(); err != nil {
			return e, 0, err
		}
	}
	s.at = s.off
	// The end of a stream is longer than a block header, so that this does not read past it.
	p := s.buf[:pzfile.BlockHeaderSize]
	if _, err := s.read(p, true); err != nil {
		return e, 0, err
	}
	if pzfile.IsEndMarker(p) {
		if err := s.end(); err != nil {
			return e, 0, err
		}
		s.before += s.raw
		s.inside = false
		s.stream++
		return e, 0, errStreamEnd
	}
	e, sum, err = pzfile.ParseBlockHeader(p, &s.hdr, s.blocks)
	if err != nil {
		return e, 0, s.wrong(err, true, s.at, "header")
	}
	if s.hdr.ContentSize >= 0 && int64(e.Raw) > s.hdr.ContentSize-s.raw {
		return e, 0, s.fail(ErrCorrupt, true, s.at, "more content than the stream's header announces")
	}
	s.seen.Write(p[:pzfile.EntrySize])
	s.raw += int64(e.Raw)
	s.blocks++
	return e, sum, nil
}

// end verifies index and footer. The end marker and what follows it up to the size of a block header are in s.buf.
func (s *scanner) end() error {
	var footer [pzfile.FooterSize]byte
	sum := pzfile.Checksum(0, s.buf[:pzfile.EndMarkerSize])
	index := pzfile.EntrySize * s.blocks
	size := index + pzfile.FooterSize
	p := s.buf[pzfile.EndMarkerSize:pzfile.BlockHeaderSize]
	for pos := int64(0); ; {
		if pos < index {
			m := min(int64(len(p)), index-pos)
			sum = pzfile.Checksum(sum, p[:m])
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
		if _, err := s.read(p, false); err != nil {
			return err
		}
	}
	f, err := pzfile.ParseFooter(footer[:])
	if err == nil {
		err = f.CheckTail(sum, footer[:])
	}
	switch {
	case err != nil:
		return s.wrong(err, false, s.at, "index")
	case s.index.Sum64() != s.seen.Sum64(), f.Blocks != s.blocks, f.Content != s.raw, f.Size != s.off-s.start:
		return s.fail(ErrCorrupt, false, s.at, "index differs from the blocks before it")
	case s.hdr.ContentSize >= 0 && s.hdr.ContentSize != s.raw:
		return s.fail(ErrCorrupt, false, s.at, "less content than the stream's header announces")
	}
	return nil
}

// smallPayload is what payload takes on the word of a header alone, in bytes.
const smallPayload = 64 << 10

// payload reads the n bytes of the block whose header next has read, into p's memory if there is enough. The input has
// to earn what is allocated: no more than about what it has given so far, until n is reached by doubling. Input in
// memory is not copied.
func (s *scanner) payload(p []byte, n int) ([]byte, error) {
	s.blocks-- // errors are about this block
	defer func() { s.blocks++ }()
	if s.mem != nil {
		rest := s.mem[s.off:]
		if len(rest) < n {
			s.off += int64(len(rest))
			return nil, s.fail(ErrTruncated, true, s.off, "")
		}
		s.off += int64(n)
		return rest[:n:n], nil
	}
	limit := max(cap(p), smallPayload, int(min(s.off, int64(n))))
	for have := 0; have < n; limit *= 2 {
		size := min(limit, n)
		if cap(p) < size {
			// Payloads vary in size: powers of two keep buffers from being replaced by slightly larger ones again and again.
			q := make([]byte, min(ceilPow2(size), s.hdr.BlockSize))
			copy(q, p[:have])
			p = q
		}
		p = p[:size]
		if _, err := s.read(p[have:], true); err != nil {
			return p, err
		}
		have = size
	}
	return p, nil
}

// within makes sure that the payload of the block whose header next has read ends inside an input of that size.
func (s *scanner) within(n int, size int64) error {
	if int64(n) <= size-s.off {
		return nil
	}
	s.blocks-- // the error is about this block
	defer func() { s.blocks++ }()
	return s.fail(ErrTruncated, true, size, "")
}

// skip passes over the n bytes of a payload of a seekable input. That the input ends earlier shows later.
func (s *scanner) skip(n int) error {
	_, err := s.src.(io.Seeker).Seek(int64(n), io.SeekCurrent)
	s.off += int64(n)
	return err
}
