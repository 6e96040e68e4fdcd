package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// histogramAVX2 has eight banks of counts, and bytes that follow one another go to different ones: a count that has just been written costs a wait to read
// again. Vectors add the banks up.
func histogramAVX2() {
	const banks, bankBytes = 8, 4 * 256
	TEXT("histogramAVX2", attr.NOSPLIT, "func(counts *[256]uint32, banks *[8][256]uint32, p []byte)")
	Pragma("noescape")
	Doc("histogramAVX2 adds the numbers of the bytes in p, whose length is a multiple of 16, to counts. The banks must be zero.")
	bank, p, end := GP64(), GP64(), GP64()
	Load(Param("banks"), bank)
	Load(Param("p").Base(), p)
	Load(Param("p").Len(), end)
	ADDQ(p, end)
	JMP(LabelRef("check"))

	Label("count")
	v, w := GP64(), GP64()
	MOVQ(at(p, 0), v)
	MOVQ(at(p, 8), w)
	ADDQ(I8(16), p)
	for i := range 8 {
		for half, r := range []reg.GPVirtual{v, w} {
			c := GP64()
			MOVBLZX(r.As8(), c.As32())
			INCL(Mem{Base: bank, Index: c, Scale: 4, Disp: bankBytes * ((2*i + half) % banks)})
			if i < 7 {
				SHRQ(U8(8), r)
			}
		}
	}
	Label("check")
	CMPQ(p, end)
	JNE(LabelRef("count"))

	counts, i := GP64(), GP64()
	Load(Param("counts"), counts)
	MOVQ(I32(-bankBytes), i)
	SUBQ(I32(-bankBytes), counts)
	SUBQ(I32(-bankBytes), bank)
	Label("sum")
	sum := YMM()
	VMOVDQU(Mem{Base: counts, Index: i, Scale: 1}, sum)
	for k := range banks {
		VPADDD(Mem{Base: bank, Index: i, Scale: 1, Disp: bankBytes * k}, sum, sum)
	}
	VMOVDQU(sum, Mem{Base: counts, Index: i, Scale: 1})
	ADDQ(I8(32), i)
	JNZ(LabelRef("sum"))
	VZEROUPPER()
	RET()
}
