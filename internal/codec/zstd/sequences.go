package zstd

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/internal/kernels"
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
	if cost, ok := k.predefined().dist.CostOf(counts[:]); ok {
		best, mode, c.pending = cost, predefinedMode, k.predefined()
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
		dst, mode = e.codes[k].choose(dst, kindOf[k], &e.block.codes[k], n, e.body.seqs[n-1].Codes[k])
		modes = modes<<2 | mode
	}
	dst[at] = modes << 2
	return e.appendBits(dst, n)
}

// appendBits appends the bit stream of the first n sequences to dst (RFC 8878, section
// 3.1.1.3.2.1.2). It encodes from the last sequence to the first: the bits that the states emit,
// the offset's lowest, then the extra bits. The initial states of the decoder come last.
func (e *Encoder) appendBits(dst []byte, n int) []byte {
	seqs := e.body.seqs[:n]
	last := &seqs[n-1]
	var tables [kinds]*fse.EncTable
	var transitions [kinds]*kernels.StateTable
	s := kernels.SequenceStates{Have: uint32(last.ExtraBits), Acc: last.Extra}
	bits := uint(0)
	for k := range tables {
		tables[k] = &e.codes[k].pending.enc
		transitions[k] = (*kernels.StateTable)(&tables[k].Transitions)
		s.State[k] = tables[k].Start(last.Codes[k])
		bits += uint(n)*tables[k].Log() + extraBits(k, &e.block.codes[k])
	}
	const slack = 32 // for whole words, and the bits of a code that choose has removed
	dst = slices.Grow(dst, int(bits/8)+slack)
	room := dst[len(dst):cap(dst)]
	used := flush(&s, room)
	seqs = seqs[:n-1]
	if size, ok := kernels.EncodeSequences(&s, transitions, seqs, room[used:]); ok {
		used += size
	} else {
		used += putSequences(&s, tables, seqs, room[used:])
	}
	w := bitio.Writer{Out: dst[:len(dst)+used], Acc: s.Acc, N: uint(s.Have)}
	for _, k := range [kinds]int{matchLens, offsets, litLens} {
		log := tables[k].Log()
		w.Put(uint64(s.State[k])&(1<<log-1), log)
	}
	w.Put(1, 1) // marks the end of the bit stream
	w.Align()
	return w.Out
}

// flush writes the bits of s and returns the number of whole bytes.
func flush(s *kernels.SequenceStates, to []byte) int {
	binary.LittleEndian.PutUint64(to, s.Acc)
	n := s.Have / 8
	s.Acc >>= 8 * n
	s.Have %= 8
	return int(n)
}

// putSequences writes the bits of sequences, the last one first, and returns the number of whole
// bytes. It is the portable twin of kernels.EncodeSequences.
func putSequences(
	s *kernels.SequenceStates, tables [kinds]*fse.EncTable, seqs []kernels.SequenceCode, to []byte,
) (at int) {
	lit, off, match := tables[litLens], tables[offsets], tables[matchLens]
	l, o, m := s.State[litLens], s.State[offsets], s.State[matchLens]
	acc, have := s.Acc, uint(s.Have)
	for i := len(seqs) - 1; i >= 0; i-- {
		c := &seqs[i]
		nextO, on := off.Next(o, c.Codes[offsets])
		nextM, mn := match.Next(m, c.Codes[matchLens])
		nextL, ln := lit.Next(l, c.Codes[litLens])
		states := uint64(o&(1<<(on&31)-1)) | uint64(m&(1<<(mn&31)-1))<<(on&31) |
			uint64(l&(1<<(ln&31)-1))<<((on+mn)&63)
		o, m, l = nextO, nextM, nextL
		acc |= states << (have & 63)
		have += on + mn + ln
		x, xn := c.Extra, uint(c.ExtraBits)
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
	s.State = [kinds]uint32{litLens: l, offsets: o, matchLens: m}
	s.Acc, s.Have = acc, uint32(have)
	return at
}

// extraBits returns the number of extra bits of codes with the given counts.
func extraBits(k int, counts *[codeSpace]uint32) (n uint) {
	switch k {
	case litLens:
		for i, x := range litBits {
			n += uint(counts[i]) * uint(x)
		}
	case matchLens:
		for i, x := range matchBits {
			n += uint(counts[i]) * uint(x)
		}
	default:
		for i, c := range counts[:maxOffCode+1] {
			n += uint(c) * uint(i)
		}
	}
	return n
}
