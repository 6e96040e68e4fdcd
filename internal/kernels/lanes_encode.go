package kernels

import "encoding/binary"

// EncodeLanes codes run, the last symbol first; symbol i belongs to lane i mod 32. The length of
// run must be a multiple of 32. The words end before words[p]; EncodeLanes returns the index where
// they begin. It panics without room for two bytes a symbol before p, and may overwrite all of this
// room.
func EncodeLanes(states *[Lanes]uint32, tab *EncodeTable, run, words []byte, p int) int {
	if len(run)%Lanes != 0 || p < 2*len(run) || p > len(words) {
		panic("kernels: no room for the words, or half a round")
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
			m := (s.max - 1 - x) >> 31 // 1 if the state writes a word: both are below 2³¹
			x >>= m * 16 & 31
			states[i] = x + uint32(s.bias) + uint32(uint64(x)*s.rcp>>rcpBits)*uint32(s.comp)
			q -= uint(m * 2)
		}
		p -= int(RoundBytes - 2 - q)
	}
	return p
}

// EncodeTail codes run, the last symbol first, one symbol at a time: symbols that do not fill a
// round, and runs of fewer than 32 lanes. Symbol i belongs to lane i mod width; width is a power of
// two, at most 32. Words go where EncodeLanes puts them. There must be room for two bytes a symbol
// before p. It has no kernel.
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

// EncodeSymbol codes one symbol with one state, as EncodeTail does, and returns the index where the
// words begin.
func (t *EncodeTable) EncodeSymbol(state *uint32, symbol byte, words []byte, p int) int {
	x, s := *state, &t.scalar[symbol]
	binary.LittleEndian.PutUint16(words[p-2:], uint16(x))
	m := (s.max - 1 - x) >> 31
	x >>= m * 16 & 31
	*state = x + uint32(s.bias) + uint32(uint64(x)*s.rcp>>rcpBits)*uint32(s.comp)
	return p - int(m*2)
}
