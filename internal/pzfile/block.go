package pzfile

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/gopz/compress/internal/container"
)

// Kinds of blocks.
const (
	Stored = container.Stored
	Fill   = container.Fill
	Coded  = container.Coded
)

// Entry is what the index says of a block: the first 8 bytes of its header.
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

// ParseEntry reads an entry from the first EntrySize bytes of p.
func ParseEntry(p []byte, blockSize int) (Entry, error) {
	first, raw := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
	// Sizes fit an int even of 32 bits: the payload has 28, and raw is compared before it is converted.
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

// AppendBlockHeader appends the header of the block with that number.
func AppendBlockHeader(dst []byte, e Entry, sum uint32, number int64) []byte {
	at := len(dst)
	dst = e.Append(dst)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return binary.LittleEndian.AppendUint32(dst, blockSum(dst[at:], number))
}

// ParseBlockHeader reads the header of the block with that number from the first BlockHeaderSize bytes of p. h is the
// stream's.
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

// IsEndMarker reports whether p, of at least EndMarkerSize bytes, begins with an end marker rather than a block header.
func IsEndMarker(p []byte) bool { return binary.LittleEndian.Uint32(p) == 0 }

// blockSum is the check of a block header: the number is in it so that blocks cannot change places unnoticed.
func blockSum(header []byte, number int64) uint32 {
	// Byte by byte, since what is given to package crc32 would have to be allocated.
	sum := ^Checksum(0, header)
	for range 8 {
		sum = castagnoli[byte(sum)^byte(number)] ^ sum>>8
		number >>= 8
	}
	return ^sum
}

// BlockNumber returns the number that makes p, of BlockHeaderSize bytes, a block header whose check is right. There
// always is one below 2³²; that it is plausible is what tells a header from other bytes, where a stream has to be
// searched for them.
func BlockNumber(p []byte) int64 {
	// Feeding a CRC with the low half of the number and then a high half of 0 is to xor it with the low half and to go
	// 64 bits on. From the check that is there we go those 64 bits back.
	sum := ^binary.LittleEndian.Uint32(p[12:])
	for range 8 {
		i := unstep()[sum>>24]
		sum = (sum^castagnoli[i])<<8 | uint32(i)
	}
	return int64(sum ^ ^Checksum(0, p[:12]))
}

// unstep tells from the top byte of a CRC which entry of the table was used for it.
var unstep = sync.OnceValue(func() *[256]byte {
	var t [256]byte
	for i, v := range castagnoli {
		t[v>>24] = byte(i)
	}
	return &t
})
