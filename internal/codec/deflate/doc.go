// Package deflate encodes LZ77 sequences as Deflate blocks (RFC 1951) for package pipeline. It
// finds no matches and is not a general-purpose compressor; the root package is.
//
// An [Encoder] splits content into blocks where that reduces the size. It writes each block in the
// smallest form: stored, with the fixed codes, or with dynamic codes. Its output ends on a byte
// boundary, so independently encoded pieces can be concatenated.
package deflate

// Limits of the format (RFC 1951, section 3.2.5).
const (
	MinMatch  = 3       // bytes
	MaxMatch  = 258     // bytes; the encoder splits longer matches
	MaxOffset = 1 << 15 // bytes
	maxBits   = 15      // of a code for literals, lengths or offsets
	maxStored = 1<<16 - 1
)

// Alphabets (RFC 1951, sections 3.2.5 and 3.2.6).
const (
	literals    = 256
	endOfBlock  = 256
	firstLength = 257 // symbol of the first length slot
	maxLitLen   = 286 // number of symbols in use for literals, end of block and lengths
	maxOffsets  = 30  // number of offset slots in use

	litLenSymbols = 288 // the fixed code has two more
	offsetSymbols = 32  // likewise
)

// A slot is a range of lengths or offsets with a common symbol. Extra bits give the position in the
// range (RFC 1951, section 3.2.5).
const lengthSlots = maxLitLen - firstLength

// noSlot is the slot of a token without a match.
const noSlot = 31

// slotOf returns the slot, 0 to 29, of offset d+1.
func slotOf(d uint32) uint8 {
	if d >= 256 {
		d = d>>7 + 256
	}
	return offsetSlots[d&511]
}
