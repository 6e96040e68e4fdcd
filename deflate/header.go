package deflate

import "github.com/gopz/compress/huffman"

// A block with codes of its own begins with their lengths, which are coded themselves: RFC 1951, section 3.2.7. The symbols of
// that code are the lengths 0 to 15 and three that stand for several lengths:
const (
	repeatLast  = 16 // the length before, 3 … 6 times; two more bits
	repeatZero  = 17 // 0, 3 … 10 times; three more bits
	repeatZeros = 18 // 0, 11 … 138 times; seven more bits

	lengthSymbols = 19
	lengthBits    = 7 // of a code at most
)

// repeatExtra is the number of bits behind symbols 16, 17 and 18.
var repeatExtra = [3]uint8{2, 3, 7}

// lengthOrder is the order in which the lengths of that code stand.
var lengthOrder = [lengthSymbols]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// header is the description of the codes of a block.
type header struct {
	litLens, offsets int // how many lengths there are
	runs             []run
	symbols          []lengthSymbol
	other            []lengthSymbol // the way that was not as good
	code             [lengthSymbols]uint8
	codes            int // how many lengths of that code are written
	bits             int // size, without the three bits that begin every block
}

// run is a run of equal lengths.
type run struct {
	length uint8
	count  uint16
}

// lengthSymbol is a symbol of the code of lengths and what its extra bits say.
type lengthSymbol struct{ symbol, extra uint8 }

// plan finds the best description of l that a few tries give. How a run of equal lengths is best described depends on the code of lengths, and that on how runs are
// described.
func (h *header) plan(b *huffman.Builder, l *lengths) {
	h.litLens, h.offsets = maxLitLen, maxOffsets
	for h.litLens > firstLength && l.litLen[h.litLens-1] == 0 {
		h.litLens--
	}
	for h.offsets > 1 && l.offset[h.offsets-1] == 0 {
		h.offsets--
	}
	h.runs = appendRuns(h.runs[:0], l.litLen[:h.litLens])
	h.runs = appendRuns(h.runs, l.offset[:h.offsets])

	costs := firstCosts
	h.bits = 0
	for range 3 {
		var counts [lengthSymbols]uint32
		h.other = h.other[:0]
		for _, r := range h.runs {
			h.other = appendRun(h.other, r, &costs)
		}
		for _, s := range h.other {
			counts[s.symbol]++
		}
		var code [lengthSymbols]uint8
		b.Lengths(code[:], counts[:], lengthBits)
		atLeastTwo(code[:])
		codes := lengthSymbols
		for codes > 4 && code[lengthOrder[codes-1]] == 0 {
			codes--
		}
		bits := 5 + 5 + 4 + 3*codes
		for i, c := range counts {
			bits += int(c) * int(code[i])
		}
		for i, extra := range repeatExtra {
			bits += int(counts[repeatLast+i]) * int(extra)
		}
		if h.bits != 0 && bits >= h.bits {
			break
		}
		h.bits, h.code, h.codes = bits, code, codes
		h.symbols, h.other = h.other, h.symbols
		for i, n := range code {
			if costs[i] = int(n); n == 0 {
				costs[i] = lengthBits
			}
		}
	}
}

// firstCosts are what symbols cost before there is a code: about what they do in blocks of text.
var firstCosts = [lengthSymbols]int{4, 6, 6, 5, 4, 4, 3, 3, 3, 3, 4, 4, 5, 5, 5, 6, 4, 5, 5}

// appendRuns appends the runs of lens. The last one may go on in what is appended next, as those of literals may in those of offsets.
func appendRuns(runs []run, lens []uint8) []run {
	for i := 0; i < len(lens); {
		l, from := lens[i], i
		for i++; i < len(lens) && lens[i] == l; i++ {
		}
		if n := len(runs); n > 0 && runs[n-1].length == l {
			runs[n-1].count += uint16(i - from)
		} else {
			runs = append(runs, run{l, uint16(i - from)})
		}
	}
	return runs
}

// appendRun describes a run in the way that is best if symbols cost that many bits.
func appendRun(dst []lengthSymbol, r run, costs *[lengthSymbols]int) []lengthSymbol {
	one, n := costs[r.length], int(r.count)
	if r.length != 0 {
		dst = append(dst, lengthSymbol{symbol: r.length})
		times := cheapest(n-1, one, costs[repeatLast]+2, 3, 6)
		return appendRepeats(dst, r.length, repeatLast, n-1, times, 3, 6)
	}
	// Long runs are 138 zeros each, unless the symbol for those is so dear that shorter ones take less.
	for n >= 11 {
		part := min(n, 138)
		few := cheapest(part, one, costs[repeatZero]+3, 3, 10)
		if repeatsCost(part, few, one, costs[repeatZero]+3, 10) <= costs[repeatZeros]+7 {
			break
		}
		dst = append(dst, lengthSymbol{repeatZeros, uint8(part - 11)})
		n -= part
	}
	times := cheapest(n, one, costs[repeatZero]+3, 3, 10)
	return appendRepeats(dst, 0, repeatZero, n, times, 3, 10)
}

// repeatsCost is what n equal lengths take if times symbols stand for up to most of them each and the rest for themselves.
func repeatsCost(n, times, one, repeat, most int) int {
	return times*repeat + max(0, n-times*most)*one
}

// cheapest says how many symbols that stand for least to most equal lengths are best for n of them.
func cheapest(n, one, repeat, least, most int) (times int) {
	best := n * one
	for t := 1; t*least <= n && (t-1)*most < n; t++ {
		if c := repeatsCost(n, t, one, repeat, most); c < best {
			best, times = c, t
		}
	}
	return times
}

// appendRepeats describes n equal lengths with so many symbols that stand for least to most of them each, the rest one by one.
func appendRepeats(dst []lengthSymbol, length, symbol uint8, n, times, least, most int) []lengthSymbol {
	for ; times > 0; times-- {
		part := min(most, n-(times-1)*least)
		dst = append(dst, lengthSymbol{symbol, uint8(part - least)})
		n -= part
	}
	for range n {
		dst = append(dst, lengthSymbol{symbol: length})
	}
	return dst
}

// write writes the description.
func (h *header) write(w *writer) {
	var codes [lengthSymbols]huffman.Code
	huffman.AssignDeflate(codes[:], h.code[:])
	w.Put(uint64(h.litLens-firstLength)|uint64(h.offsets-1)<<5|uint64(h.codes-4)<<10, 14)
	for _, s := range lengthOrder[:h.codes] {
		w.Put(uint64(h.code[s]), 3)
	}
	for _, s := range h.symbols {
		c := codes[s.symbol]
		n := c.Len()
		v := c.Bits()
		if s.symbol >= repeatLast {
			v |= uint64(s.extra) << n
			n += uint(repeatExtra[s.symbol-repeatLast])
		}
		w.Put(v, n)
	}
}
