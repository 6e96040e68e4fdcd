package inflate

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/deflatetest"
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
	stored        bool // and not the last one
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
			if b.stored = d.phase == phaseSizes && !d.final; b.stored {
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

// randomHeader appends the header of a dynamic block that is not the last one. Its codes are
// complete, except that there may be no offset or one.
func randomHeader(r *rand.Rand, w *deflatetest.BitWriter) *deflatetest.BitWriter {
	b := randomDynamic(r)
	w.Bits(0, 1).Bits(b.Kind, 2)
	w.DynamicHeader(r, &b)
	return w
}

// randomDynamic returns a dynamic block without content, with codes as randomHeader has them.
func randomDynamic(r *rand.Rand) deflatetest.Block {
	n := 257 + r.IntN(30)
	literals := randomSymbols(r, n, r.IntN(1+r.IntN(n)))
	literals[r.IntN(endOfBlock)], literals[endOfBlock] = true, true
	n = 1 + r.IntN(30)
	offsets := randomSymbols(r, n, r.IntN(n+1))
	return deflatetest.Block{
		Kind: 2, Literals: deflatetest.RandomLengths(r, literals, maxBits),
		Offsets: deflatetest.RandomLengths(r, offsets, maxBits),
	}
}

// randomSymbols chooses some of n symbols.
func randomSymbols(r *rand.Rand, n, some int) []bool {
	used := make([]bool, n)
	for _, i := range r.Perm(n)[:some] {
		used[i] = true
	}
	return used
}
