package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// buildDecodeTableAVX2 writes eight entries a step. If that is more than the symbol has, the next
// symbol overwrites the rest. It finds symbols with a frequency by comparing 16 frequencies with 0.
func buildDecodeTableAVX2() {
	TEXT("buildDecodeTableAVX2", attr.NOSPLIT,
		"func(table *[2048]uint32, freqs *[256]uint16) (done, sym int)")
	Pragma("noescape")
	Doc("buildDecodeTableAVX2 writes a decoding table up to the first symbol for which a whole step may",
		"have no room. It returns the number of entries written and that symbol, or 256.")
	table, freqs := GP64(), GP64()
	Load(Param("table"), table)
	Load(Param("freqs"), freqs)
	place, group := GP64(), GP64() // index of the next entry; least of 16 symbols
	XORL(place.As32(), place.As32())
	XORL(group.As32(), group.As32())
	count, zero, step := YMM(), YMM(), YMM()
	VMOVDQU(dwords("slotCount", 32, 0, 1<<slotShift, 2<<slotShift, 3<<slotShift,
		4<<slotShift, 5<<slotShift, 6<<slotShift, 7<<slotShift), count)
	VMOVDQU(same(8<<slotShift), step)
	VPXOR(zero, zero, zero)

	Label("group")
	used, v, half := GP64(), YMM(), YMM()
	VMOVDQU(Mem{Base: freqs, Index: group, Scale: 2}, v)
	VPCMPEQW(zero, v, v)
	VPMOVMSKB(v, used.As32())
	NOTL(used.As32())
	ANDL(U32(0x55555555), used.As32())
	JEQ(LabelRef("next"))
	Label("symbol")
	sym, f, end, e := GP64(), GP64(), GP64(), GP64()
	TZCNTL(used.As32(), sym.As32())
	BLSRL(used.As32(), used.As32())
	SHRL(U8(1), sym.As32())
	ADDL(group.As32(), sym.As32())
	MOVWLZX(Mem{Base: freqs, Index: sym, Scale: 2}, f.As32())
	LEAQ(Mem{Base: place, Index: f, Scale: 1}, end)
	CMPQ(end, U32(slots-8))
	JHI(LabelRef("last"))
	MOVL(f.As32(), e.As32())
	SHLL(U8(freqShift), e.As32())
	ORL(sym.As32(), e.As32())
	VMOVD(e.As32(), half.AsX())
	VPBROADCASTD(half.AsX(), half)
	VPADDD(count, half, half)
	Label("eight")
	VMOVDQU(half, Mem{Base: table, Index: place, Scale: 4})
	ADDQ(I8(8), place)
	VPADDD(step, half, half)
	CMPQ(place, end)
	JCS(LabelRef("eight"))
	MOVQ(end, place)
	TESTL(used.As32(), used.As32())
	JNE(LabelRef("symbol"))
	Label("next")
	ADDL(U8(16), group.As32())
	CMPL(group.As32(), U32(256))
	JCS(LabelRef("group"))
	MOVL(group.As32(), sym.As32())
	Label("last")
	VZEROUPPER()
	Store(place, Return("done"))
	Store(sym, Return("sym"))
	RET()
}
