package kernels

import "encoding/binary"

// A context-coded run is an rANS run in which the two symbols before a symbol choose its frequency
// table. Each lane has a contiguous piece of the run, so a lane has decoded both symbols itself
// when it needs them. Choosing the table costs two lookups and no waiting for other lanes.
//
// The context of a symbol is Order1[last] + Order2[symbol before last], a number below 256. TableOf
// maps it to one of at most 32 tables. The caller may mark symbols, for instance those that begin a
// literal run. The context of a marked symbol is always CtxMarked. For the symbol after it, the
// symbol before last counts as 0.
//
// Rounds have 64 symbols, one for each lane of two lane groups. The first group has the first half
// of each round, in the marks and in the buffer. A run of one group leaves the other half alone.
// Deinterleave moves the symbols from the buffer to the pieces of the lanes.
//
// Kernels look up contexts and tables of all lanes at once, and entries lane by lane. With AVX-512
// VBMI 256 bytes fill four registers, and VPERMI2B is a lookup in two of them. With AVX2 VPSHUFB is
// a lookup in 16 bytes, and blends select one of 16 results. The kernels write symbols and lanes
// only.

// MaxCtxTables is the most tables that a context-coded run may have.
const MaxCtxTables = 32

// CtxMarked is the context of a marked symbol.
const CtxMarked = 256

// CtxTable has the decoding tables of a context-coded run and maps contexts to them. Call Index
// after a change of Order1, Order2 or TableOf.
type CtxTable struct {
	// Order1 and Order2 are the numbers that a symbol adds to the context of the next symbol and of
	// the one after that. No bit may be set both in an entry of Order1 and in one of Order2.
	Order1, Order2 [256]uint8
	// TableOf is the number of the table for each context, modulo MaxCtxTables. Index sets the
	// entries above CtxMarked.
	TableOf [512]uint8
	Tables  [MaxCtxTables]DecodeTable

	// terms has an entry for each last symbol, at index symbol + 256 if the next symbol is marked.
	// Bits 0–15: its Order1, or 256 if the next symbol is marked. Bits 16–31: its Order2, or that
	// of symbol 0 if the next symbol is marked.
	terms [512]uint32
	maps  ctxMaps
}

// ctxMaps has the lookups of the AVX2 kernels. Second, None and Marked repeat one byte.
type ctxMaps = struct {
	Sums    [256]uint8 // Order1 + Order2
	Classes [256]uint8 // table numbers, times 8: the upper half of the index of a table's entry 0
	Second  [32]uint8  // the bits that are set in entries of Order2
	None    [32]uint8  // Order2 of symbol 0
	Marked  [32]uint8  // the table number of CtxMarked, times 8
}

// Index prepares t for decoding.
func (t *CtxTable) Index() {
	for s := range t.Order1 {
		t.terms[s] = uint32(t.Order1[s]) | uint32(t.Order2[s])<<16
		t.terms[CtxMarked|s] = CtxMarked | uint32(t.Order2[0])<<16
		t.TableOf[CtxMarked|s] = t.TableOf[CtxMarked]
	}
	const entries = slots >> 8 // upper half of the number of entries of a table
	m, second := &t.maps, uint8(0)
	for s := range m.Sums {
		m.Sums[s] = t.Order1[s] | t.Order2[s]
		second |= t.Order2[s]
		m.Classes[s] = t.TableOf[s] % MaxCtxTables * entries
	}
	for l := range m.Second {
		m.Second[l], m.None[l] = second, t.Order2[0]
		m.Marked[l] = t.TableOf[CtxMarked] % MaxCtxTables * entries
	}
}

// CtxLanes is the state of a lane group of a context-coded run.
type CtxLanes struct {
	States [Lanes]uint32 // below 2³¹
	Last   [Lanes]byte   // last symbols
	Order2 [Lanes]byte   // Order2 of the symbols before Last
}

// CtxRound is the number of symbols of a round: one for each lane of two lane groups. The marks of
// a round are a uint64, bit 0 for the first symbol.
const CtxRound = 2 * Lanes

// DecodeCtx decodes rounds of one lane group, to its half of each round in buf: 0 or 1. It stops
// where marks or buf end, or words has fewer than RoundBytes + WordSlack bytes. It returns the
// number of rounds, and of bytes of words used. Last and Order2 do not matter if all symbols of the
// first round are marked.
func DecodeCtx(
	g *CtxLanes, half int, tab *CtxTable, marks []uint64, buf, words []byte,
) (rounds, used int) {
	marks = marks[:min(len(marks), len(buf)/CtxRound)]
	if rounds, used, ok := decodeCtxKernel(g, half, tab, marks, buf, words); ok {
		return rounds, used
	}
	return decodeCtx(g, half, tab, marks, buf, words)
}

