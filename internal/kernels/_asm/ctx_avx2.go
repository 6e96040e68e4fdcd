package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ctxKernelAVX2 looks up contexts and table numbers of all lanes at once, and entries lane by lane.
//
// A round of a group has two parts: contexts, which is shuffles and blends, and symbols, which is
// mostly loads. The instructions of a part wait for each other, and those of the next part wait for
// the end of the part. Two groups take turns, one part each.
//
// Packing four vectors of dwords into one of bytes yields lanes in the order 0–3, 8–11, 16–19,
// 24–27, 4–7, 12–15, 20–23, 28–31. Bytes of lanes stay in this packed order from round to round.
type ctxKernelAVX2 struct {
	groups       int
	tables, maps reg.GPVirtual
	handOut      reg.GPVirtual // table of shuffles for takeWords8
	slotMask     reg.VecVirtual
	least        reg.VecVirtual

	area  reg.GPVirtual // what the groups keep in the frame, aligned to cache lines
	taken int           // bytes of it that have an owner
}

// ctxFrame is the part of a group's state in the frame.
type ctxFrame struct {
	lanes   reg.GPVirtual
	symbols Mem // 32 bytes in packed order: the last symbols
	adds    Mem // 32 bytes in packed order: Order2 of the symbols before them
	next    Mem // what adds becomes in this round
	slots   Mem // 32 words in the order of index: states modulo 2048
	index   Mem // 32 words: the entry of each lane; lanes 0–3, 8–11, 4–7, 12–15, and so on from 16
}

// Offsets of the fields of ctxMaps.
const (
	sumsAt   = 0
	classAt  = 256
	secondAt = 512
	noneAt   = 544
	markedAt = 576
)

const ctxMapsType = "*struct{Sums, Classes [256]uint8; Second, None, Marked [32]uint8}"

func ctxAVX2(groups int) {
	name := []string{"decodeCtxAVX2", "decodeCtx2AVX2"}[groups-1]
	writeCtx(&ctxKernelAVX2{groups: groups}, name, "maps "+ctxMapsType, groups)
}

// ctxArea is the size of area for a group.
const ctxArea = 4 * 64

// take returns the next size bytes of area.
func (k *ctxKernelAVX2) take(size int) Mem {
	m := at(k.area, k.taken)
	k.taken += size
	return m
}

func (k *ctxKernelAVX2) prepare() {
	k.area = GP64()
	LEAQ(AllocLocal(k.groups*ctxArea+56).Offset(56), k.area)
	ANDQ(I8(-64), k.area)
	k.tables, k.maps, k.handOut = GP64(), GP64(), GP64()
	Load(Param("tables"), k.tables)
	Load(Param("maps"), k.maps)
	LEAQ(handOutTable(), k.handOut)
	k.slotMask, k.least = YMM(), YMM()
	VMOVDQU(same(slots-1), k.slotMask)
	VMOVDQU(same(lower), k.least)
}

func (k *ctxKernelAVX2) load(g *ctxGroup, lanes reg.GPVirtual) {
	f := &g.frame
	*f = ctxFrame{
		lanes: lanes, slots: k.take(64), index: k.take(64),
		symbols: k.take(32), adds: k.take(32), next: k.take(64),
	}
	order := YMM()
	VMOVDQU(dwords("toPacked", 32, 0, 2, 4, 6, 1, 3, 5, 7), order)
	t := YMM()
	VPERMD(at(lanes, lastAt), order, t)
	VMOVDQU(t, f.symbols)
	VPERMD(at(lanes, order2At), order, t)
	VMOVDQU(t, f.adds)
	for half := range 2 {
		x := YMM()
		VMOVDQU(at(lanes, statesAt+64*half+32), x)
		k.setSlots(f, half, x)
	}
}

func (k *ctxKernelAVX2) save(g *ctxGroup, lanes reg.GPVirtual) {
	order, t := YMM(), YMM()
	VMOVDQU(fromPacked(), order)
	VPERMD(g.frame.symbols, order, t)
	VMOVDQU(t, at(lanes, lastAt))
	VPERMD(g.frame.adds, order, t)
	VMOVDQU(t, at(lanes, order2At))
}

// fromPacked returns the order of dwords that undoes the packed order.
func fromPacked() Mem { return dwords("packed", 32, 0, 4, 1, 5, 2, 6, 3, 7) }

// setSlots sets half of slots. x has the states of the last eight lanes of that half.
func (k *ctxKernelAVX2) setSlots(f *ctxFrame, half int, x reg.VecVirtual) {
	before := YMM()
	VPAND(at(f.lanes, statesAt+64*half), k.slotMask, before)
	VPAND(k.slotMask, x, x)
	VPACKUSDW(x, before, x)
	VMOVDQU(x, f.slots.Offset(32*half))
}

func (k *ctxKernelAVX2) begin(gs []*ctxGroup, marks Mem) {
	if len(gs) == 2 {
		k.contexts(&gs[0].frame, marks)
	}
}

// rounds decodes a round of all groups. With two groups, the first one is a part ahead.
func (k *ctxKernelAVX2) rounds(gs []*ctxGroup, marks, next reg.GPVirtual, buf reg.GPVirtual) {
	a := gs[0]
	if len(gs) == 1 {
		k.contexts(&a.frame, at(marks, 0))
		k.symbols(a, at(buf, 0))
		return
	}
	b := gs[1]
	k.contexts(&b.frame, at(marks, b.disp/8))
	k.symbols(a, at(buf, a.disp))
	k.contexts(&a.frame, at(next, a.disp/8))
	k.symbols(b, at(buf, b.disp))
}

