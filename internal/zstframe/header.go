package zstframe

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Bits of the frame header descriptor. The lowest two state the length of the dictionary ID, the
// highest two that of the content size.
const (
	flagChecksum = 1 << 2
	flagReserved = 1 << 3
	flagSingle   = 1 << 5
)

// Header is the header of a frame.
type Header struct {
	// ContentSize is in bytes, −1 if the header does not state it.
	ContentSize int64
	// Window is how far back offsets reach, in bytes, MinWindow … MaxWindow. The window of a single
	// segment is its content.
	Window int64
	// SingleSegment means that the frame is decoded into one buffer. ContentSize is then known.
	SingleSegment bool
	// Checksum means that a checksum of the content follows the last block.
	Checksum bool
	// Dictionary is the number of the dictionary that the frame needs, 0 if it names none.
	Dictionary uint32
}

// Append appends the header. It rounds the window up to one that can be stated.
func (h *Header) Append(dst []byte) []byte {
	descriptor := byte(0)
	if h.Checksum {
		descriptor |= flagChecksum
	}
	dictionary := 0
	switch {
	case h.Dictionary >= 1<<16:
		dictionary = 3
	case h.Dictionary >= 1<<8:
		dictionary = 2
	case h.Dictionary > 0:
		dictionary = 1
	}
	size := 0
	switch n := h.ContentSize; {
	case n >= 1<<32:
		size = 3
	case n >= 1<<16+256:
		size = 2
	case n >= 256:
		size = 1
	case n >= 0 && !h.SingleSegment:
		size = 2 // one byte is for single segments only, and two begin at 256
	}
	descriptor |= byte(dictionary | size<<6)
	if h.SingleSegment {
		descriptor |= flagSingle
	}
	dst = append(binary.LittleEndian.AppendUint32(dst, Magic), descriptor)
	if !h.SingleSegment {
		dst = append(dst, windowByte(h.Window))
	}
	n := dictionarySize(descriptor)
	dst = appendNumber(dst, uint64(h.Dictionary), n)
	n = contentSizeSize(descriptor)
	v := uint64(h.ContentSize)
	if n == 2 {
		v -= 256
	}
	return appendNumber(dst, v, n)
}

// appendNumber appends the low n bytes of v, in little-endian order.
func appendNumber(dst []byte, v uint64, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

// number reads what appendNumber wrote.
func number(p []byte) (v uint64) {
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// windowByte returns the least window descriptor of at least size bytes.
func windowByte(size int64) byte {
	if size <= MinWindow {
		return 0
	}
	log := bits.Len64(uint64(size-1)) - 1 // size is more than 1<<log, and at most twice that
	eighths := (size - 1) >> (log - 3) & 7
	return byte(int64(log-10)<<3 + eighths + 1)
}

// windowSize returns the window of a descriptor, in bytes.
func windowSize(b byte) int64 {
	base := int64(1) << (10 + b>>3)
	return base + base/8*int64(b&7)
}

func dictionarySize(descriptor byte) int { return [...]int{0, 1, 2, 4}[descriptor&3] }

func contentSizeSize(descriptor byte) int {
	if descriptor>>6 == 0 && descriptor&flagSingle != 0 {
		return 1
	}
	return [...]int{0, 2, 4, 8}[descriptor>>6]
}

// HeaderSize returns the size of the frame header that begins with p, from its first MinHeaderSize
// bytes. Other data, and skippable frames, are ErrMagic.
func HeaderSize(p []byte) (int, error) {
	if len(p) < MinHeaderSize {
		return 0, ErrShort
	}
	if binary.LittleEndian.Uint32(p) != Magic {
		return 0, ErrMagic
	}
	d := p[4]
	size := 5 + dictionarySize(d) + contentSizeSize(d)
	if d&flagSingle == 0 {
		size++
	}
	return size, nil
}

// ParseHeader reads the frame header that p begins with, and returns its size too.
func ParseHeader(p []byte) (h Header, size int, err error) {
	size, err = HeaderSize(p)
	if err != nil {
		return h, 0, err
	}
	if len(p) < size {
		return h, 0, ErrShort
	}
	d, p := p[4], p[5:size]
	if d&flagReserved != 0 {
		return h, 0, fmt.Errorf("%w: frame header descriptor %#x", ErrField, d)
	}
	h = Header{ContentSize: -1, SingleSegment: d&flagSingle != 0, Checksum: d&flagChecksum != 0}
	if !h.SingleSegment {
		h.Window = windowSize(p[0])
		p = p[1:]
	}
	n := dictionarySize(d)
	h.Dictionary = uint32(number(p[:n]))
	if p = p[n:]; len(p) > 0 {
		v := number(p)
		if len(p) == 2 {
			v += 256
		}
		if v > 1<<63-1 {
			return h, 0, fmt.Errorf("%w: content size %#x", ErrField, v)
		}
		h.ContentSize = int64(v)
	}
	if h.SingleSegment {
		h.Window = h.ContentSize
	}
	return h, size, nil
}
