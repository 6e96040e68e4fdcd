package kernels

import "encoding/binary"

// DecodeGroup is a lane group that is being decoded.
type DecodeGroup struct {
	States [Lanes]uint32 // below 2³¹
	Table  *DecodeTable
	Dst    []byte // room for the next symbols
	Words  []byte // the next words, and bytes that a decoder may read behind them
}

// rounds returns a number of rounds of 32 symbols for which g has room and words.
func (g *DecodeGroup) rounds() int {
	return min(len(g.Dst)/Lanes, (len(g.Words)-WordSlack)/RoundBytes)
}

// DecodeLanes decodes whole rounds of 32 symbols while g.Dst has room for one and g.Words has at
// least RoundBytes + WordSlack bytes. It advances Dst and Words, and touches nothing outside them.
func DecodeLanes(g *DecodeGroup) {
	if !decodeLanesKernel(g) {
		decodeLanes(g)
	}
}

// DecodeLanes2 decodes two groups in step, as DecodeLanes does for one. It stops when either group
// cannot go on.
func DecodeLanes2(a, b *DecodeGroup) {
	if !decodeLanes2Kernel(a, b) {
		decodeLanes2(a, b)
	}
}

// decodeLanes is the portable twin of DecodeLanes.
func decodeLanes(g *DecodeGroup) {
	for {
		n := g.rounds()
		if n <= 0 {
			return
		}
		used := decodeRounds(&g.States, g.Table, g.Dst[:n*Lanes], g.Words)
		g.Dst, g.Words = g.Dst[n*Lanes:], g.Words[used:]
	}
}

// decodeLanes2 is the portable twin of DecodeLanes2.
func decodeLanes2(a, b *DecodeGroup) {
	for {
		n := min(a.rounds(), b.rounds())
		if n <= 0 {
			return
		}
		for _, g := range [...]*DecodeGroup{a, b} {
			used := decodeRounds(&g.States, g.Table, g.Dst[:n*Lanes], g.Words)
			g.Dst, g.Words = g.Dst[n*Lanes:], g.Words[used:]
		}
	}
}

// decodeRounds fills dst, whose length is a multiple of 32. It returns the number of bytes of words
// used.
//
// No branch depends on the data: a wrong prediction costs more than the whole step. Slices become
// pointers to arrays once a round, and indices are masked, so that the compiler needs no bounds
// check in a round.
func decodeRounds(states *[Lanes]uint32, tab *DecodeTable, dst, words []byte) (used int) {
	left := len(words)
	for len(dst) >= Lanes {
		out := (*[Lanes]byte)(dst)
		w := (*[RoundBytes + WordSlack]byte)(words)
		q := uint32(0)
		//pz:nobce
		for l := 0; l < Lanes; l += 4 {
			x0, x1, x2, x3 := states[l], states[l+1], states[l+2], states[l+3]
			e0, e1, e2, e3 := tab[x0%slots], tab[x1%slots], tab[x2%slots], tab[x3%slots]
			out[l], out[l+1], out[l+2], out[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			x0 = e0>>freqShift%slots*(x0>>ProbBits) + e0>>slotShift
			x1 = e1>>freqShift%slots*(x1>>ProbBits) + e1>>slotShift
			x2 = e2>>freqShift%slots*(x2>>ProbBits) + e2>>slotShift
			x3 = e3>>freqShift%slots*(x3>>ProbBits) + e3>>slotShift
			// 1 if the lane takes a word. States are below 2³¹.
			m0, m1, m2, m3 := (x0-StateMin)>>31, (x1-StateMin)>>31, (x2-StateMin)>>31, (x3-StateMin)>>31
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
		dst = dst[Lanes:]
	}
	return left - len(words)
}

// DecodeTail decodes the symbols of g.Dst from index from on, one at a time: those that do not fill
// a round, and runs of fewer than 32 lanes. Symbol i belongs to lane i mod width; width is a power
// of two, at most 32. DecodeTail needs no slack. It stops where the words end and returns the index
// of the first symbol not decoded. It advances g.Words but not g.Dst. It has no kernel.
func DecodeTail(g *DecodeGroup, width, from int) (end int) {
	used, dst, words, tab := 0, g.Dst, g.Words, g.Table
	mask := width - 1
	i := from
	for ; i < len(dst) && used+2 <= len(words); i++ {
		x := &g.States[i&mask&(Lanes-1)]
		e := tab[*x%slots]
		dst[i] = byte(e)
		v := e>>freqShift%slots*(*x>>ProbBits) + e>>slotShift
		m := (v - StateMin) >> 31
		*x = v<<(m*16&31) | uint32(binary.LittleEndian.Uint16(words[used:]))&-m
		used += int(m * 2)
	}
	g.Words = words[used:]
	return i
}
