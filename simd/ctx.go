package simd

import "encoding/binary"

// In a chained run a lane has a piece of neighbouring symbols, and each symbol's table is chosen by the two before it in the piece, which the lane has decoded
// itself. So contexts cost no more than a look at which table it is.

// MaxCtxTables is how many tables a chained run may have.
const MaxCtxTables = 32

// A CtxTable has the tables of a chained run, and says which of them a symbol has: the one of the context Order1[last] + Order2[the one before], or of CtxMarked if
// the symbol has a mark.
type CtxTable struct {
	// Order1 and Order2 say what symbols add to a context. No sum of two is above 255.
	Order1, Order2 [256]uint8
	// TableOf is the number of the table for each context, whose low bits count, as many as MaxCtxTables takes. Index sets the last half.
	TableOf [512]uint8
	Tables  [MaxCtxTables]DecodeTable

	// ways has, for a last symbol and with 256 added where the next one has a mark: what it adds to the context, in which a mark is 256, and in the upper half what the
	// symbol will add to the context after that. Behind a mark that is what symbol 0 adds.
	ways  [512]uint32
	bases [512]uint32 // for each context the number of entries in front of its table
}

// CtxMarked is the context of a symbol that has a mark.
const CtxMarked = 256

// Index prepares the table after a change of Order1, Order2 or TableOf.
func (t *CtxTable) Index() {
	for s := range t.Order1 {
		t.ways[s] = uint32(t.Order1[s]) | uint32(t.Order2[s])<<16
		t.ways[CtxMarked|s] = CtxMarked | uint32(t.Order2[0])<<16
		t.TableOf[CtxMarked|s] = t.TableOf[CtxMarked]
	}
	for c, k := range t.TableOf {
		t.bases[c] = uint32(k%MaxCtxTables) * slots
	}
}

// CtxLanes are the lanes of a chained run.
type CtxLanes struct {
	States [Lanes]uint32
	Last   [Lanes]byte // symbols
	Order2 [Lanes]byte // what the symbols before Last add to the context
}

// CtxRound is the number of symbols in a round of a chained run, one for each lane of two groups: the first group has the first half, and a run of one group leaves the other
// half alone. A round's marks are 64 bits, the least significant one that of the first symbol.
const CtxRound = 2 * Lanes

// DecodeCtx decodes rounds of one group, those in the given half of marks and buf, 0 or 1. It stops where marks or buf end or words have no room for a round, with
// WordSlack bytes to spare, and returns how many rounds it has decoded and how many bytes of words they took. What Last and Order2 are at first does not matter where all of
// the first round have marks.
func DecodeCtx(g *CtxLanes, half int, tab *CtxTable, marks []uint64, buf, words []byte) (rounds, used int) {
	marks = marks[:min(len(marks), len(buf)/CtxRound)]
	if rounds, used, ok := decodeCtxKernel(g, half, tab, marks, buf, words); ok {
		return rounds, used
	}
	return decodeCtx(g, half, tab, marks, buf, words)
}

// DecodeCtx2 decodes rounds of both groups of a run in step, as DecodeCtx does, and may stop sooner. The steps of a group wait for one another, those of two do not.
func DecodeCtx2(g *[2]CtxLanes, tab *CtxTable, marks []uint64, buf []byte, words [2][]byte) (rounds int, used [2]int) {
	marks = marks[:min(len(marks), len(buf)/CtxRound)]
	return decodeCtx2Kernel(g, tab, marks, buf, words)
}

