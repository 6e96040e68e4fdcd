// Package refdec is a second decoder of .pz files, written from docs/FORMAT.md alone.
//
// It shares no code with the library's decoder and does not try to be fast. It reads one symbol,
// one bit and one byte at a time, in the order in which the document describes them. Tests compare
// the two decoders. Where they differ, the document or one of them is wrong.
package refdec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

var (
	// ErrTruncated reports that the file ends inside a stream.
	ErrTruncated = errors.New("refdec: truncated")
	// ErrCorrupt reports that the file contradicts itself or the format.
	ErrCorrupt = errors.New("refdec: corrupt")
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

	blockHeaderSize = 16
	footerSize      = 32

	kindStored = 1
	kindFill   = 2
	kindCoded  = 3
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Decode returns the content of a file: the concatenated contents of its streams. With an error it
// also returns the content of all blocks before it.
func Decode(file []byte) ([]byte, error) {
	var content []byte
	if len(file) == 0 {
		return nil, ErrTruncated // A file has at minMatch one stream.
	}
	for at := 0; at < len(file); {
		size, err := decodeStream(&content, file[at:])
		if err != nil {
			return content, err
		}
		at += size
	}
	return content, nil
}

// A header holds the fields of a stream's header.
type header struct {
	size           int // of the header itself
	blockSize      uint32
	hasContentSize bool
	contentSize    uint64
	hasChecks      bool
}

func parseHeader(b []byte) (header, error) {
	var h header
	// Check the available part of the magic number first, so that other data is not reported as
	// truncated.
	for i := 0; i < len(magic) && i < len(b); i++ {
		if b[i] != magic[i] {
			return h, corrupt("magic number")
		}
	}
	if len(b) < 10 {
		return h, ErrTruncated
	}
	flags := b[5]
	h.hasContentSize = flags&flagContentSize != 0
	h.hasChecks = flags&flagContentChecks != 0
	h.size = 10
	if h.hasContentSize {
		h.size = 18
	}
	if len(b) < h.size {
		return h, ErrTruncated
	}
	if crc(b[:h.size-4]) != binary.LittleEndian.Uint32(b[h.size-4:]) {
		return h, corrupt("header checksum")
	}
	if b[2] != version {
		return h, corrupt("version %d", b[2])
	}
	if b[3] != 1 && b[3] != 2 {
		return h, corrupt("pipeline %d", b[3])
	}
	if b[4] < minLogBlockSize || b[4] > maxLogBlockSize {
		return h, corrupt("block size 2^%d", b[4])
	}
	h.blockSize = 1 << b[4]
	if flags&^(flagContentSize|flagContentChecks) != 0 {
		return h, corrupt("flags %#x", flags)
	}
	if h.hasContentSize {
		if h.contentSize = binary.LittleEndian.Uint64(b[6:]); h.contentSize >= 1<<63 {
			return h, corrupt("content size %#x", h.contentSize)
		}
	}
	return h, nil
}

// A blockHeader holds the fields of a block's header, whose checksum has been verified.
type blockHeader struct {
	kind         uint32
	payloadSize  uint32
	rawSize      uint32
	contentCheck uint32
}

func parseBlockHeader(b []byte, number uint64, h header) (blockHeader, error) {
	var bh blockHeader
	sealed := binary.LittleEndian.AppendUint64(append([]byte(nil), b[:12]...), number)
	if crc(sealed) != binary.LittleEndian.Uint32(b[12:]) {
		return bh, corrupt("header checksum of block %d", number)
	}
	word := binary.LittleEndian.Uint32(b)
	bh.kind, bh.payloadSize = word%16, word/16
	bh.rawSize = binary.LittleEndian.Uint32(b[4:])
	bh.contentCheck = binary.LittleEndian.Uint32(b[8:])
	if bh.rawSize < 1 || bh.rawSize > h.blockSize {
		return bh, corrupt("raw size %d of block %d", bh.rawSize, number)
	}
	if bh.payloadSize < 1 || bh.payloadSize > bh.rawSize {
		return bh, corrupt("payload size %d of block %d", bh.payloadSize, number)
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
		return bh, corrupt("block %d has kind %d, payload size %d and raw size %d",
			number, bh.kind, bh.payloadSize, bh.rawSize)
	}
	if !h.hasChecks && bh.contentCheck != 0 {
		return bh, corrupt("content check of block %d in a stream without checks", number)
	}
	return bh, nil
}

// decodeStream appends the content of the stream at the front of b to *content and returns the size
// of the stream.
func decodeStream(content *[]byte, b []byte) (size int, err error) {
	h, err := parseHeader(b)
	if err != nil {
		return 0, err
	}
	at := h.size
	contentSize := uint64(0)
	var index []byte
	for number := uint64(0); ; number++ {
		if len(b)-at < 4 {
			return 0, ErrTruncated
		}
		if binary.LittleEndian.Uint32(b[at:]) == 0 {
			break
		}
		if len(b)-at < blockHeaderSize {
			return 0, ErrTruncated
		}
		bh, err := parseBlockHeader(b[at:at+blockHeaderSize], number, h)
		if err != nil {
			return 0, err
		}
		if h.hasContentSize && uint64(bh.rawSize) > h.contentSize-contentSize {
			return 0, corrupt("header has content size %d, less than %d blocks",
				h.contentSize, number+1)
		}
		index = append(index, b[at:at+8]...)
		at += blockHeaderSize
		if uint64(len(b)-at) < uint64(bh.payloadSize) {
			return 0, ErrTruncated
		}
		payload := b[at : at+int(bh.payloadSize)]
		at += len(payload)
		raw, err := decodeBlock(payload, bh)
		if err != nil {
			return 0, fmt.Errorf("block %d: %w", number, err)
		}
		if h.hasChecks && contentCheck(bh.kind, payload, raw) != bh.contentCheck {
			return 0, corrupt("content check of block %d", number)
		}
		*content = append(*content, raw...)
		contentSize += uint64(len(raw))
	}

	end := at // of the blocks: the end marker is here
	at += 4
	if len(b)-at < len(index)+footerSize {
		return 0, ErrTruncated
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
	if got := binary.LittleEndian.Uint64(footer[16:]); got != uint64(len(index)/8) {
		return 0, corrupt("footer has %d blocks, not %d", got, len(index)/8)
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

func decodeBlock(payload []byte, bh blockHeader) ([]byte, error) {
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
		return decodeCoded(payload, int(bh.rawSize))
	}
}
