package refdec

import (
	"slices"
)

// A tree is a .pz file taken apart. Its bytes are made by appendTo, which computes all checks. So a
// changed tree gives a file that decoders read up to what is wrong with it.
type tree []piece

type pieceKind int

const (
	streamPiece  pieceKind = iota // a stream with an index
	smallPiece                    // a small stream
	sectionPiece                  // a section
	strayPiece                    // bytes that are none of these
)

// The fields that appendTo computes and a lie changes.
const (
	lieContent       = iota // content size in the header
	lieMarker               // end marker
	lieFooterContent        // content size in the footer
	lieSize                 // size of the stream or section, in the footer
	lieUnits                // size of the index
	lieSection              // size of a section, in its header
	numLies
)

// A piece is a part of a file: a stream, a section or other bytes.
type piece struct {
	kind pieceKind

	version, pipeline, log byte
	flags                  byte // of the header; a small stream has those of checks and dictionary
	window, sources        byte
	dictionary             uint32
	chunks                 []chunk // the blocks of the stream; a small stream has only the first

	sectionKind byte
	body        []byte // of a section, or the stray bytes

	lies     [numLies]uint64 // to add to computed fields
	headFlip int             // number of a bit of the header to flip, from 1; 0 for none
	tailFlip int             // the same for the footer
	index    func(index []byte) []byte
}

// A chunk is a block taken apart.
type chunk struct {
	kind, raw    uint32
	payload      []byte
	short, flush bool

	check uint32 // of the content, if it is known
	known bool   // check was right in the file that was taken apart

	sizeLie   uint32 // to add to the payload size in the header
	numberLie uint64 // to add to the block's number in the header check
	flip      int    // number of a bit of the header to flip, from 1; 0 for none
}

// clone returns a copy of the tree. Payloads are shared and must not change in place.
func (t tree) clone() tree {
	t = slices.Clone(t)
	for i := range t {
		t[i].chunks = slices.Clone(t[i].chunks)
	}
	return t
}

// parseTree takes a file apart. What is not valid enough for that becomes stray bytes.
func parseTree(file []byte) tree {
	var t tree
	for len(file) > 0 {
		var p piece
		n := 0
		switch {
		case isSection(file):
			p, n = parseSection(file)
		case isSmall(file):
			p, n = parseSmallPiece(file)
		default:
			p, n = parseStream(file)
		}
		if n == 0 || n > len(file) {
			p, n = piece{kind: strayPiece, body: file}, len(file)
		}
		t = append(t, p)
		file = file[n:]
	}
	return t
}

// parseSection returns the section at the front of b, and its size, 0 if there is none.
func parseSection(b []byte) (p piece, size int) {
	if len(b) < sectionHeader+sectionFooter {
		return p, 0
	}
	n := le.Uint64(b[5:])
	if n < sectionHeader+sectionFooter || n > uint64(len(b)) {
		return p, 0
	}
	body := b[sectionHeader : n-sectionFooter]
	return piece{kind: sectionPiece, version: b[2], sectionKind: b[4], body: body}, int(n)
}

const sectionHeader, sectionFooter = 17, 16

// parseSmallPiece returns the small stream at the front of b, and its size, 0 if it is cut off.
func parseSmallPiece(b []byte) (p piece, size int) {
	n := smallHeaderSize(b[4])
	if len(b) < n+3 {
		return p, 0
	}
	p = piece{kind: smallPiece, version: b[2], pipeline: b[3], log: 16}
	c := chunk{kind: uint32(b[4] % 4), raw: uint32(le.Uint16(b[5:])), known: true}
	if b[4]&smallCheck != 0 {
		p.flags |= flagContentChecks
		c.check = le.Uint32(b[n-6:])
	}
	if b[4]&smallDict != 0 {
		p.flags |= flagDictionary
		p.dictionary = le.Uint32(b[9:])
	}
	payload := 0
	switch c.kind {
	case 0:
		return p, n + 3
	case kindStored:
		payload = int(c.raw)
	case kindFill:
		payload = 1
	case kindCoded:
		payload = int(le.Uint16(b[7:]))
	}
	if len(b) < n+payload+3 {
		return p, 0
	}
	c.payload = b[n:][:payload]
	p.chunks = []chunk{c}
	return p, n + payload + 3
}