// decodeChained is the portable twin of DecodeCtx. There are as many rounds as marks.
func decodeCtx(g *CtxLanes, half int, tab *CtxTable, marks []uint64, buf, words []byte) (rounds, used int) {
	left := len(words)
	off := half % 2 * Lanes
	for rounds < len(marks) && len(words) >= RoundBytes+WordSlack {
		out := (*[Lanes]byte)(buf[off:])
		w := (*[RoundBytes + WordSlack]byte)(words)
		marked := uint32(marks[rounds] >> (off & 63))
		q := uint32(0)
		//pz:nobce
		for l := 0; l < Lanes; l += 4 {
			w0 := tab.ways[uint(g.Last[l])|uint(marked&1)<<8]
			w1 := tab.ways[uint(g.Last[l+1])|uint(marked>>1&1)<<8]
			w2 := tab.ways[uint(g.Last[l+2])|uint(marked>>2&1)<<8]
			w3 := tab.ways[uint(g.Last[l+3])|uint(marked>>3&1)<<8]
			marked >>= 4
			t0 := &tab.Tables[tab.TableOf[(w0+uint32(g.Order2[l]))%512]%MaxCtxTables]
			t1 := &tab.Tables[tab.TableOf[(w1+uint32(g.Order2[l+1]))%512]%MaxCtxTables]
			t2 := &tab.Tables[tab.TableOf[(w2+uint32(g.Order2[l+2]))%512]%MaxCtxTables]
			t3 := &tab.Tables[tab.TableOf[(w3+uint32(g.Order2[l+3]))%512]%MaxCtxTables]
			g.Order2[l], g.Order2[l+1], g.Order2[l+2], g.Order2[l+3] = byte(w0>>16), byte(w1>>16), byte(w2>>16), byte(w3>>16)
			x0, x1, x2, x3 := g.States[l], g.States[l+1], g.States[l+2], g.States[l+3]
			e0, e1, e2, e3 := t0[x0%slots], t1[x1%slots], t2[x2%slots], t3[x3%slots]
			out[l], out[l+1], out[l+2], out[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			g.Last[l], g.Last[l+1], g.Last[l+2], g.Last[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			x0 = e0>>freqShift%slots*(x0>>ProbBits) + e0>>slotShift
			x1 = e1>>freqShift%slots*(x1>>ProbBits) + e1>>slotShift
			x2 = e2>>freqShift%slots*(x2>>ProbBits) + e2>>slotShift
			x3 = e3>>freqShift%slots*(x3>>ProbBits) + e3>>slotShift
			m0, m1, m2, m3 := (x0-StateMin)>>31, (x1-StateMin)>>31, (x2-StateMin)>>31, (x3-StateMin)>>31
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
		off += CtxRound
		rounds++
	}
	return rounds, left - len(words)
}

// DecodeCtxTail is DecodeCtx symbol by symbol, for rounds in which only so many lanes have symbols, at most Lanes, and words to their end. ok = false says that they
// run out.
func DecodeCtxTail(g *CtxLanes, half int, tab *CtxTable, marks []uint64, buf []byte, lanes int, words []byte) (used int, ok bool) {
	off := half % 2 * Lanes
	for _, marked := range marks {
		marked >>= half % 2 * Lanes
		out := buf[off:][:lanes]
		for l := range out {
			l %= Lanes
			w := tab.ways[uint(g.Last[l])|uint(marked>>l&1)<<8]
			x := g.States[l]
			e := tab.Tables[tab.TableOf[(w+uint32(g.Order2[l]))%512]%MaxCtxTables][x%slots]
			out[l], g.Last[l], g.Order2[l] = byte(e), byte(e), byte(w>>16)
			x = e>>freqShift%slots*(x>>ProbBits) + e>>slotShift
			if x < StateMin {
				if used+2 > len(words) {
					return used, false
				}
				x = x<<16 | uint32(binary.LittleEndian.Uint16(words[used:]))
				used += 2
			}
			g.States[l] = x
		}
		off += CtxRound
	}
	return used, true
}

// EncodeSymbol codes one symbol, as EncodeTail does, and returns where the words begin.
func (t *EncodeTable) EncodeSymbol(state *uint32, symbol byte, words []byte, p int) int {
	x, s := *state, &t.scalar[symbol]
	binary.LittleEndian.PutUint16(words[p-2:], uint16(x))
	m := (s.max - 1 - x) >> 31
	x >>= m * 16 & 31
	*state = x + uint32(s.bias) + uint32(uint64(x)*s.rcp>>rcpBits)*uint32(s.comp)
	return p - int(m*2)
}
