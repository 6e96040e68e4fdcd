package refzst

// An entropy is what a compressed block leaves to the next one. A nil table is none.
type entropy struct {
	huffman huffman
	tables  [3]table // literal lengths, offsets, match lengths
	repeats [3]uint64
}

const (
	literalsRaw        = 0
	literalsRLE        = 1
	literalsCompressed = 2
)

// literalsSection reads the literals of a block.
func (d *decoder) literalsSection(in *input) []byte {
	check(len(in.data) > 0, "no literals")
	kind, format := in.data[0]&3, in.data[0]>>2&3
	coded := kind >= literalsCompressed
	n, shift, width := 3, 4, 20 // bytes of the header, first bit of the sizes, bits of each
	switch {
	case coded && format == 3:
		n, width = 5, 18
	case coded && format == 2:
		n, width = 4, 14
	case coded:
		width = 10
	case format == 1:
		n, width = 2, 12
	case format != 3:
		n, shift, width = 1, 3, 5
	}
	sizes, mask := in.number(n)>>shift, uint64(1)<<width-1
	size, stored := int(sizes&mask), int(sizes>>width&mask)
	check(size <= d.maxBlock(), "more literals than a block may have")
	literals := d.literals[:size]
	switch {
	case kind == literalsRaw:
		copy(literals, in.take(size))
	case kind == literalsRLE:
		b := in.byte()
		for i := range literals {
			literals[i] = b
		}
	default:
		d.huffmanLiterals(literals, &input{in.take(stored)}, kind == literalsCompressed, format == 0)
	}
	return literals
}

// huffmanLiterals decodes literals, which are one stream or four.
func (d *decoder) huffmanLiterals(literals []byte, in *input, hasTable, one bool) {
	if hasTable {
		d.huffman = readHuffman(in)
	}
	check(d.huffman != nil, "literals without a Huffman table")
	if one {
		d.huffman.decode(literals, in.data)
		return
	}
	check(len(literals) >= 6, "four streams for less than 6 literals")
	sizes := &input{in.take(6)}
	quarter := (len(literals) + 3) / 4
	for range 3 {
		d.huffman.decode(literals[:quarter], in.take(int(sizes.number(2))))
		literals = literals[quarter:]
	}
	d.huffman.decode(literals, in.data)
}

// sequenceTables reads the tables of a block.
func (d *decoder) sequenceTables(in *input) {
	modes := in.byte()
	check(modes&3 == 0, "reserved bits in the modes of tables")
	for k := range d.tables {
		c := &codes[k]
		switch modes >> (6 - 2*k) & 3 {
		case 0:
			d.tables[k] = makeTable(c.defaultLog, c.defaults)
		case 1:
			symbol := in.byte()
			check(int(symbol) <= c.maxSymbol, "a table has one unknown symbol")
			d.tables[k] = table{{symbol: symbol}}
		case 2:
			d.tables[k] = readFSE(in, c)
		case 3:
			check(d.tables[k] != nil, "no table to repeat")
		}
	}
}
