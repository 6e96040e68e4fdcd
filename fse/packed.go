package fse

import "math/bits"

// PackedBuilder builds decoding tables for coders that read extra bits behind a symbol, such as
// zstd's sequences. A cell holds everything that the coder needs to know about a state, so that one
// load suffices. The zero value is ready for use.
type PackedBuilder struct{ spread spread }

// Bit positions in a cell. The value of the symbol has the bits below PackedBits and from 32 on.
const (
	PackedBits = 8  // position of the number of bits that lead to the next state; 8 bits wide
	PackedNext = 16 // position of the base of the next state; 16 bits wide
)

// Build sets cells[:1<<d.Log] to the table of a distribution. A cell is the sum of values[symbol],
// n<<PackedBits and base<<PackedNext: the next state is base plus the next n bits. Bits 8 to 31 of
// the values must be 0. There must be a value for each of the d.Len symbols.
func (b *PackedBuilder) Build(cells []uint64, d *Distribution, values []uint64) {
	inverse, rare := b.spread.setSteps(d)
	log := d.Log & 15
	size := uint(1) << log
	cells = cells[:size]
	next := &b.spread.next // next state of the symbol, from p to 2p−1
	last := size
	for i, v := range values[:d.Len] {
		next[i&(MaxSymbols-1)] = uint16(weight(int(d.Prob[i&(MaxSymbols-1)])))
		if d.Prob[i&(MaxSymbols-1)] < 0 {
			last--
			cells[last] = v + uint64(log)<<PackedBits
		}
	}
	cells = cells[:size-rare]
	mask, k := size-1, uint(0)
	for u := range cells {
		s := b.spread.steps[k&mask&(1<<MaxLog-1)]
		k += inverse
		x := next[s]
		next[s]++
		n := log + 1 - uint8(bits.Len16(x))
		cells[u] = values[s] + uint64(n)<<PackedBits + uint64(x<<(n&15)-uint16(size))<<PackedNext
	}
}
