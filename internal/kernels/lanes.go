package kernels

import "math/bits"

// The files lanes*.go run range asymmetric numeral systems (rANS; Duda 2013, arXiv:1311.2540) over
// 32 interleaved lanes. Frequencies are static and sum to 2¹¹. States are 32-bit numbers in [2¹⁵,
// 2³¹), renormalised by 16-bit words. Symbol i of a run belongs to lane i mod 32. All lanes share
// one stream of words: in a round of 32 symbols the lanes take their words in lane order.
//
// Decoding a symbol: slot = x mod 2¹¹ indexes the table, which gives symbol, frequency and the
// number of the slot among the symbol's own; x = frequency·⌊x/2¹¹⌋ + number. If x < 2¹⁵ the lane
// takes a word: x = x·2¹⁶ + word. Whether it does is as good as random, so no kernel branches on
// it.
//
// Encoding runs backwards, from the last symbol to the first, and writes words downwards. It
// divides by multiplication with a reciprocal.
//
// Data layout: a vector has the states of 8 (AVX2) or 16 (AVX-512) neighbouring lanes. Kernels load
// table entries one by one through general registers: gathers are 3% to 10% slower on Zen 5, and
// far slower where microcode executes them. A shuffle hands the next words to the lanes that need
// one. Two groups in step keep the processor busy, where one waits for its own loads. The caller
// chooses tables and words and detects errors.

const (
	// Lanes is the number of lanes of a lane group.
	Lanes = 32

	// ProbBits is the logarithm of the sum of frequencies. With 11, symbol, frequency and number of
	// the slot fit an entry of 32 bits.
	ProbBits = 11
	slots    = 1 << ProbBits

	// StateMin is the least state. A lane below it takes a word, and is then below 2³¹.
	StateMin = 1 << 15

	// RoundBytes is the most bytes of words that a round of 32 symbols takes.
	RoundBytes = 2 * Lanes

	// WordSlack is how many bytes behind the words of a round a decoder may read. DecodeLanes and
	// DecodeCtx begin no round with fewer than RoundBytes + WordSlack bytes of words.
	WordSlack = 8
)

// DecodeTable has an entry for each of 2,048 slots: the symbol in bits 0–7, its frequency in bits
// 8–18, and from bit 19 the number of the slot among the symbol's own.
type DecodeTable [slots]uint32

const (
	freqShift = 8
	slotShift = freqShift + ProbBits
)

// Build makes the table for the given frequencies. Each must be below 2048, and their sum must be
// 2048.
//
// The kernel writes eight entries a step, beyond the end of a symbol's own. The entries of the next
// symbol overwrite the excess. The kernel leaves the last symbols to the twin, where a step may
// have no room.
func (t *DecodeTable) Build(freqs *[256]uint16) {
	done, first := buildDecodeTableKernel(t, freqs)
	t.build(freqs, done, first)
}

// build is the portable twin of the kernel. It writes the entries of the symbols from first on,
// beginning with entry done.
func (t *DecodeTable) build(freqs *[256]uint16, done, first int) {
	rest := t[done:]
	for sym := first; sym < len(freqs); sym++ {
		n := freqs[sym]
		if n == 0 {
			continue
		}
		e := uint32(sym) | uint32(n)<<freqShift
		own := rest[:n]
		rest = rest[n:]
		for len(own) >= 4 {
			o := (*[4]uint32)(own)
			o[0], o[1], o[2], o[3] = e, e+1<<slotShift, e+2<<slotShift, e+3<<slotShift
			e += 4 << slotShift
			own = own[4:]
		}
		for i := range own {
			own[i] = e
			e += 1 << slotShift
		}
	}
}

// EncodeTable has the data of each symbol for the encoder. Let f be its frequency and c the sum of
// the frequencies of the symbols before it. Division by f is multiplication by its reciprocal,
// rounded up (Granlund and Montgomery, Division by Invariant Integers Using Multiplication, 1994).
type EncodeTable struct {
	scalar [256]encSymbol
	// vector is the form for the kernels. With s = ⌈log2 f⌉:
	//
	//	bits 0–31   ⌈2³¹⁺ˢ/f⌉: ⌊x/f⌋ for x < 2³¹ is x times this, shifted right by 32 and by s−1;
	//	            for f = 1 2³²−1, which gives x−1
	//	bits 32–47  the bias, as in encSymbol
	//	bits 48–52  s−1; for f = 1 0
	//	bits 53–63  f
	vector [256]uint64
}

// encSymbol is the form for the portable twin.
type encSymbol struct {
	// rcp is ⌈2⁴³/f⌉: ⌊x/f⌋ is x·rcp shifted right by 43. The product does not overflow, because
	// x < f<<20 after renormalisation. For f = 1 it is 2⁴³−1, which gives x−1.
	rcp  uint64
	max  uint32 // f<<20: a state from here on writes a word first
	bias uint16 // c; for f = 1 c + 2047, which makes up for the quotient x−1
	comp uint16 // 2048 − f
}

const rcpBits = 43

// Build makes the table for the given frequencies. Each must be below 2048, and their sum must be
// 2048. Entries of symbols with frequency 0 are not set; such symbols cannot be coded.
func (t *EncodeTable) Build(freqs *[256]uint16) {
	c := uint16(0)
	for sym, f := range freqs {
		s := &t.scalar[sym]
		var short, shift uint64
		switch f {
		case 0:
			continue
		case 1:
			*s = encSymbol{rcp: 1<<rcpBits - 1, bias: c + slots - 1}
			short = 1<<32 - 1
		default:
			// ⌈⌈2⁴³/f⌉/2ⁿ⌉ = ⌈2⁴³⁻ⁿ/f⌉
			*s = encSymbol{rcp: (1<<rcpBits + uint64(f) - 1) / uint64(f), bias: c}
			shift = uint64(bits.Len16(f-1)) - 1
			n := rcpBits - 32 - shift
			short = (s.rcp + 1<<n - 1) >> n
		}
		s.max = uint32(f) << (31 - ProbBits)
		s.comp = slots - f
		t.vector[sym] = short | uint64(s.bias)<<32 | shift<<48 | uint64(f)<<(64-ProbBits)
		c += f
	}
}
