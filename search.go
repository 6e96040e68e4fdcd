package compress

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

// search finds the blocks of a file whose index is of no use. Blocks that follow one another make a row, and each row
// becomes a stream of its own in the index that the search leaves.
type search struct {
	src   io.ReaderAt
	size  int64
	limit int64 // of memory
	x     *index
	gaps  []gap

	pos    int64
	id     int // number of the stream
	hdr    pzfile.Header
	known  bool  // hdr can be relied on
	row    bool  // the next block begins a row
	number int64 // of the next block
	raw    int64 // content of the stream so far; −1 if it is not known
	buf    [64 << 10]byte
	small  [pzfile.FooterSize]byte
}

// searchBlocks goes through a file from the front. It returns an index of the blocks it finds, and what is missing
// between them.
func searchBlocks(src io.ReaderAt, size, limit int64) (*index, []gap, error) {
	s := &search{src: src, size: size, limit: limit, x: &index{size: size}}
	for ; s.pos < size || s.id == 0; s.id++ {
		if err := s.stream(); err != nil {
			return nil, nil, err
		}
	}
	s.settle()
	return s.x, s.gaps, nil
}

// settle lowers the block sizes to what the blocks need, so that guesses do not cost memory.
func (s *search) settle() {
	for i := range s.x.streams {
		st := &s.x.streams[i]
		need := pzfile.MinBlockSize
		for _, b := range s.x.blocks[st.first : st.first+st.blocks] {
			need = max(need, ceilPow2(int(b.raw)))
		}
		st.hdr.BlockSize = need
	}
}

// peek reads up to n bytes at off, fewer at the end of the file.
func (s *search) peek(p []byte, off int64) ([]byte, error) {
	p = p[:max(0, min(int64(len(p)), s.size-off))]
	if len(p) == 0 {
		return p, nil
	}
	return p, readAt(s.src, p, off)
}

// lose notes that blocks from the next one on are missing, −1 if it is not known how many.
func (s *search) lose(blocks, content int64, kind error, detail string) {
	err := &Error{Kind: kind, Stream: s.id, Block: s.number, Offset: s.pos, Detail: detail}
	d := Damage{Stream: s.id, Block: s.number, Blocks: blocks, Content: content, Err: err}
	s.gaps = append(s.gaps, gap{int64(len(s.x.blocks)), d})
	s.row = true
	if content < 0 {
		s.raw = -1
	} else if s.raw >= 0 {
		s.raw += content
	}
}

// loseRest notes that the stream ends too early.
func (s *search) loseRest(kind error, detail string) {
	missing := int64(-1)
	if s.hdr.ContentSize >= s.raw && s.raw >= 0 {
		missing = s.hdr.ContentSize - s.raw
	}
	s.lose(-1, missing, kind, detail)
}

// stream finds the blocks of one stream, and goes to what comes after it.
func (s *search) stream() error {
	s.number, s.raw, s.row = 0, 0, true
	p, err := s.peek(s.small[:pzfile.MaxHeaderSize], s.pos)
	if err != nil {
		return err
	}
	if s.hdr, s.known = parseHeader(p); s.known {
		s.pos += int64(s.hdr.Size())
	} else {
		s.hdr = pzfile.Header{Pipeline: pipeline.ByName(DefaultPipeline).ID, BlockSize: pzfile.MaxBlockSize, Checks: true, ContentSize: -1}
	}
	for s.pos < s.size {
		if s.known {
			p, err := s.peek(s.small[:pzfile.BlockHeaderSize], s.pos)
			if err != nil {
				return err
			}
			if len(p) < pzfile.EndMarkerSize {
				break
			}
			if pzfile.IsEndMarker(p) {
				if done, err := s.end(); done || err != nil {
					return err
				}
			} else if len(p) < pzfile.BlockHeaderSize {
				break
			} else if e, _, err := pzfile.ParseBlockHeader(p, &s.hdr, s.number); err == nil {
				if s.pos+pzfile.BlockHeaderSize+int64(e.Payload) > s.size {
					break
				}
				if err := s.add(e); err != nil {
					return err
				}
				continue
			} else if e, ok, err := s.mend(p); ok || err != nil {
				if err != nil {
					return err
				}
				s.lose(1, int64(e.Raw), ErrChecksum, "header checksum mismatch")
				s.pos += pzfile.BlockHeaderSize + int64(e.Payload)
				s.number++
				continue
			}
		}
		if more, err := s.resync(); !more || err != nil {
			return err
		}
	}
	s.pos = s.size
	s.loseRest(ErrTruncated, "")
	return nil
}

