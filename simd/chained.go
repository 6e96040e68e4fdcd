package simd

import "encoding/binary"

// In a chained run a lane has a piece of neighbouring symbols, and each symbol's table is chosen by the two before it in the piece, which the lane has decoded
// itself. So contexts cost no more than a look at which table it is.

// ChainTables is how many tables a chained run may have.
const ChainTables = 32

// A ChainTable has the tables of a chained run, and says which of them a symbol has: the one of the context First[last] + Second[the one before], or of ChainMark if
// the symbol has a mark.
type ChainTable struct {
	// First and Second say what symbols add to a context. No sum of two is above 255.
	First, Second [256]uint8
	// Class is the number of the table for each context, whose low bits count, as many as ChainTables takes. Index sets the last half.
	Class  [512]uint8
	Tables [ChainTables]DecodeTable

	// ways has, for a last symbol and with 256 added where the next one has a mark: what it adds to the context, in which a mark is 256, and in the upper half what the
	// symbol will add to the context after that. Behind a mark that is what symbol 0 adds.
	ways  [512]uint32
	bases [512]uint32 // for each context the number of entries in front of its table
}

// ChainMark is the context of a symbol that has a mark.
const ChainMark = 256

// Index prepares the table after a change of First, Second or Class.
func (t *ChainTable) Index() {
	for s := range t.First {
		t.ways[s] = uint32(t.First[s]) | uint32(t.Second[s])<<16
		t.ways[ChainMark|s] = ChainMark | uint32(t.Second[0])<<16
		t.Class[ChainMark|s] = t.Class[ChainMark]
	}
	for c, k := range t.Class {
		t.bases[c] = uint32(k%ChainTables) * slots
	}
}

// ChainLanes are the lanes of a chained run.
type ChainLanes struct {
	States [Lanes]uint32
	Last   [Lanes]byte // symbols
	Second [Lanes]byte // what the symbols before Last add to the context
}

// ChainRound is the number of symbols in a round of a chained run, one for each lane of two groups: the first group has the first half, and a run of one group leaves the other
// half alone. A round's marks are 64 bits, the least significant one that of the first symbol.
const ChainRound = 2 * Lanes

// DecodeChained decodes rounds of one group, those in the given half of marks and buf, 0 or 1. It stops where marks or buf end or words have no room for a round, with
// ReadAhead bytes to spare, and returns how many rounds it has decoded and how many bytes of words they took. What Last and Second are at first does not matter where all of
// the first round have marks.
func DecodeChained(g *ChainLanes, half int, tab *ChainTable, marks []uint64, buf, words []byte) (rounds, used int) {
	marks = marks[:min(len(marks), len(buf)/ChainRound)]
	if rounds, used, ok := decodeChainedVector(g, half, tab, marks, buf, words); ok {
		return rounds, used
	}
	return decodeChained(g, half, tab, marks, buf, words)
}

// DecodeChained2 decodes rounds of both groups of a run in step, as DecodeChained does, and may stop sooner. The steps of a group wait for one another, those of two do not.
func DecodeChained2(g *[2]ChainLanes, tab *ChainTable, marks []uint64, buf []byte, words [2][]byte) (rounds int, used [2]int) {
	marks = marks[:min(len(marks), len(buf)/ChainRound)]
	return decodeChained2Vector(g, tab, marks, buf, words)
}

