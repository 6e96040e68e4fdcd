package zstd

import (
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// literals reads the literals section at the front of a block (RFC 8878, section 3.1.1.3.1). It
// sets d.lits to the literals with slack behind them, and returns the size of the section and the
// number of literals.
func (d *Decoder) literals(src []byte) (size, count int, err error) {
	const errShort = CorruptError("literals cut short")
	if len(src) == 0 {
		return 0, 0, errShort
	}
	kind, format := int(src[0]&3), int(src[0]>>2&3)
	if kind == rawLiterals || kind == rleLiterals {
		head := [4]int{1, 2, 1, 3}[format]
		if len(src) < head {
			return 0, 0, errShort
		}
		v := int(littleEndian(src[:head]))
		count = v >> 4
		if head == 1 {
			count = v >> 3
		}
		if count > d.maxBlock {
			return 0, 0, CorruptError("too many literals")
		}
		size = head + 1
		if kind == rawLiterals {
			size = head + count
		}
		if len(src) < size {
			return 0, 0, errShort
		}
		d.plainLiterals(src[head:], kind, count)
		return size, count, nil
	}
	head := max(3, format+2)
	if len(src) < head {
		return 0, 0, errShort
	}
	v, width := littleEndian(src[:head]), uint(head*8-4)/2
	count = int(v >> 4 & (1<<width - 1))
	size = head + int(v>>(4+width))
	switch {
	case count > d.maxBlock:
		return 0, 0, CorruptError("too many literals")
	case len(src) < size:
		return 0, 0, errShort
	}
	d.lits = d.litBuf[:]
	return size, count, d.codedLiterals(d.litBuf[:count], src[head:size], kind, format == 0)
}

// littleEndian returns the number of at most 8 bytes.
func littleEndian(p []byte) (v uint64) {
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// plainLiterals sets d.lits to literals that are not coded. Where the block has slack behind them,
// they stay there.
func (d *Decoder) plainLiterals(src []byte, kind, count int) {
	d.lits = d.litBuf[:]
	switch {
	case kind == rleLiterals:
		simd.Fill(d.litBuf[:count], src[0])
	case len(src)-count >= lz77.Slack:
		d.lits = src
	default:
		copy(d.lits, src[:count])
	}
}

// codedLiterals decodes literals coded with a Huffman code, that of src or the last one.
func (d *Decoder) codedLiterals(dst, src []byte, kind int, one bool) error {
	if kind == compressedLiterals {
		n, err := d.huff.Read(src)
		if err != nil {
			return CorruptError(err.Error())
		}
		d.known = true
		src = src[n:]
	} else if !d.known {
		return CorruptError("literals with the code of an earlier block, but there is none")
	}
	decode := d.huff.Decode4
	if one {
		decode = d.huff.Decode1
	}
	if err := decode(dst, src); err != nil {
		return CorruptError(err.Error())
	}
	return nil
}
