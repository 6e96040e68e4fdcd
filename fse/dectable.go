package fse

import "math/bits"

// decEntry is a cell of a decoding table. The next state is base plus the next n bits.
type decEntry struct {
	base   uint16
	symbol uint8
	n      uint8
}

// DecTable is a table to decode with.
type DecTable struct {
	cells  [1 << MaxLog]decEntry
	log    uint8
	spread spread
}

// Build sets t to the table of a distribution.
func (t *DecTable) Build(d *Distribution) {
	t.log = d.Log
	inverse, rare := t.spread.setSteps(d)
	size := uint(1) << (d.Log & 15)
	next := &t.spread.next // next state of the symbol, from p to 2p−1
	last := size - 1
	for i := range d.Len {
		next[i] = uint16(weight(int(d.Prob[i])))
		if d.Prob[i] < 0 {
			t.cells[last&(1<<MaxLog-1)] = decEntry{symbol: uint8(i), n: d.Log}
			last--
		}
	}
	cells := t.cells[:size-rare]
	mask, k := size-1, uint(0)
	for u := range cells {
		s := t.spread.steps[k&mask]
		k += inverse
		x := next[s]
		next[s]++
		n := t.log + 1 - uint8(bits.Len16(x))
		cells[u] = decEntry{base: x<<(n&15) - uint16(size), symbol: s, n: n}
	}
}

// BuildSymbol sets t to the table of a single symbol, which takes no bits.
func (t *DecTable) BuildSymbol(symbol uint8) {
	t.log = 0
	t.cells[0] = decEntry{symbol: symbol}
}

// Log returns the number of bits of a state.
func (t *DecTable) Log() uint { return uint(t.log) }

// Symbol returns the symbol of a state, which must be below 1<<Log. The next state is base plus the
// next n bits.
func (t *DecTable) Symbol(state uint32) (symbol uint8, base uint32, n uint) {
	e := &t.cells[state&(1<<MaxLog-1)]
	return e.symbol, uint32(e.base), uint(e.n)
}