// decodeChained is the portable twin of DecodeChained. There are as many rounds as marks.
func decodeChained(g *ChainLanes, half int, tab *ChainTable, marks []uint64, buf, words []byte) (rounds, used int) {
	left := len(words)
	off := half % 2 * Lanes
	for rounds < len(marks) && len(words) >= RoundBytes+ReadAhead {
		out := (*[Lanes]byte)(buf[off:])
		w := (*[RoundBytes + ReadAhead]byte)(words)
		marked := uint32(marks[rounds] >> (off & 63))
		q := uint32(0)
		//pz:nobce
		for l := 0; l < Lanes; l += 4 {
			w0 := tab.ways[uint(g.Last[l])|uint(marked&1)<<8]
			w1 := tab.ways[uint(g.Last[l+1])|uint(marked>>1&1)<<8]
			w2 := tab.ways[uint(g.Last[l+2])|uint(marked>>2&1)<<8]
			w3 := tab.ways[uint(g.Last[l+3])|uint(marked>>3&1)<<8]
			marked >>= 4
			t0 := &tab.Tables[tab.Class[(w0+uint32(g.Second[l]))%512]%ChainTables]
			t1 := &tab.Tables[tab.Class[(w1+uint32(g.Second[l+1]))%512]%ChainTables]
			t2 := &tab.Tables[tab.Class[(w2+uint32(g.Second[l+2]))%512]%ChainTables]
			t3 := &tab.Tables[tab.Class[(w3+uint32(g.Second[l+3]))%512]%ChainTables]
			g.Second[l], g.Second[l+1], g.Second[l+2], g.Second[l+3] = byte(w0>>16), byte(w1>>16), byte(w2>>16), byte(w3>>16)
			x0, x1, x2, x3 := g.States[l], g.States[l+1], g.States[l+2], g.States[l+3]
			e0, e1, e2, e3 := t0[x0%slots], t1[x1%slots], t2[x2%slots], t3[x3%slots]
			out[l], out[l+1], out[l+2], out[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			g.Last[l], g.Last[l+1], g.Last[l+2], g.Last[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			x0 = e0>>freqShift%slots*(x0>>ProbBits) + e0>>slotShift
			x1 = e1>>freqShift%slots*(x1>>ProbBits) + e1>>slotShift
			x2 = e2>>freqShift%slots*(x2>>ProbBits) + e2>>slotShift
			x3 = e3>>freqShift%slots*(x3>>ProbBits) + e3>>slotShift
			m0, m1, m2, m3 := (x0-LaneLower)>>31, (x1-LaneLower)>>31, (x2-LaneLower)>>31, (x3-LaneLower)>>31
			v := binary.LittleEndian.Uint64(w[q&63:])
			g.States[l] = x0<<(m0*16&31) | uint32(v)&0xffff&-m0
			v >>= m0 * 16 & 63
			g.States[l+1] = x1<<(m1*16&31) | uint32(v)&0xffff&-m1
			v >>= m1 * 16 & 63
			g.States[l+2] = x2<<(m2*16&31) | uint32(v)&0xffff&-m2
			v >>= m2 * 16 & 63
			g.States[l+3] = x3<<(m3*16&31) | uint32(v)&0xffff&-m3
			q += (m0 + m1 + m2 + m3) * 2
		}
		words = words[q:]
		off += ChainRound
		rounds++
	}
	return rounds, left - len(words)
}

// DecodeChainedFew is DecodeChained symbol by symbol, for rounds in which only so many lanes have symbols, at most Lanes, and words to their end. ok = false says that they
// run out.
func DecodeChainedFew(g *ChainLanes, half int, tab *ChainTable, marks []uint64, buf []byte, lanes int, words []byte) (used int, ok bool) {
	off := half % 2 * Lanes
	for _, marked := range marks {
		marked >>= half % 2 * Lanes
		out := buf[off:][:lanes]
		for l := range out {
			l %= Lanes
			w := tab.ways[uint(g.Last[l])|uint(marked>>l&1)<<8]
			x := g.States[l]
			e := tab.Tables[tab.Class[(w+uint32(g.Second[l]))%512]%ChainTables][x%slots]
			out[l], g.Last[l], g.Second[l] = byte(e), byte(e), byte(w>>16)
			x = e>>freqShift%slots*(x>>ProbBits) + e>>slotShift
			if x < LaneLower {
				if used+2 > len(words) {
					return used, false
				}
				x = x<<16 | uint32(binary.LittleEndian.Uint16(words[used:]))
				used += 2
			}
			g.States[l] = x
		}
		off += ChainRound
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
