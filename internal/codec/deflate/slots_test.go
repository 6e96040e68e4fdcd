package deflate

import "testing"

// TestSlots compares the tables with what RFC 1951 says.
func TestSlots(t *testing.T) {
	if lengthExtra != makeLengthExtra() {
		t.Errorf("lengthExtra is %v", lengthExtra)
	}
	if offsetExtra != makeOffsetExtra() {
		t.Errorf("offsetExtra is %v", offsetExtra)
	}
	if lengthSlot != makeLengthSlots() {
		t.Errorf("lengthSlot is %v", lengthSlot)
	}
	if offsetSlots != makeOffsetSlots() {
		t.Errorf("offsetSlots is %v", offsetSlots)
	}
}

func makeLengthExtra() (t [lengthSlots]uint8) {
	for s := 8; s < lengthSlots-1; s++ {
		t[s] = uint8(s/4 - 1)
	}
	return t
}

// makeLengthSlots maps lengths to slots, and all other numbers to noSlot.
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

// makeOffsetSlots returns the table of slotOf: one entry for each offset−1 below 256, above that
// one for each 128.
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
