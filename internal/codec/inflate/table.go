package inflate

import (
	"math/bits"
	"sync"

	"github.com/gopz/compress/internal/kernels"
)

// # Tables
//
// A code has a primary table, which the next bits of the stream index, and subtables for longer
// codewords. An entry is a uint32:
//
//	bits 0-5    bits to consume: the codeword and the extra bits
//	bits 6-7    0
//	bits 8-11   bits of the codeword without extra bits; for a subtable, bits of its index
//	bits 12-15  flags
//	bits 16-31  literal, or base of a length or an offset, or start of a subtable
//
// Shifts by an entry need no mask beyond the six bits that processors apply themselves.
//
// A table is built by a counting sort of the symbols by length. The primary table then grows from
// one length to the next by doubling: the entries of all shorter codewords repeat. So most entries
// are written by copying.
const (
	flagLiteral  = 1 << 15
	flagSpecial  = 1 << 14 // neither a literal nor a base
	flagSubtable = 1 << 13 // special: go on in a subtable
	flagEnd      = 1 << 12 // special: end of block

	entryInvalid = flagSpecial // no codeword: the code is incomplete, or the symbol reserved
)

const (
	maxBits = 15 // longest codeword

	literalBits = 11 // index of the primary table of literals and lengths
	offsetBits  = 8  // index of the primary table of offsets

	literalMask = 1<<literalBits - 1
	offsetMask  = 1<<offsetBits - 1

	// Sizes of tables with subtables. zlib's enough.c computes the largest that occur: 2342 and
	// 402.
	literalSize = 1 << 12
	offsetSize  = 1 << 9

	literalSymbols = 288
	offsetSymbols  = 32
	endOfBlock     = 256
)

// tables decode the symbols of a block.
type tables kernels.InflateTables

// staticTables are those of static codes.
var staticTables = sync.OnceValue(func() *tables {
	var lengths [literalSymbols + offsetSymbols]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		case i < literalSymbols:
			lengths[i] = 8
		default:
			lengths[i] = 5
		}
	}
	t := new(tables)
	t.buildLiterals(lengths[:literalSymbols])
	t.buildOffsets(lengths[literalSymbols:])
	return t
})

// symbolEntries has the entry of each symbol, without the bits of its codeword.
type symbolEntries struct {
	literals [literalSymbols]uint32
	offsets  [offsetSymbols]uint32
	precode  [precodeSymbols]uint32 // bits 16-20 are the symbol
}

var entries = sync.OnceValue(func() *symbolEntries {
	e := new(symbolEntries)
	for i := range endOfBlock {
		e.literals[i] = flagLiteral | uint32(i)<<16
	}
	e.literals[endOfBlock] = flagSpecial | flagEnd
	base := uint32(3)
	for i := range uint32(28) {
		extra := max(i>>2, 1) - 1
		e.literals[endOfBlock+1+i] = base<<16 | extra
		base += 1 << extra
	}
	e.literals[285] = 258 << 16
	e.literals[286], e.literals[287] = entryInvalid, entryInvalid

	base = 1
	for i := range uint32(30) {
		extra := max(i>>1, 1) - 1
		e.offsets[i] = base<<16 | extra
		base += 1 << extra
	}
	e.offsets[30], e.offsets[31] = entryInvalid, entryInvalid

	for i := range e.precode {
		e.precode[i] = uint32(i) << 16
	}
	return e
})

// buildLiterals builds the table of literals and lengths. It returns false if the lengths are no
// code.
func (t *tables) buildLiterals(lengths []uint8) bool {
	return build(t.Literals[:], literalBits, lengths, entries().literals[:])
}

// buildOffsets builds the table of offsets. It returns false if the lengths are no code.
func (t *tables) buildOffsets(lengths []uint8) bool {
	return build(t.Offsets[:], offsetBits, lengths, entries().offsets[:])
}

