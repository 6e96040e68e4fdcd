package rans

import (
	"encoding/binary"
	"math/bits"
)

// The kernels below have no branch that depends on the data: whether a lane renormalises is as good as random, and a
// processor that guesses wrong loses more than the whole step costs. Slices become pointers to arrays once
// a round, and indices are masked, so that no bounds check is left inside of it.

// roundBytes is the most that a round of 32 lanes moves through the words.
const roundBytes = 2 * lanes

// encSymbol is what a step of the encoder needs to know of a symbol with frequency f that begins at slot c.
type encSymbol struct {
	rcp  uint64 // ⌈2⁶⁴/f⌉, so that the high word of x·rcp is ⌊x/f⌋ for x < 2³¹; 2⁶⁴−1 for f = 1, which gives x−1
	max  uint32 // states from here on give off a word first: f<<20
	bias uint16 // c; for f = 1 c + 2047, which makes up for the quotient
	comp uint16 // 2048 − f
}

// encode32 codes run, last symbol first, symbol i in lane i mod 32. Words go to words, before p, where there must be
// two bytes for each symbol and roundBytes more; it returns where they begin.
func encode32(states *[lanes]uint32, sym *[256]encSymbol, run, words []byte, p int) int {
	whole := len(run) &^ (lanes - 1)
	for i := len(run) - 1; i >= whole; i-- {
		p = encodeOne(&states[i&(lanes-1)], &sym[run[i]], words, p)
	}
	return encodeRounds(states, sym, run[:whole], words, p)
}

func encodeRounds(states *[lanes]uint32, sym *[256]encSymbol, run, words []byte, p int) int {
	for len(run) >= lanes {
		in := (*[lanes]byte)(run[len(run)-lanes:])
		run = run[:len(run)-lanes]
		w := (*[roundBytes]byte)(words[p-roundBytes:])
		q := uint(roundBytes - 2)
		//pz:nobce
		for l := uint(lanes); l > 0; l-- {
			i := (l - 1) & (lanes - 1)
			x, s := states[i], &sym[in[i]]
			w[q&62] = byte(x)
			w[q&62+1] = byte(x >> 8)
			m := (s.max - 1 - x) >> 31 // 1 if x ≥ max: both are below 2³¹
			x >>= m * 16 & 31
			quo, _ := bits.Mul64(uint64(x), s.rcp)
			states[i] = x + uint32(s.bias) + uint32(quo)*uint32(s.comp)
			q -= uint(m * 2)
		}
		p -= int(roundBytes - 2 - q)
	}
	return p
}

// encodeSmall is encode32 for a group of four lanes.
func encodeSmall(states *[lanes]uint32, sym *[256]encSymbol, run, words []byte, p int) int {
	for i := len(run) - 1; i >= 0; i-- {
		p = encodeOne(&states[i&(smallLanes-1)], &sym[run[i]], words, p)
	}
	return p
}

func encodeOne(state *uint32, s *encSymbol, words []byte, p int) int {
	x := *state
	binary.LittleEndian.PutUint16(words[p-2:], uint16(x))
	m := (s.max - 1 - x) >> 31
	x >>= m * 16 & 31
	quo, _ := bits.Mul64(uint64(x), s.rcp)
	*state = x + uint32(s.bias) + uint32(quo)*uint32(s.comp)
	return p - int(m*2)
}

// decTable has an entry for each slot: the symbol in bits 0–7, its frequency in bits 8–18, the number of the slot among the
// symbol's own from bit 19.
type decTable [probScale]uint32

const (
	freqShift = 8
	slotShift = freqShift + probBits
)

func (t *decTable) build(f *freqs) {
	rest := t[:]
	for sym, n := range f {
		if n == 0 {
			continue
		}
		e := uint32(sym) | uint32(n)<<freqShift
		slots := rest[:n]
		rest = rest[n:]
		for i := range slots {
			slots[i] = e
			e += 1 << slotShift
		}
	}
}

// decode32 decodes whole rounds of 32 symbols to dst, for as long as words has enough bytes for a round and for reading a little past it.
// It returns the number of symbols and of bytes of words used.
func decode32(states *[lanes]uint32, tab *decTable, dst, words []byte) (done, used int) {
	size, left := len(dst), len(words)
	for len(dst) >= lanes && len(words) >= roundBytes+8 {
		out := (*[lanes]byte)(dst)
		w := (*[roundBytes + 8]byte)(words)
		q := uint32(0)
		//pz:nobce
		for l := 0; l < lanes; l += 4 {
			x0, x1, x2, x3 := states[l], states[l+1], states[l+2], states[l+3]
			e0, e1, e2, e3 := tab[x0%probScale], tab[x1%probScale], tab[x2%probScale], tab[x3%probScale]
			out[l], out[l+1], out[l+2], out[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			x0 = e0>>freqShift%probScale*(x0>>probBits) + e0>>slotShift
			x1 = e1>>freqShift%probScale*(x1>>probBits) + e1>>slotShift
			x2 = e2>>freqShift%probScale*(x2>>probBits) + e2>>slotShift
			x3 = e3>>freqShift%probScale*(x3>>probBits) + e3>>slotShift
			// 1 if the lane takes a word: states are below 2³¹.
			m0, m1, m2, m3 := (x0-lower)>>31, (x1-lower)>>31, (x2-lower)>>31, (x3-lower)>>31
			v := binary.LittleEndian.Uint64(w[q&63:])
			states[l] = x0<<(m0*16&31) | uint32(v)&0xffff&-m0
			v >>= m0 * 16 & 63
			states[l+1] = x1<<(m1*16&31) | uint32(v)&0xffff&-m1
			v >>= m1 * 16 & 63
			states[l+2] = x2<<(m2*16&31) | uint32(v)&0xffff&-m2
			v >>= m2 * 16 & 63
			states[l+3] = x3<<(m3*16&31) | uint32(v)&0xffff&-m3
			q += (m0 + m1 + m2 + m3) * 2
		}
		words = words[q:]
		dst = dst[lanes:]
	}
	return size - len(dst), left - len(words)
}

// decodeFew decodes dst from number from on, with symbol i in lane i&mask. It stops before words could run out, like decode32, and returns the
// number of the symbol where it stopped.
func decodeFew(states *[lanes]uint32, mask int, tab *decTable, dst []byte, from int, words []byte) (end, used int) {
	i := from
	for ; i < len(dst) && used+2 <= len(words); i++ {
		lane := i & mask & (lanes - 1)
		x := states[lane]
		e := tab[x%probScale]
		dst[i] = byte(e)
		x = e>>freqShift%probScale*(x>>probBits) + e>>slotShift
		m := (x - lower) >> 31
		w := uint32(binary.LittleEndian.Uint16(words[used:]))
		states[lane] = x<<(m*16&31) | w&-m
		used += int(m * 2)
	}
	return i, used
}
