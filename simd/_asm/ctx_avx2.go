package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ctxKernelAVX2 looks up contexts and tables lane by lane, through general registers. Last symbols
// and context terms pass through the frame.
type ctxKernelAVX2 struct {
	tables, terms, bases reg.GPVirtual
	handOut              reg.GPVirtual // table of shuffles for takeWords8
	slotMask             reg.VecVirtual

	symbols Mem // 32 last symbols
	index   Mem // 32 words: last symbol, plus 256 if the next symbol is marked
	adds    Mem // 32 dwords: Order2 of the symbol before the last one
}

func ctxAVX2() { writeCtx(&ctxKernelAVX2{}, "decodeCtxAVX2", "terms, bases *[512]uint32", 1) }

func (k *ctxKernelAVX2) prepare() {
	k.symbols, k.index, k.adds = AllocLocal(32), AllocLocal(64), AllocLocal(128)
	k.tables, k.terms, k.bases, k.handOut = GP64(), GP64(), GP64(), GP64()
	Load(Param("tables"), k.tables)
	Load(Param("terms"), k.terms)
	Load(Param("bases"), k.bases)
	LEAQ(handOutTable(), k.handOut)
	k.slotMask = YMM()
	VMOVDQU(same(slots-1), k.slotMask)
}

func (k *ctxKernelAVX2) load(g *ctxGroup, lanes reg.GPVirtual) {
	for i := range 4 {
		g.x = append(g.x, YMM())
		VMOVDQU(at(lanes, statesAt+32*i), g.x[i])
	}
	t := YMM()
	VMOVDQU(at(lanes, lastAt), t)
	VMOVDQU(t, k.symbols)
	for i := range 4 {
		VPMOVZXBD(at(lanes, order2At+8*i), t)
		VMOVDQU(t, k.adds.Offset(32*i))
	}
}

func (k *ctxKernelAVX2) round(g *ctxGroup, marks, buf Mem) {
	k.indices(marks)
	var syms [4]reg.VecVirtual
	for i, x := range g.x {
		e, t := k.entries(i, x), YMM()

		Comment("x = frequency * (x >> 11) + number of the slot")
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
		takeWords8(x, g.words, k.handOut)
	}
	out, order := syms[0], YMM()
	VPACKUSWB(syms[2], out, out)
	VMOVDQU(dwords("packed", 32, 0, 4, 1, 5, 2, 6, 3, 7), order)
	VPERMD(out, order, out)
	VMOVDQU(out, buf)
	VMOVDQU(out, k.symbols)
}

// indices sets index. It spreads the marks to words by comparing each word with its own bit.
func (k *ctxKernelAVX2) indices(marks Mem) {
	Comment("last symbols, plus 256 where there is a mark")
	bit := dwords("markBits", 32,
		0x20001, 0x80004, 0x200010, 0x800040, 0x2000100, 0x8000400, 0x20001000, 0x80004000)
	one := dwords("marked", 32, 0x1000100)
	for h := range 2 {
		s, m := YMM(), YMM()
		VPBROADCASTW(marks.Offset(2*h), m)
		VPAND(bit, m, m)
		VPCMPEQW(bit, m, m)
		VPAND(one, m, m)
		VPMOVZXBW(k.symbols.Offset(16*h), s)
		VPOR(m, s, s)
		VMOVDQU(s, k.index.Offset(32*h))
	}
}

// entries returns the table entries of eight lanes, whose states are x.
func (k *ctxKernelAVX2) entries(i int, x reg.VecVirtual) reg.VecVirtual {
	Comment("entries of eight lanes")
	var halves [2]reg.VecVirtual
	for h := range halves {
		part := x.AsX().(reg.VecVirtual)
		if h == 1 {
			part = XMM()
			VEXTRACTI128(U8(1), x, part)
		}
		e := XMM()
		for j := range 2 {
			a, b := GP64(), GP64()
			if j == 0 {
				VMOVQ(part, b)
			} else {
				VPEXTRQ(U8(1), part, b)
			}
			MOVL(b.As32(), a.As32())
			SHRQ(U8(32), b)
			lane := 8*i + 4*h + 2*j
			if a = k.entry(lane, a); j == 0 {
				VMOVD(Mem{Base: k.tables, Index: a, Scale: 4}, e)
			} else {
				VPINSRD(U8(2), Mem{Base: k.tables, Index: a, Scale: 4}, e, e)
			}
			b = k.entry(lane+1, b)
			VPINSRD(U8(2*j+1), Mem{Base: k.tables, Index: b, Scale: 4}, e, e)
		}
		halves[h] = e
	}
	e := YMM()
	VINSERTI128(U8(1), halves[1], halves[0].AsY(), e)
	return e
}

// entry returns the index in tables of the entry of a lane, and updates adds.
func (k *ctxKernelAVX2) entry(lane int, state reg.GPVirtual) reg.GPVirtual {
	w, c := GP64(), GP64()
	MOVWLZX(k.index.Offset(2*lane), w.As32())
	MOVL(Mem{Base: k.terms, Index: w, Scale: 4}, w.As32())
	MOVWLZX(w.As16(), c.As32())
	ADDL(k.adds.Offset(4*lane), c.As32())
	SHRL(U8(16), w.As32())
	MOVL(w.As32(), k.adds.Offset(4*lane))
	ANDL(U32(slots-1), state.As32())
	ADDL(Mem{Base: k.bases, Index: c, Scale: 4}, state.As32())
	return state
}

func (k *ctxKernelAVX2) save(g *ctxGroup, lanes reg.GPVirtual) {
	for i, x := range g.x {
		VMOVDQU(x, at(lanes, statesAt+32*i))
	}
	t := YMM()
	VMOVDQU(k.symbols, t)
	VMOVDQU(t, at(lanes, lastAt))
	for l := range 32 {
		v := GP32()
		MOVL(k.adds.Offset(4*l), v)
		MOVB(v.As8(), at(lanes, order2At+l))
	}
}
