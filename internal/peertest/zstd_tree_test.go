package peertest_test

import (
	"encoding/binary"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// A zstPart is a part of a .zst file: a frame, a skippable frame, or bytes that are neither.
type zstPart struct {
	kind byte // framePart …

	// Of a frame. The content size and the checksum are those that the peer finds.
	sizeCode byte // how the header states the content size
	single   bool
	window   byte
	checksum bool
	dictCode byte // how the header states the dictionary
	dict     uint32
	reserved byte  // set in the descriptor
	sizeLie  int64 // added to the content size
	sumLie   uint32
	blocks   []zstBlock

	// Of others.
	number byte // of the magic number of a skippable frame
	body   []byte
	tail   []byte // behind the entries of a seek table
	sums   bool   // its entries have checksums
	index  func(entries []byte) []byte
	lie    uint32 // added to the size of a skippable frame
}

const (
	framePart byte = iota
	skippablePart
	tablePart // a seek table of the frames in front of it
	strayPart
)

// A zstBlock is a block.
type zstBlock struct {
	kind    int
	size    int    // content of an RLE block
	body    []byte // unless lits and seqs have it
	parsed  bool
	lits    zstLits
	seqs    zstSeqs
	sizeLie int
	lastLie bool
}

// zstLits is a literals section.
type zstLits struct {
	kind, format int
	count        int
	plain        []byte // raw literals, or the byte of RLE
	tree         []byte
	streams      [][]byte
	jumpLie      [3]int
	sizeLie      int
}

// zstSeqs is a sequences section. The tables are in the order of a block.
type zstSeqs struct {
	count    int
	wide     int // form of the count: 0 for the shortest, else its bytes
	modes    [3]byte
	reserved byte
	tables   [3][]byte
	bits     []byte
}

// Kinds of literals, modes of tables and their largest accuracy logs (RFC 8878, section 3.1.1.3).
const (
	rawLits = iota
	rleLits
	codedLits
	treelessLits
)

const (
	predefinedTable = iota
	rleTable
	codedTable
	repeatTable
)

var tableLogs, tableCodes = [3]int{9, 8, 9}, [3]int{36, 32, 53}

// parseZst takes a file apart. What is no frame is a stray part.
func parseZst(file []byte) (list []zstPart) {
	for len(file) > 0 {
		p, n := parseZstFrame(file)
		if n == 0 {
			p, n = parseSkippable(file)
		}
		if n == 0 {
			return append(list, zstPart{kind: strayPart, body: file})
		}
		list, file = append(list, p), file[n:]
	}
	return list
}

func parseSkippable(file []byte) (p zstPart, n int) {
	number, size, err := zstfile.ParseSkippable(file)
	if err != nil || size > int64(len(file)-zstfile.SkippableHeaderSize) {
		return p, 0
	}
	n = zstfile.SkippableHeaderSize + int(size)
	p = zstPart{kind: skippablePart, number: byte(number), body: file[zstfile.SkippableHeaderSize:n]}
	if at := len(p.body) - zstfile.SeekFooterSize; number == zstfile.SeekTableKind && at >= 0 {
		if f, err := zstfile.ParseSeekFooter(p.body[at:], 1<<40); err == nil {
			p.kind, p.sums, p.tail = tablePart, f.Sums, p.body[at+4:]
		}
	}
	return p, n
}

// parseZstFrame parses the frame at the front, n is 0 if there is none.
func parseZstFrame(file []byte) (p zstPart, n int) {
	h, n, err := zstframe.ParseHeader(file)
	if err != nil {
		return p, 0
	}
	d := file[4]
	p = zstPart{
		sizeCode: d >> 6, single: h.SingleSegment, checksum: h.Checksum, dictCode: d & 3, dict: h.Dictionary,
	}
	if !p.single {
		p.window = file[5]
	}
	for last := false; !last; {
		b, err := zstframe.ParseBlock(file[n:])
		if n += zstframe.BlockHeaderSize; err != nil || n+b.Size > len(file) {
			return p, 0
		}
		p.blocks = append(p.blocks, parseZstBlock(b, file[n:n+b.Size]))
		n += b.Size
		last = b.Last
	}
	if p.checksum {
		n += zstframe.ChecksumSize
	}
	if n > len(file) {
		return p, 0
	}
	return p, n
}

func parseZstBlock(head zstframe.Block, body []byte) zstBlock {
	b := zstBlock{kind: head.Kind, size: head.Content, body: body}
	if head.Kind == zstframe.CompressedBlock {
		rest, ok := b.lits.parse(body)
		b.parsed = ok && b.seqs.parse(rest)
	}
	return b
}

// parse parses the section at the front of a block and returns what is behind it.
func (l *zstLits) parse(p []byte) (rest []byte, ok bool) {
	defer func() { ok = recover() == nil && ok }() // of a block that is cut short
	ok = true
	l.kind, l.format = int(p[0]&3), int(p[0]>>2&3)
	if l.kind <= rleLits {
		head := [4]int{1, 2, 1, 3}[l.format]
		l.count = int(littleEndian(p[:head])) >> [4]int{3, 4, 3, 4}[l.format]
		n := l.count
		if l.kind == rleLits {
			n = 1
		}
		l.plain = p[head : head+n]
		return p[head+n:], true
	}
	head := max(3, l.format+2)
	v, width := littleEndian(p[:head]), head*4-2
	l.count = int(v >> 4 & (1<<width - 1))
	size := int(v >> (4 + width))
	rest, p = p[head+size:], p[head:head+size]
	if l.kind == codedLits {
		n := 1 + int(p[0])
		if p[0] > 127 {
			n = 1 + (int(p[0])-127+1)/2
		}
		l.tree, p = p[:n], p[n:]
	}
	if l.format == 0 {
		l.streams = [][]byte{p}
		return rest, true
	}
	jump := p[:6]
	for p = p[6:]; len(jump) > 0; jump = jump[2:] {
		n := int(binary.LittleEndian.Uint16(jump))
		l.streams, p = append(l.streams, p[:n]), p[n:]
	}
	l.streams = append(l.streams, p)
	return rest, true
}

func littleEndian(p []byte) (v uint64) {
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// parse parses the section, which is the rest of a block.
func (s *zstSeqs) parse(p []byte) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	switch s.count = int(p[0]); {
	case s.count == 255:
		s.count, p = 0x7F00+int(p[1])+int(p[2])<<8, p[3:]
	case s.count >= 128:
		s.count, p = (s.count-128)<<8+int(p[1]), p[2:]
	default:
		p = p[1:]
	}
	if s.count == 0 {
		s.bits = p
		return true
	}
	modes := p[0]
	p = p[1:]
	for k := range s.modes {
		n := 0
		switch s.modes[k] = modes >> (6 - 2*k) & 3; s.modes[k] {
		case rleTable:
			n = 1
		case codedTable:
			var d fse.Distribution
			var err error
			n, err = d.Read(p, tableLogs[k], tableCodes[k])
			if err != nil {
				return false
			}
		}
		s.tables[k], p = p[:n], p[n:]
	}
	s.bits = p
	return true
}

// append appends the section.
func (l *zstLits) append(dst []byte) []byte {
	if l.kind <= rleLits {
		format := l.format
		switch {
		case l.count >= 1<<12:
			format = 3
		case l.count >= 1<<5 && format != 3:
			format = 1
		}
		v := uint64(l.kind | format<<2 | l.count<<[4]int{3, 4, 3, 4}[format])
		return append(appendNumber(dst, v, [4]int{1, 2, 1, 3}[format]), l.plain...)
	}
	code := append([]byte(nil), l.tree...)
	if l.format > 0 {
		for i, p := range l.streams[:min(3, len(l.streams))] {
			code = appendNumber(code, uint64(len(p)+l.jumpLie[i]), 2)
		}
	}
	for _, p := range l.streams {
		code = append(code, p...)
	}
	format, size := l.format, len(code)+l.sizeLie
	for n := max(size, l.count); format < 3 && n >= 1<<(max(3, format+2)*4-2); {
		format++
	}
	head := max(3, format+2)
	width := head*4 - 2
	mask := uint64(1)<<width - 1
	v := uint64(l.kind|format<<2) | (uint64(l.count)&mask)<<4 | (uint64(size)&mask)<<(4+width)
	return append(appendNumber(dst, v, head), code...)
}

// appendNumber appends the low n bytes of v.
func appendNumber(dst []byte, v uint64, n int) []byte {
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], v)
	return append(dst, p[:n]...)
}

