package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ctxKernelVBMI looks up contexts and tables of all lanes at once. 256 bytes of a map fill four
// registers. VPERMI2B is a lookup in two of them, and a blend by the top bit of the index selects.
type ctxKernelVBMI struct {
	tables                reg.GPVirtual
	order1, order2, class [4]reg.VecVirtual // maps of 256 bytes
	slotMask, least       reg.VecVirtual

	// These registers are written in part. avo then takes the rest for something to keep, so all
	// rounds share one register of each.
	halves [2]reg.VecVirtual
	low    reg.VecVirtual

	// For marked lanes: the table, and Order2 of symbol 0. They are 32 bytes each,
	// in memory because all registers are in use.
	markClass, none Mem
}

func ctxVBMI(groups int) {
	name := []string{"decodeCtxVBMI", "decodeCtx2VBMI"}[groups-1]
	writeCtx(&ctxKernelVBMI{}, name, "order1, order2 *[256]byte, class *[512]byte", groups)
}

func (k *ctxKernelVBMI) prepare() {
	k.tables = GP64()
	k.halves, k.low = [2]reg.VecVirtual{ZMM(), ZMM()}, YMM()
	for _, t := range []*[4]reg.VecVirtual{&k.order1, &k.order2, &k.class} {
		for i := range t {
			t[i] = ZMM()
		}
	}
	k.none, k.markClass = AllocLocal(32), AllocLocal(32)
	p, t := GP64(), YMM()
	Load(Param("order1"), p)
	for i := range k.order1 {
		VMOVDQU64(at(p, 64*i), k.order1[i])
	}
	Load(Param("order2"), p)
	for i := range k.order2 {
		VMOVDQU64(at(p, 64*i), k.order2[i])
	}
	VPBROADCASTB(at(p, 0), t)
	VMOVDQU(t, k.none)
	Comment("table numbers modulo the number of tables")
	Load(Param("class"), p)
	numbers := broadcast((maxCtxTables - 1) * 0x01010101)
	for i := range k.class {
		VPANDD(at(p, 64*i), numbers, k.class[i])
	}
	VPBROADCASTB(at(p, 256), t)
	VPANDD(numbers.AsY(), t, t)
	VMOVDQU(t, k.markClass)
	Load(Param("tables"), k.tables)
	k.slotMask, k.least = broadcast(slots-1), broadcast(lower)
}

func (k *ctxKernelVBMI) load(g *ctxGroup, lanes reg.GPVirtual) {
	for i := range 2 {
		g.x = append(g.x, ZMM())
		VMOVDQU32(at(lanes, statesAt+64*i), g.x[i])
	}
	g.symbols, g.adds = ZMM(), ZMM()
	VMOVDQU64(at(lanes, lastAt), g.symbols.AsY())
	VMOVDQU64(at(lanes, order2At), g.adds.AsY())
}

func (k *ctxKernelVBMI) begin([]*ctxGroup, Mem) {}

func (k *ctxKernelVBMI) rounds(gs []*ctxGroup, marks, _, buf reg.GPVirtual) {
	for _, g := range gs {
		k.round(g, at(marks, g.disp/8), at(buf, g.disp))
	}
}

func (k *ctxKernelVBMI) round(g *ctxGroup, marks, buf Mem) {
	class := k.classes(g, marks)
	out := [2]reg.VecVirtual{k.low.AsX().(reg.VecVirtual), XMM()}
	for i, x := range g.x {
		e, t := k.entries(i, x, class)
		VPMOVDB(e, out[i])

		Comment("x = frequency * (x >> 11) + number of the slot")
		VPSRLD(U8(freqShift), e, t)
		VPANDD(k.slotMask, t, t)
		VPSRLD(U8(probBits), x, x)
		VPMULLD(t, x, x)
		VPSRLD(U8(slotShift), e, e)
		VPADDD(e, x, x)
		takeWords16(x, k.least, g.words)
	}
	VINSERTI32X4(U8(1), out[1], k.low, g.symbols.AsY())
	VMOVDQU64(g.symbols.AsY(), buf)
}

// classes returns the table number of each lane, and updates adds.
func (k *ctxKernelVBMI) classes(g *ctxGroup, marks Mem) reg.VecVirtual {
	Comment("tables of the lanes")
	marked := K()
	KMOVD(marks, marked)
	context := lookup256(k.order1, g.symbols)
	VPADDB(g.adds, context, context)
	VMOVDQA64(lookup256(k.order2, g.symbols), g.adds)
	VMOVDQU8(k.none, marked, g.adds.AsY())
	class := lookup256(k.class, context)
	VMOVDQU8(k.markClass, marked, class.AsY())
	return class
}

// lookup256 returns table[index] for each byte of index.
func lookup256(table [4]reg.VecVirtual, index reg.VecVirtual) reg.VecVirtual {
	a, b, upper := ZMM(), ZMM(), K()
	VPMOVB2M(index, upper)
	VMOVDQA64(index, a)
	VPERMI2B(table[1], table[0], a)
	VMOVDQA64(index, b)
	VPERMI2B(table[3], table[2], b)
	VPBLENDMB(b, a, upper, a)
	return a
}

// entries returns the table entries of half i of the lanes, whose states are x, and a scratch
// register.
func (k *ctxKernelVBMI) entries(i int, x, class reg.VecVirtual) (e, t reg.VecVirtual) {
	index := ZMM()
	half := class.AsX().(reg.VecVirtual)
	if i == 1 {
		half = XMM()
		VEXTRACTI32X4(U8(1), class.AsY(), half)
	}
	VPMOVZXBD(half, index)
	VPSLLD(U8(probBits), index, index)
	Comment("index | x & 2047")
	VPTERNLOGD(U8(0xf8), k.slotMask, x, index)
	e, t = ZMM(), ZMM()
	for h, whole := range k.halves {
		for q := range 2 {
			part, to := index.AsX().(reg.VecVirtual), whole.AsX().(reg.VecVirtual)
			if h+q > 0 {
				part = XMM()
				VEXTRACTI32X4(U8(2*h+q), index, part)
			}
			if q > 0 {
				to = XMM()
			}
			load4(k.tables, part, to)
			if q > 0 {
				VINSERTI64X2(U8(1), to, whole.AsY(), whole.AsY())
			}
		}
	}
	VINSERTI64X4(U8(1), k.halves[1].AsY(), k.halves[0], e)
	return e, t
}

func (k *ctxKernelVBMI) save(g *ctxGroup, lanes reg.GPVirtual) {
	for i, x := range g.x {
		VMOVDQU32(x, at(lanes, statesAt+64*i))
	}
	VMOVDQU64(g.symbols.AsY(), at(lanes, lastAt))
	VMOVDQU64(g.adds.AsY(), at(lanes, order2At))
}

// load4 loads the entries with the four indices in x to e, as lookup4 does for states.
func load4(tables reg.GPVirtual, x, e reg.VecVirtual) {
	for half := range 2 {
		a, b := GP64(), GP64()
		if half == 0 {
			VMOVQ(x, b)
		} else {
			VPEXTRQ(U8(1), x, b)
		}
		MOVL(b.As32(), a.As32())
		SHRQ(U8(32), b)
		if half == 0 {
			VMOVD(Mem{Base: tables, Index: a, Scale: 4}, e)
		} else {
			VPINSRD(U8(2), Mem{Base: tables, Index: a, Scale: 4}, e, e)
		}
		VPINSRD(U8(2*half+1), Mem{Base: tables, Index: b, Scale: 4}, e, e)
	}
}
