package pzfile

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Magic begins every stream.
const Magic = "PZ"

// Flags of a stream header.
const (
	flagContentSize = 1 << 0
	flagChecks      = 1 << 1
)

// Header is the header of a stream.
type Header struct {
	Pipeline    uint8
	BlockSize   int   // a power of two, MinBlockSize … MaxBlockSize
	Checks      bool  // blocks carry checks of their content
	ContentSize int64 // −1 if the header does not say
}

// Size returns the number of bytes that Append adds.
func (h *Header) Size() int {
	if h.ContentSize >= 0 {
		return MaxHeaderSize
	}
	return MinHeaderSize
}

// Append appends the header's bytes to dst.
func (h *Header) Append(dst []byte) []byte {
	at := len(dst)
	var flags byte
	if h.ContentSize >= 0 {
		flags |= flagContentSize
	}
	if h.Checks {
		flags |= flagChecks
	}
	dst = append(dst, Magic...)
	dst = append(dst, Version, h.Pipeline, byte(bits.TrailingZeros(uint(h.BlockSize))), flags)
	if h.ContentSize >= 0 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(h.ContentSize))
	}
	return binary.LittleEndian.AppendUint32(dst, Checksum(0, dst[at:]))
}

// HeaderSize returns the size of the header that begins with p, from its first MinHeaderSize bytes.
// It fails if they are not a .pz header of a known version.
func HeaderSize(p []byte) (int, error) {
	if string(p[:len(Magic)]) != Magic {
		return 0, ErrMagic
	}
	if p[2] != Version {
		return 0, fmt.Errorf("%w %d", ErrVersion, p[2])
	}
	if p[5]&flagContentSize != 0 {
		return MaxHeaderSize, nil
	}
	return MinHeaderSize, nil
}

// ParseHeader reads a header from p, whose length HeaderSize has returned.
func ParseHeader(p []byte) (Header, error) {
	var h Header
	if len(p) < MinHeaderSize {
		return h, fmt.Errorf("%w: header of %d bytes", ErrField, len(p))
	}
	size, err := HeaderSize(p)
	if err != nil {
		return h, err
	}
	if len(p) != size {
		return h, fmt.Errorf("%w: header of %d bytes", ErrField, len(p))
	}
	if binary.LittleEndian.Uint32(p[size-4:]) != Checksum(0, p[:size-4]) {
		return h, ErrChecksum
	}
	flags := p[5]
	if flags&^(flagContentSize|flagChecks) != 0 {
		return h, fmt.Errorf("%w: unknown flags %#x", ErrVersion, flags)
	}
	if p[4] >= 31 || 1<<p[4] < MinBlockSize || 1<<p[4] > MaxBlockSize {
		return h, fmt.Errorf("%w: block size 2^%d", ErrField, p[4])
	}
	h = Header{Pipeline: p[3], BlockSize: 1 << p[4], Checks: flags&flagChecks != 0, ContentSize: -1}
	if flags&flagContentSize != 0 {
		h.ContentSize = int64(binary.LittleEndian.Uint64(p[6:]))
		if h.ContentSize < 0 {
			return h, fmt.Errorf("%w: content size %#x", ErrField, uint64(h.ContentSize))
		}
	}
	return h, nil
}
