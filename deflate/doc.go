// Package deflate codes sequences as Deflate blocks: RFC 1951. It finds no matches.
//
// An [Encoder] cuts a piece of content into blocks where that makes it smaller, codes each of them as is cheapest (stored, with the fixed
// codes, or with codes of its own) and ends on a byte boundary, so that pieces coded apart can be laid end to end.
package deflate

// Limits of the format.
const (
	MinMatch  = 3       // bytes
	MaxMatch  = 258     // bytes; the encoder splits longer matches
	MaxOffset = 1 << 15 // bytes
	maxBits   = 15      // of a code for literals, lengths and offsets
	maxStored = 1<<16 - 1
)

// Alphabets.
const (
	literals    = 256
	endOfBlock  = 256
	firstLength = 257 // the symbol of the first length slot
	maxLitLen   = 286 // symbols in use for literals, end of block and lengths
	maxOffsets  = 30  // offset slots in use

	litLenSymbols = 288 // the fixed code has two more
	offsetSymbols = 32  // likewise
)

// A slot is a range of lengths or offsets that share a symbol; extra bits say which one it is. RFC 1951, section 3.2.5.
const lengthSlots = maxLitLen - firstLength

// noSlot stands for both slots of a token without a match.
const noSlot = 31

var (
	lengthSlot  = makeLengthSlots() // by length
	lengthExtra = makeLengthExtra() // bits, by slot
	offsetExtra = makeOffsetExtra() // bits, by slot
	offsetSlots = makeOffsetSlots() // see slotOf
)

func makeLengthExtra() (t [lengthSlots]uint8) {
	for s := 8; s < lengthSlots-1; s++ {
		t[s] = uint8(s/4 - 1)
	}
	return t
}

// makeLengthSlots has noSlot for what is no length.
func makeLengthSlots() (t [512]uint8) {
	for i := range t {
		t[i] = noSlot
	}
	extra := makeLengthExtra()
	length := MinMatch
	for s := range lengthSlots - 1 {
		for range 1 << extra[s] {
			t[length] = uint8(s)
			length++
		}
	}
	t[MaxMatch] = lengthSlots - 1 // has a slot of its own
	return t
}

func makeOffsetExtra() (t [offsetSymbols]uint8) {
	for s := 4; s < maxOffsets; s++ {
		t[s] = uint8(s/2 - 1)
	}
	return t
}

// makeOffsetSlots: offsets less one below 256 have an entry each, others one for each 128.
func makeOffsetSlots() (t [512]uint8) {
	extra := makeOffsetExtra()
	d := 0
	for s := range maxOffsets {
		for range 1 << extra[s] {
			if d < 256 {
				t[d] = uint8(s)
			} else {
				t[256+d>>7] = uint8(s)
			}
			d++
		}
	}
	return t
}

// slotOf returns the slot of an offset that is one more than d.
func slotOf(d uint32) uint8 {
	if d >= 256 {
		d = d>>7 + 256
	}
	return offsetSlots[d&511]
}

// OffsetSlot returns the slot, 0 … 29, of an offset of 1 … MaxOffset bytes.
func OffsetSlot(offset uint32) int { return int(slotOf(offset - 1)) }
