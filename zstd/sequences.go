package zstd

import (
	"encoding/binary"
	"math"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/bitio"
)

// Table modes (RFC 8878, section 3.1.1.3.2.1).
const (
	predefinedMode = iota
	rleMode
	compressedMode
	repeatMode
)

// table is a distribution and its encoding table.
type table struct {
	dist fse.Distribution
	enc  fse.EncTable
}

// tableChoice chooses the table for one kind of code and keeps the last one.
type tableChoice struct {
	slots [2]table
	// of the last block with sequences: one of slots, or predefined; nil if there is none
	last    *table
	pending *table // of the pending block
	// description of a new table
	description []byte
	scratch     []byte
}

// commit records that the pending block is written as a compressed one.
func (c *tableChoice) commit() { c.last = c.pending }

// choose selects the cheapest table for n codes with the given counts and appends its description
// to dst. final is the last of the codes. choose may remove it from counts.
func (c *tableChoice) choose(
	dst []byte, k *kind, counts *[codeSpace]uint32, n int, final uint8,
) (_ []byte, mode byte) {
	best := uint64(math.MaxUint64)
	if cost, ok := k.predefined.dist.CostOf(counts[:]); ok {
		best, mode, c.pending = cost, predefinedMode, &k.predefined
	}
	if c.last != nil {
		if cost, ok := c.last.dist.CostOf(counts[:]); ok && cost < best {
			best, mode, c.pending = cost, repeatMode, c.last
		}
	}
	slot := &c.slots[0]
	if c.last == slot {
		slot = &c.slots[1]
	}
	if counts[final] == uint32(n) {
		if best > 8*fse.CostBit {
			slot.setSymbol(final)
			c.pending = slot
			return append(dst, final), rleMode
		}
		return dst, mode
	}
	// The final code sets the first state and takes no bits.
	if counts[final] > 1 {
		counts[final]--
	}
	top := len(counts) - 1
	for counts[top] == 0 {
		top--
	}
	slot.dist.Normalize(counts[:], fse.AutoLog(k.maxLog, n, top), true)
	c.description = slot.dist.Append(c.description[:0])
	cost, _ := slot.dist.CostOf(counts[:])
	if cost+uint64(len(c.description))*8*fse.CostBit < best {
		slot.enc.Build(&slot.dist)
		c.pending = slot
		return append(dst, c.description...), compressedMode
	}
	return dst, mode
}

// setSymbol makes t the table of a single symbol.
func (t *table) setSymbol(s uint8) {
	t.dist.Log, t.dist.Len = 0, int(s)+1
	clear(t.dist.Prob[:s])
	t.dist.Prob[s] = 1
	t.enc.BuildSymbol(s)
}

// appendSequences appends the sequences section of the first n sequences to dst.
func (e *Encoder) appendSequences(dst []byte, n int) []byte {
	switch {
	case n == 0:
		return append(dst, 0)
	case n < 0x80:
		dst = append(dst, byte(n))
	case n < 0x7F00:
		dst = append(dst, byte(n>>8+0x80), byte(n))
	default:
		dst = append(dst, 0xFF, byte(n-0x7F00), byte((n-0x7F00)>>8))
	}
	at := len(dst)
	dst = append(dst, 0)
	modes := byte(0)
	for k := range e.codes {
		var mode byte
		if e.shortBlock {
			var ok bool
			dst, mode, ok = e.codes[k].chooseShort(dst, k, &e.block.codes[k], e.learned)
			if ok {
				modes = modes<<2 | mode
				continue
			}
		}
		dst, mode = e.codes[k].choose(dst, kindOf[k], &e.block.codes[k], n, e.body.codes[k][n-1])
		modes = modes<<2 | mode
	}
	dst[at] = modes << 2
	return e.appendBits(dst, n)
}

// appendBits appends the bit stream of the first n sequences to dst (RFC 8878, section
// 3.1.1.3.2.1.2). It encodes from the last sequence to the first: the bits that the states emit,
// the offset's lowest, then the extra bits. The initial states of the decoder come last.
func (e *Encoder) appendBits(dst []byte, n int) []byte {
	lit, off := &e.codes[litLens].pending.enc, &e.codes[offsets].pending.enc
	match := &e.codes[matchLens].pending.enc
	e.states, e.stateBits = resize(e.states, n), resize(e.stateBits, n)
	litCodes, offCodes := e.body.codes[litLens][:n], e.body.codes[offsets][:n]
	matchCodes := e.body.codes[matchLens][:n]
	states, stateBits := e.states[:n], e.stateBits[:n]
	extra, extraBits := e.body.extra[:n], e.body.extraBits[:n]

	// The chains of states depend on table lookups, so they run in a loop of their own.
	i := n - 1
	l, o, m := lit.Start(litCodes[i]), off.Start(offCodes[i]), match.Start(matchCodes[i])
	states[i], stateBits[i] = 0, 0
	sum := uint(extraBits[i])
	//pz:nobce
	for i--; i >= 0; i-- {
		nextO, on := off.Next(o, offCodes[i])
		nextM, mn := match.Next(m, matchCodes[i])
		nextL, ln := lit.Next(l, litCodes[i])
		states[i] = o&(1<<(on&31)-1) | m&(1<<(mn&31)-1)<<(on&31) | l&(1<<(ln&31)-1)<<((on+mn)&31)
		bits := on + mn + ln
		stateBits[i] = uint8(bits)
		sum += bits + uint(extraBits[i])
		o, m, l = nextO, nextM, nextL
	}

	w := bitio.Writer{Out: dst}
	w.Room(int(sum + 40))
	putSequences(&w, states, stateBits, extra, extraBits)
	w.Put(uint64(m)&(1<<match.Log()-1), match.Log())
	w.Put(uint64(o)&(1<<off.Log()-1), off.Log())
	w.Put(uint64(l)&(1<<lit.Log()-1), lit.Log())
	w.Put(1, 1) // marks the end of the bit stream
	w.Align()
	return w.Out
}

// putSequences writes the bits of sequences, the last one first. w must have room for them.
func putSequences(
	w *bitio.Writer, states []uint32, stateBits []uint8, extra []uint64, extraBits []uint8,
) {
	to, at, acc, have := w.Out[len(w.Out):cap(w.Out)], 0, w.Acc, w.N
	n := len(states)
	stateBits, extra, extraBits = stateBits[:n], extra[:n], extraBits[:n]
	for i := len(states) - 1; i >= 0; i-- {
		x, xn := extra[i], uint(extraBits[i])
		acc |= uint64(states[i]) << (have & 63)
		have += uint(stateBits[i])
		if have+xn > 63 {
			// Long lengths and a large offset: up to 33 bits are pending and 63 follow. The first
			// 16 of those go ahead.
			binary.LittleEndian.PutUint64(to[at:], acc)
			at += int(have >> 3)
			acc = acc>>(have&^7&63) | x&(1<<16-1)<<(have&7)
			have = have&7 + 16
			binary.LittleEndian.PutUint64(to[at:], acc)
			at += int(have >> 3)
			acc >>= have &^ 7 & 63
			have &= 7
			x >>= 16
			xn -= 16
		}
		acc |= x << (have & 63)
		have += xn
		binary.LittleEndian.PutUint64(to[at:], acc)
		at += int(have >> 3)
		acc >>= have &^ 7 & 63
		have &= 7
	}
	w.Out, w.Acc, w.N = w.Out[:len(w.Out)+at], acc, have
}
