package pzfile

import (
	"encoding/binary"
	"fmt"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// A small stream has all its content in one block, or has no content. One header describes both the
// stream and the block. There is no index: a short footer leads back to the header.

// MaxSmall is the most content of a small stream, in bytes. The size of the stream fits in 16 bits.
const MaxSmall = 65_000

const (
	smallFlag   = 0x80 // in byte 4 of the header, where others have the log2 of the block size
	smallChecks = 4    // in byte 4: the block has a check of its content
	smallDict   = 8    // in byte 4: the block is coded, with a dictionary in front of it

	smallPrefix    = 7 // bytes of the header up to the raw size
	minSmallHeader = smallPrefix + 2
	maxSmallHeader = smallPrefix + 12

	smallFooterSize = 3
	minSmallStream  = minSmallHeader + smallFooterSize
)

// smallMagic is the last byte of a small stream. It differs from that of FooterMagic.
const smallMagic = 'z'

// smallHeaderSize returns the size of the header of a small stream. flags is byte 4.
func smallHeaderSize(flags byte) int {
	n := minSmallHeader
	if flags&3 == byte(Coded) {
		n += 2
	}
	if flags&smallChecks != 0 {
		n += 4
	}
	if flags&smallDict != 0 {
		n += 4
	}
	return n
}

// smallFlags returns byte 4 of the header of a small stream.
func (h *Header) smallFlags() byte {
	flags := smallFlag | byte(h.Only.Kind)
	if h.Checks {
		flags |= smallChecks
	}
	if h.Dictionary != 0 && h.Only.Kind == Coded {
		flags |= smallDict
	}
	return flags
}

// smallSize returns the bytes of a small stream.
func (h *Header) smallSize() int { return h.Size() + h.Only.Payload + smallFooterSize }

// appendSmall appends the header of a small stream.
func (h *Header) appendSmall(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, Magic...)
	dst = append(dst, Version, h.Pipeline, h.smallFlags())
	dst = binary.LittleEndian.AppendUint16(dst, uint16(h.Only.Raw))
	if h.Only.Kind == Coded {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(h.Only.Payload))
		if h.Dictionary != 0 {
			dst = binary.LittleEndian.AppendUint32(dst, h.Dictionary)
		}
	}
	if h.Checks {
		dst = binary.LittleEndian.AppendUint32(dst, h.Sum)
	}
	return binary.LittleEndian.AppendUint16(dst, ^crc16(^uint16(0), dst[at:]))
}

// parseSmall is ParseHeader for a small stream.
func parseSmall(p []byte) (Header, error) {
	n := len(p) - 2
	if binary.LittleEndian.Uint16(p[n:]) != ^crc16(^uint16(0), p[:n]) {
		return Header{}, ErrChecksum
	}
	flags := p[4]
	if flags&^(smallFlag|smallChecks|smallDict|3) != 0 {
		return Header{}, fmt.Errorf("%w: unknown flags %#x", ErrVersion, flags)
	}
	h := Header{Pipeline: p[3], Checks: flags&smallChecks != 0, Small: true}
	e := &h.Only
	e.Kind, e.Raw = container.Kind(flags&3), int(binary.LittleEndian.Uint16(p[smallPrefix-2:]))
	if h.Checks {
		h.Sum = binary.LittleEndian.Uint32(p[n-4:])
	}
	ok := e.Raw > 0 && e.Raw <= MaxSmall
	if flags&smallDict != 0 {
		if e.Kind == Coded {
			h.Dictionary = binary.LittleEndian.Uint32(p[smallPrefix+2:])
		}
		ok = ok && h.Dictionary != 0
	}
	switch e.Kind {
	case Stored:
		e.Payload = e.Raw
	case Fill:
		e.Payload = 1
	case Coded:
		e.Payload = int(binary.LittleEndian.Uint16(p[smallPrefix:]))
		ok = ok && 0 < e.Payload && e.Payload < e.Raw
	default:
		ok = e.Raw == 0 && h.Sum == 0 && flags&smallDict == 0
	}
	if !ok {
		return h, fmt.Errorf("%w: payload of %d bytes for %d, kind %d", ErrField, e.Payload, e.Raw, e.Kind)
	}
	h.ContentSize = int64(e.Raw)
	h.BlockSize = max(MinBlockSize, container.CeilPow2(e.Raw))
	return h, nil
}

// appendSmallFooter appends the footer of a small stream of size bytes.
func appendSmallFooter(dst []byte, size int) []byte {
	return append(dst, byte(size), byte(size>>8), smallMagic)
}

// parseSmallFooter returns the size of the small stream that p ends with. ok says that there can be
// one.
func parseSmallFooter(p []byte) (size int64, ok bool) {
	n := len(p) - smallFooterSize
	if n < 0 || p[n+2] != smallMagic {
		return 0, false
	}
	size = int64(binary.LittleEndian.Uint16(p[n:]))
	return size, size >= minSmallStream
}

// nextSmall is next within a small stream.
func (s *Scanner) nextSmall() (e Entry, sum uint32, err error) {
	h := &s.head
	if h.Only.Kind != 0 && s.blocks == 0 {
		s.at, s.blocks, s.raw = s.start, 1, int64(h.Only.Raw)
		return h.Only, h.Sum, nil
	}
	at := s.off
	p := s.buf[:smallFooterSize]
	if _, err := s.read(p, errs.PartIndex, -1); err != nil {
		return e, 0, err
	}
	if size, ok := parseSmallFooter(p); !ok || size != s.off-s.start {
		return e, 0, s.fail(errs.Corrupt, errs.PartIndex, at, "footer differs from the header")
	}
	s.leaveStream()
	return e, 0, container.ErrNothingYet
}

// small makes the block of a stream the block that s.head describes. The footer of the stream
// has been read: st.Size is right if the header states the same size.
func (s *Scanner) small(x *index.File, st *index.Stream) error {
	h := &s.head
	if st.Size != int64(h.smallSize()) {
		return s.fail(errs.Corrupt, errs.PartIndex, st.Offset+st.Size-smallFooterSize,
			"footer differs from the header")
	}
	st.Content, st.Blocks = h.ContentSize, 0
	if h.Only.Kind != 0 {
		b := h.smallBlock(st.Offset)
		b.Content = x.Content
		x.Blocks = append(x.Blocks, b)
		x.Content += st.Content
		st.Blocks = 1
	}
	return nil
}

// smallBlock returns the block of the small stream at an offset.
func (h *Header) smallBlock(offset int64) index.Block {
	e := &h.Only
	return index.Block{
		Offset: offset, Size: int32(h.Size() + e.Payload), Raw: int32(e.Raw), Kind: e.Kind,
	}
}

// openSmall reads the header of the small stream at an offset that p begins with. size is the size
// of the header, and b the block.
func openSmall(p []byte, offset int64, st *index.Stream) (size int, b index.Block, sum uint32, err error) {
	if len(p) < LeastHeader {
		return 0, b, 0, ErrChecksum
	}
	size, err = HeaderSize(p)
	if err != nil {
		return 0, b, 0, err
	}
	h, err := ParseHeader(p[:min(size, len(p))])
	if err == nil && (!h.Small || h.Pipeline != st.Pipeline || h.Checks != st.Checks ||
		h.Dictionary != st.Dictionary) {
		err = ErrField
	}
	return size, h.smallBlock(offset), h.Sum, err
}