// append appends the section.
func (s *zstSeqs) append(dst []byte) []byte {
	n := max(s.count, 0)
	switch {
	case s.wide == 3 && n >= 0x7F00 || n >= 0x7F00:
		dst = appendNumber(append(dst, 255), uint64(n-0x7F00), 2)
	case s.wide == 2 || n >= 128:
		dst = append(dst, byte(n>>8+128), byte(n))
	default:
		dst = append(dst, byte(n))
	}
	if n == 0 {
		return append(dst, s.bits...)
	}
	dst = append(dst, s.modes[0]<<6|s.modes[1]<<4|s.modes[2]<<2|s.reserved)
	for _, t := range s.tables {
		dst = append(dst, t...)
	}
	return append(dst, s.bits...)
}

// append appends the block.
func (b *zstBlock) append(dst []byte, last bool) []byte {
	body := b.body
	if b.parsed {
		body = b.seqs.append(b.lits.append(nil))
	}
	size := len(body)
	if b.kind == zstframe.RLEBlock {
		size = b.size
	}
	v := uint64(size+b.sizeLie)<<3 | uint64(b.kind)<<1
	if last != b.lastLie {
		v |= 1
	}
	return append(appendNumber(dst, v, 3), body...)
}

// appendBlocks appends the blocks of a frame.
func (p *zstPart) appendBlocks(dst []byte) []byte {
	for i := range p.blocks {
		dst = p.blocks[i].append(dst, i == len(p.blocks)-1)
	}
	return dst
}
