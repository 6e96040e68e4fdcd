package deflate

import "github.com/gopz/compress/huffman"

// Costs says what literals and matches take, in units of 1/huffman.CostBit.
type Costs struct {
	Literal [literals]uint32
	Length  [MaxMatch + 1]uint32 // by length, from MinMatch on; extra bits included
	Offset  [maxOffsets]uint32   // by OffsetSlot; extra bits included
}

// Costs sets c to what symbols take with the codes that were best for the last block which was not empty, even if it was coded in another way; before there
// is one, with the fixed codes. A symbol that did not occur costs one bit more than the dearest that did.
func (e *Encoder) Costs(c *Costs) {
	l := &e.lengths
	if l.litLen[endOfBlock] == 0 {
		l = &fixed.lengths
	}
	var litLen [litLenSymbols]uint32
	huffman.CodeCosts(litLen[:], l.litLen[:], unseen(l.litLen[:])*huffman.CostBit)
	huffman.CodeCosts(c.Offset[:], l.offset[:maxOffsets], unseen(l.offset[:])*huffman.CostBit)
	copy(c.Literal[:], litLen[:])
	for i := MinMatch; i <= MaxMatch; i++ {
		slot := lengthSlot[i]
		c.Length[i] = litLen[firstLength+int(slot)] + uint32(lengthExtra[slot])*huffman.CostBit
	}
	for i := range c.Offset {
		c.Offset[i] += uint32(offsetExtra[i]) * huffman.CostBit
	}
}

// unseen is what a symbol without a code is taken to need, in bits.
func unseen(lens []uint8) uint32 {
	longest := uint8(0)
	for _, l := range lens {
		longest = max(longest, l)
	}
	return uint32(min(longest+1, maxBits))
}
