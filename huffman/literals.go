package huffman

import (
	"encoding/binary"
	"slices"
)

// Table is a code of the 256 bytes with codes as zstd has them. A Builder fills it; the zero value has no codes. It holds no pointers, so that an
// assignment keeps a table for later, as literals without a tree of their own need it. It may be used concurrently while it does not change.
type Table struct {
	codes [256]Code
	max   uint8  // length of the longest code
	used  uint16 // one more than the highest byte that has a code
}

// MaxTableBits is the greatest length of a code in zstd, in bits.
const MaxTableBits = 11

// Table makes the best code for bytes that occur as often as counts says, without codes of more than limit bits. limit is at most
// MaxTableBits, or what is said at Lengths; two bytes or more occur.
func (b *Builder) Table(t *Table, counts *[256]uint32, limit int) {
	var lens [256]uint8
	t.max = uint8(b.Lengths(lens[:], counts[:], limit))
	t.used = 0
	for i, l := range lens {
		if l != 0 {
			t.used = uint16(i) + 1
		}
	}
	AssignZstd(t.codes[:], lens[:])
}

// Bits returns the number of bits that bytes which occur as often as counts says take. If one of them has no code, ok is false.
func (t *Table) Bits(counts *[256]uint32) (n uint64, ok bool) {
	ok = true
	for i, c := range counts {
		l := t.codes[i].Len()
		n += uint64(c) * uint64(l)
		if l == 0 && c != 0 {
			ok = false
		}
	}
	return n, ok
}

// Lens returns the lengths of the codes, in bits.
func (t *Table) Lens() (lens [256]uint8) {
	for i, c := range t.codes {
		lens[i] = uint8(c.Len())
	}
	return lens
}

// MinStreams4 is the least number of bytes that four streams are made of.
const MinStreams4 = 6

// jumpTable is the size of the table in front of four streams, in bytes: the sizes of the first three.
const jumpTable = 6

// Append4 appends src to dst as four streams with a jump table in front of them: RFC 8878, section 4.2.2. All of src must have
// codes. There are at least MinStreams4 bytes of it, and at most 128 KiB, which is the size of zstd's blocks.
func (t *Table) Append4(dst, src []byte) []byte {
	if len(src) < MinStreams4 || len(src) > 128<<10 {
		panic("huffman: wrong size for four streams")
	}
	at := len(dst)
	dst = append(dst, make([]byte, jumpTable)...)
	part := (len(src) + 3) / 4
	for i := range 3 {
		from := len(dst)
		dst = t.Append1(dst, src[i*part:(i+1)*part])
		binary.LittleEndian.PutUint16(dst[at+2*i:], uint16(len(dst)-from))
	}
	return t.Append1(dst, src[3*part:])
}

// Append1 appends src to dst as one stream: the codes of its bytes from the last to the first, then a bit that is 1, in front of which a decoder
// begins. All of src must have codes.
func (t *Table) Append1(dst, src []byte) []byte {
	bound := len(src)*int(t.max)/8 + 1
	dst = slices.Grow(dst, bound+8) // whole words are stored
	out := dst[len(dst) : len(dst)+bound+8]
	n := t.encode(out, src)
	return dst[:len(dst)+n]
}

// encode writes a stream to out, which is 8 bytes longer than needed, and returns its size.
func (t *Table) encode(out, src []byte) int {
	var acc, n uint64
	for len(src)%4 != 0 {
		c := uint64(t.codes[src[len(src)-1]])
		acc = acc>>(c&63) | c
		n += c
		src = src[:len(src)-1]
	}
	// Four codes at a time have 44 bits at most, and 7 are pending.
	n &= 0xff
	binary.LittleEndian.PutUint64(out, acc>>((64-n)&63))
	at := int(n >> 3)
	n &= 7
	for len(src) >= 4 {
		v := binary.LittleEndian.Uint32(src[len(src)-4:])
		src = src[:len(src)-4]
		// The four are put together first, so that no more than one step waits for the four before.
		c0, c1 := uint64(t.codes[byte(v>>24)]), uint64(t.codes[byte(v>>16)])
		c2, c3 := uint64(t.codes[byte(v>>8)]), uint64(t.codes[byte(v)])
		last := c2 + c3
		all := c0 + c1 + last
		c := (c0>>(c1&63)|c1)>>(last&63) | c2>>(c3&63) | c3
		acc = acc>>(all&63) | c
		n = (n + all) & 0xff
		binary.LittleEndian.PutUint64(out[at:at+8:at+8], acc>>((64-n)&63))
		at += int(n >> 3)
		n &= 7
	}
	acc = acc>>1 | 1<<63
	n++
	binary.LittleEndian.PutUint64(out[at:], acc>>(64-n))
	return at + int(n+7)>>3
}
