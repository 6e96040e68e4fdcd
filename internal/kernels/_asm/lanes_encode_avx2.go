package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanesAVX2 codes a symbol of each lane. It has eight lanes to a vector. The entries of even and of
// odd lanes come in two vectors, because VPMULUDQ multiplies the lower halves of 64-bit elements.
type lanesAVX2 struct {
	xs    [4]reg.VecVirtual // states
	toEnd reg.GPVirtual
}

func (e *lanesAVX2) load(states reg.GPVirtual) {
	for i := range e.xs {
		e.xs[i] = YMM()
		VMOVDQU(at(states, 32*i), e.xs[i])
	}
	e.toEnd = GP64()
	LEAQ(toEndTable(), e.toEnd)
}

func (e *lanesAVX2) save(states reg.GPVirtual) {
	for i, x := range e.xs {
		VMOVDQU(x, at(states, 32*i))
	}
}

// round codes the symbols whose entries lookup2 loads for two lanes.
func (e *lanesAVX2) round(lookup2 func(a, b int) reg.VecVirtual, out reg.GPVirtual) {
	for i := len(e.xs) - 1; i >= 0; i-- {
		x := e.xs[i]
		var entries [2]reg.VecVirtual
		for odd := range entries {
			lane := 8*i + odd
			lo, hi := lookup2(lane, lane+2), lookup2(lane+4, lane+6)
			entries[odd] = lo.AsY().(reg.VecVirtual)
			VINSERTI128(U8(1), hi, entries[odd], entries[odd])
		}
		even, odd := entries[0], entries[1]
		upper, f := YMM(), YMM()
		VPSRLQ(U8(32), even, upper)
		VPBLENDD(U8(0xaa), odd, upper, upper)
		VPSRLD(U8(encShift), upper, f)

		Comment("lanes from frequency << 20 on give off a word each")
		few, t, w := YMM(), YMM(), YMM()
		set, count := GP64(), GP64()
		VPSRLD(U8(31-probBits), x, few)
		VPCMPGTD(few, f, few) // the lanes that give off none
		VMOVMSKPS(few, set.As32())
		VPSHUFB(lowWords(), x, w)
		VPERMQ(U8(0x08), w, w)
		POPCNTL(set.As32(), count.As32())
		ADDL(set.As32(), set.As32())
		VPSHUFB(Mem{Base: e.toEnd, Index: set, Scale: 8}, w.AsX(), w.AsX())
		VMOVDQU(w.AsX(), at(out, -16))
		LEAQ(Mem{Base: out, Index: count, Scale: 2, Disp: -16}, out)
		VPSRLD(U8(16), x, t)
		VBLENDVPS(few, x, t, x)

		Comment("x += bias + (x / frequency) * (2048 - frequency)")
		VPMULUDQ(even, x, even)
		VPSRLQ(U8(32), x, t)
		VPMULUDQ(odd, t, odd)
		VPSRLQ(U8(32), even, even)
		q := even
		VPBLENDD(U8(0xaa), odd, even, q)
		VPSRLD(U8(divShift), upper, t)
		VPAND(same(31), t, t)
		VPSRLVD(t, q, q)
		VMOVDQU(same(slots), t)
		VPSUBD(f, t, t)
		VPMULLD(t, q, q)
		VPAND(same(0xffff), upper, upper)
		VPADDD(upper, x, x)
		VPADDD(q, x, x)
	}
}

func encodeAVX2() {
	e := new(lanesAVX2)
	encoder{
		load: e.load,
		save: e.save,
		round: func(in, tab, out reg.GPVirtual) {
			e.round(func(a, b int) reg.VecVirtual { return lookup2(tab, in, a, b) }, out)
		},
	}.write("encodeLanesAVX2")
}

// encodeCtxAVX2 takes the symbol and the table of each lane from the lane's own piece.
func encodeCtxAVX2() {
	TEXT("encodeCtxAVX2", attr.NOSPLIT, "func(states *[32]uint32, tab *[256]uint64, "+
		"symbols, tableOf *uint8, begin *[32]int, rounds int, words []byte, p int) (at int)")
	Pragma("noescape")
	Doc("encodeCtxAVX2 codes one round or more, the last one first, and returns the index where the",
		"words begin. tab is in the first of 32 tables. symbols and tableOf are those of position 0 in",
		"the last round.")
	e := new(lanesAVX2)
	states, tab, symbols, tableOf := GP64(), GP64(), GP64(), GP64()
	begin, left, out := GP64(), AllocLocal(8), GP64()
	Load(Param("states"), states)
	e.load(states)
	t := GP64()
	Load(Param("rounds"), t)
	MOVQ(t, left)
	Load(Param("words").Base(), out)
	Load(Param("p"), t)
	ADDQ(t, out)
	Load(Param("tab"), tab)
	Load(Param("symbols"), symbols)
	Load(Param("tableOf"), tableOf)
	Load(Param("begin"), begin)

	Label("loop")
	entry := func(lane int) Mem {
		i, k := GP64(), GP64()
		MOVQ(at(begin, 8*lane), i)
		MOVBLZX(Mem{Base: tableOf, Index: i, Scale: 1}, k.As32())
		MOVBLZX(Mem{Base: symbols, Index: i, Scale: 1}, i.As32())
		ANDL(U8(maxCtxTables-1), k.As32())
		LEAL(Mem{Base: k, Index: k, Scale: 2}, k.As32()) // an EncodeTable has three times 256 words
		SHLL(U8(8), k.As32())
		ADDL(k.As32(), i.As32())
		return Mem{Base: tab, Index: i, Scale: 8}
	}
	e.round(func(a, b int) reg.VecVirtual {
		x := XMM()
		VMOVQ(entry(a), x)
		VMOVHPS(entry(b), x, x)
		return x
	}, out)
	DECQ(symbols)
	DECQ(tableOf)
	DECQ(left)
	JNZ(LabelRef("loop"))

	Load(Param("states"), t)
	e.save(t)
	Load(Param("words").Base(), t)
	SUBQ(t, out)
	Store(out, Return("at"))
	VZEROUPPER()
	RET()
}

// lowWords is the shuffle that collects the lower halves of dwords within 16 bytes.
func lowWords() Mem {
	const none = 0x80808080
	return dwords("lowWords", 32, 0x05040100, 0x0d0c0908, none, none)
}

// toEndTable has, for each set of eight lanes, the shuffle that moves the words of all other lanes
// to the end, in order.
func toEndTable() Mem {
	var p []byte
	for set := range 256 {
		var q []byte
		for lane := range byte(8) {
			if set>>lane&1 == 0 {
				q = append(q, 2*lane, 2*lane+1)
			}
		}
		for range 16 - len(q) {
			p = append(p, 0x80)
		}
		p = append(p, q...)
	}
	return constant("toEnd", p)
}
