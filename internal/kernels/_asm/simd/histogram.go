package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// histogramAVX2 has eight banks of counters. Neighbouring bytes go to different banks, because
// reading a counter that has just been written waits for the write. Vectors add up the banks.
func histogramAVX2() {
	const banks, bankBytes = 8, 4 * 256
	TEXT("histogramAVX2", attr.NOSPLIT, "func(counts *[256]uint32, banks *[8][256]uint32, p []byte)")
	Pragma("noescape")
	Doc("histogramAVX2 adds the number of each byte in p to counts. It requires len(p) to be a multiple",
		"of 16, and zeros in all banks.")
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
