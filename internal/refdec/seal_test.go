package refdec

import (
	"encoding/binary"
	"slices"
)

var le = binary.LittleEndian

// flushes is added to the kind of a block whose header of 16 bytes stands for a flush.
const flushes = 8

// A block is a block to put into a file.
type block struct {
	kind    uint32
	raw     uint32
	payload []byte
	short   bool // with a short header; sizes must fit
}

// blockCheck returns the content check of a block. An invalid block gets the check of its payload,
// so that a decoder reaches its error. dict is in front of the block.
func blockCheck(kind, raw uint32, payload, dict []byte) uint32 {
	var content []byte
	if kind == kindCoded && len(payload) > 0 {
		b := blockHeader{kind: kind, payloadSize: uint32(len(payload)), rawSize: raw}
		h := header{blockSize: 1 << maxLogBlockSize, window: 1, sources: maxSources, dictionary: dict}
		content, _, _ = decodeOwn(payload, b, h)
	}
	return contentCheck(kind, payload, content)
}

// A sealer corrects the checks that references have in payloads.
type sealer struct {
	head header
	past history
}

// seal corrects the check of the next block's content, if it has references and can be decoded.
func (s *sealer) seal(kind, raw uint32, payload []byte) {
	if s.head.window == 0 {
		return
	}
	var own []byte
	if len(payload) > 0 {
		b := blockHeader{kind: kind, payloadSize: uint32(len(payload)), rawSize: raw}
		var refs *references
		own, refs, _ = decodeOwn(payload, b, s.head)
		if refs != nil && s.head.hasChecks {
			if content, err := s.past.splice(own, refs, s.head.window); err == nil {
				le.PutUint32(payload[1:], crc(content))
			}
		}
	}
	if kind == kindFill {
		own = nil
	}
	s.past = append(s.past, own)
}

// appendBlock appends a block with correct checks, and its entry to the index. dict is in front of
// the block.
func appendBlock(
	file, index []byte, number uint64, b block, checks bool, dict []byte,
) (_, _ []byte) {
	at := len(file)
	if b.short {
		v := b.raw<<3 | 4 | b.kind
		file = append(file, byte(v), byte(v>>8), byte(v>>16))
		if b.kind == kindCoded {
			file = le.AppendUint16(file, uint16(len(b.payload)))
		}
	} else {
		file = le.AppendUint32(file, uint32(len(b.payload))<<4|b.kind)
		file = le.AppendUint32(file, b.raw)
	}
	index = append(index, file[at:]...)
	check := uint32(0)
	if checks {
		check = blockCheck(b.kind&3, b.raw, b.payload, dict)
	}
	file = appendHeaderCheck(le.AppendUint32(file, check), at, number)
	return append(file, b.payload...), index
}

// appendHeaderCheck appends the check of the block header that begins at file[at].
func appendHeaderCheck(file []byte, at int, number uint64) []byte {
	if file[at]&4 != 0 {
		sealed := append(append([]byte(nil), file[at:]...), byte(number), byte(number>>8))
		return le.AppendUint16(file, crc16(sealed))
	}
	return le.AppendUint32(file, crc(le.AppendUint64(append([]byte(nil), file[at:]...), number)))
}

// appendTail appends the end of the stream that begins at offset start of the file. short says that
// a block has a short header.
func appendTail(file []byte, start int, index []byte, short bool, contentSize uint64) []byte {
	return appendLyingTail(file, start, index, short, contentSize, [numLies]uint64{}, 0)
}

// appendLyingTail is appendTail with lies that are added to fields, and a bit of the tail to flip.
func appendLyingTail(
	file []byte, start int, index []byte, short bool, contentSize uint64, lies [numLies]uint64, flip int,
) []byte {
	at := len(file)
	for len(index)%unitSize != 0 {
		index = append(index, 0)
	}
	marker := uint32(0)
	if short {
		marker = uint32(len(index)/unitSize)*8 + 4
	}
	file = le.AppendUint32(file, marker+uint32(lies[lieMarker]))
	file = append(file, index...)
	file = le.AppendUint64(file, contentSize+lies[lieFooterContent])
	file = le.AppendUint64(file, uint64(len(file)-start+24)+lies[lieSize])
	file = le.AppendUint64(file, uint64(len(index)/unitSize)+lies[lieUnits])
	flipBit(file[at:], flip)
	file = le.AppendUint32(file, crc(file[at:]))
	return append(file, footerMagic...)
}

// seal returns a file of blocks of at most 2^logSize bytes.
func seal(logSize byte, blocks ...block) []byte {
	return sealBehind([]byte{'P', 'Z', version, 2, logSize, flagContentChecks}, blocks...)
}