// symbols takes the entries that index names, updates the states and writes the symbols.
func (k *ctxKernelAVX2) symbols(g *ctxGroup, buf Mem) {
	f := &g.frame
	var syms [4]reg.VecVirtual
	for i := range syms {
		e, t, x := k.entries(f, i), YMM(), YMM()

		Comment("x = frequency * (x >> 11) + number of the slot")
		VMOVDQU(at(f.lanes, statesAt+32*i), x)
		VPSRLD(U8(freqShift), e, t)
		VPAND(k.slotMask, t, t)
		VPSRLD(U8(probBits), x, x)
		VPMULLD(t, x, x)
		VPSRLD(U8(slotShift), e, t)
		VPADDD(t, x, x)
		VPAND(same(0xff), e, e)
		syms[i] = e
		if i%2 == 1 {
			VPACKUSDW(e, syms[i-1], syms[i-1])
		}
		takeWords8(x, k.least, g.words, k.handOut)
		VMOVDQU(x, at(f.lanes, statesAt+32*i))
		if i%2 == 1 {
			k.setSlots(f, i/2, x)
		}
	}
	out, order := syms[0], YMM()
	VPACKUSWB(syms[2], out, out)
	VMOVDQU(out, f.symbols)
	VMOVDQU(fromPacked(), order)
	VPERMD(out, order, out)
	VMOVDQU(out, buf)
	VMOVDQU(f.next, order)
	VMOVDQU(order, f.adds)
}

// entries returns the table entries of eight lanes.
func (k *ctxKernelAVX2) entries(f *ctxFrame, i int) reg.VecVirtual {
	Comment("entries of eight lanes")
	var halves [2]reg.VecVirtual
	for h := range halves {
		e, four, p := XMM(), GP64(), GP64()
		MOVQ(f.index.Offset(i/2*32+h*16+i%2*8), four)
		for j := range 4 {
			if j < 3 {
				MOVWLZX(four.As16(), p.As32())
				SHRQ(U8(16), four)
			} else {
				p = four
			}
			entry := (Mem{Base: k.tables, Index: p, Scale: 4})
			if j == 0 {
				VMOVD(entry, e)
			} else {
				VPINSRD(U8(j), entry, e, e)
			}
		}
		halves[h] = e
	}
	e := YMM()
	VINSERTI128(U8(1), halves[1], halves[0].AsY(), e)
	return e
}

// contexts sets index and next for the round with the given marks.
func (k *ctxKernelAVX2) contexts(f *ctxFrame, marks Mem) {
	Comment("what the last symbols add to contexts")
	symbols := YMM()
	VMOVDQU(f.symbols, symbols)
	sum := k.lookup(sumsAt, symbols)

	Comment("all ones in the bytes of marked lanes")
	marked, bits := YMM(), YMM()
	VPBROADCASTD(marks, marked)
	VPSHUFB(dwords("eachFour", 32, 0, 0x01010101, 0x02020202, 0x03030303), marked, marked)
	VMOVDQU(fourBits(), bits)
	VPAND(bits, marked, marked)
	VPCMPEQB(bits, marked, marked)

	second, context := bits, YMM()
	VMOVDQU(at(k.maps, secondAt), second)
	VPANDN(sum, second, context)
	VPOR(f.adds, context, context)
	VPAND(second, sum, sum)
	VPBLENDVB(marked, at(k.maps, noneAt), sum, sum)
	VMOVDQU(sum, f.next)

	Comment("indices of entries: a table has 2048")
	class := k.lookup(classAt, context)
	VPBLENDVB(marked, at(k.maps, markedAt), class, class)
	zero, low := YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPUNPCKLBW(class, zero, low)
	VPUNPCKHBW(class, zero, class)
	VPOR(f.slots, low, low)
	VPOR(f.slots.Offset(32), class, class)
	VMOVDQU(low, f.index)
	VMOVDQU(class, f.index.Offset(32))
}

// fourBits has bits 0 to 3 for the first half of the packed order, and bits 4 to 7 for the other.
func fourBits() Mem {
	const low, high = 0x08040201, 0x80402010
	return dwords("fourBits", 32, low, low, low, low, high, high, high, high)
}

// lookup returns the bytes of a map of 256 bytes with the given indices, and overwrites them.
// VPSHUFB is a lookup in 16 bytes. It returns 0 for an index of 128 and more. Bits 4 to 6 of an
// index select one of two results each.
func (k *ctxKernelAVX2) lookup(from int, index reg.VecVirtual) reg.VecVirtual {
	bit := [3]reg.VecVirtual{YMM(), YMM(), YMM()} // bits 4 to 6, in the top of each byte
	VPADDB(index, index, bit[2])
	VPADDB(bit[2], bit[2], bit[1])
	VPADDB(bit[1], bit[1], bit[0])
	var part func(from, depth int) reg.VecVirtual
	part = func(from, depth int) reg.VecVirtual {
		if depth == 0 {
			t := YMM()
			VBROADCASTI128(at(k.maps, from), t)
			VPSHUFB(index, t, t)
			return t
		}
		a := part(from, depth-1)
		b := part(from+8<<depth, depth-1)
		VPBLENDVB(bit[depth-1], b, a, a)
		return a
	}
	lower := part(from, 3)
	VPXOR(same(0x80808080), index, index)
	upper := part(from+128, 3)
	VPOR(upper, lower, lower)
	return lower
}
