package refzst

import "math/bits"

// A code says what the FSE tables of an alphabet may be.
type code struct {
	maxLog     int     // most of Accuracy_Log
	maxSymbol  int     // that may occur
	defaultLog int     // of the predefined table
	defaults   []int16 // its probabilities
}

const (
	literalLengths = 0
	offsets        = 1
	matchLengths   = 2
	weights        = 3
)

var codes = [4]code{
	literalLengths: {9, 35, 6, []int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2,
		2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}},
	offsets: {8, 31, 5, []int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, -1, -1, -1, -1, -1}},
	matchLengths: {9, 52, 6, []int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1,
		-1, -1, -1}},
	weights: {maxLog: 6, maxSymbol: 255},
}

// A cell of an FSE table belongs to a state.
type cell struct {
	symbol uint8
	bits   uint8 // that the next state takes from the stream
	base   uint16
}

// A table is a decoding table of FSE: a cell for each state. A table of one cell takes no bits.
type table []cell

func (t table) log() int { return bits.Len(uint(len(t))) - 1 }

// next returns the state that follows on a state.
func (t table) next(state uint64, r *backward) uint64 {
	c := t[state]
	return uint64(c.base) + r.take(int(c.bits))
}

// readFSE reads the description of a table.
func readFSE(in *input, c *code) table {
	at := 0
	log := 5 + in.bits(&at, 4)
	check(log <= c.maxLog, "an FSE table has too many states")
	var probabilities []int16
	for left := 1 << log; left > 0; {
		// Values from 0 to left+1 take n bits. Those below short take one bit less.
		n := bits.Len(uint(left + 1))
		short := 1<<n - 2 - left
		x := in.bits(&at, n-1)
		if x >= short && in.bits(&at, 1) != 0 {
			x += 1<<(n-1) - short
		}
		p := x - 1
		left -= max(p, -p)
		probabilities = append(probabilities, int16(p))
		for more := p == 0; more; {
			zeros := in.bits(&at, 2)
			probabilities = append(probabilities, make([]int16, zeros)...)
			more = zeros == 3 && len(probabilities) < 256
		}
		check(len(probabilities) <= c.maxSymbol+1, "an FSE table has too many symbols")
	}
	in.take((at + 7) / 8)
	return makeTable(log, probabilities)
}

// makeTable spreads symbols over a table of 2^log states. A probability of -1 is less than 1.
func makeTable(log int, probabilities []int16) table {
	size := 1 << log
	t := make(table, size)
	end := size // of the cells in front of those for probabilities below 1
	var next [256]int
	for s, p := range probabilities {
		next[s] = int(p)
		if p < 0 {
			next[s] = 1
			end--
			t[end].symbol = uint8(s)
		}
	}
	at := 0
	for s, p := range probabilities {
		for range p {
			t[at].symbol = uint8(s)
			at = (at + size/2 + size/8 + 3) % size
			for at >= end {
				at = (at + size/2 + size/8 + 3) % size
			}
		}
	}
	for i := range t {
		c := &t[i]
		x := next[c.symbol]
		next[c.symbol]++
		n := log + 1 - bits.Len(uint(x))
		c.bits, c.base = uint8(n), uint16(x<<n-size)
	}
	return t
}
