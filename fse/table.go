package fse

import (
	"encoding/binary"
	"math/bits"
)

// spread assigns the cells of a table to symbols (RFC 8878, section 4.1.1). The format deals out
// cells along a walk: symbol 0 gets as many as its probability, then symbol 1, and so on. Each step
// is 5/8 of the table plus 3. The walk skips the cells at the end, which belong to symbols with
// LessThanOne.
//
// Here setSteps stores the symbols by steps, one range a symbol. The step that leads to a cell is
// the cell times the inverse of the step width. So Build visits the cells in order, which is the
// order in which tables are filled.
type spread struct {
	// steps holds the symbol of each step, and 8 spare bytes for stores of eight at a time.
	steps [1<<MaxLog + 8]uint8
	skip  [MaxSymbols + 1]uint16 // scratch of setSteps
	next  [MaxSymbols]uint16     // of each symbol, for those who build a table
}

// setSteps sets the steps. Cell u of the first size−rare cells then belongs to symbol
// steps[u·inverse mod size].
func (s *spread) setSteps(d *Distribution) (inverse, rare uint) {
	log := d.Log & 15
	size := uint(1) << log
	step := size>>1 + size>>3 + 3 // odd
	// Newton's method: step is its own inverse in the lowest 3 bits, and each round doubles them.
	inverse = step
	for range 3 {
		inverse *= 2 - step*inverse
	}
	// The steps to the cells of rare symbols are skipped. They are few, so insertion sort suffices.
	skip := &s.skip
	for i := range d.Len {
		if d.Prob[i] < 0 {
			rare++
			k, j := uint16((size-rare)*inverse&(size-1)), rare-1
			for ; j > 0 && skip[j-1] > k; j-- {
				skip[j] = skip[j-1]
			}
			skip[j] = k
		}
	}
	skip[rare] = uint16(size)
	at, next := 0, 0
	for i := range d.Len {
		left := int(d.Prob[i])
		if left <= 0 {
			continue
		}
		all := uint64(i) * 0x0101010101010101
		for {
			n := min(left, int(skip[next])-at)
			// Bytes written beyond n are overwritten by the next ranges or never read.
			for to := s.steps[at : at+n+8]; len(to) > 8; to = to[min(8, len(to)-8):] {
				binary.LittleEndian.PutUint64(to, all)
			}
			at += n
			if left -= n; left == 0 {
				break
			}
			at++
			next++
		}
	}
	return inverse, rare
}

// EncTable is a table to encode with.
type EncTable struct {
	// Transitions is set by Build. It is for loops that do without a call of Next for each symbol.
	Transitions Transitions

	log    uint8
	spread spread
}

// Transitions has the transitions of an encoder's states. From a state x the encoder of symbol s
// emits the lowest n bits of x, with n = (x + Symbols[s].Bits) >> 16. The next state is
// States[x>>n + Symbols[s].Place].
//
// A symbol of probability p has the states p to 2p−1, stored one after the other from an index on.
// The encoder emits bits until the state is among them. Bits is (n<<16) − (p<<n), where n is the
// maximum number of bits to emit. Place is the index less p.
type Transitions struct {
	Symbols [MaxSymbols]struct {
		Bits  uint32
		Place int32
	}
	States [1 << MaxLog]uint16
}

// Build sets t to the table of a distribution.
func (t *EncTable) Build(d *Distribution) {
	t.log = d.Log
	inverse, rare := t.spread.setSteps(d)
	size := uint(1) << (d.Log & 15)
	next := &t.spread.next // index of the symbol's next state
	at := 0
	last := size - 1
	for i := range d.Len {
		p := uint32(weight(int(d.Prob[i])))
		if p == 0 {
			continue
		}
		next[i] = uint16(at)
		maxBits := uint32(d.Log) - uint32(bits.Len32(p-1)) + 1
		if p == 1 {
			maxBits = uint32(d.Log)
		}
		symbol := &t.Transitions.Symbols[i]
		symbol.Bits, symbol.Place = maxBits<<16-p<<maxBits, int32(at)-int32(p)
		if d.Prob[i] < 0 {
			t.Transitions.States[at&(1<<MaxLog-1)] = uint16(size + last)
			last--
		}
		at += int(p)
	}
	mask := size - 1
	k := uint(0)
	for u := range size - rare {
		s := t.spread.steps[k&mask]
		k += inverse
		t.Transitions.States[next[s]&(1<<MaxLog-1)] = uint16(size + u)
		next[s]++
	}
}

// BuildSymbol sets t to the table of a single symbol, which takes no bits.
func (t *EncTable) BuildSymbol(symbol uint8) {
	t.log = 0
	s := &t.Transitions.Symbols[symbol]
	s.Bits, s.Place = 0, 0
	t.Transitions.States[0] = 0
}

// Log returns the number of bits of a state.
func (t *EncTable) Log() uint { return uint(t.log) }

// Start returns the state for the symbol that is encoded first and decoded last. The symbol must
// have a probability.
func (t *EncTable) Start(symbol uint8) (state uint32) {
	s := &t.Transitions.Symbols[symbol]
	// The smallest state that leads to the first state of the symbol.
	n := (s.Bits + 1<<15) >> 16
	x := (n<<16 - s.Bits) >> n
	return uint32(t.Transitions.States[uint32(int32(x)+s.Place)&(1<<MaxLog-1)])
}

// Next encodes the symbol that is decoded before those encoded so far. The caller writes the lowest
// n bits of state and continues with next. The symbol must have a probability.
func (t *EncTable) Next(state uint32, symbol uint8) (next uint32, n uint) {
	s := &t.Transitions.Symbols[symbol]
	n = uint((state + s.Bits) >> 16)
	return uint32(t.Transitions.States[uint32(int32(state>>(n&31))+s.Place)&(1<<MaxLog-1)]), n
}
