package zstd

import (
	"encoding/binary"
	"math"

	"github.com/gopz/compress/huffman"
)

// Types of the literals section: RFC 8878, section 3.1.1.3.1.1.
const (
	rawLiterals = iota
	rleLiterals
	compressedLiterals
	treelessLiterals
)

// literalCoder remembers the Huffman code of the last block that brought one.
type literalCoder struct {
	builder huffman.Builder
	tables  [2]huffman.Table
	last    int    // of tables
	known   bool   // whether there is a last one
	fresh   bool   // whether the block just written brings the other one
	tree    []byte // description of the one made last
}

// commit takes note that the block just written is one that a decoder sees.
func (c *literalCoder) commit() {
	if c.fresh {
		c.last ^= 1
		c.known = true
	}
}

const (
	// minLiterals is the least number of literals for which a code can pay.
	minLiterals = 8
	// minStreams4 is the number of literals from which there are four streams: they cost up to nine bytes more than one and are
	// decoded about twice as fast.
	minStreams4 = 256
	// storedGain is what coding must save, as a shift of the number of literals, to be worth decoding: 1/64.
	storedGain = 6
)

// appendLiterals appends the literals section.
func (e *Encoder) appendLiterals(dst, lits []byte) []byte {
	c, counts := &e.literals, &e.block.lits
	c.fresh = false
	n := len(lits)
	if n > 1 && counts[lits[0]] == uint32(n) {
		return append(appendPlainHeader(dst, rleLiterals, n), lits[0])
	}
	if n >= minLiterals {
		if coded, ok := c.append(dst, lits, counts); ok {
			return coded
		}
	}
	return append(appendPlainHeader(dst, rawLiterals, n), lits...)
}

// append appends compressed literals, of which there are two kinds at least. It is not ok, and dst is unchanged, if they are hardly smaller than the
// literals are.
func (c *literalCoder) append(dst, lits []byte, counts *[256]uint32) (_ []byte, ok bool) {
	n := len(lits)
	table := &c.tables[c.last^1]
	tree, size, ok := c.builder.AppendBest(c.tree[:0], table, counts)
	if c.tree = tree; !ok {
		size = math.MaxUint64
	}
	kind := compressedLiterals
	if c.known {
		if bits, ok := c.tables[c.last].Bits(counts); ok && bits/8 <= size {
			kind, size = treelessLiterals, bits/8
			table = &c.tables[c.last]
		}
	}
	most := n - n>>storedGain
	if size >= uint64(most) { // also if nothing describes the code
		return dst, false
	}
	head := 5
	switch {
	case n < 1<<10:
		head = 3
	case n < 1<<14:
		head = 4
	}
	at := len(dst)
	dst = append(dst, "\x00\x00\x00\x00\x00"[:head]...)
	if kind == compressedLiterals {
		dst = append(dst, c.tree...)
	}
	format := uint64(head - 2) // 1, 2, 3 with four streams
	if n < minStreams4 {
		format = 0
		dst = table.Append1(dst, lits)
	} else {
		dst = table.Append4(dst, lits)
	}
	coded := len(dst) - at - head
	if coded >= most {
		return dst[:at], false
	}
	width := uint(head*8-4) / 2 // of each size: 10, 14, 18 bits
	v := uint64(kind) | format<<2 | uint64(n)<<4 | uint64(coded)<<(4+width)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(dst[at:at+head], b[:])
	c.fresh = kind == compressedLiterals
	return dst, true
}

// appendPlainHeader appends the header of n literals that are not compressed.
func appendPlainHeader(dst []byte, kind, n int) []byte {
	switch {
	case n < 1<<5:
		return append(dst, byte(kind|n<<3))
	case n < 1<<12:
		return append(dst, byte(kind|1<<2|n<<4), byte(n>>4))
	default:
		return append(dst, byte(kind|3<<2|n<<4), byte(n>>4), byte(n>>12))
	}
}
