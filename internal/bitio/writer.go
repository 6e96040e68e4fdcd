// Package bitio reads and writes bit strings, least significant bit first.
package bitio

import (
	"encoding/binary"
	"slices"
)

// Writer appends bits to a byte slice, least significant first. The zero value is ready to use. Its
// fields are exported for loops that keep them in registers. A Writer must not be used
// concurrently.
type Writer struct {
	Out []byte
	Acc uint64 // bits that are not in Out yet
	N   uint   // number of bits in Acc, below 8 between calls
}

// Put writes the low n bits of v, at most 56; all higher bits must be 0. It may allocate unless
// Room has reserved space.
func (w *Writer) Put(v uint64, n uint) {
	w.Acc |= v << (w.N & 63)
	w.N += n
	w.Out = binary.LittleEndian.AppendUint64(w.Out, w.Acc)
	w.Out = w.Out[:len(w.Out)-8+int(w.N>>3)]
	w.Acc >>= w.N &^ 7 & 63
	w.N &= 7
}

// Align fills the last byte with zeros.
func (w *Writer) Align() {
	if w.N > 0 {
		w.Out = append(w.Out, byte(w.Acc))
		w.Acc, w.N = 0, 0
	}
}

// Room reserves space for the given number of bits, and for two words that may be stored behind
// them.
func (w *Writer) Room(bits int) { w.Out = slices.Grow(w.Out, bits/8+24) }
