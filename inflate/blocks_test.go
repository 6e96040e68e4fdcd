package inflate

import (
	"errors"
	"math/rand/v2"
)

// A block is a block of a stream, taken apart.
type block struct {
	kind    int    // BTYPE
	stored  []byte // of kind 0
	padding int    // of kind 0: the bits before LEN
	badSize bool   // of kind 0: NLEN is wrong

	literals, offsets []int // of kind 2: lengths of codewords
	tamper            tampering
	tokens            []blockToken
	endless           bool // the end of the block is missing
}

// A blockToken is a literal, or a match by its symbols and extra bits.
type blockToken struct{ symbol, extra, offset, offsetExtra int }

// A tampering is how writeLengths spoils a header.
type tampering int

const (
	noTampering tampering = iota
	precodeLonger
	precodeShorter
	precodeCut
	repeatNothing
	repeatBeyond
	lengthMissing
	tamperings
)

var errTakeApart = errors.New("the stream is no good example")

// takeApart parses a stream without tables, bit by bit, as simply as possible.
func takeApart(src []byte) (list []block, err error) {
	defer func() {
		if recover() != nil { // the stream ends too early
			err = errTakeApart
		}
	}()
	at := 0
	bits := func(n int) (v int) {
		for i := range n {
			v |= int(src[at/8]>>(at%8)&1) << i
			at++
		}
		return v
	}
	symbol := func(lengths []int) int {
		word, first := 0, 0
		for n := 1; n <= maxBits; n++ {
			word = word<<1 | bits(1)
			count := 0
			for s, l := range lengths {
				if l != n {
					continue
				}
				if word-first == count {
					return s
				}
				count++
			}
			first = (first + count) << 1
		}
		panic(errTakeApart)
	}
	for final := 0; final == 0; {
		final = bits(1)
		b := block{kind: bits(2)}
		if b.kind == 0 {
			b.padding = bits(-at & 7)
			n := bits(16)
			bits(16)
			b.stored = src[at/8 : at/8+n]
			at += 8 * n
			list = append(list, b)
			continue
		}
		b.literals, b.offsets = staticLengths[:literalSymbols], staticLengths[literalSymbols:]
		if b.kind == 2 {
			b.literals, b.offsets = readLengths(bits, symbol)
		}
		for {
			t := blockToken{symbol: symbol(b.literals)}
			if t.symbol == endOfBlock {
				break
			}
			if t.symbol > endOfBlock {
				t.extra = bits(extraBits(entries().literals[t.symbol]))
				t.offset = symbol(b.offsets)
				t.offsetExtra = bits(extraBits(entries().offsets[t.offset]))
			}
			b.tokens = append(b.tokens, t)
		}
		list = append(list, b)
	}
	return list, nil
}

// readLengths reads the lengths of both codes. bits reads a number, symbol a symbol of a code.
func readLengths(bits func(n int) int, symbol func(lengths []int) int) (literals, offsets []int) {
	n, m := 257+bits(5), 1+bits(5)
	precode := make([]int, precodeSymbols)
	for _, i := range precodeOrder[:4+bits(4)] {
		precode[i] = bits(3)
	}
	l := make([]int, 0, n+m)
	for len(l) < n+m {
		switch s := symbol(precode); s {
		default:
			l = append(l, s)
		case 16:
			l = append(l, repeated(3+bits(2), l[len(l)-1])...)
		case 17:
			l = append(l, make([]int, 3+bits(3))...)
		case 18:
			l = append(l, make([]int, 11+bits(7))...)
		}
	}
	return l[:n:n], l[n:]
}

func extraBits(entry uint32) int { return int(entry & 63) }

// staticLengths are the lengths of the static codes.
var staticLengths = func() (l []int) {
	for _, run := range [][2]int{{144, 8}, {112, 9}, {24, 7}, {8, 8}, {offsetSymbols, 5}} {
		l = append(l, repeated(run[0], run[1])...)
	}
	return l
}()

// putTogether writes a stream. It chooses at random where the format leaves a choice.
func putTogether(r *rand.Rand, list []block) []byte {
	w := new(bitWriter)
	for i, b := range list {
		if i == len(list)-1 {
			w.bits(1, 1)
		} else {
			w.bits(0, 1)
		}
		w.bits(b.kind, 2)
		if b.kind == 0 {
			w.bits(b.padding, -w.n&7).bits(len(b.stored), 16)
			if b.badSize {
				w.bits(^len(b.stored)^1<<r.IntN(16), 16)
			} else {
				w.bits(^len(b.stored), 16)
			}
			w.p = append(w.p, b.stored...)
			w.n = 8 * len(w.p)
			continue
		}
		literals, offsets := staticLengths[:literalSymbols], staticLengths[literalSymbols:]
		if b.kind == 2 {
			literals, offsets = b.literals, b.offsets
			w.dynamicHeader(r, &b)
		}
		w.tokens(b.tokens, literals, offsets, b.endless)
	}
	return w.p
}