// DecodeCtx2 decodes rounds of both lane groups in step, as DecodeCtx does for one. The steps of
// one group wait for each other; those of two groups overlap. It stops when either group cannot go
// on. Where there is no kernel it decodes no rounds. The caller finishes with DecodeCtx.
func DecodeCtx2(
	g *[2]CtxLanes, tab *CtxTable, marks []uint64, buf []byte, words [2][]byte,
) (rounds int, used [2]int) {
	marks = marks[:min(len(marks), len(buf)/CtxRound)]
	return decodeCtx2Kernel(g, tab, marks, buf, words)
}

// decodeCtx is the portable twin of DecodeCtx. It requires room for as many rounds as marks in buf.
func decodeCtx(
	g *CtxLanes, half int, tab *CtxTable, marks []uint64, buf, words []byte,
) (rounds, used int) {
	left := len(words)
	off := half % 2 * Lanes
	for rounds < len(marks) && len(words) >= RoundBytes+WordSlack {
		out := (*[Lanes]byte)(buf[off:])
		w := (*[RoundBytes + WordSlack]byte)(words)
		marked := uint32(marks[rounds] >> (off & 63))
		q := uint32(0)
		//pz:nobce
		for l := 0; l < Lanes; l += 4 {
			c0 := tab.terms[uint(g.Last[l])|uint(marked&1)<<8]
			c1 := tab.terms[uint(g.Last[l+1])|uint(marked>>1&1)<<8]
			c2 := tab.terms[uint(g.Last[l+2])|uint(marked>>2&1)<<8]
			c3 := tab.terms[uint(g.Last[l+3])|uint(marked>>3&1)<<8]
			marked >>= 4
			t0 := &tab.Tables[tab.TableOf[(c0+uint32(g.Order2[l]))%512]%MaxCtxTables]
			t1 := &tab.Tables[tab.TableOf[(c1+uint32(g.Order2[l+1]))%512]%MaxCtxTables]
			t2 := &tab.Tables[tab.TableOf[(c2+uint32(g.Order2[l+2]))%512]%MaxCtxTables]
			t3 := &tab.Tables[tab.TableOf[(c3+uint32(g.Order2[l+3]))%512]%MaxCtxTables]
			g.Order2[l], g.Order2[l+1], g.Order2[l+2], g.Order2[l+3] =
				byte(c0>>16), byte(c1>>16), byte(c2>>16), byte(c3>>16)
			x0, x1, x2, x3 := g.States[l], g.States[l+1], g.States[l+2], g.States[l+3]
			e0, e1, e2, e3 := t0[x0%slots], t1[x1%slots], t2[x2%slots], t3[x3%slots]
			out[l], out[l+1], out[l+2], out[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			g.Last[l], g.Last[l+1], g.Last[l+2], g.Last[l+3] = byte(e0), byte(e1), byte(e2), byte(e3)
			x0 = e0>>freqShift%slots*(x0>>ProbBits) + e0>>slotShift
			x1 = e1>>freqShift%slots*(x1>>ProbBits) + e1>>slotShift
			x2 = e2>>freqShift%slots*(x2>>ProbBits) + e2>>slotShift
			x3 = e3>>freqShift%slots*(x3>>ProbBits) + e3>>slotShift
			// 1 if the lane takes a word.
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

// DecodeCtxTail decodes rounds in which only the first lanes of the group have symbols, one symbol
// at a time: the end of a segment. lanes is at most Lanes. It needs no slack and uses words to
// their end. It returns the number of bytes used, and ok = false if words runs out. It has no
// kernel.
func DecodeCtxTail(
	g *CtxLanes, half int, tab *CtxTable, marks []uint64, buf []byte, lanes int, words []byte,
) (used int, ok bool) {
	off := half % 2 * Lanes
	for _, marked := range marks {
		marked >>= half % 2 * Lanes
		out := buf[off:][:lanes]
		for l := range out {
			l %= Lanes
			c := tab.terms[uint(g.Last[l])|uint(marked>>l&1)<<8]
			x := g.States[l]
			e := tab.Tables[tab.TableOf[(c+uint32(g.Order2[l]))%512]%MaxCtxTables][x%slots]
			out[l], g.Last[l], g.Order2[l] = byte(e), byte(e), byte(c>>16)
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
