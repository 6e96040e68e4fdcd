// Package refdec is a second decoder of .pz files, written from docs/FORMAT.md alone.
//
// It shares no code with the library's decoder and does not try to be fast. It reads one symbol,
// one bit and one byte at a time, in the order in which the document describes them. Tests, and the
// command for its users (pz -t --deep), compare the two decoders. Where they differ, the document
// or one of them is wrong.
package refdec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

var (
	// ErrTruncated reports that the file ends inside a stream.
	ErrTruncated = errors.New("refdec: truncated")
	// ErrCorrupt reports that the file contradicts itself or the format.
	ErrCorrupt = errors.New("refdec: corrupt")
	// ErrMemory reports that a stream needs more memory than the caller allows.
	ErrMemory = errors.New("refdec: needs more memory than the limit")
)

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

const (
	magic       = "PZ"
	footerMagic = "PZIX"
	version     = 1

	minLogBlockSize = 12
	maxLogBlockSize = 26

	flagContentSize   = 1 << 0
	flagContentChecks = 1 << 1
	flagWindow        = 1 << 2
	flagDictionary    = 1 << 3

	blockHeaderSize = 16 // unless it is short
	footerSize      = 32
	unitSize        = 8 // of the index

	kindStored = 1
	kindFill   = 2
	kindCoded  = 3
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// A Dictionary is content that is not in the file. The zero value is none.
type Dictionary struct {
	Number  uint32 // by which streams name it
	Content []byte // the last 8 MiB of it, if it is longer
}

// Decode returns the content of a file: the concatenated contents of its streams. With an error it
// also returns the content of all blocks before it.
func Decode(file []byte, dict Dictionary) ([]byte, error) {
	var content []byte
	err := DecodeTo(file, dict, math.MaxInt64, func(block []byte) error {
		content = append(content, block...)
		return nil
	})
	return content, err
}

// DecodeTo passes the content of each block to emit, in order, which must not keep it. It keeps one
// block in memory, and of a stream with a window the own contents of the blocks in it. If these
// have more than limit bytes, it returns ErrMemory. An error of emit ends it.
func DecodeTo(file []byte, dict Dictionary, limit int64, emit func(block []byte) error) error {
	streams, before := 0, uint64(0)
	count := func(block []byte) error {
		before += uint64(len(block))
		return emit(block)
	}
	for at := 0; at < len(file); {
		size, err := 0, error(nil)
		if isSection(file[at:]) {
			size, err = skipSection(file[at:])
		} else {
			size, err = decodeStream(count, before, file[at:], dict, limit)
			streams++
		}
		if err != nil {
			return err
		}
		at += size
	}
	if streams == 0 {
		return ErrTruncated // A file has at least one stream.
	}
	return nil
}

// isSection reports whether b begins with a section and not with a stream.
func isSection(b []byte) bool {
	return len(b) >= 4 && string(b[:2]) == magic && b[2] == version && b[3] == 0
}

// skipSection returns the size of the section that b begins with.
func skipSection(b []byte) (size int, err error) {
	if len(b) < 17 {
		return 0, ErrTruncated
	}
	if crc(b[:13]) != binary.LittleEndian.Uint32(b[13:]) {
		return 0, corrupt("header checksum of a section")
	}
	n := binary.LittleEndian.Uint64(b[5:])
	switch kind := b[4]; {
	case kind < 0x80:
		return 0, corrupt("unknown section %d", kind)
	case n < 33:
		return 0, corrupt("section of %d bytes", n)
	case n > uint64(len(b)):
		return 0, ErrTruncated
	}
	chose(choiceSection, int(b[4]))
	return int(n), nil
}

// A blockHeader holds the fields of a block's header, whose checksum has been verified.
type blockHeader struct {
	size, entrySize int // of the header itself, and of the part that the index repeats
	kind            uint32
	payloadSize     uint32
	rawSize         uint32
	contentCheck    uint32
}

// parseBlockHeader reads the header that b begins with.
func parseBlockHeader(b []byte, number uint64, h header) (blockHeader, error) {
	bh := blockHeader{size: blockHeaderSize, entrySize: unitSize}
	short := b[0]&4 != 0
	if short {
		bh.size, bh.entrySize = 9, 3
		if b[0]%4 == kindCoded {
			bh.size, bh.entrySize = 11, 5
		}
	}
	if len(b) < bh.size {
		return bh, ErrTruncated
	}
	if short {
		bh.readShort(b)
		sealed := append([]byte(nil), b[:bh.size-2]...)
		sealed = append(sealed, byte(number), byte(number>>8))
		if crc16(sealed) != binary.LittleEndian.Uint16(b[bh.size-2:]) {
			return bh, corrupt("header checksum of block %d", number)
		}
	} else {
		word := binary.LittleEndian.Uint32(b)
		bh.kind, bh.payloadSize = word%8, word/16
		bh.rawSize = binary.LittleEndian.Uint32(b[4:])
		sealed := binary.LittleEndian.AppendUint64(append([]byte(nil), b[:12]...), number)
		if crc(sealed) != binary.LittleEndian.Uint32(b[12:]) {
			return bh, corrupt("header checksum of block %d", number)
		}
	}
	bh.contentCheck = binary.LittleEndian.Uint32(b[bh.entrySize:])
	return bh, bh.validate(number, h)
}

// readShort reads the entry of a short block header.
func (bh *blockHeader) readShort(b []byte) {
	bh.kind = uint32(b[0]) % 4
	bh.rawSize = (uint32(b[0]) + uint32(b[1])<<8 + uint32(b[2])<<16) / 8
	switch bh.kind {
	case kindStored:
		bh.payloadSize = bh.rawSize
	case kindFill:
		bh.payloadSize = 1
	case kindCoded:
		bh.payloadSize = uint32(b[3]) + uint32(b[4])<<8
	}
}

func (bh *blockHeader) validate(number uint64, h header) error {
	if bh.rawSize < 1 || bh.rawSize > h.blockSize {
		return corrupt("raw size %d of block %d", bh.rawSize, number)
	}
	if bh.payloadSize < 1 || bh.payloadSize > bh.rawSize {
		return corrupt("payload size %d of block %d", bh.payloadSize, number)
	}
	ok := false
	switch bh.kind {
	case kindStored:
		ok = bh.payloadSize == bh.rawSize
	case kindFill:
		ok = bh.payloadSize == 1
	case kindCoded:
		ok = bh.payloadSize < bh.rawSize
	}
	if !ok {
		return corrupt("block %d has kind %d, payload size %d and raw size %d",
			number, bh.kind, bh.payloadSize, bh.rawSize)
	}
	if !h.hasChecks && bh.contentCheck != 0 {
		return corrupt("content check of block %d in a stream without checks", number)
	}
	return nil
}

// crc16 returns the CRC-16 of b, bit by bit.
func crc16(b []byte) uint16 {
	sum := uint16(0xFFFF)
	for _, v := range b {
		for i := range 8 {
			bit := sum&1 ^ uint16(v)>>i&1
			sum >>= 1
			if bit != 0 {
				sum ^= 0x8408
			}
		}
	}
	return ^sum
}

// decodeStream passes the content of the stream at the front of b to emit and returns the size of
// the stream. The streams before it have so much content. limit is that of DecodeTo.
func decodeStream(
	emit func([]byte) error, before uint64, b []byte, dict Dictionary, limit int64,
) (size int, err error) {
	if isSmall(b) {
		return decodeSmall(emit, b, dict)
	}
	h, err := parseHeader(b, dict)
	if err != nil {
		return 0, err
	}
	if before+h.contentSize >= 1<<63 {
		return 0, corrupt("content of %d and %d bytes", before, h.contentSize)
	}
	at := h.size
	contentSize := uint64(0)
	var index []byte
	var kept keeper
	short := false
	for number := uint64(0); ; number++ {
		if len(b)-at < 4 {
			return 0, ErrTruncated
		}
		if b[at]%8 == 4 || binary.LittleEndian.Uint32(b[at:]) == 0 {
			break
		}
		bh, err := parseBlockHeader(b[at:], number, h)
		if err == nil {
			err = h.noDictionary
		}
		if err != nil {
			return 0, err
		}
		if h.hasContentSize && uint64(bh.rawSize) > h.contentSize-contentSize {
			return 0, corrupt("header has content size %d, less than %d blocks",
				h.contentSize, number+1)
		}
		chose(choiceBlock, int(b[at]&15&^(b[at]&4<<1)))
		index = append(index, b[at:at+bh.entrySize]...)
		short = short || bh.entrySize < unitSize
		at += bh.size
		if uint64(len(b)-at) < uint64(bh.payloadSize) {
			return 0, ErrTruncated
		}
		payload := b[at : at+int(bh.payloadSize)]
		at += len(payload)
		own, refs, err := decodeOwn(payload, bh, h)
		if err != nil {
			return 0, fmt.Errorf("block %d: %w", number, err)
		}
		if h.hasChecks && contentCheck(bh.kind, payload, own) != bh.contentCheck {
			return 0, corrupt("content check of block %d", number)
		}
		raw := own
		if refs != nil {
			raw, err = kept.past.splice(own, refs, h.window)
			if err != nil {
				return 0, fmt.Errorf("block %d: %w", number, err)
			}
			if h.hasChecks && crc(raw) != refs.check {
				return 0, corrupt("check of all content of block %d", number)
			}
		}
		if bh.kind == kindFill || h.window == 0 {
			own = nil
		}
		if kept.addBlock(own, h.window) > limit {
			return 0, ErrMemory
		}
		if err := emit(raw); err != nil {
			return 0, err
		}
		contentSize += uint64(len(raw))
	}
	for len(index)%unitSize != 0 {
		index = append(index, 0)
	}
	return decodeTail(b, at, index, short, h, contentSize)
}

// decodeTail verifies end marker, index and footer, which begin at b[end], and returns the offset
// of the end of the stream. index is what the index must be, and short says that a block header is
// short.
func decodeTail(
	b []byte, end int, index []byte, short bool, h header, contentSize uint64,
) (size int, err error) {
	at := end + 4
	if len(b)-at < len(index)+footerSize {
		return 0, ErrTruncated
	}
	units := uint64(len(index) / unitSize)
	marker := uint32(0)
	if short {
		marker = uint32(min(units, 1<<29-1))*8 + 4
	}
	if binary.LittleEndian.Uint32(b[end:]) != marker {
		return 0, corrupt("end marker does not match the index")
	}
	if string(b[at:at+len(index)]) != string(index) {
		return 0, corrupt("index does not match the blocks")
	}
	at += len(index)
	footer := b[at : at+footerSize]
	at += footerSize
	if got := binary.LittleEndian.Uint64(footer); got != contentSize {
		return 0, corrupt("footer has content size %d, not %d", got, contentSize)
	}
	if got := binary.LittleEndian.Uint64(footer[8:]); got != uint64(at) {
		return 0, corrupt("footer has stream size %d, not %d", got, at)
	}
	if got := binary.LittleEndian.Uint64(footer[16:]); got != units {
		return 0, corrupt("footer has an index of %d units, not %d", got, units)
	}
	if binary.LittleEndian.Uint32(footer[24:]) != crc(b[end:at-8]) {
		return 0, corrupt("footer checksum")
	}
	if string(footer[28:]) != footerMagic {
		return 0, corrupt("footer magic number")
	}
	if h.hasContentSize && h.contentSize != contentSize {
		return 0, corrupt("header has content size %d, not %d", h.contentSize, contentSize)
	}
	return at, nil
}

// contentCheck returns the checksum of a block whose payload decodes to raw.
func contentCheck(kind uint32, payload, raw []byte) uint32 {
	sum := crc(payload)
	if kind == kindCoded {
		sum = crc32.Update(sum, castagnoli, raw)
	}
	return sum
}

// decodeOwn returns the own content of a block, and its references, nil if it has none.
func decodeOwn(payload []byte, bh blockHeader, h header) ([]byte, *references, error) {
	if bh.kind == kindCoded && payload[0] == layoutReferences {
		return decodeReferences(payload, h, uint64(bh.rawSize))
	}
	own, err := decodeBlock(payload, bh, h.dictionary)
	return own, nil, err
}

// decodeBlock returns the content of a block without references. dict is in front of it.
func decodeBlock(payload []byte, bh blockHeader, dict []byte) ([]byte, error) {
	switch bh.kind {
	case kindStored:
		return payload, nil
	case kindFill:
		raw := make([]byte, bh.rawSize)
		for i := range raw {
			raw[i] = payload[0]
		}
		return raw, nil
	default:
		return decodeCoded(payload, int(bh.rawSize), dict)
	}
}
