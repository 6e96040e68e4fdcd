package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// deinterleaveAVX2 transposes eight rounds of 32 lanes. Three stages of unpack instructions combine
// bytes, words and dwords of two rounds each, in both halves of the vectors. In the end each vector
// has eight symbols of four lanes.
func deinterleaveAVX2() {
	const rounds = 8
	TEXT("deinterleaveAVX2", attr.NOSPLIT, "func(dst *byte, at *[32]int, buf *byte, n int)")
	Pragma("noescape")
	Doc("deinterleaveAVX2 moves the symbols of 8n rounds of 32 lanes to the pieces of the lanes.",
		"Rounds begin 64 bytes apart in buf.")
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
	// pairs interleaves x[a] and x[b]: x[a] gets the lower lanes of both, x[b] the upper lanes.
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
		// The first stage has sorted by bit 3 of the lane, the last one by bit 1.
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
