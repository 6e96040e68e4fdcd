package host

import (
	"encoding/binary"
	"testing"

	"github.com/gopz/compress/internal/finder"
)

// TestSortPasses checks that the digits of all passes cover the bits of a row, and what Shifts says
// about them.
func TestSortPasses(t *testing.T) {
	shifts := ShiftBytes()
	for rowBits := range uint8(32 - finder.RowTagBits + 1) {
		passes, bits := sortPasses(rowBits)
		if passes*bits < int(rowBits) || bits < leastBits || bits > mostBits ||
			passes > 1 && (passes-1)*mostBits >= int(rowBits) {
			t.Errorf("rows of %d bits: %d passes with digits of %d bits", rowBits, passes, bits)
		}
		for i := range passes {
			p := shifts[digit(i, bits).Offset:][:shiftStep]
			shift, width := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
			if int(shift) != finder.RowTagBits+i*bits || int(width) != bits {
				t.Errorf("pass %d with digits of %d bits: lowest bit %d, %d bits", i, bits, shift, width)
			}
		}
	}
}