// build builds a table with 1<<primary entries and subtables behind them. It returns false if the
// lengths are no code. A code must use every codeword. There are two exceptions, as in zlib: a
// single codeword of one bit, and no codeword at all. A stream that uses a missing codeword is
// damaged.
func build(table []uint32, primary uint, lengths []uint8, entries []uint32) bool {
	var counts [maxBits + 1]int
	for _, n := range lengths {
		counts[n&maxBits]++
	}
	longest := uint(maxBits)
	for longest > 0 && counts[longest] == 0 {
		longest--
	}
	space := 0
	for _, n := range counts[1 : longest+1] {
		space = space<<1 + n
	}
	if longest > 0 && space != 1<<longest && !(longest == 1 && space == 1) {
		return false
	}
	var next [maxBits + 1]int
	for n := range maxBits {
		next[n+1] = next[n] + counts[n]
	}
	var sorted [literalSymbols]uint16
	for symbol, n := range lengths {
		sorted[next[n&maxBits]] = uint16(symbol)
		next[n&maxBits]++
	}
	symbols := sorted[counts[0]:len(lengths)]
	if longest == 0 || space == 1 && longest == 1 {
		fillIncomplete(table[:1<<primary], symbols, entries)
		return true
	}
	word := fillPrimary(table[:1<<primary], primary, &counts, symbols, entries)
	if longest > primary {
		for _, n := range counts[1 : primary+1] {
			symbols = symbols[n:]
		}
		fillSubtables(table, primary, word, &counts, symbols, entries)
	}
	return true
}

// fillIncomplete fills a table for a code of no codeword, or of one codeword, the bit 0.
func fillIncomplete(table []uint32, symbols []uint16, entries []uint32) {
	if len(symbols) == 0 {
		for i := range table {
			table[i] = entryInvalid
		}
		return
	}
	for i := 0; i+1 < len(table); i += 2 {
		table[i] = withBits(entries[symbols[0]], 1)
		table[i+1] = withBits(entryInvalid, 1)
	}
}

// withBits returns the entry of a codeword of n bits.
func withBits(entry uint32, n uint) uint32 { return entry + uint32(n)*(1<<8+1) }

// fillPrimary enters the codewords of up to primary bits. It returns the next codeword.
func fillPrimary(
	table []uint32, primary uint, counts *[maxBits + 1]int, symbols []uint16, entries []uint32,
) (word uint) {
	for n := uint(1); n <= primary; n++ {
		half := 1 << (n - 1)
		copy(table[half:2*half], table[:half])
		for _, symbol := range symbols[:counts[n]] {
			table[word] = withBits(entries[symbol], n)
			word = nextWord(word, n)
		}
		symbols = symbols[counts[n]:]
	}
	return word
}

// nextWord returns the codeword behind one of n bits. Codewords are stored with their first bit
// lowest, so this adds 1 to the reversed number: it clears the ones at the top and sets the zero
// below them. Behind the last codeword it returns 0.
func nextWord(word, n uint) uint {
	top := uint(bits.Len(word ^ (1<<n - 1)))
	if top == 0 {
		return 0
	}
	bit := uint(1) << (top - 1)
	return word&(bit-1) | bit
}

// fillSubtables enters the codewords of more than primary bits, from word on. Codewords with the
// same first primary bits share a subtable, which is as small as the longest of them allows.
func fillSubtables(
	table []uint32, primary, word uint, counts *[maxBits + 1]int, symbols []uint16, entries []uint32,
) {
	mask := uint(1)<<primary - 1
	start, end := uint(0), uint(1)<<primary
	prefix := ^uint(0)
	n := primary + 1
	left := counts[n]
	for _, symbol := range symbols {
		for left == 0 {
			n++
			left = counts[n]
		}
		if word&mask != prefix {
			prefix = word & mask
			start = end
			size := n - primary
			for space := left; space < 1<<size; {
				size++
				space = space<<1 + counts[primary+size]
			}
			end = start + 1<<size
			table[prefix] = flagSpecial | flagSubtable | uint32(start)<<16 | uint32(size)<<8
		}
		entry := withBits(entries[symbol], n)
		for i := start + word>>primary; i < end; i += 1 << (n - primary) {
			table[i] = entry
		}
		word = nextWord(word, n)
		left--
	}
}
