package simd

import "math/bits"

// The kernels in the files whose names begin with "lanes" run the states of an asymmetric numeral system (Duda 2013, arXiv:1311.2540), interleaved over
// 32 lanes: static frequencies that sum to 2¹¹, 32-bit states in [2¹⁵, 2³¹), renormalised by 16-bit words. Symbol i of a run belongs to lane i mod 32, and
// the lanes take their words from one sequence, in lane order. Which tables and words there are, and what is an error, is the caller's business.

const (
	// Lanes is the number of lanes of a group.
	Lanes = 32

	ProbBits = 11            // frequencies of a table sum to 1<<ProbBits,
	slots    = 1 << ProbBits // 2048, so that symbol, frequency and offset share the 32 bits of an entry

	// StateMin is the least state. A state below it takes a word, and is then below StateMin<<16 = 2³¹.
	StateMin = 1 << 15

	// RoundBytes is the most that 32 symbols move through the words.
	RoundBytes = 2 * Lanes

	// WordSlack is how much further a kernel may look. A group whose words are fewer than RoundBytes + WordSlack bytes takes no more rounds.
	WordSlack = 8
)

// A DecodeTable has an entry for each of 2,048 slots: the symbol in bits 0–7, its frequency in bits 8–18, the number of the slot among the
// symbol's own from bit 19.
type DecodeTable [slots]uint32

const (
	freqShift = 8
	slotShift = freqShift + ProbBits
)

// Build makes the table of the given frequencies, each below 2048, whose sum is 2048.
func (t *DecodeTable) Build(freqs *[256]uint16) {
	done, first := buildDecodeTableKernel(t, freqs)
	t.build(freqs, done, first)
}

// build is the portable twin of the vector kernel, for the symbols from first on, whose entries begin at number done.
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

// An EncodeTable has what a step of the encoder needs to know of a symbol with frequency f, which begins at slot c. Division by f is multiplication by
// its reciprocal, rounded up: Granlund and Montgomery, Division by invariant integers using multiplication, 1994.
type EncodeTable struct {
	scalar [256]encSymbol
	// vector has, with s = ⌈log2 f⌉,
	//
	//	bits 0–31   ⌈2³¹⁺ˢ/f⌉, so that ⌊x/f⌋ for x < 2³¹ is x times this, shifted right by 32 and then by s−1; for f = 1 2³²−1, which gives x−1
	//	bits 32–47  the bias, as below
	//	bits 48–52  s−1; for f = 1 0
	//	bits 53–63  f
	vector [256]uint64
}

// encSymbol is the form for the portable kernel.
type encSymbol struct {
	rcp  uint64 // ⌈2⁴³/f⌉: x·rcp, shifted right by 43, is ⌊x/f⌋, and does not overflow, for x < f<<20, as x is after renormalisation; 2⁴³−1 for f = 1, which gives x−1
	max  uint32 // states from here on give off a word first: f<<20
	bias uint16 // c; for f = 1 c + 2047, which makes up for the quotient
	comp uint16 // 2048 − f
}

const rcpBits = 43

// Build makes the table of the given frequencies, each below 2048, whose sum is 2048. Entries of symbols with frequency 0 are of no use.
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
