package deflate

import (
	"sync"

	"github.com/gopz/compress/internal/codec/huffman"
)

// lengths holds the code lengths of a block.
type lengths struct {
	litLen [litLenSymbols]uint8
	offset [offsetSymbols]uint8
}

// codes holds the codes of a block.
type codes struct {
	litLen [litLenSymbols]huffman.Code
	length [512]huffman.Code // by match length, extra bits included; none for 0
	offset [offsetSymbols]huffman.Code
}

func (c *codes) assign(l *lengths) {
	huffman.AssignDeflate(c.litLen[:], l.litLen[:])
	huffman.AssignDeflate(c.offset[:], l.offset[:])
	c.offset[noSlot] = 0
	length := MinMatch
	for s, extra := range lengthExtra {
		code := c.litLen[firstLength+s]
		n := code.Len()
		for x := range uint64(1) << extra {
			c.length[length&511] = huffman.MakeCode(code.Bits()|x<<n, n+uint(extra))
			length++
		}
		if s == lengthSlots-2 {
			length = MaxMatch // the last length of this slot has a slot of its own
		}
	}
}

// bits returns the size of a block with histogram h in bits, without the header.
//
//pz:nobce
func (l *lengths) bits(h *histogram) int {
	n := uint64(h.extra)
	for i, c := range &h.litLen {
		n += uint64(c) * uint64(l.litLen[i])
	}
	for i, c := range &h.offset {
		n += uint64(c) * uint64(l.offset[i])
	}
	return int(n)
}

// fixed returns the fixed codes (RFC 1951, section 3.2.6).
var fixed = sync.OnceValue(makeFixed)

type fixedCodes struct {
	lengths lengths
	codes   codes
}

func makeFixed() *fixedCodes {
	f := new(fixedCodes)
	for i := range f.lengths.litLen {
		switch {
		case i < 144:
			f.lengths.litLen[i] = 8
		case i < 256:
			f.lengths.litLen[i] = 9
		case i < 280:
			f.lengths.litLen[i] = 7
		default:
			f.lengths.litLen[i] = 8
		}
	}
	for i := range f.lengths.offset {
		f.lengths.offset[i] = 5
	}
	f.codes.assign(&f.lengths)
	return f
}

// build sets l to the optimal code lengths for h. It gives each alphabet at least two codes: RFC
// 1951 allows offsets one or none, but some decoders reject that.
func (l *lengths) build(b *huffman.Builder, h *histogram) {
	b.Lengths(l.litLen[:], h.litLen[:], maxBits)
	b.Lengths(l.offset[:], h.offset[:], maxBits)
	ensureTwoCodes(l.litLen[:])
	ensureTwoCodes(l.offset[:])
}

func ensureTwoCodes(lens []uint8) {
	used := 0
	for i := 0; i < len(lens) && used < 2; i++ {
		if lens[i] != 0 {
			used++
		}
	}
	for i := 0; used < 2; i++ {
		if lens[i] == 0 {
			lens[i] = 1
			used++
		}
	}
}
