package simd

import "encoding/binary"

// EncodeLanes codes run, whose length is a multiple of 32, symbol i in lane i mod 32, the last symbol first. Words go to words, before p,
// where there must be two bytes for each symbol; it returns where they begin. What is written before that means nothing.
func EncodeLanes(states *[Lanes]uint32, tab *EncodeTable, run, words []byte, p int) int {
	if len(run)%Lanes != 0 || p < 2*len(run) || p > len(words) {
		panic("simd: no room for the words, or half a round")
	}
	if at, ok := encodeLanesKernel(states, tab, run, words, p); ok {
		return at
	}
	return encodeLanes(states, tab, run, words, p)
}

// encodeLanes is the portable twin of EncodeLanes.
func encodeLanes(states *[Lanes]uint32, tab *EncodeTable, run, words []byte, p int) int {
	for len(run) >= Lanes {
		in := (*[Lanes]byte)(run[len(run)-Lanes:])
		run = run[:len(run)-Lanes]
		w := (*[RoundBytes]byte)(words[p-RoundBytes:])
		q := uint(RoundBytes - 2)
		//pz:nobce
		for l := uint(Lanes); l > 0; l-- {
			i := (l - 1) & (Lanes - 1)
			x, s := states[i], &tab.scalar[in[i]]
			w[q&62] = byte(x)
			w[q&62+1] = byte(x >> 8)
			m := (s.max - 1 - x) >> 31 // 1 if the state gives off a word: both are below 2³¹
			x >>= m * 16 & 31
			states[i] = x + uint32(s.bias) + uint32(uint64(x)*s.rcp>>rcpBits)*uint32(s.comp)
			q -= uint(m * 2)
		}
		p -= int(RoundBytes - 2 - q)
	}
	return p
}

// EncodeTail codes run with symbol i in lane i mod width, a power of two of at most 32, the last symbol first. Words go to words, before p,
// where there must be two bytes for each symbol; it returns where they begin.
func EncodeTail(states *[Lanes]uint32, tab *EncodeTable, width int, run, words []byte, p int) int {
	mask := width - 1
	for i := len(run) - 1; i >= 0; i-- {
		state, s := &states[i&mask&(Lanes-1)], &tab.scalar[run[i]]
		x := *state
		binary.LittleEndian.PutUint16(words[p-2:], uint16(x))
		m := (s.max - 1 - x) >> 31
		x >>= m * 16 & 31
		*state = x + uint32(s.bias) + uint32(uint64(x)*s.rcp>>rcpBits)*uint32(s.comp)
		p -= int(m * 2)
	}
	return p
}
