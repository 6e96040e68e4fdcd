package deflate

import "github.com/gopz/compress/internal/codec/huffman"

// A block with dynamic codes begins with their lengths, which are coded themselves (RFC 1951,
// section 3.2.7). The symbols of that code are the lengths 0 to 15 and three for runs:
const (
	repeatPrevious  = 16 // the previous length 3 to 6 times; 2 extra bits
	repeatZeros     = 17 // length 0, 3 to 10 times; 3 extra bits
	repeatManyZeros = 18 // length 0, 11 to 138 times; 7 extra bits

	lengthSymbols = 19
	lengthBits    = 7 // maximum length of a code of lengths
)

// repeatExtra is the number of extra bits of symbols 16, 17 and 18.
var repeatExtra = [3]uint8{2, 3, 7}

// lengthOrder is the order of the code's own lengths in the header.
var lengthOrder = [lengthSymbols]uint8{
	16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
}

// header describes the codes of a block.
type header struct {
	litLens, offsets int // number of lengths of each kind
	runs             []run
	symbols          []lengthSymbol
	next             []lengthSymbol // scratch for the next attempt
	code             [lengthSymbols]uint8
	codeLens         int // number of lengths of the code of lengths in the header
	bits             int // size without the three bits that begin every block
}

// run is a run of equal lengths.
type run struct {
	length uint8
	count  uint16
}

// lengthSymbol is a symbol of the code of lengths and the value of its extra bits.
type lengthSymbol struct{ symbol, extra uint8 }

// plan chooses a description of l. The best split of a run depends on the code of lengths, and that
// code on how runs are split. So plan iterates, at most three times, while the description becomes
// shorter.
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

	costs := initialCosts
	h.bits = 0
	for range 3 {
		var counts [lengthSymbols]uint32
		h.next = h.next[:0]
		for _, r := range h.runs {
			h.next = appendRun(h.next, r, &costs)
		}
		for _, s := range h.next {
			counts[s.symbol]++
		}
		var code [lengthSymbols]uint8
		b.Lengths(code[:], counts[:], lengthBits)
		ensureTwoCodes(code[:])
		codes := lengthSymbols
		for codes > 4 && code[lengthOrder[codes-1]] == 0 {
			codes--
		}
		bits := 5 + 5 + 4 + 3*codes
		for i, c := range counts {
			bits += int(c) * int(code[i])
		}
		for i, extra := range repeatExtra {
			bits += int(counts[repeatPrevious+i]) * int(extra)
		}
		if h.bits != 0 && bits >= h.bits {
			break
		}
		h.bits, h.code, h.codeLens = bits, code, codes
		h.symbols, h.next = h.next, h.symbols
		for i, n := range code {
			costs[i] = int(n)
			if n == 0 {
				costs[i] = lengthBits
			}
		}
	}
}

// initialCosts are the assumed lengths of the code of lengths in the first iteration, in bits. They
// are typical of text.
var initialCosts = [lengthSymbols]int{4, 6, 6, 5, 4, 4, 3, 3, 3, 3, 4, 4, 5, 5, 5, 6, 4, 5, 5}

// appendRuns appends the runs of lens. A run may continue from the literal and length codes to the
// offset codes.
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

// appendRun appends the cheapest description of r if the symbols cost that many bits.
func appendRun(dst []lengthSymbol, r run, costs *[lengthSymbols]int) []lengthSymbol {
	one, n := costs[r.length], int(r.count)
	if r.length != 0 {
		dst = append(dst, lengthSymbol{symbol: r.length})
		times := bestRepeats(n-1, one, costs[repeatPrevious]+2, 3, 6)
		return appendRepeats(dst, r.length, repeatPrevious, n-1, times, 3, 6)
	}
	// Long runs take 138 zeros a symbol, unless that symbol is so expensive that shorter runs take
	// less.
	for n >= 11 {
		part := min(n, 138)
		repeats := bestRepeats(part, one, costs[repeatZeros]+3, 3, 10)
		if repeatsCost(part, repeats, one, costs[repeatZeros]+3, 10) <= costs[repeatManyZeros]+7 {
			break
		}
		dst = append(dst, lengthSymbol{repeatManyZeros, uint8(part - 11)})
		n -= part
	}
	times := bestRepeats(n, one, costs[repeatZeros]+3, 3, 10)
	return appendRepeats(dst, 0, repeatZeros, n, times, 3, 10)
}

// repeatsCost returns the cost of n equal lengths if times symbols stand for up to longest of them
// each, and the rest for one each.
func repeatsCost(n, times, one, repeat, longest int) int {
	return times*repeat + max(0, n-times*longest)*one
}

// bestRepeats returns the number of symbols, each for shortest to longest equal lengths, that is
// cheapest for n of them.
func bestRepeats(n, one, repeat, shortest, longest int) (times int) {
	best := n * one
	for t := 1; t*shortest <= n && (t-1)*longest < n; t++ {
		if c := repeatsCost(n, t, one, repeat, longest); c < best {
			best, times = c, t
		}
	}
	return times
}

// appendRepeats describes n equal lengths by times symbols for shortest to longest of them each;
// the rest stand for one each.
func appendRepeats(
	dst []lengthSymbol, length, symbol uint8, n, times, shortest, longest int,
) []lengthSymbol {
	for ; times > 0; times-- {
		part := min(longest, n-(times-1)*shortest)
		dst = append(dst, lengthSymbol{symbol, uint8(part - shortest)})
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
	w.Put(uint64(h.litLens-firstLength)|uint64(h.offsets-1)<<5|uint64(h.codeLens-4)<<10, 14)
	for _, s := range lengthOrder[:h.codeLens] {
		w.Put(uint64(h.code[s]), 3)
	}
	for _, s := range h.symbols {
		c := codes[s.symbol]
		n := c.Len()
		v := c.Bits()
		if s.symbol >= repeatPrevious {
			v |= uint64(s.extra) << n
			n += uint(repeatExtra[s.symbol-repeatPrevious])
		}
		w.Put(v, n)
	}
}