// sealBare is seal without content checks. A decoder that takes an invalid payload for a valid one
// sees no wrong check then.
func sealBare(logSize byte, blocks ...block) []byte {
	return sealBehind([]byte{'P', 'Z', version, 2, logSize, 0}, blocks...)
}

// sealBehind returns a file of blocks behind a header, of which the check is missing.
func sealBehind(head []byte, blocks ...block) []byte {
	file := le.AppendUint32(slices.Clone(head), crc(head))
	var s sealer
	s.head, _ = parseHeader(file, jsonDictionary().ours)
	var index []byte
	short := false
	size := uint64(0)
	for i, b := range blocks {
		b.payload = slices.Clone(b.payload)
		s.seal(b.kind&3, b.raw, b.payload)
		file, index = appendBlock(file, index, uint64(i), b, s.head.hasChecks, s.head.dictionary)
		short = short || b.short
		size += uint64(b.raw)
	}
	return appendTail(file, 0, index, short, size)
}

// reseal corrects all checksums of a file that a decoder can reach. With rebuild it also makes
// index, footer and the header's content size fit the blocks, and drops everything behind the first
// stream. ok is false if a block is larger than maxRaw.
func reseal(file []byte, rebuild bool) (sealed []byte, ok bool) {
	file = append([]byte(nil), file...)
	for start := 0; start < len(file); {
		rest := file[start:]
		if isSmall(rest) {
			size := resealSmall(rest)
			if rebuild && size >= 0 {
				return appendSmallFooter(rest[:size:size]), true
			} else if size < 0 || len(rest) < size+3 {
				break
			}
			start += size + 3
			continue
		}
		if len(rest) < 10 {
			break
		}
		at := headerSize(rest[5])
		if len(rest) < at {
			break
		}
		le.PutUint32(rest[at-4:], crc(rest[:at-4]))
		checks := rest[5]&flagContentChecks != 0
		var s sealer
		s.head, _ = parseHeader(rest, jsonDictionary().ours)
		var index []byte
		short := false
		size := uint64(0)
		number := uint64(0)
		for ; len(rest)-at >= blockHeaderSize && le.Uint32(rest[at:]) != 0 && rest[at]&7 != 4; number++ {
			b, _ := parseBlockHeader(rest[at:], number, header{blockSize: 1 << maxLogBlockSize})
			if b.rawSize > maxRaw {
				return nil, false
			}
			cut := uint64(b.payloadSize) > uint64(len(rest)-at-b.size)
			if !cut && checks {
				payload := rest[at+b.size:][:b.payloadSize]
				s.seal(b.kind, b.rawSize, payload)
				le.PutUint32(rest[at+b.entrySize:], blockCheck(b.kind, b.rawSize, payload, s.head.dictionary))
			}
			head := rest[at : at+b.entrySize+4 : at+b.entrySize+4]
			copy(rest[at:], appendHeaderCheck(head, 0, number))
			if cut {
				at = len(rest)
				break
			}
			index = append(index, rest[at:at+b.entrySize]...)
			short = short || b.entrySize < unitSize
			size += uint64(b.rawSize)
			at += b.size + int(b.payloadSize)
		}
		if rebuild {
			hsize := headerSize(rest[5])
			if rest[5]&flagContentSize != 0 {
				le.PutUint64(rest[6:], size)
				le.PutUint32(rest[hsize-4:], crc(rest[:hsize-4]))
			}
			return appendTail(rest[:at:at], 0, index, short, size), true
		}
		end := at + 4 + (len(index)+unitSize-1)/unitSize*unitSize + footerSize
		if len(rest) < end {
			break
		}
		le.PutUint32(rest[end-8:], crc(rest[at:end-8]))
		start += end
	}
	return file, true
}

// resealSmall corrects the checks of the small stream at the front of b. It returns the size of the
// stream without its footer, −1 if b is too short for that.
func resealSmall(b []byte) int {
	n := smallHeaderSize(b[4])
	if len(b) < n {
		return -1
	}
	kind, raw := uint32(b[4]%4), uint32(le.Uint16(b[5:]))
	size := map[uint32]int{kindStored: int(raw), kindFill: 1, kindCoded: int(le.Uint16(b[7:]))}[kind]
	payload := b[n:min(n+size, len(b))]
	var dict []byte
	if b[4]&smallDict != 0 {
		dict = jsonDictionary().ours.Content
	}
	if b[4]&smallCheck != 0 {
		check := uint32(0)
		if kind != 0 {
			check = blockCheck(kind, raw, payload, dict)
		}
		le.PutUint32(b[n-6:], check)
	}
	le.PutUint16(b[n-2:], crc16(b[:n-2]))
	if len(payload) < size {
		return -1
	}
	return n + size
}

// appendSmallFooter appends the footer of a small stream.
func appendSmallFooter(b []byte) []byte {
	return append(le.AppendUint16(b, uint16(len(b)+3)), smallFooter)
}