// codewords returns the codewords of a code.
func codewords(lengths []int) []int {
	words := make([]int, len(lengths))
	next := 0
	for n := 1; n <= maxBits; n++ {
		for s, l := range lengths {
			if l == n {
				words[s] = next
				next++
			}
		}
		next <<= 1
	}
	return words
}

func (w *bitWriter) tokens(list []blockToken, literals, offsets []int, endless bool) {
	words, offsetWords := codewords(literals), codewords(offsets)
	put := func(symbol int, words, lengths []int) {
		if symbol < len(lengths) {
			w.word(words[symbol], lengths[symbol])
		}
	}
	for _, t := range list {
		put(t.symbol, words, literals)
		if t.symbol > endOfBlock {
			w.bits(t.extra, extraBits(entries().literals[t.symbol]))
			put(t.offset, offsetWords, offsets)
			w.bits(t.offsetExtra, extraBits(entries().offsets[t.offset]))
		}
	}
	if !endless {
		put(endOfBlock, words, literals)
	}
}

// dynamicHeader writes the lengths of both codes. How many of them it repeats, and the precode, are
// random.
func (w *bitWriter) dynamicHeader(r *rand.Rand, b *block) {
	w.bits(len(b.literals)-257, 5).bits(len(b.offsets)-1, 5)
	symbols, extras := lengthSymbols(r, append(b.literals[:len(b.literals):len(b.literals)], b.offsets...))
	switch b.tamper {
	case repeatNothing:
		symbols[0], extras[0] = 16, r.IntN(4)
	case repeatBeyond:
		last := len(symbols) - 1
		symbols[last], extras[last] = 18, 127
	case lengthMissing:
		at := r.IntN(len(symbols))
		symbols = append(symbols[:at:at], symbols[at+1:]...)
		extras = append(extras[:at:at], extras[at+1:]...)
	}
	used := make([]bool, precodeSymbols)
	used[r.IntN(precodeSymbols)] = true
	for _, s := range symbols {
		used[s] = true
	}
	precode := randomLengths(r, used, precodeBits)
	at := r.IntN(precodeSymbols)
	switch {
	case b.tamper == precodeLonger && precode[at] < 7:
		precode[at]++
	case b.tamper == precodeShorter && precode[at] > 0:
		precode[at]--
	}
	n := precodeSymbols
	for least := max(4, r.IntN(precodeSymbols)); n > least && precode[precodeOrder[n-1]] == 0; {
		n--
	}
	if b.tamper == precodeCut {
		n = max(4, n-1-r.IntN(3))
	}
	w.bits(n-4, 4)
	for _, s := range precodeOrder[:n] {
		w.bits(precode[s], 3)
	}
	words := codewords(precode)
	for i, s := range symbols {
		w.word(words[s], precode[s])
		if s >= 16 {
			w.bits(extras[i], [...]int{2, 3, 7}[s-16])
		}
	}
}

// lengthSymbols returns the symbols for lengths in a header, and their extra bits.
func lengthSymbols(r *rand.Rand, lengths []int) (symbols, extras []int) {
	eager := 1 + r.IntN(4)
	for i := 0; i < len(lengths); {
		run := 1
		for i+run < len(lengths) && lengths[i+run] == lengths[i] {
			run++
		}
		symbol, least, most := 17, 3, 10
		if run > 10 {
			symbol, least, most = 18, 11, 138
		}
		if lengths[i] > 0 || i > 0 && lengths[i-1] == 0 && r.IntN(8) == 0 {
			symbol, least, most = 16, 3, 6
		}
		if run < least || symbol == 16 && (i == 0 || lengths[i] != lengths[i-1]) || r.IntN(eager) == 3 {
			symbols, extras = append(symbols, lengths[i]), append(extras, 0)
			i++
			continue
		}
		n := least + r.IntN(min(run, most)-least+1)
		if r.IntN(2) == 0 {
			n = min(run, most)
		}
		symbols, extras = append(symbols, symbol), append(extras, n-least)
		i += n
	}
	return symbols, extras
}

// randomLengths returns a code for the symbols that are used. It is complete if there are at least
// two, else its only codeword has one bit.
func randomLengths(r *rand.Rand, used []bool, most int) []int {
	n := 0
	for _, u := range used {
		if u {
			n++
		}
	}
	lengths := make([]int, len(used))
	if n == 0 {
		return lengths
	}
	leaves := []int{0}
	if n == 1 {
		leaves[0] = 1
	}
	deep := r.IntN(3)
	for len(leaves) < n {
		at := r.IntN(len(leaves))
		if deep > 0 && r.IntN(4*deep) > 0 {
			at = len(leaves) - 1
		}
		if leaves[at] < most {
			leaves[at]++
			leaves = append(leaves, leaves[at])
		}
	}
	r.Shuffle(n, func(i, k int) { leaves[i], leaves[k] = leaves[k], leaves[i] })
	for s, u := range used {
		if u {
			lengths[s], leaves = leaves[0], leaves[1:]
		}
	}
	return lengths
}
