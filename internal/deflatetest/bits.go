package deflatetest

const (
	maxBits     = 15 // longest codeword
	precodeBits = 7  // likewise, of the precode

	precodeSymbols = 19
	literalSymbols = 288
	offsetSymbols  = 32
	endOfBlock     = 256

	maxLiterals = 286 // symbols that are not reserved
	maxOffsets  = 30

	windowSize = 32 << 10
)

// precodeOrder is the order in which a header has the lengths of the precode.
var precodeOrder = [precodeSymbols]uint8{
	16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
}

// A code says what a symbol stands for: base and the value of its extra bits.
type code struct{ base, extra int }

// lengthCodes and offsetCodes have an entry for each symbol. Reserved ones have no extra bits.
var lengthCodes, offsetCodes = func() (lengths [literalSymbols]code, offsets [offsetSymbols]code) {
	base := 3
	for i := range 28 {
		extra := max(i>>2, 1) - 1
		lengths[endOfBlock+1+i] = code{base, extra}
		base += 1 << extra
	}
	lengths[285] = code{258, 0}
	base = 1
	for i := range maxOffsets {
		extra := max(i>>1, 1) - 1
		offsets[i] = code{base, extra}
		base += 1 << extra
	}
	return lengths, offsets
}()

// A BitWriter makes streams by hand.
type BitWriter struct {
	P []byte
	N int // bits of P
}

// Bits appends n bits of v, the lowest first.
func (w *BitWriter) Bits(v, n int) *BitWriter {
	for i := range n {
		if w.N%8 == 0 {
			w.P = append(w.P, 0)
		}
		w.P[w.N/8] |= byte(v>>i&1) << (w.N % 8)
		w.N++
	}
	return w
}

// Word appends a codeword of n bits, the highest first.
func (w *BitWriter) Word(v, n int) *BitWriter {
	for i := n - 1; i >= 0; i-- {
		w.Bits(v>>i&1, 1)
	}
	return w
}

// repeated returns n codeword lengths.
func repeated(n, length int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = length
	}
	return l
}
