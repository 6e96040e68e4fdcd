// Package deflatetest takes Deflate streams (RFC 1951) apart, changes their blocks and puts them
// together again. So changes reach the decoder of blocks. Only tests import it.
package deflatetest

import (
	"errors"
	"math/rand/v2"
)

// A Block is a block of a stream, taken apart.
type Block struct {
	Kind    int    // BTYPE
	Stored  []byte // of kind 0
	Padding int    // of kind 0: the bits before LEN
	BadSize bool   // of kind 0: NLEN is wrong

	Literals, Offsets []int // of kind 2: lengths of codewords
	Tamper            Tampering
	Tokens            []Token
	Endless           bool // the end of the block is missing
}

// A Token is a literal, or a match by its symbols and extra bits.
type Token struct{ Symbol, Extra, Offset, OffsetExtra int }

// A Tampering is how DynamicHeader spoils a header.
type Tampering int

const (
	noTampering Tampering = iota
	precodeLonger
	precodeShorter
	precodeCut
	repeatNothing
	repeatBeyond
	lengthMissing
	tamperings
)

var errTakeApart = errors.New("the stream is no good example")

// TakeApart parses the stream at the front of src without tables, bit by bit, as simply as
// possible. It returns the size of the stream in bytes too.
func TakeApart(src []byte) (list []Block, size int, err error) {
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
		b := Block{Kind: bits(2)}
		if b.Kind == 0 {
			b.Padding = bits(-at & 7)
			n := bits(16)
			bits(16)
			b.Stored = src[at/8 : at/8+n]
			at += 8 * n
			list = append(list, b)
			continue
		}
		b.Literals, b.Offsets = staticLengths[:literalSymbols], staticLengths[literalSymbols:]
		if b.Kind == 2 {
			b.Literals, b.Offsets = readLengths(bits, symbol)
		}
		for {
			t := Token{Symbol: symbol(b.Literals)}
			if t.Symbol == endOfBlock {
				break
			}
			if t.Symbol > endOfBlock {
				t.Extra = bits(lengthCodes[t.Symbol].extra)
				t.Offset = symbol(b.Offsets)
				t.OffsetExtra = bits(offsetCodes[t.Offset].extra)
			}
			b.Tokens = append(b.Tokens, t)
		}
		list = append(list, b)
	}
	return list, (at + 7) / 8, nil
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

// staticLengths are the lengths of the static codes.
var staticLengths = func() (l []int) {
	for _, run := range [][2]int{{144, 8}, {112, 9}, {24, 7}, {8, 8}, {offsetSymbols, 5}} {
		l = append(l, repeated(run[0], run[1])...)
	}
	return l
}()

// PutTogether writes a stream. It chooses at random where the format leaves a choice.
func PutTogether(r *rand.Rand, list []Block) []byte {
	w := new(BitWriter)
	for i, b := range list {
		if i == len(list)-1 {
			w.Bits(1, 1)
		} else {
			w.Bits(0, 1)
		}
		w.Bits(b.Kind, 2)
		if b.Kind == 0 {
			w.Bits(b.Padding, -w.N&7).Bits(len(b.Stored), 16)
			if b.BadSize {
				w.Bits(^len(b.Stored)^1<<r.IntN(16), 16)
			} else {
				w.Bits(^len(b.Stored), 16)
			}
			w.P = append(w.P, b.Stored...)
			w.N = 8 * len(w.P)
			continue
		}
		literals, offsets := staticLengths[:literalSymbols], staticLengths[literalSymbols:]
		if b.Kind == 2 {
			literals, offsets = b.Literals, b.Offsets
			w.DynamicHeader(r, &b)
		}
		w.tokens(b.Tokens, literals, offsets, b.Endless)
	}
	return w.P
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

func (w *BitWriter) tokens(list []Token, literals, offsets []int, endless bool) {
	words, offsetWords := codewords(literals), codewords(offsets)
	put := func(symbol int, words, lengths []int) {
		if symbol < len(lengths) {
			w.Word(words[symbol], lengths[symbol])
		}
	}
	for _, t := range list {
		put(t.Symbol, words, literals)
		if t.Symbol > endOfBlock {
			w.Bits(t.Extra, lengthCodes[t.Symbol].extra)
			put(t.Offset, offsetWords, offsets)
			w.Bits(t.OffsetExtra, offsetCodes[t.Offset].extra)
		}
	}
	if !endless {
		put(endOfBlock, words, literals)
	}
}

// DynamicHeader writes the lengths of both codes. How many of them it repeats, and the precode, are
// random.
func (w *BitWriter) DynamicHeader(r *rand.Rand, b *Block) {
	w.Bits(len(b.Literals)-257, 5).Bits(len(b.Offsets)-1, 5)
	symbols, extras := lengthSymbols(r, append(b.Literals[:len(b.Literals):len(b.Literals)], b.Offsets...))
	switch b.Tamper {
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
	precode := RandomLengths(r, used, precodeBits)
	at := r.IntN(precodeSymbols)
	switch {
	case b.Tamper == precodeLonger && precode[at] < 7:
		precode[at]++
	case b.Tamper == precodeShorter && precode[at] > 0:
		precode[at]--
	}
	n := precodeSymbols
	for least := max(4, r.IntN(precodeSymbols)); n > least && precode[precodeOrder[n-1]] == 0; {
		n--
	}
	if b.Tamper == precodeCut {
		n = max(4, n-1-r.IntN(3))
	}
	w.Bits(n-4, 4)
	for _, s := range precodeOrder[:n] {
		w.Bits(precode[s], 3)
	}
	words := codewords(precode)
	for i, s := range symbols {
		w.Word(words[s], precode[s])
		if s >= 16 {
			w.Bits(extras[i], [...]int{2, 3, 7}[s-16])
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

// RandomLengths returns a code for the symbols that are used. It is complete if there are at least
// two, else its only codeword has one bit.
func RandomLengths(r *rand.Rand, used []bool, most int) []int {
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
