package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

const (
	// Constants of package kernels.
	symbolGroup = 32
	symbolCount = 256 + 32<<10
)

// resolveSymbolsAVX2 packs 32 symbols at once if all are bytes. If not, it looks them up one by
// one.
func resolveSymbolsAVX2() {
	TEXT("resolveSymbolsAVX2", attr.NOSPLIT,
		"func(dst []byte, symbols []uint16, table *[33024]byte) (n int)")
	Pragma("noescape")
	Doc("resolveSymbolsAVX2 replaces symbols by bytes of the table, 32 at a time, up to 32 symbols of",
		"which one is not in the table. The table begins with the bytes from 0 to 255. dst must be as",
		"long as symbols.")
	dst, from, left, n, table := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("dst").Base(), dst)
	Load(Param("symbols").Base(), from)
	Load(Param("symbols").Len(), left)
	Load(Param("table"), table)
	XORL(n.As32(), n.As32())
	high, last, a, b, both := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVDQU(same(0xff00ff00), high)
	VMOVDQU(same((symbolCount-1)<<16|symbolCount-1), last)
	SUBQ(U8(symbolGroup), left)
	JLT(LabelRef("done"))

	Label("loop")
	VMOVDQU(Mem{Base: from, Index: n, Scale: 2}, a)
	VMOVDQU(Mem{Base: from, Index: n, Scale: 2, Disp: 32}, b)
	VPMAXUW(a, b, both)
	VPTEST(high, both)
	JNE(LabelRef("look"))
	VPACKUSWB(b, a, a)
	Comment("The packed halves of both vectors alternate.")
	VPERMQ(U8(0xd8), a, a)
	VMOVDQU(a, Mem{Base: dst, Index: n, Scale: 1})
	Label("next")
	ADDQ(U8(symbolGroup), n)
	CMPQ(n, left)
	JLE(LabelRef("loop"))
	JMP(LabelRef("done"))

	Label("look")
	Comment("Nothing remains of symbols in the table.")
	VPSUBUSW(last, both, both)
	VPTEST(both, both)
	JNE(LabelRef("done"))
	for i := range symbolGroup {
		s := GP64()
		MOVWLZX(Mem{Base: from, Index: n, Scale: 2, Disp: 2 * i}, s.As32())
		MOVBLZX(Mem{Base: table, Index: s, Scale: 1}, s.As32())
		MOVB(s.As8(), Mem{Base: dst, Index: n, Scale: 1, Disp: i})
	}
	JMP(LabelRef("next"))

	Label("done")
	VZEROUPPER()
	Store(n, ReturnIndex(0))
	RET()
}