// parseStream returns the stream at the front of b, and its size, 0 if it is cut off.
func parseStream(b []byte) (p piece, size int) {
	if len(b) < 10 || string(b[:2]) != magic || len(b) < headerSize(b[5]) {
		return p, 0
	}
	p = piece{kind: streamPiece, version: b[2], pipeline: b[3], log: b[4], flags: b[5]}
	at := headerSize(p.flags)
	if p.flags&flagDictionary != 0 {
		p.dictionary = le.Uint32(b[at-8:])
	} else if p.flags&flagWindow != 0 {
		p.window, p.sources = b[at-6], b[at-5]
	}
	index := 0
	for len(b)-at >= 4 && le.Uint32(b[at:]) != 0 && b[at]&7 != 4 {
		h := header{blockSize: 1 << maxLogBlockSize, hasChecks: true}
		bh, _ := parseBlockHeader(b[at:], uint64(len(p.chunks)), h)
		if len(b)-at < bh.size || uint64(len(b)-at-bh.size) < uint64(bh.payloadSize) {
			return p, 0
		}
		p.chunks = append(p.chunks, chunk{
			kind: bh.kind % 4, raw: bh.rawSize, payload: b[at+bh.size:][:bh.payloadSize],
			short: bh.entrySize < unitSize, flush: b[at]&8 != 0 && bh.entrySize == unitSize,
			check: le.Uint32(b[at+bh.entrySize:]), known: true,
		})
		index += bh.entrySize
		at += bh.size + int(bh.payloadSize)
	}
	end := at + 4 + (index+unitSize-1)/unitSize*unitSize + footerSize
	if end > len(b) {
		return p, 0
	}
	return p, end
}

// changed says that the checks of all blocks must be computed anew.
func (p *piece) changed() {
	for i := range p.chunks {
		p.chunks[i].known = false
	}
}

// bytes returns the file that the tree stands for. large reports that some content is too long for
// the reference decoder; then checks are wrong.
func (t tree) bytes() (file []byte, large bool) {
	total := uint64(0)
	for i := range t {
		for _, c := range t[i].chunks {
			large = large || c.raw > maxRaw
			total += uint64(c.raw)
		}
	}
	for i := range t {
		file = t[i].appendTo(file)
	}
	return file, large || total > 4*maxRaw
}

func (p *piece) appendTo(file []byte) []byte {
	switch p.kind {
	case smallPiece:
		return p.appendSmall(file)
	case sectionPiece:
		return p.appendSection(file)
	case strayPiece:
		return append(file, p.body...)
	}
	start, content := len(file), uint64(0)
	for _, c := range p.chunks {
		content += uint64(c.raw)
	}
	file = append(file, 'P', 'Z', p.version, p.pipeline, p.log, p.flags)
	if p.flags&flagContentSize != 0 {
		file = le.AppendUint64(file, content+p.lies[lieContent])
	}
	if p.flags&flagWindow != 0 {
		file = append(file, p.window, p.sources)
	}
	if p.flags&flagDictionary != 0 {
		file = le.AppendUint32(file, p.dictionary)
	}
	flipBit(file[start:], p.headFlip)
	file = le.AppendUint32(file, crc(file[start:]))
	p.seal()
	var index []byte
	short := false
	for i := range p.chunks {
		file, index = p.chunks[i].appendTo(file, index, uint64(i))
		short = short || p.chunks[i].short
	}
	if p.index != nil {
		index = p.index(index)
	}
	return appendLyingTail(file, start, index, short, content, p.lies, p.tailFlip)
}

// flipBit flips a bit of p. Bits are numbered from 1. Other numbers flip none.
func flipBit(p []byte, number int) {
	if i := number - 1; i >= 0 && i/8 < len(p) {
		p[i/8] ^= 1 << (i % 8)
	}
}

