package refdec

import (
	"encoding/binary"
	"fmt"
)

const (
	smallStream = 128 // in byte 4 of a header
	smallCheck  = 4
	smallDict   = 8
	maxSmallRaw = 65_000
	smallFooter = 'z'
)

// smallHeaderSize returns the size of the header of a small stream, whose byte 4 is given.
func smallHeaderSize(kindByte byte) int {
	n := 9
	if kindByte%4 == kindCoded {
		n += 2
	}
	if kindByte&smallDict != 0 {
		n += 4
	}
	if kindByte&smallCheck != 0 {
		n += 4
	}
	return n
}

// isSmall reports whether b begins with the header of a small stream.
func isSmall(b []byte) bool {
	return len(b) > 4 && string(b[:2]) == magic && b[2] == version && b[4] >= smallStream
}

// decodeSmall passes the content of the small stream at the front of b to emit and returns the size
// of the stream.
func decodeSmall(emit func([]byte) error, b []byte, dict Dictionary) (size int, err error) {
	n := smallHeaderSize(b[4])
	if len(b) < n {
		return 0, ErrTruncated
	}
	if crc16(b[:n-2]) != binary.LittleEndian.Uint16(b[n-2:]) {
		return 0, corrupt("header checksum")
	}
	if b[3] != 1 && b[3] != 2 {
		return 0, corrupt("pipeline %d", b[3])
	}
	if b[4] >= smallStream+16 || b[4]&smallDict != 0 && b[4]%4 != kindCoded {
		return 0, corrupt("kind byte %#x", b[4])
	}
	h := header{blockSize: maxSmallRaw, hasChecks: b[4]&smallCheck != 0}
	bh := blockHeader{kind: uint32(b[4] % 4), rawSize: uint32(binary.LittleEndian.Uint16(b[5:]))}
	if b[4]&smallDict != 0 {
		err := h.setDictionary(binary.LittleEndian.Uint32(b[9:]), dict)
		if err == nil {
			err = h.noDictionary
		}
		if err != nil {
			return 0, err
		}
	}
	if h.hasChecks {
		bh.contentCheck = binary.LittleEndian.Uint32(b[n-6:])
	}
	at := n
	chose(choiceSmall, int(b[4]&^smallStream))
	if bh.kind == 0 {
		if bh.rawSize != 0 || bh.contentCheck != 0 {
			return 0, corrupt("content in an empty stream")
		}
	} else {
		switch bh.kind {
		case kindStored:
			bh.payloadSize = bh.rawSize
		case kindFill:
			bh.payloadSize = 1
		case kindCoded:
			bh.payloadSize = uint32(binary.LittleEndian.Uint16(b[7:]))
		}
		if err := bh.validate(0, h); err != nil {
			return 0, err
		}
		if len(b)-at < int(bh.payloadSize) {
			return 0, ErrTruncated
		}
		payload := b[at : at+int(bh.payloadSize)]
		at += len(payload)
		raw, _, err := decodeOwn(payload, bh, h) // without a window there are no references
		if err != nil {
			return 0, fmt.Errorf("block 0: %w", err)
		}
		if h.hasChecks && contentCheck(bh.kind, payload, raw) != bh.contentCheck {
			return 0, corrupt("content check")
		}
		if err := emit(raw); err != nil {
			return 0, err
		}
	}
	if len(b)-at < 3 {
		return 0, ErrTruncated
	}
	if int(binary.LittleEndian.Uint16(b[at:])) != at+3 || b[at+2] != smallFooter {
		return 0, corrupt("footer of a small stream")
	}
	return at + 3, nil
}