// parseHeader reads the header of a stream, if p begins with one.
func parseHeader(p []byte) (h pzfile.Header, ok bool) {
	if len(p) < pzfile.MinHeaderSize || string(p[:len(pzfile.Magic)]) != pzfile.Magic {
		return h, false
	}
	n, err := pzfile.HeaderSize(p)
	if err != nil || n > len(p) {
		return h, false
	}
	h, err = pzfile.ParseHeader(p[:n])
	return h, err == nil && pipeline.ByID(h.Pipeline) != nil
}

// add takes the block whose header is at pos.
func (s *search) add(e pzfile.Entry) error {
	if s.row {
		s.x.streams = append(s.x.streams, stream{hdr: s.hdr, id: s.id, first: int64(len(s.x.blocks)), skip: s.number})
		s.row = false
	}
	b := blockRef{offset: s.pos, content: s.x.content, payload: int32(e.Payload), raw: int32(e.Raw), kind: e.Kind}
	s.x.blocks = append(s.x.blocks, b)
	// As the slice grows there are two of it.
	if m := 3 * s.x.memory(int64(len(s.x.blocks))); m > s.limit {
		return &Error{Kind: ErrMemory, Block: -1, Offset: -1, Detail: fmt.Sprintf("too many blocks for the limit of %d bytes", s.limit)}
	}
	s.x.streams[len(s.x.streams)-1].blocks++
	s.x.content += int64(e.Raw)
	s.pos += b.size()
	s.number++
	if s.raw >= 0 {
		s.raw += int64(e.Raw)
	}
	return nil
}

// mend tells what a block header with a wrong check says, if that can be known: because one bit of it is wrong, or
// because the next header is where it says.
func (s *search) mend(p []byte) (e pzfile.Entry, ok bool, err error) {
	for bit := range 8 * len(p) {
		p[bit/8] ^= 1 << (bit % 8)
		e, _, err := pzfile.ParseBlockHeader(p, &s.hdr, s.number)
		p[bit/8] ^= 1 << (bit % 8)
		if err == nil {
			return e, s.pos+pzfile.BlockHeaderSize+int64(e.Payload) <= s.size, nil
		}
	}
	if e, err = pzfile.ParseEntry(p, s.hdr.BlockSize); err != nil {
		return e, false, nil
	}
	ok, err = s.follows(s.pos+pzfile.BlockHeaderSize+int64(e.Payload), s.number+1)
	return e, ok, err
}

// follows reports whether at offset at there is the block with that number, or the end of the stream.
func (s *search) follows(at, number int64) (bool, error) {
	p, err := s.peek(s.small[:pzfile.BlockHeaderSize], at)
	if err != nil || len(p) < pzfile.BlockHeaderSize {
		return false, err
	}
	return pzfile.IsEndMarker(p) || pzfile.BlockNumber(p) == number, nil
}

// end deals with the end marker at pos. It reports whether the stream ends with it: it does, unless index and footer are not
// to be recognized and something follows.
func (s *search) end() (bool, error) {
	size := pzfile.TailSize(s.number)
	if s.pos+size > s.size {
		s.lose(0, 0, ErrTruncated, "")
		s.pos = s.size
		return true, nil
	}
	var sum uint32
	footer := s.pos + size - pzfile.FooterSize
	for pos := s.pos; pos < footer; {
		p, err := s.peek(s.buf[:min(int64(len(s.buf)), footer-pos)], pos)
		if err != nil {
			return false, err
		}
		sum = pzfile.Checksum(sum, p)
		pos += int64(len(p))
	}
	p, err := s.peek(s.small[:], footer)
	if err != nil {
		return false, err
	}
	f, err := pzfile.ParseFooter(p)
	if err == nil {
		err = f.CheckTail(sum, p)
	}
	next := footer + pzfile.FooterSize
	if err != nil {
		if q, perr := s.peek(s.small[:pzfile.MaxHeaderSize], next); perr != nil {
			return false, perr
		} else if _, ok := parseHeader(q); !ok && next < s.size {
			return false, nil
		}
		s.lose(0, 0, ErrCorrupt, "index: "+err.Error())
	}
	s.pos = next
	return true, nil
}

