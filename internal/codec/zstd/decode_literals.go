package zstd

import (
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// litHeader is the header of a literals section (RFC 8878, section 3.1.1.3.1).
type litHeader struct {
	kind  int
	one   bool // coded literals are one stream
	head  int  // size of the header in bytes
	size  int  // of the section
	count int  // number of literals
}

// parseLitHeader parses the header at the front of src, which need not have all of the section.
func parseLitHeader(src []byte) (h litHeader, err error) {
	if len(src) == 0 {
		return h, ErrShortLiterals
	}
	format := int(src[0] >> 2 & 3)
	h.kind = int(src[0] & 3)
	plain := h.kind == rawLiterals || h.kind == rleLiterals
	h.head = max(3, format+2)
	if plain {
		h.head = [4]int{1, 2, 1, 3}[format]
	}
	if len(src) < h.head {
		return h, ErrShortLiterals
	}
	v := littleEndian(src[:h.head])
	if !plain {
		width := uint(h.head*8-4) / 2
		h.count, h.size = int(v>>4&(1<<width-1)), h.head+int(v>>(4+width))
		h.one = format == 0
		return h, nil
	}
	h.count = int(v >> 4)
	if h.head == 1 {
		h.count = int(v >> 3)
	}
	h.size = h.head + 1
	if h.kind == rawLiterals {
		h.size = h.head + h.count
	}
	return h, nil
}

// literals reads the literals section at the front of a block. buf is memory for literals and
// lz77.Slack bytes. It returns the literals with slack behind them, in buf or in src.
func (d *EntropyDecoder) literals(src, buf []byte) (h litHeader, lits []byte, err error) {
	h, err = parseLitHeader(src)
	switch {
	case err != nil:
		return h, nil, err
	case h.count > d.maxBlock:
		return h, nil, ErrManyLiterals
	case len(src) < h.size:
		return h, nil, ErrShortLiterals
	case h.kind == rawLiterals && len(src)-h.head-h.count >= lz77.Slack:
		return h, src[h.head:], nil
	}
	code := src[h.head:h.size]
	lits, buf = buf, buf[:h.count]
	switch h.kind {
	case rawLiterals:
		copy(buf, code)
	case rleLiterals:
		simd.Fill(buf, code[0])
	default:
		err = d.codedLiterals(buf, code, h.kind, h.one)
	}
	return h, lits, err
}

// littleEndian returns the number of at most 8 bytes.
func littleEndian(p []byte) (v uint64) {
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// codedLiterals decodes literals coded with a Huffman code, that of src or the last one.
func (d *EntropyDecoder) codedLiterals(dst, src []byte, kind int, one bool) error {
	if kind == compressedLiterals {
		n, err := d.huff.Read(src)
		if err != nil {
			return CorruptError(err.Error())
		}
		d.known = true
		src = src[n:]
	} else if !d.known {
		if err := d.inheritCode(); err != nil {
			return err
		}
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
