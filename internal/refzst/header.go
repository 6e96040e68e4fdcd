package refzst

import "encoding/binary"

// A header holds the fields of a frame's header.
type header struct {
	window     uint64
	hasSize    bool
	size       uint64 // of the content
	dictNumber uint32 // 0 is none
	checksum   bool   // of the content, behind the last block
}

// readHeader reads a frame's header behind the magic number.
func (d *decoder) readHeader() (h header) {
	flags := d.number(1)
	check(flags&8 == 0, "reserved bit of the header")
	single := flags >> 5 & 1
	h.checksum = flags&4 != 0
	if single == 0 {
		w := d.number(1)
		h.window = 1 << (10 + w>>3)
		h.window += h.window / 8 * (w & 7)
	}
	h.dictNumber = uint32(d.number(1 << (flags & 3) >> 1))
	bytes := 1 << (flags >> 6)
	if bytes == 1 {
		bytes = int(single)
	}
	h.hasSize = bytes > 0
	h.size = d.number(bytes)
	if bytes == 2 {
		h.size += 256
	}
	if single != 0 {
		h.window = h.size
	}
	return h
}

// A dictionary is content in front of frames, and what their first blocks may refer to.
type dictionary struct {
	number  uint32 // 0 if it is plain content
	entropy entropy
	content []byte
}

// parseDictionary parses a dictionary. Without the magic number it is plain content.
func parseDictionary(b []byte) dictionary {
	d := dictionary{content: b, entropy: entropy{repeats: [3]uint64{1, 4, 8}}}
	if len(b) < 8 || binary.LittleEndian.Uint32(b) != dictionaryMagic {
		return d
	}
	d.number = binary.LittleEndian.Uint32(b[4:])
	check(d.number != 0, "number 0")
	in := &input{b[8:]}
	d.entropy.huffman = readHuffman(in)
	for _, k := range [...]int{offsets, matchLengths, literalLengths} {
		d.entropy.tables[k] = readFSE(in, &codes[k])
	}
	for i := range d.entropy.repeats {
		d.entropy.repeats[i] = in.number(4)
	}
	d.content = in.data
	for _, r := range d.entropy.repeats {
		check(r-1 < uint64(len(d.content)), "repeat offset")
	}
	return d
}