// seal computes the checks of the blocks, those that references have in payloads included.
func (p *piece) seal() {
	var dict []byte
	if d := jsonDictionary().ours; p.flags&flagDictionary != 0 && p.dictionary == d.Number {
		dict = d.Content
	}
	h := header{blockSize: 1 << maxLogBlockSize, dictionary: dict}
	if p.flags&flagWindow != 0 {
		h.window, h.sources = 1<<p.window, p.sources
	}
	var past history
	for i := range p.chunks {
		c := &p.chunks[i]
		if c.known && h.window == 0 {
			continue
		}
		var own []byte
		if len(c.payload) > 0 && c.raw <= maxRaw {
			var refs *references
			b := blockHeader{kind: c.kind, payloadSize: uint32(len(c.payload)), rawSize: c.raw}
			own, refs, _ = decodeOwn(c.payload, b, h)
			if refs != nil {
				if content, err := past.splice(own, refs, h.window); err == nil {
					c.payload = slices.Clone(c.payload)
					le.PutUint32(c.payload[1:], crc(content))
				}
			}
		}
		c.check = 0
		if p.flags&flagContentChecks != 0 {
			c.check = contentCheck(c.kind, c.payload, own)
		}
		if c.kind == kindFill {
			own = nil
		}
		past = append(past, own)
	}
}

// appendTo appends the block to the file and its entry to the index.
func (c *chunk) appendTo(file, index []byte, number uint64) (_, _ []byte) {
	at := len(file)
	size := uint32(len(c.payload)) + c.sizeLie
	if c.short {
		v := c.raw<<3 | 4 | c.kind
		file = append(file, byte(v), byte(v>>8), byte(v>>16))
		if c.kind == kindCoded {
			file = le.AppendUint16(file, uint16(size))
		}
	} else {
		flush := uint32(0)
		if c.flush {
			flush = 8
		}
		file = le.AppendUint32(le.AppendUint32(file, size<<4|flush|c.kind), c.raw)
	}
	flipBit(file[at:], c.flip)
	index = append(index, file[at:]...)
	file = appendHeaderCheck(le.AppendUint32(file, c.check), at, number+c.numberLie)
	return append(file, c.payload...), index
}

// appendSmall appends a small stream.
func (p *piece) appendSmall(file []byte) []byte {
	start := len(file)
	p.seal()
	var c chunk
	if len(p.chunks) > 0 {
		c = p.chunks[0]
	}
	how := smallStream | byte(c.kind)
	if p.flags&flagContentChecks != 0 {
		how |= smallCheck
	}
	if p.flags&flagDictionary != 0 {
		how |= smallDict
	}
	file = append(file, 'P', 'Z', p.version, p.pipeline, how)
	file = le.AppendUint16(file, uint16(c.raw))
	if c.kind == kindCoded {
		file = le.AppendUint16(file, uint16(uint32(len(c.payload))+c.sizeLie))
	}
	if p.flags&flagDictionary != 0 {
		file = le.AppendUint32(file, p.dictionary)
	}
	if p.flags&flagContentChecks != 0 {
		file = le.AppendUint32(file, c.check)
	}
	flipBit(file[start:], p.headFlip)
	file = le.AppendUint16(file, crc16(file[start:]))
	file = append(file, c.payload...)
	file = le.AppendUint16(file, uint16(len(file)-start+3)+uint16(p.lies[lieSize]))
	return append(file, smallFooter^byte(p.tailFlip))
}

// appendSection appends a section.
func (p *piece) appendSection(file []byte) []byte {
	start := len(file)
	size := uint64(sectionHeader + len(p.body) + sectionFooter)
	file = append(file, 'P', 'Z', p.version, 0, p.sectionKind)
	file = le.AppendUint64(file, size+p.lies[lieSection])
	flipBit(file[start:], p.headFlip)
	file = append(le.AppendUint32(file, crc(file[start:])), p.body...)
	at := len(file)
	file = le.AppendUint64(file, size+p.lies[lieSize])
	flipBit(file[at:], p.tailFlip)
	return append(le.AppendUint32(file, crc(file[at:])), "PZSE"...)
}
