package deflate

import (
	"encoding/binary"
	"errors"

	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/lz77"
)

// inflated describes a decoded Deflate stream.
type inflated struct {
	content []byte
	seqs    []lz77.Sequence
	blocks  [3]int // by type
	bits    int    // of the stream
}

var errInflate = errors.New("inflate: corrupt input")

// inflate decodes a Deflate stream and reports its structure. before is the content that matches
// may refer to.
func inflate(code, before []byte) (in inflated, err error) {
	d := inflater{code: append(code[:len(code):len(code)], make([]byte, 16)...), end: 8 * len(code)}
	defer func() {
		if r := recover(); r != nil {
			if r != errInflate {
				panic(r)
			}
			err = errInflate
		}
		in = d.inflated
		in.content = in.content[len(before):]
	}()
	d.content = append(d.content, before...)
	for last := false; !last; {
		last = d.take(1) == 1
		d.block(d.take(2))
	}
	return in, nil
}

// inflater decodes a Deflate stream. Its methods panic with errInflate if the stream is corrupt.
type inflater struct {
	inflated
	code       []byte // with 16 spare bytes
	end        int    // of the stream, in bits
	run        int    // number of literals behind the last match
	lits, offs codeTable
}

// codeTable decodes a prefix code with one table.
type codeTable struct {
	table [1 << huffman.MaxBits]uint16 // symbol<<4 | code length; 0 for no code
	log   uint                         // number of bits that index the table
}

func (d *inflater) window() uint64 {
	return binary.LittleEndian.Uint64(d.code[d.bits>>3:]) >> (d.bits & 7)
}

// take reads n bits.
func (d *inflater) take(n int) int {
	if d.bits+n > d.end {
		panic(errInflate)
	}
	v := int(d.window() & (1<<n - 1))
	d.bits += n
	return v
}

// symbol reads a symbol with code c.
func (d *inflater) symbol(c *codeTable) int {
	e := c.table[d.window()&(1<<c.log-1)]
	n := int(e & 15)
	if e == 0 || d.bits+n > d.end {
		panic(errInflate)
	}
	d.bits += n
	return int(e >> 4)
}

// initCode fills the table for the code with the given lengths. The code must be complete, or
// consist of a single code of one bit, or be empty.
func (d *inflater) initCode(c *codeTable, lens []uint8) {
	longest, left := uint8(0), 1<<huffman.MaxBits
	for _, l := range lens {
		if l != 0 {
			left -= 1 << (huffman.MaxBits - l)
		}
		longest = max(longest, l)
	}
	if left < 0 || left > 0 && (longest > 1 || left < 1<<(huffman.MaxBits-1)) {
		panic(errInflate)
	}
	var codes [huffman.MaxSymbols]huffman.Code
	huffman.AssignDeflate(codes[:], lens)
	c.log = uint(longest)
	clear(c.table[:1<<c.log])
	for i, l := range lens {
		if l == 0 {
			continue
		}
		for j := int(codes[i].Bits()); j < 1<<c.log; j += 1 << l {
			c.table[j] = uint16(i)<<4 | uint16(l)
		}
	}
}

// block decodes a block behind its first three bits.
func (d *inflater) block(kind int) {
	if kind > typeDynamic {
		panic(errInflate)
	}
	d.blocks[kind]++
	switch kind {
	case typeStored:
		d.bits = (d.bits + 7) &^ 7
		n := d.take(16)
		if d.take(16) != n^0xffff || d.bits+8*n > d.end {
			panic(errInflate)
		}
		d.content = append(d.content, d.code[d.bits/8:d.bits/8+n]...)
		d.bits += 8 * n
		d.run += n
		return
	case typeFixed:
		d.initCode(&d.lits, fixed().lengths.litLen[:])
		d.initCode(&d.offs, fixed().lengths.offset[:])
	case typeDynamic:
		d.header()
	}
	for {
		s := d.symbol(&d.lits)
		if s == endOfBlock {
			return
		}
		if s < literals {
			d.content = append(d.content, byte(s))
			d.run++
			continue
		}
		d.match(s - firstLength)
	}
}

// header reads the codes of a block with dynamic codes.
func (d *inflater) header() {
	var lens [litLenSymbols + offsetSymbols]uint8
	split := d.take(5) + firstLength
	total := split + d.take(5) + 1
	if split > maxLitLen {
		panic(errInflate)
	}
	var code [lengthSymbols]uint8
	for _, s := range lengthOrder[:d.take(4)+4] {
		code[s] = uint8(d.take(3))
	}
	d.initCode(&d.lits, code[:])
	for i := 0; i < total; {
		s, n, v := d.symbol(&d.lits), 1, uint8(0)
		switch s {
		case repeatPrevious:
			n = 3 + d.take(2)
			if i == 0 {
				panic(errInflate)
			}
			v = lens[i-1]
		case repeatZeros:
			n = 3 + d.take(3)
		case repeatManyZeros:
			n = 11 + d.take(7)
		default:
			v = uint8(s)
		}
		if i+n > total {
			panic(errInflate)
		}
		for range n {
			lens[i] = v
			i++
		}
	}
	d.initCode(&d.lits, lens[:split])
	d.initCode(&d.offs, lens[split:])
}

// match decodes a match whose length has the given slot.
func (d *inflater) match(s int) {
	if s >= lengthSlots {
		panic(errInflate)
	}
	length := MinMatch
	for lengthSlot[length] != uint8(s) {
		length++
	}
	length += d.take(int(lengthExtra[s]))
	slot := d.symbol(&d.offs)
	if slot >= maxOffsets {
		panic(errInflate)
	}
	offset := slot + 1
	if slot >= 4 {
		offset = (2+slot&1)<<(slot/2-1) + 1
	}
	offset += d.take(int(offsetExtra[slot]))
	from := len(d.content) - offset
	if from < 0 {
		panic(errInflate)
	}
	for i := range length {
		d.content = append(d.content, d.content[from+i])
	}
	d.seqs = append(d.seqs, lz77.Sequence{
		LitLen: uint32(d.run), MatchLen: uint32(length), Offset: uint32(offset),
	})
	d.run = 0
}
