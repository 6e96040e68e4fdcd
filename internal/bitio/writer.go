// Package bitio writes and reads strings of bits.
package bitio

import (
	"encoding/binary"
	"slices"
)

// Writer appends bits to a byte slice, least significant first. The zero value is ready. Fields are for loops that keep them in registers
// and have more than one value for each store. Calls on one Writer must not run at the same time.
type Writer struct {
	Out []byte
	Acc uint64 // the bits that are not in Out yet
	N   uint   // how many those are, fewer than 8 between calls
}

// Put writes the n low bits of v, at most 56; those above must be 0. Without Room the memory behind Out may have to grow by 8 bytes.
func (w *Writer) Put(v uint64, n uint) {
	w.Acc |= v << (w.N & 63)
	w.N += n
	w.Out = binary.LittleEndian.AppendUint64(w.Out, w.Acc)
	w.Out = w.Out[:len(w.Out)-8+int(w.N>>3)]
	w.Acc >>= w.N &^ 7 & 63
	w.N &= 7
}

// Align fills up a byte with zeros.
func (w *Writer) Align() {
	if w.N > 0 {
		w.Out = append(w.Out, byte(w.Acc))
		w.Acc, w.N = 0, 0
	}
}

// Room makes room for that many bits, and for a word that is stored behind them and one more.
func (w *Writer) Room(bits int) { w.Out = slices.Grow(w.Out, bits/8+24) }
