package zstd

// A Carry has what later blocks of a frame may need of the blocks before them besides content: the
// descriptions of their Huffman code and FSE tables. It takes them from the headers of sections,
// and decodes nothing. With a copy of it an [EntropyDecoder] can begin in the middle of a frame.
// The zero value belongs to the beginning of a frame.
type Carry struct {
	code   description
	tables [kinds]description // what follows the number of sequences
}

// description has bytes that begin with a description, or none.
type description struct {
	size int
	p    [maxDescription]byte
}

// maxDescription is more than the bytes of any description: 128 for a Huffman code. The three of
// FSE tables have at most 10 bits for each of 121 symbols, and 2 for each run of zeros.
const maxDescription = 256

func (t *description) set(p []byte) { t.size = copy(t.p[:], p) }

// Note notes the descriptions of a block, given with its header. Of a damaged block it notes
// anything: no later block of the frame counts.
func (c *Carry) Note(block []byte) {
	if len(block) <= blockHeader || block[0]>>1&3 != compressedBlock {
		return
	}
	body := block[blockHeader:]
	h, err := parseLitHeader(body)
	if err != nil || h.size > len(body) {
		return
	}
	if h.kind == compressedLiterals {
		c.code.set(body[h.head:h.size])
	}
	n, p, err := sequenceCount(body[h.size:])
	if err != nil || n == 0 || len(p) == 0 {
		return
	}
	for k := range kinds {
		if tableMode(p[0], k) != repeatMode {
			c.tables[k].set(p)
		}
	}
}

// inheritCode gives d the Huffman code of the blocks before the first, or of the dictionary.
func (d *EntropyDecoder) inheritCode() error {
	switch {
	case d.carry != nil && d.carry.code.size > 0:
		if _, err := d.huff.Read(d.carry.code.p[:d.carry.code.size]); err != nil {
			return CorruptError(err.Error())
		}
	case d.dict != nil && d.dict.formatted:
		d.huff = d.dict.huff
	default:
		return CorruptError("literals with the code of an earlier block, but there is none")
	}
	d.known = true
	return nil
}

// inheritTable gives d the table of a kind of the blocks before the first, or of the dictionary.
func (d *EntropyDecoder) inheritTable(kind int) error {
	if d.carry != nil && d.carry.tables[kind].size > 0 {
		t := &d.carry.tables[kind]
		p, modes := t.p[1:t.size], t.p[0]
		for k := range kind {
			n, err := d.skipTable(k, tableMode(modes, k), p)
			if err != nil {
				return err
			}
			p = p[n:]
		}
		_, err := d.table(kind, tableMode(modes, kind), p)
		return err
	}
	if d.dict == nil || !d.dict.formatted {
		return CorruptError("table of an earlier block, but there is none")
	}
	t := &d.dict.tables
	d.tables.logs[kind] = t.logs[kind]
	copy(d.tables.cells[kind][:1<<t.logs[kind]], t.cells[kind][:])
	return nil
}

// skipTable returns the size of the description of a table.
func (d *EntropyDecoder) skipTable(kind, mode int, src []byte) (size int, err error) {
	switch mode {
	case rleMode:
		if len(src) == 0 {
			return 0, ErrShortBlock
		}
		return 1, nil
	case compressedMode:
		size, err = d.dist.Read(src, kindOf[kind].maxLog, len(kindOf[kind].values()))
		if err != nil {
			return 0, CorruptError(err.Error())
		}
	}
	return size, nil
}
