package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// markDisplacementsAVX2 makes a mask of 64 bits from two vectors of 32 places each. Loads at three
// neighbouring addresses put the bytes of an instruction at the same index of three vectors:
// prefix, opcode, and the byte before the displacement. Each qualifies if it equals a constant
// after bits that do not matter are cleared.
func markDisplacementsAVX2() {
	TEXT("markDisplacementsAVX2", attr.NOSPLIT, "func(masks []uint64, p []byte)")
	Pragma("noescape")
	Doc("markDisplacementsAVX2 does the work of markDisplacements. It requires at least one mask.")
	dst, n, src := GP64(), GP64(), GP64()
	Load(Param("masks").Base(), dst)
	Load(Param("masks").Len(), n)
	Load(Param("p").Base(), src)

	// full returns a register with c in each byte.
	full := func(c uint32) reg.VecVirtual {
		v := YMM()
		VMOVDQU(same(c*0x01010101), v)
		return v
	}
	even, call, mod, modRM := full(0xfe), full(0xe8), full(0xc7), full(0x05)
	load, address, reg64, wide := full(0x8b), full(0x8d), full(0xfb), full(0x48)

	Label("loop")
	half := func(at int) reg.GPVirtual {
		last, op, prefix, branch, v := YMM(), YMM(), YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: src, Disp: at + 2}, last)
		VMOVDQU(Mem{Base: src, Disp: at + 1}, op)
		VPAND(Mem{Base: src, Disp: at}, reg64, prefix)
		VPAND(even, last, branch)
		VPCMPEQB(call, branch, branch)
		VPAND(mod, last, last)
		VPCMPEQB(modRM, last, last)
		VPCMPEQB(load, op, v)
		VPCMPEQB(address, op, op)
		VPOR(v, op, op)
		VPCMPEQB(wide, prefix, prefix)
		VPAND(prefix, last, last)
		VPAND(op, last, last)
		VPOR(branch, last, last)
		m := GP64()
		VPMOVMSKB(last, m.As32())
		return m
	}
	low, high := half(0), half(32)
	SHLQ(U8(32), high)
	ORQ(low, high)
	MOVQ(high, at(dst, 0))
	ADDQ(I8(64), src)
	ADDQ(I8(8), dst)
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
