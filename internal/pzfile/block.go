package pzfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/gopz/compress/internal/container"
)

// The kinds of blocks.
const (
	Stored = container.Stored
	Fill   = container.Fill
	Coded  = container.Coded
)

// Entry is the index entry of a block, and the first part of its header.
type Entry struct {
	Kind    container.Kind
	Payload int  // bytes of payload
	Raw     int  // bytes of content
	Short   bool // the entry and the header have the short form
	Flushed bool // a flush ends the block; not set if Short is
}

// NewEntry returns the entry of a block. If a flush ends the block, the entry has the short form if
// that can hold it.
func NewEntry(kind container.Kind, payload, raw int, flushed bool) Entry {
	fits := raw <= maxShortRaw && (kind != Coded || payload <= maxShortPayload)
	return Entry{
		Kind: kind, Payload: payload, Raw: raw, Short: flushed && fits, Flushed: flushed && !fits,
	}
}

// Size returns the bytes of the entry.
func (e Entry) Size() int {
	switch {
	case !e.Short:
		return UnitSize
	case e.Kind == Coded:
		return shortCodedEntry
	}
	return shortEntry
}

// HeaderSize returns the bytes of the block's header.
func (e Entry) HeaderSize() int {
	if e.Short {
		return e.Size() + shortChecks
	}
	return BlockHeaderSize
}

// Append appends the entry's bytes to dst.
func (e Entry) Append(dst []byte) []byte {
	if !e.Short {
		first := uint32(e.Payload)<<4 | uint32(e.Kind)
		if e.Flushed {
			first |= flushFlag
		}
		dst = binary.LittleEndian.AppendUint32(dst, first)
		return binary.LittleEndian.AppendUint32(dst, uint32(e.Raw))
	}
	v := e.Raw<<3 | shortFlag | int(e.Kind)
	dst = append(dst, byte(v), byte(v>>8), byte(v>>16))
	if e.Kind == Coded {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(e.Payload))
	}
	return dst
}

// entrySize returns the size of the entry that begins with a byte.
func entrySize(first byte) int {
	switch {
	case first&shortFlag == 0:
		return UnitSize
	case first&7 == shortFlag|byte(Coded):
		return shortCodedEntry
	}
	return shortEntry
}

// headerSize returns the size of the block header that begins with a byte.
func headerSize(first byte) int {
	if first&shortFlag == 0 {
		return BlockHeaderSize
	}
	return entrySize(first) + shortChecks
}

// ParseEntry reads the entry that p begins with. blockSize is the stream's.
func ParseEntry(p []byte, blockSize int) (Entry, error) {
	e, ok := parseEntry(p, blockSize)
	if !ok {
		return e, fmt.Errorf("%w: payload of %d bytes for %d, kind %d", ErrField, e.Payload, e.Raw, e.Kind)
	}
	return e, nil
}

// parseEntry is ParseEntry without an error, for a search that tries each byte of a file.
func parseEntry(p []byte, blockSize int) (e Entry, ok bool) {
	if len(p) == 0 || len(p) < entrySize(p[0]) {
		return e, false
	}
	raw := uint32(0)
	e.Short = p[0]&shortFlag != 0
	if e.Short {
		e.Kind = container.Kind(p[0] & 3)
		raw = (uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16) >> 3
		switch e.Kind {
		case Stored:
			e.Payload = int(raw)
		case Fill:
			e.Payload = 1
		case Coded:
			e.Payload = int(binary.LittleEndian.Uint16(p[shortEntry:]))
		}
	} else {
		first := binary.LittleEndian.Uint32(p)
		e.Kind, e.Payload, e.Flushed = container.Kind(first&7), int(first>>4), first&flushFlag != 0
		raw = binary.LittleEndian.Uint32(p[4:])
	}
	// Sizes fit an int of 32 bits: payload has 28 bits, and raw is compared before it is converted.
	if raw == 0 || raw > uint32(blockSize) {
		return e, false
	}
	e.Raw = int(raw)
	switch e.Kind {
	case Stored:
		ok = e.Payload == e.Raw
	case Fill:
		ok = e.Payload == 1
	case Coded:
		ok = 0 < e.Payload && e.Payload < e.Raw
	}
	return e, ok
}

// AppendBlockHeader appends the header of a block. number is the block's in its stream.
func AppendBlockHeader(dst []byte, e Entry, sum uint32, number int64) []byte {
	at := len(dst)
	dst = e.Append(dst)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	if e.Short {
		return binary.LittleEndian.AppendUint16(dst, shortSum(dst[at:], number))
	}
	return binary.LittleEndian.AppendUint32(dst, blockSum(dst[at:], number))
}

// ParseBlockHeader reads the block header that p begins with. h is the header of its stream, number
// the block's number there.
func ParseBlockHeader(p []byte, h *Header, number int64) (e Entry, sum uint32, err error) {
	if len(p) == 0 || len(p) < headerSize(p[0]) {
		return e, 0, ErrChecksum
	}
	p = p[:headerSize(p[0])]
	if p[0]&shortFlag != 0 {
		p = p[:len(p)-2]
		if binary.LittleEndian.Uint16(p[len(p):len(p)+2]) != shortSum(p, number) {
			return e, 0, ErrChecksum
		}
	} else {
		p = p[:len(p)-4]
		if binary.LittleEndian.Uint32(p[len(p):len(p)+4]) != blockSum(p, number) {
			return e, 0, ErrChecksum
		}
	}
	e, err = ParseEntry(p, h.BlockSize)
	if err != nil {
		return e, 0, err
	}
	sum = binary.LittleEndian.Uint32(p[len(p)-4:])
	if !h.Checks && sum != 0 {
		return e, 0, fmt.Errorf("%w: a content check where there are none", ErrField)
	}
	return e, sum, nil
}

// blockSum returns the check of a block header. It covers the number, so that a block that has
// changed places is detected.
func blockSum(header []byte, number int64) uint32 {
	// Bit by bit, because an argument of Checksum escapes to the heap.
	v := uint64(^Checksum(0, header)) ^ uint64(number)
	for range 64 {
		v = v>>1 ^ crc32.Castagnoli&-(v&1)
	}
	return ^uint32(v)
}

// BlockNumber returns the number that makes p, of BlockHeaderSize bytes, a block header with a
// right check. For any bytes there is one below 2³². A search tells headers from other bytes by
// whether the number is plausible.
func BlockNumber(p []byte) int64 {
	// A CRC over the low half of the number, and then over a high half of 0, is the CRC register
	// xor the low half, advanced by 64 bits. So go back 64 bits from the check.
	sum, t := ^binary.LittleEndian.Uint32(p[12:]), unstep()
	for range 8 {
		i := t.index[sum>>24]
		sum = (sum^t.castagnoli[i])<<8 | uint32(i)
	}
	return int64(sum ^ ^Checksum(0, p[:12]))
}

// unstepTable undoes steps of CRC-32C: castagnoli is its table, and index has the index of the
// entry that has a given top byte.
type unstepTable struct {
	castagnoli *crc32.Table
	index      [256]byte
}

var unstep = sync.OnceValue(func() *unstepTable {
	t := &unstepTable{castagnoli: crc32.MakeTable(crc32.Castagnoli)}
	for i, v := range t.castagnoli {
		t.index[v>>24] = byte(i)
	}
	return t
})
