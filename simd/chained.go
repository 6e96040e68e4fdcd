package simd

import "encoding/binary"

// In a chained run a lane has a piece of neighbouring symbols, and each symbol's table is chosen by the one before it in the piece, which the lane has decoded
// itself. So order-1 statistics cost no more than a look at which table it is.

// ChainTables is how many tables a chained run may have.
const ChainTables = 16

// ChainMark is the context of a symbol that has a mark; that of the others is the symbol before it.
const ChainMark = 256

// A ChainTable has the tables of a chained run.
type ChainTable struct {
	// Class is the number of the table, below ChainTables, for each context; those from ChainMark on are all the same.
	Class  [512]uint8
	Tables [ChainTables]DecodeTable
}

// DecodeChained decodes rounds of 32 symbols, one for each lane. Where the symbols go in buf there are marks before, 0 or 1. prev has the last symbol of each
// lane. It stops where buf or words have no room for a round, words with ReadAhead bytes to spare, and returns how much of the two it has used.
func DecodeChained(states *[Lanes]uint32, prev *[Lanes]byte, tab *ChainTable, buf, words []byte) (done, used int) {
	left, size := len(words), len(buf)
	for len(buf) >= Lanes && len(words) >= RoundBytes+ReadAhead {
		out := (*[Lanes]byte)(buf)
		w := (*[RoundBytes + ReadAhead]byte)(words)
		q := uint32(0)
		//pz:nobce
		for l := 0; l < Lanes; l += 4 {
			t0 := &tab.Tables[tab.Class[uint(prev[l])|uint(out[l]&1)<<8]%ChainTables]
			t1 := &tab.Tables[tab.Class[uint(prev[l+1])|uint(out[l+1]&1)<<8]%ChainTables]
			t2 := &tab.Tables[tab.Class[uint(prev[l+2])|uint(out[l+2]&1)<<8]%ChainTables]
			t3 := &tab.Tables[tab.Class[uint(prev[l+3])|uint(out[l+3]&1)<<8]%ChainTables]
			x0, x1, x2, x3 := states[l], states[l+1], states[l+2], states[l+3]
			e0, e1, e2, e3 := t0[x0%slots], t1[x1%slots], t2[x2%slots], t3[x3%slots]
			out[l], out[l+1], out[l+2], out[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			prev[l], prev[l+1], prev[l+2], prev[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			x0 = e0>>freqShift%slots*(x0>>ProbBits) + e0>>slotShift
			x1 = e1>>freqShift%slots*(x1>>ProbBits) + e1>>slotShift
			x2 = e2>>freqShift%slots*(x2>>ProbBits) + e2>>slotShift
			x3 = e3>>freqShift%slots*(x3>>ProbBits) + e3>>slotShift
			m0, m1, m2, m3 := (x0-LaneLower)>>31, (x1-LaneLower)>>31, (x2-LaneLower)>>31, (x3-LaneLower)>>31
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
		buf = buf[Lanes:]
	}
	return size - len(buf), left - len(words)
}

// DecodeChainedFew is DecodeChained symbol by symbol, for rounds of which the last may be short, and words to their end. ok = false says that they run out.
func DecodeChainedFew(states *[Lanes]uint32, prev *[Lanes]byte, tab *ChainTable, buf, words []byte) (used int, ok bool) {
	for i, mark := range buf {
		l := i % Lanes
		x := states[l]
		e := tab.Tables[tab.Class[uint(prev[l])|uint(mark&1)<<8]%ChainTables][x%slots]
		buf[i], prev[l] = byte(e), byte(e)
		x = e>>freqShift%slots*(x>>ProbBits) + e>>slotShift
		if x < LaneLower {
			if used+2 > len(words) {
				return used, false
			}
			x = x<<16 | uint32(binary.LittleEndian.Uint16(words[used:]))
			used += 2
		}
		states[l] = x
	}
	return used, true
}

// Step codes one symbol, as EncodeFew does, and returns where the words begin.
func (t *EncodeTable) Step(state *uint32, symbol byte, words []byte, p int) int {
	x, s := *state, &t.scalar[symbol]
	binary.LittleEndian.PutUint16(words[p-2:], uint16(x))
	m := (s.max - 1 - x) >> 31
	x >>= m * 16 & 31
	*state = x + uint32(s.bias) + uint32(uint64(x)*s.rcp>>rcpBits)*uint32(s.comp)
	return p - int(m*2)
}
