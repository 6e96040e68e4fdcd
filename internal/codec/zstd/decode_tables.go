package zstd

import (
	"github.com/gopz/compress/internal/kernels"
)

// The decoder's tables pack all about a state into 64 bits, so that a sequence takes three loads:
//
//	bits  0 to  7  number of extra bits
//	bits  8 to 15  number of bits that lead to the next state
//	bits 16 to 31  base of the next state
//	bits 32 to 63  base of the value that the extra bits are added to
//
// The two lowest bytes of the sum of three cells are therefore the numbers of bits of a sequence.
// The base of a match length includes MinMatch. The base of an offset is the offset for values
// above 3; a smaller value is 3 more than the sum, modulo 2³².

const maxCells = 1 << 9 // of a table

// maxOffset is the largest offset that a sequence can have: its value is below 1<<32.
const maxOffset = 1<<32 - 4

// seqTables holds the tables of all kinds of codes.
type seqTables struct {
	cells kernels.SequenceCells
	logs  [kinds]uint // number of bits of a state
	known [kinds]bool // there has been a block with sequences
}

func lengthValues(extra []uint8, first uint32) (values []uint64) {
	for _, n := range extra {
		values = append(values, uint64(first)<<32|uint64(n))
		first += 1 << n
	}
	return values
}

func offsetValues() (values []uint64) {
	for code := range maxOffCode + 1 {
		values = append(values, uint64(uint32(1<<code-3))<<32|uint64(code))
	}
	return values
}

// table sets the table of a kind of code by the mode and the description at the front of src. It
// returns the size of the description.
func (d *EntropyDecoder) table(kind, mode int, src []byte) (size int, err error) {
	t, values := &d.tables, kindOf[kind].values()
	cells := t.cells[kind][:]
	switch mode {
	case predefinedMode:
		t.logs[kind] = kindOf[kind].log
		copy(cells[:1<<t.logs[kind]], kindOf[kind].cells()[:])
	case rleMode:
		if len(src) == 0 {
			return 0, ErrShortBlock
		}
		if int(src[0]) >= len(values) {
			return 0, CorruptError("code out of range")
		}
		cells[0], t.logs[kind] = values[src[0]], 0
		size = 1
	case compressedMode:
		size, err = d.dist.Read(src, kindOf[kind].maxLog, len(values))
		if err != nil {
			return 0, CorruptError(err.Error())
		}
		d.builder.Build(cells, &d.dist, values)
		t.logs[kind] = uint(d.dist.Log)
	default:
		if !t.known[kind] {
			if err := d.inheritTable(kind); err != nil {
				return 0, err
			}
		}
	}
	t.known[kind] = true
	return size, nil
}
