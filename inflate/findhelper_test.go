package inflate

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// findSlowly is FindBlock by the rules that its comment states.
func findSlowly(src []byte, from, to int64) int64 {
	for bit := max(from, 0); bit < min(to, 8*int64(len(src))); bit++ {
		at := int(bit >> 3)
		if bit&7 == 0 && bytes.HasSuffix(src[:at], []byte{0, 0, 255, 255}) ||
			src[at]>>(bit&7)&1 == 0 && isDynamic(src, bit) {
			return bit
		}
	}
	return -1
}

// isDynamic reports whether there is the header of a dynamic block that FindBlock should find. A
// Decoder reads it. That accepts a few codes that FindBlock does not.
func isDynamic(src []byte, bit int64) bool {
	var d Decoder
	in := input{src: src[bit>>3+1:], bits: uint64(src[bit>>3] >> (bit & 7)), count: uint(8 - bit&7)}
	for d.phase != phaseSymbol {
		if d.phase == phaseSizes || d.phase == phaseFailed || d.blockHeader(&in) {
			return false
		}
	}
	h := &d.header
	if d.final || d.static || space(h.precodeLengths[:]) != 1<<maxBits {
		return false
	}
	literals, offsets := h.lengths[:h.literals], h.lengths[h.literals:h.literals+h.offsets]
	if space(literals) != 1<<maxBits || literals[endOfBlock] == 0 {
		return false
	}
	used := slices.DeleteFunc(slices.Clone(offsets), func(n uint8) bool { return n == 0 })
	return len(used) == 0 || len(used) == 1 && used[0] == 1 || space(offsets) == 1<<maxBits
}

// space returns the space that codewords take, in units of the smallest.
func space(lengths []uint8) (sum int) {
	for _, n := range lengths {
		if n > 0 {
			sum += 1 << maxBits >> n
		}
	}
	return sum
}

// seenBlock is a block that a Decoder reads.
type seenBlock struct {
	bit           int64
	dynamic       bool // and not the last one
	emptyNotFinal bool // a stored block
	next          int64
}

// blocksOf returns the blocks of a stream.
func blocksOf(t testing.TB, src []byte) (list []seenBlock) {
	t.Helper()
	d, in := Decoder{}, input{src: src}
	dst := make([]byte, WindowSize+128<<10)
	o, wait := 0, false
	place := func() int64 { return 8*int64(in.at) - int64(in.count) }
	for d.phase != phaseEnd {
		switch d.phase {
		case phaseBlock:
			b := seenBlock{bit: place()}
			wait = d.blockHeader(&in)
			b.dynamic = d.phase == phaseCounts && !d.final
			if d.phase == phaseSizes && !d.final {
				wait = wait || d.blockHeader(&in)
				b.emptyNotFinal = d.length == 0
				b.next = place()
			}
			list = append(list, b)
		case phaseSymbol, phaseOffset, phaseMatch, phaseStored:
			if o == len(dst) {
				o = copy(dst, dst[o-WindowSize:])
			}
			if d.phase == phaseStored {
				o, wait = stored(&d, &in, dst, o)
			} else {
				o, wait = symbols(&d, &in, dst, o)
			}
			wait = wait && o < len(dst)
		case phaseFailed:
			t.Fatal(d.err)
		default:
			wait = d.blockHeader(&in)
		}
		if wait {
			t.Fatal("the stream is incomplete")
		}
	}
	return list
}

// randomCode returns codeword lengths of n symbols, of which used, at least 2, have a codeword.
func randomCode(r *rand.Rand, n, used, longest int) []int {
	leaves := []int{1, 1}
	for len(leaves) < used {
		i := r.IntN(len(leaves))
		if leaves[i] == longest {
			continue
		}
		leaves[i]++
		leaves = append(leaves, leaves[i])
	}
	code := make([]int, n)
	for i, symbol := range r.Perm(n)[:used] {
		code[symbol] = leaves[i]
	}
	return code
}

// randomHeader appends the header of a dynamic block that is not the last one. Its codes are
// complete, except that there may be no offset or one.
func randomHeader(r *rand.Rand, w *bitWriter) *bitWriter {
	n := 257 + r.IntN(30)
	literals := randomCode(r, n, 2+r.IntN(1+r.IntN(n-1)), maxBits)
	if literals[endOfBlock] == 0 {
		i := slices.IndexFunc(literals, func(n int) bool { return n > 0 })
		literals[i], literals[endOfBlock] = 0, literals[i]
	}
	n = 1 + r.IntN(30)
	offsets := make([]int, n)
	switch used := r.IntN(n + 1); used {
	case 0:
	case 1:
		offsets[r.IntN(n)] = 1
	default:
		offsets = randomCode(r, n, used, maxBits)
	}
	tokens := randomTokens(r, append(literals[:len(literals):len(literals)], offsets...))
	seen := make([]bool, precodeSymbols)
	for _, k := range tokens {
		seen[k.symbol] = true
	}
	used := 0
	for i := range seen {
		seen[i] = seen[i] || r.IntN(4) == 0 || i < 2
		if seen[i] {
			used++
		}
	}
	leaves, code := randomCode(r, used, used, precodeBits), make([]int, precodeSymbols)
	for i := range seen {
		if seen[i] {
			code[i], leaves = leaves[0], leaves[1:]
		}
	}
	return writeHeader(w, len(literals), len(offsets), code, tokens)
}

// token is a symbol of the precode.
type token struct{ symbol, extra, bits int }

// randomTokens codes lengths, with repeats or without them.
func randomTokens(r *rand.Rand, lengths []int) (tokens []token) {
	for i := 0; i < len(lengths); {
		run := 1
		for i+run < len(lengths) && lengths[i+run] == lengths[i] {
			run++
		}
		if r.IntN(4) > 0 {
			run = 1 + r.IntN(run)
		}
		switch {
		case lengths[i] == 0 && run >= 11 && r.IntN(3) > 0:
			run = min(run, 138)
			tokens = append(tokens, token{18, run - 11, 7})
		case lengths[i] == 0 && run >= 3 && r.IntN(3) > 0:
			run = min(run, 10)
			tokens = append(tokens, token{17, run - 3, 3})
		case i > 0 && lengths[i] == lengths[i-1] && run >= 3 && r.IntN(3) > 0:
			run = min(run, 6)
			tokens = append(tokens, token{16, run - 3, 2})
		default:
			run = 1
			tokens = append(tokens, token{lengths[i], 0, 0})
		}
		i += run
	}
	return tokens
}

// writeHeader appends the header of a dynamic block that is not the last one.
func writeHeader(w *bitWriter, literals, offsets int, code []int, tokens []token) *bitWriter {
	precodes := precodeSymbols
	for precodes > 4 && code[precodeOrder[precodes-1]] == 0 {
		precodes--
	}
	w.bits(0, 1).bits(2, 2).bits(literals-257, 5).bits(offsets-1, 5).bits(precodes-4, 4)
	for _, symbol := range precodeOrder[:precodes] {
		w.bits(code[symbol], 3)
	}
	words, word := make([]int, len(code)), 0
	for n := 1; n <= precodeBits; n++ {
		for i := range code {
			if code[i] == n {
				words[i] = word
				word++
			}
		}
		word <<= 1
	}
	for _, k := range tokens {
		w.word(words[k.symbol], code[k.symbol]).bits(k.extra, k.bits)
	}
	return w
}
