package refzst

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// This file puts frames together by hand.

var le = binary.LittleEndian

// le24 returns a little-endian number of three bytes.
func le24(x int) []byte { return []byte{byte(x), byte(x >> 8), byte(x >> 16)} }

// frameOf returns a frame with a window of 1 KiB, or of 128 KiB, without a checksum.
func frameOf(blocks ...[]byte) []byte { return headed([]byte{0, 0}, blocks...) }

// wideFrame has a window of 128 KiB.
func wideFrame(blocks ...[]byte) []byte { return headed([]byte{0, 7 << 3}, blocks...) }

// headed returns a frame with a header behind the magic number. The last block is marked as such.
func headed(header []byte, blocks ...[]byte) []byte {
	f := append(le.AppendUint32(nil, frameMagic), header...)
	for i, b := range blocks {
		b = slices.Clone(b)
		if i == len(blocks)-1 && len(b) > 0 {
			b[0] |= 1
		}
		f = append(f, b...)
	}
	return f
}

func rawBlock(content string) []byte { return append(le24(len(content)<<3), content...) }

func rleBlock(n int, b byte) []byte { return append(le24(n<<3|blockRLE<<1), b) }

// coded returns a compressed block of the parts of its payload.
func coded(parts ...[]byte) []byte {
	p := slices.Concat(parts...)
	return append(le24(len(p)<<3|blockCompressed<<1), p...)
}

// rawLiterals returns a literals section with a header of 1 to 3 bytes.
func rawLiterals(size int, content string) []byte {
	n := len(content)
	switch size {
	case 1:
		return append([]byte{byte(n << 3)}, content...)
	case 2:
		return append([]byte{byte(n<<4 | 1<<2), byte(n >> 4)}, content...)
	}
	return append(le24(n<<4|3<<2), content...)
}

// rleLiterals is rawLiterals for n bytes b.
func rleLiterals(size, n int, b byte) []byte {
	p := rawLiterals(size, string(make([]byte, n)))
	p[0] |= literalsRLE
	return append(p[:size:size], b)
}

// none is an empty section of sequences.
var none = []byte{0}

// A field is a number of some bits.
type field struct{ value, bits int }

// backwardBits returns a stream whose reader gets the fields in order.
func backwardBits(fields ...field) []byte {
	var bits []int
	for _, f := range fields {
		for i := f.bits - 1; i >= 0; i-- {
			bits = append(bits, f.value>>i&1)
		}
	}
	p := make([]byte, len(bits)/8+1)
	p[len(bits)/8] = 1 << (len(bits) % 8)
	for i, b := range bits {
		at := len(bits) - 1 - i
		p[at/8] |= byte(b << (at % 8))
	}
	return p
}

// forwardBits returns a stream of fields whose reader begins at the front.
func forwardBits(fields ...field) []byte {
	var p []byte
	at := 0
	for _, f := range fields {
		for i := range f.bits {
			if at%8 == 0 {
				p = append(p, 0)
			}
			p[at/8] |= byte(f.value >> i & 1 << (at % 8))
			at++
		}
	}
	return p
}

// modes of the tables for literal lengths, offsets and match lengths.
func modes(l, o, m int) byte { return byte(l<<6 | o<<4 | m<<2) }

// same returns a section of n sequences of the same codes, and the fields of their extra bits.
func same(n int, literal, offset, match byte, extra ...field) []byte {
	tables := []byte{byte(n), modes(1, 1, 1), literal, offset, match}
	return append(tables, backwardBits(extra...)...)
}

// withSum returns a frame of 1 KiB of window and one block, which has a checksum of content.
func withSum(content string) []byte {
	f := headed([]byte{4, 0}, rawBlock(content))
	return le.AppendUint32(f, uint32(xxhash.Sum64String(content)))
}
