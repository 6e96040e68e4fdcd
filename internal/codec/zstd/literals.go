package zstd

import (
	"encoding/binary"
	"math"

	"github.com/gopz/compress/internal/codec/huffman"
)

// Types of literals sections (RFC 8878, section 3.1.1.3.1.1).
const (
	rawLiterals = iota
	rleLiterals
	compressedLiterals
	treelessLiterals
)

// literalCoder encodes literals and keeps the Huffman code of the last block that had one.
type literalCoder struct {
	builder huffman.Builder
	tables  [2]huffman.Table
	last    int    // index in tables of the last code
	known   bool   // whether there is a last code
	changed bool   // whether the pending block defines the other table
	tree    []byte // description of the new code
	// thorough codes are smaller; see huffman.Builder.AppendBest.
	thorough bool
}

// commit records that the pending block is written as a compressed one, so that a decoder knows its
// code.
func (c *literalCoder) commit() {
	if c.changed {
		c.last ^= 1
		c.known = true
	}
}

const (
	// minLiterals is the minimum number of literals for Huffman coding.
	minLiterals = 8
	// minStreams4 is the number of literals from which there are four streams. One stream has at
	// most 1,023. Four cost up to nine bytes more, 2% of a document of 1 KB, and decode twice as
	// fast.
	minStreams4 = 1 << 10
	// gainShift sets the minimum gain of coding over storing: 1/64 of the size. A smaller gain does
	// not justify the time of decoding.
	gainShift = 6
)

// appendLiterals appends the literals section to dst.
func (e *Encoder) appendLiterals(dst, lits []byte) []byte {
	c, counts := &e.literals, &e.block.lits
	c.changed = false
	n := len(lits)
	if n > 1 && counts[lits[0]] == uint32(n) {
		return append(appendPlainHeader(dst, rleLiterals, n), lits[0])
	}
	if n >= minLiterals {
		if coded, ok := c.appendLiterals(dst, lits, counts); ok {
			return coded
		}
	}
	return append(appendPlainHeader(dst, rawLiterals, n), lits...)
}

// appendShortLiterals is appendLiterals for a short block.
func (e *Encoder) appendShortLiterals(dst, lits []byte) []byte {
	c, counts := &e.literals, &e.block.lits
	c.changed = false
	if n := len(lits); n > 2 && counts[lits[0]] == uint32(n) {
		return append(appendPlainHeader(dst, rleLiterals, n), lits[0])
	}
	if coded, ok := c.appendShort(dst, lits, counts, e.learned); ok {
		return coded
	}
	return append(appendPlainHeader(dst, rawLiterals, len(lits)), lits...)
}

// appendLiterals appends compressed literals to dst. There must be at least two different ones. It
// returns dst unchanged and false if they are hardly smaller.
func (c *literalCoder) appendLiterals(dst, lits []byte, counts *[256]uint32) (_ []byte, ok bool) {
	n := len(lits)
	table := &c.tables[c.last^1]
	tree, size, ok := c.builder.AppendBest(c.tree[:0], table, counts, c.thorough)
	c.tree = tree
	if !ok {
		size = math.MaxUint64
	}
	kind := compressedLiterals
	if c.known {
		if bits, ok := c.tables[c.last].Bits(counts); ok && bits/8 <= size {
			kind, size = treelessLiterals, bits/8
			table = &c.tables[c.last]
		}
	}
	maxSize := n - n>>gainShift
	if size >= uint64(maxSize) { // also if the code has no description
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
	if coded >= maxSize {
		return dst[:at], false
	}
	width := uint(head*8-4) / 2 // bits of each size: 10, 14 or 18
	v := uint64(kind) | format<<2 | uint64(n)<<4 | uint64(coded)<<(4+width)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(dst[at:at+head], b[:])
	c.changed = kind == compressedLiterals
	return dst, true
}

// appendPlainHeader appends the header of n raw or RLE literals.
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
