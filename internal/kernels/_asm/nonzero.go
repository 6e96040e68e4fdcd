package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// nonZeroAVX2 packs the comparisons of 32 counts with 0 to bytes. Packing works within the halves
// of vectors, so a permutation puts the bytes in order.
func nonZeroAVX2() {
	TEXT("nonZeroAVX2", attr.NOSPLIT, "func(set *[4]uint64, counts *[256]uint32)")
	Pragma("noescape")
	Doc("nonZeroAVX2 sets set to the symbols whose counts are not 0.")
	set, counts, i := GP64(), GP64(), GP64()
	Load(Param("set"), set)
	Load(Param("counts"), counts)
	none, order := YMM(), YMM()
	VPXOR(none, none, none)
	VMOVDQU(dwords("packed32", 32, 0, 4, 1, 5, 2, 6, 3, 7), order)
	XORL(i.As32(), i.As32())

	Label("step")
	var v [4]reg.VecVirtual
	for k := range v {
		v[k] = YMM()
		VPCMPEQD(Mem{Base: counts, Disp: 32 * k}, none, v[k])
	}
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKSSWB(v[2], v[0], v[0])
	VPERMD(v[0], order, v[0])
	mask := GP64()
	VPMOVMSKB(v[0], mask.As32())
	NOTL(mask.As32())
	MOVL(mask.As32(), Mem{Base: set, Index: i, Scale: 4})
	SUBQ(I32(-128), counts)
	INCQ(i)
	CMPQ(i, U8(8))
	JB(LabelRef("step"))
	VZEROUPPER()
	RET()
}
