package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// deinterleaveAVX2 turns squares of eight rounds and 32 lanes: bytes, pairs and fours of two rounds each are put together, in both halves of the vectors, until
// there are eight symbols of each lane.
func deinterleaveAVX2() {
	const rounds = 8
	TEXT("deinterleaveAVX2", attr.NOSPLIT, "func(dst *byte, at *[32]int, buf *byte, n int)")
	Pragma("noescape")
	Doc("deinterleaveAVX2 moves the symbols of n times eight rounds, each 64 bytes in front of the next one, to the pieces of 32 lanes.")
	dst, places, buf, n := GP64(), GP64(), GP64(), GP64()
	Load(Param("dst"), dst)
	Load(Param("at"), places)
	Load(Param("buf"), buf)
	Load(Param("n"), n)
	Label("loop")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	var x [rounds]reg.VecVirtual
	for r := range x {
		x[r] = YMM()
		VMOVDQU(at(buf, 2*lanes*r), x[r])
	}
	// pairs puts together x[a] and x[b]: the lower lanes of the two stay at a, the upper ones go to b.
	pairs := func(low, high func(...Op), a, b int) {
		t := YMM()
		low(x[b], x[a], t)
		high(x[b], x[a], x[b])
		x[a] = t
	}
	for r := 0; r < rounds; r += 2 {
		pairs(VPUNPCKLBW, VPUNPCKHBW, r, r+1)
	}
	for r := range rounds {
		if r&2 == 0 {
			pairs(VPUNPCKLWD, VPUNPCKHWD, r, r+2)
		}
	}
	for r := range rounds {
		if r&4 == 0 {
			pairs(VPUNPCKLDQ, VPUNPCKHDQ, r, r+4)
		}
	}
	for r, v := range x {
		// The first step has sorted by bit 3 of the lane, the last one by bit 1.
		lane := r&1<<3 | r&2<<1 | r&4>>1
		for half := range 2 {
			part, p := v.AsX().(reg.VecVirtual), [2]reg.GPVirtual{GP64(), GP64()}
			if half == 1 {
				part = XMM()
				VEXTRACTI128(U8(1), v, part)
			}
			for k := range p {
				MOVQ(at(places, 8*(lane+16*half+k)), p[k])
			}
			VMOVQ(part, Mem{Base: dst, Index: p[0], Scale: 1})
			VMOVHPS(part, Mem{Base: dst, Index: p[1], Scale: 1})
		}
	}
	ADDQ(I8(rounds), dst)
	ADDQ(I32(2*lanes*rounds), buf)
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}
