package pzfile

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/gopz/compress/internal/container"
)

// The kinds of blocks.
const (
	Stored = container.Stored
	Fill   = container.Fill
	Coded  = container.Coded
)

// Entry is the index entry of a block: the first 8 bytes of its header.
type Entry struct {
	Kind    container.Kind
	Payload int // bytes of payload
	Raw     int // bytes of content
}

// Append appends the entry's bytes to dst.
func (e Entry) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.Payload)<<4|uint32(e.Kind))
	return binary.LittleEndian.AppendUint32(dst, uint32(e.Raw))
}

// ParseEntry reads an entry from the first EntrySize bytes of p. blockSize is the stream's.
func ParseEntry(p []byte, blockSize int) (Entry, error) {
	first, raw := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
	// Sizes fit an int of 32 bits: payload has 28 bits, and raw is compared before it is converted.
	e := Entry{Kind: container.Kind(first & 15), Payload: int(first >> 4)}
	if raw == 0 || raw > uint32(blockSize) {
		return e, fmt.Errorf("%w: block of %d bytes", ErrField, raw)
	}
	e.Raw = int(raw)
	var ok bool
	switch e.Kind {
	case Stored:
		ok = e.Payload == e.Raw
	case Fill:
		ok = e.Payload == 1
	case Coded:
		ok = 0 < e.Payload && e.Payload < e.Raw
	default:
		return e, fmt.Errorf("%w: block of kind %d", ErrField, e.Kind)
	}
	if !ok {
		return e, fmt.Errorf("%w: payload of %d bytes for %d, kind %d", ErrField, e.Payload, e.Raw, e.Kind)
	}
	return e, nil
}

// AppendBlockHeader appends the header of a block. number is the block's in its stream.
func AppendBlockHeader(dst []byte, e Entry, sum uint32, number int64) []byte {
	at := len(dst)
	dst = e.Append(dst)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return binary.LittleEndian.AppendUint32(dst, blockSum(dst[at:], number))
}

// ParseBlockHeader reads the header of a block from the first BlockHeaderSize bytes of p. h is the
// header of its stream, number the block's number there.
func ParseBlockHeader(p []byte, h *Header, number int64) (e Entry, sum uint32, err error) {
	if binary.LittleEndian.Uint32(p[12:]) != blockSum(p[:12], number) {
		return e, 0, ErrChecksum
	}
	e, err = ParseEntry(p, h.BlockSize)
	if err != nil {
		return e, 0, err
	}
	sum = binary.LittleEndian.Uint32(p[8:])
	if !h.Checks && sum != 0 {
		return e, 0, fmt.Errorf("%w: a content check where there are none", ErrField)
	}
	return e, sum, nil
}

// IsEndMarker reports whether p, of at least EndMarkerSize bytes, begins with an end marker in
// place of a block header.
func IsEndMarker(p []byte) bool { return binary.LittleEndian.Uint32(p) == 0 }

// blockSum returns the check of a block header. It covers the number, so that a block that has
// changed places is detected.
func blockSum(header []byte, number int64) uint32 {
	// Byte by byte, because an argument of package crc32 would escape to the heap.
	sum := ^Checksum(0, header)
	for range 8 {
		sum = castagnoli[byte(sum)^byte(number)] ^ sum>>8
		number >>= 8
	}
	return ^sum
}

// BlockNumber returns the number that makes p, of BlockHeaderSize bytes, a block header with a
// right check. For any bytes there is one below 2³². A search tells headers from other bytes by
// whether the number is plausible.
func BlockNumber(p []byte) int64 {
	// A CRC over the low half of the number, and then over a high half of 0, is the CRC register
	// xor the low half, advanced by 64 bits. So go back 64 bits from the check.
	sum := ^binary.LittleEndian.Uint32(p[12:])
	for range 8 {
		i := unstep()[sum>>24]
		sum = (sum^castagnoli[i])<<8 | uint32(i)
	}
	return int64(sum ^ ^Checksum(0, p[:12]))
}

// unstep returns the index of the table entry that has a given top byte.
var unstep = sync.OnceValue(func() *[256]byte {
	var t [256]byte
	for i, v := range castagnoli {
		t[v>>24] = byte(i)
	}
	return &t
})
