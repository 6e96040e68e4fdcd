package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// matchLenAVX2 compares 32 bytes a step. The last step begins 32 bytes before the end.
func matchLenAVX2() {
	TEXT("matchLenAVX2", attr.NOSPLIT, "func(a, b []byte) (n int)")
	Pragma("noescape")
	Doc("matchLenAVX2 returns the length of the common prefix of a and b.",
		"It requires equal lengths, of at least 32 bytes.")
	a, b, end, last, i := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("a").Base(), a)
	Load(Param("b").Base(), b)
	Load(Param("a").Len(), end)
	LEAQ(at(end, -32), last)
	XORL(i.As32(), i.As32())

	Label("loop")
	v, unlike := YMM(), GP64()
	VMOVDQU(Mem{Base: a, Index: i, Scale: 1}, v)
	VPCMPEQB(Mem{Base: b, Index: i, Scale: 1}, v, v)
	VPMOVMSKB(v, unlike.As32())
	NOTL(unlike.As32())
	TESTL(unlike.As32(), unlike.As32())
	JNZ(LabelRef("found"))
	ADDQ(I8(32), i)
	CMPQ(i, last)
	JLE(LabelRef("loop"))
	CMPQ(i, end)
	JEQ(LabelRef("done"))
	MOVQ(last, i)
	JMP(LabelRef("loop"))

	Label("found")
	TZCNTL(unlike.As32(), unlike.As32())
	ADDQ(unlike, i)
	Label("done")
	VZEROUPPER()
	Store(i, Return("n"))
	RET()
}
