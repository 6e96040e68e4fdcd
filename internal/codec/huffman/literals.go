package huffman

import (
	"encoding/binary"
	"slices"

	"github.com/gopz/compress/internal/kernels"
)

// Table is a code of the 256 bytes in zstd's order. A Builder fills it; the zero value has no
// codes. It holds no pointers, so an assignment copies it. A Table may be used concurrently while
// it does not change.
type Table struct {
	codes [256]Code
	max   uint8  // maximum length of a code
	used  uint16 // one more than the highest byte with a code
}

// MaxTableBits is the maximum length of a code in zstd (RFC 8878, section 4.2.1).
const MaxTableBits = 11

// Table sets t to the optimal code for bytes with the given counts and at most limit bits. limit
// must not exceed MaxTableBits; see also Lengths. At least two counts must not be 0.
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

// setCodes sets t to the codes of a shape. used is one more than the highest byte with a code.
func (t *Table) setCodes(s *shape, used int) {
	t.max, t.used = uint8(s.longest), uint16(used)
	// Codes of a length begin where the prefixes of the longer ones end; see AssignZstd.
	var next [16]uint64
	first := uint64(0)
	for l := s.longest; l > 0; l-- {
		next[l] = first
		first = (first + uint64(s.num[l])) >> 1
	}
	clear(t.codes[used:])
	for i, l := range s.lens[:used] {
		c := MakeCode(next[l&15], uint(l))
		if l == 0 {
			c = 0
		}
		t.codes[i] = c
		next[l&15]++
	}
}

// Bits returns the size of bytes with the given counts, in bits. ok is false if one of them has no
// code.
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

// Lens returns the code lengths in bits.
func (t *Table) Lens() (lens [256]uint8) {
	for i, c := range t.codes {
		lens[i] = uint8(c.Len())
	}
	return lens
}

// MinStreams4 is the minimum number of bytes for four streams.
const MinStreams4 = 6

// jumpTable is the size of the jump table in bytes. It holds the sizes of the first three streams.
const jumpTable = 6

// Append4 appends src to dst as four streams with a jump table before them (RFC 8878, section
// 4.2.2). All bytes of src must have codes. src must have at least MinStreams4 bytes and at most
// 128 KiB, the size of a zstd block.
func (t *Table) Append4(dst, src []byte) []byte {
	if len(src) < MinStreams4 || len(src) > 128<<10 {
		panic("huffman: wrong size for four streams")
	}
	// Two streams at a time are encoded, into places of their own. Then they move together.
	part := (len(src) + 3) / 4
	room := t.room(part)
	at := len(dst)
	dst = slices.Grow(dst, jumpTable+4*room)
	out := dst[at : at+jumpTable+4*room]
	size := jumpTable
	for i := 0; i < 4; i += 2 {
		first := jumpTable + i*room
		a, b := src[i*part:][:part], src[(i+1)*part:]
		if i == 0 {
			b = b[:part]
		}
		w := kernels.HuffmanWriters{Out: [2]int{first, first + room}}
		rounds := len(b) / kernels.HuffmanWriteRound
		if kernels.EncodeHuffman2(&w, &t.codes, int(t.max), out, a, b, rounds) {
			done := rounds * kernels.HuffmanWriteRound
			a, b = a[:len(a)-done], b[:len(b)-done]
		}
		for k, rest := range [2][]byte{a, b} {
			from := first + k*room
			n := w.Out[k] - from
			n += t.encode(out[w.Out[k]:], rest, w.Acc[k], w.Have[k])
			if i+k > 0 {
				copy(out[size:], out[from:][:n])
			}
			if i+k < 3 {
				binary.LittleEndian.PutUint16(out[2*(i+k):], uint16(n))
			}
			size += n
		}
	}
	return dst[:at+size]
}

// room returns the number of bytes that encoding n bytes as one stream may overwrite.
func (t *Table) room(n int) int { return n*int(t.max)/8 + 9 }

// Append1 appends src to dst as one stream: the codes of its bytes from the last to the first, then
// a bit 1, at which a decoder begins. All bytes of src must have codes.
func (t *Table) Append1(dst, src []byte) []byte {
	room := t.room(len(src))
	dst = slices.Grow(dst, room)
	n := t.encode(dst[len(dst):len(dst)+room], src, 0, 0)
	return dst[:len(dst)+n]
}

// encode writes a stream behind the highest n < 8 bits of acc and returns its size. out must be 8
// bytes longer. It is the portable twin of kernels.EncodeHuffman2.
func (t *Table) encode(out, src []byte, acc, n uint64) int {
	for len(src)%4 != 0 {
		c := uint64(t.codes[src[len(src)-1]])
		acc = acc>>(c&63) | c
		n += c
		src = src[:len(src)-1]
	}
	// Four codes have at most 44 bits, and at most 7 bits are pending.
	n &= 0xff
	binary.LittleEndian.PutUint64(out, acc>>((64-n)&63))
	at := int(n >> 3)
	n &= 7
	for len(src) >= 4 {
		v := binary.LittleEndian.Uint32(src[len(src)-4:])
		src = src[:len(src)-4]
		// Merging the four codes first leaves one dependent step for four codes.
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