// resync looks for the next block of the stream, whose header is not at pos, or for the next stream. It reports whether
// this stream goes on.
func (s *search) resync() (bool, error) {
	// Content may hold .pz data itself. A block of this stream is no further away than a block is long, and preferred to
	// a new stream.
	near := s.pos + 2*(pzfile.BlockHeaderSize+int64(s.hdr.BlockSize))
	at, number, err := s.find(min(near, s.size), false)
	if at < 0 && err == nil {
		at, number, err = s.find(s.size, true)
	}
	if err != nil {
		return false, err
	}
	switch {
	case at < 0:
		s.loseRest(ErrCorrupt, "no block from here on")
		s.pos = s.size
		return false, nil
	case number < 0:
		s.loseRest(ErrCorrupt, "no block before the next stream")
		s.pos = at
		return false, nil
	}
	if lost := number - s.number; lost > 0 {
		s.lose(lost, -1, ErrCorrupt, "no block header")
	} else {
		s.lose(0, 0, ErrCorrupt, "no header")
	}
	s.pos, s.number = at, number
	if !s.known {
		p, err := s.peek(s.small[:pzfile.BlockHeaderSize], at)
		if err != nil {
			return false, err
		}
		s.hdr.Checks = binary.LittleEndian.Uint32(p[8:]) != 0
		s.known = true
	}
	return true, nil
}

// find looks for a block of the current stream that begins before to, or, if streams is set, for the header of another;
// then number is −1. It returns −1 if there is neither.
func (s *search) find(to int64, streams bool) (at, number int64, err error) {
	for off := s.pos; off < to; {
		p, err := s.peek(s.buf[:], off)
		if err != nil {
			return -1, 0, err
		}
		if len(p) < pzfile.BlockHeaderSize {
			break
		}
		// Headers may begin where all of the longest fits in p, or else at the end of the file.
		n := len(p) - pzfile.MaxHeaderSize + 1
		if off+int64(len(p)) == s.size {
			n = len(p) - pzfile.BlockHeaderSize + 1
		}
		for i := range n {
			q := p[i:]
			if streams && q[0] == 'P' && off+int64(i) > s.pos {
				if _, ok := parseHeader(q[:min(len(q), pzfile.MaxHeaderSize)]); ok {
					return off + int64(i), -1, nil
				}
			}
			if plausible(q, s.hdr.BlockSize) {
				if number, ok, err := s.header(q, off+int64(i)); ok || err != nil {
					return off + int64(i), number, err
				}
			}
		}
		off += int64(n)
	}
	return -1, 0, nil
}

// plausible is a quick look at what may be a block header.
func plausible(p []byte, blockSize int) bool {
	first, raw := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
	payload := first >> 4
	if raw == 0 || raw > uint32(blockSize) || payload == 0 || payload > raw {
		return false
	}
	kind := first & 15
	return kind == pzfile.Coded || kind == pzfile.Stored && payload == raw || kind == pzfile.Fill && payload == 1
}

// header tells whether p, at offset at, is the header of a later block of the current stream, and of which.
func (s *search) header(p []byte, at int64) (number int64, ok bool, err error) {
	number = pzfile.BlockNumber(p[:pzfile.BlockHeaderSize])
	ahead := number - s.number
	// Of a file whose beginning is gone nobody knows how much that was.
	if ahead < 0 || s.known && ahead > (at-s.pos)/(pzfile.BlockHeaderSize+1)+1 {
		return 0, false, nil
	}
	h := s.hdr
	if !s.known {
		h.Checks = true // accepts both
	}
	e, _, perr := pzfile.ParseBlockHeader(p, &h, number)
	next := at + pzfile.BlockHeaderSize + int64(e.Payload)
	if perr != nil || next > s.size {
		return 0, false, nil
	}
	// Other bytes happen to have one of four numbers once in a billion times. If more would do, the block after it has
	// to bear witness.
	if ahead < 4 {
		return number, true, nil
	}
	ok, err = s.follows(next, number+1)
	return number, ok, err
}
