package refdec

import "encoding/binary"

var le = binary.LittleEndian

// A block is a block to put into a file.
type block struct {
	kind    uint32
	raw     uint32
	payload []byte
}

// blockCheck returns the content check of a block. An invalid block gets the check of its payload,
// so that a decoder reaches its error.
func blockCheck(kind, raw uint32, payload []byte) uint32 {
	var content []byte
	if kind == kindCoded && len(payload) > 0 && raw <= maxRaw {
		content, _ = decodeCoded(payload, int(raw))
	}
	return contentCheck(kind, payload, content)
}

// appendBlock appends a block with correct checks.
func appendBlock(file []byte, number uint64, b block, checks bool) []byte {
	at := len(file)
	file = le.AppendUint32(file, uint32(len(b.payload))<<4|b.kind)
	file = le.AppendUint32(file, b.raw)
	check := uint32(0)
	if checks {
		check = blockCheck(b.kind, b.raw, b.payload)
	}
	file = le.AppendUint32(file, check)
	file = le.AppendUint32(file, crc(le.AppendUint64(append([]byte(nil), file[at:]...), number)))
	return append(file, b.payload...)
}

// appendTail appends the end of the stream that begins at offset start of the file.
func appendTail(file []byte, start int, index []byte, contentSize uint64) []byte {
	at := len(file)
	file = append(file, 0, 0, 0, 0)
	file = append(file, index...)
	file = le.AppendUint64(file, contentSize)
	file = le.AppendUint64(file, uint64(len(file)-start+24))
	file = le.AppendUint64(file, uint64(len(index)/8))
	file = le.AppendUint32(file, crc(file[at:]))
	return append(file, footerMagic...)
}

// seal returns a file of blocks of at most 2^logSize bytes.
func seal(logSize byte, blocks ...block) []byte {
	file := []byte{'P', 'Z', version, 2, logSize, flagContentChecks}
	file = le.AppendUint32(file, crc(file))
	var index []byte
	size := uint64(0)
	for i, b := range blocks {
		at := len(file)
		file = appendBlock(file, uint64(i), b, true)
		index = append(index, file[at:at+8]...)
		size += uint64(b.raw)
	}
	return appendTail(file, 0, index, size)
}

// reseal corrects all checksums of a file that a decoder can reach. With rebuild it also makes
// index, footer and the header's content size fit the blocks, and drops everything behind the first
// stream. ok is false if a block is larger than maxRaw.
func reseal(file []byte, rebuild bool) (sealed []byte, ok bool) {
	file = append([]byte(nil), file...)
	for start := 0; start < len(file); {
		rest := file[start:]
		if len(rest) < 10 {
			break
		}
		at := 10
		if rest[5]&flagContentSize != 0 {
			at = 18
		}
		if len(rest) < at {
			break
		}
		le.PutUint32(rest[at-4:], crc(rest[:at-4]))
		checks := rest[5]&flagContentChecks != 0
		var index []byte
		size := uint64(0)
		number := uint64(0)
		for ; len(rest)-at >= blockHeaderSize && le.Uint32(rest[at:]) != 0; number++ {
			h := rest[at : at+blockHeaderSize]
			kind, n, raw := le.Uint32(h)&15, le.Uint32(h)>>4, le.Uint32(h[4:])
			if raw > maxRaw {
				return nil, false
			}
			if uint64(n) > uint64(len(rest)-at-blockHeaderSize) {
				le.PutUint32(h[12:], crc(le.AppendUint64(append([]byte(nil), h[:12]...), number)))
				at = len(rest)
				break
			}
			payload := rest[at+blockHeaderSize:][:n]
			if checks {
				le.PutUint32(h[8:], blockCheck(kind, raw, payload))
			}
			le.PutUint32(h[12:], crc(le.AppendUint64(append([]byte(nil), h[:12]...), number)))
			index = append(index, h[:8]...)
			size += uint64(raw)
			at += blockHeaderSize + int(n)
		}
		if rebuild {
			if hsize := 18; rest[5]&flagContentSize != 0 {
				le.PutUint64(rest[6:], size)
				le.PutUint32(rest[hsize-4:], crc(rest[:hsize-4]))
			}
			return appendTail(rest[:at:at], 0, index, size), true
		}
		end := at + 4 + len(index) + footerSize
		if len(rest) < end {
			break
		}
		le.PutUint32(rest[end-8:], crc(rest[at:end-8]))
		start += end
	}
	return file, true
}
