package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Constants of PathCosts of package kernels.
const (
	maxPathLength  = 319
	minPathLength  = 3
	nearLengths    = 8
	farLength      = minPathLength + nearLengths // the least length from memory
	lengthShift    = 27
	lengthBits     = 21
	codeShift      = 48
	pathPricesType = "struct{Literal [256]uint32; Length [328]uint32; Offset [256]uint32; " +
		"near [8][8]uint32}"

	ppLiteral = 0
	ppLength  = ppLiteral + 4*256
	ppOffset  = ppLength + 4*(maxPathLength+1+nearLengths)
	ppNear    = ppOffset + 4*256
)

// pathCosts has the registers of pathCostsAVX2.
type pathCosts struct {
	prices, content, begin, cands, costs reg.GPVirtual

	i, next   reg.GPVirtual // current position; end of its candidates
	q         reg.GPVirtual // current candidate
	masks     reg.GPVirtual // masks of the near lengths for this position
	here      reg.GPVirtual // address of the cost of this position
	far       reg.GPVirtual // least length that the lanes of sums do not cover yet
	c, n, tmp reg.GPVirtual

	c1, c2, c3 reg.VecVirtual // costs of the next three positions, in all lanes
	window     reg.VecVirtual // costs of 8 positions behind those
	best       reg.VecVirtual // cost by a literal, in all lanes
	sums       reg.VecVirtual // least sums of lengths so far, by lane
	least      reg.VecVirtual // least costs by a match, by lane
	offset, t  reg.VecVirtual
}

// pathCostsAVX2 emits the kernel of PathCosts.
func pathCostsAVX2(lane Mem) {
	near, tail := nearMasks(), tailMasks()
	TEXT("pathCostsAVX2", attr.NOSPLIT, "func(p *"+pathPricesType+
		", content *byte, firstCand *uint32, cands *uint64, costs *uint32, from, at, to int)")
	Pragma("noescape")
	Doc("pathCostsAVX2 sets the costs of the positions from at-1 down to from. See PathCosts.")
	p := &pathCosts{}
	p.enter(lane)
	p.literal(lane)
	p.nearCandidates(near)
	p.least8()
	p.store()
	p.longCandidate(tail)
	Label("done")
	VZEROUPPER()
	RET()
}

// nearMasks has, for n = 0 … 10 and a position modulo 8, all bits of the lanes with lengths above
// n.
func nearMasks() Mem {
	m := GLOBL("pathNear", attr.RODATA|attr.NOPTR)
	for n := range farLength {
		for i := range 8 {
			for lane := range 8 {
				length := minPathLength + (lane-i-minPathLength)&7
				bits := uint32(0)
				if length > n {
					bits = ^uint32(0)
				}
				DATA(n<<8+i<<5+lane<<2, U32(bits))
			}
		}
	}
	return m
}

// laneMasks has, for each position modulo 8, all bits of its lane.
func laneMasks() Mem {
	m := GLOBL("pathLane", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		for lane := range 8 {
			bits := uint32(0)
			if lane == i {
				bits = ^uint32(0)
			}
			DATA(i<<5+lane<<2, U32(bits))
		}
	}
	return m
}

// tailMasks has, for n = 0 … 7, all bits of the lanes above n.
func tailMasks() Mem {
	m := GLOBL("pathTail", attr.RODATA|attr.NOPTR)
	for n := range 8 {
		for lane := range 8 {
			bits := uint32(0)
			if lane > n {
				bits = ^uint32(0)
			}
			DATA(n<<5+lane<<2, U32(bits))
		}
	}
	return m
}

func (p *pathCosts) enter(lane Mem) {
	p.prices, p.content, p.begin, p.cands, p.costs = GP64(), GP64(), GP64(), GP64(), GP64()
	p.i, p.next = GP64(), GP64()
	Load(Param("p"), p.prices)
	Load(Param("content"), p.content)
	Load(Param("firstCand"), p.begin)
	Load(Param("cands"), p.cands)
	Load(Param("costs"), p.costs)
	Load(Param("at"), p.i)
	MOVL(Mem{Base: p.begin, Index: p.i, Scale: 4}, p.next.As32())
	cost := func(d int) Mem { return Mem{Base: p.costs, Index: p.i, Scale: 4, Disp: 4 * d} }
	p.c1, p.c2, p.c3, p.window = YMM(), YMM(), YMM(), YMM()
	VPBROADCASTD(cost(0), p.c1)
	VPBROADCASTD(cost(1), p.c2)
	VPBROADCASTD(cost(2), p.c3)
	Comment("the window, rotated by at + 3 lanes")
	m, t := GP64(), GP64()
	LEAQ(lane, m)
	p.tmp = t
	y := YMM()
	VPXOR(p.window, p.window, p.window)
	for k := 3; k <= 10; k++ {
		LEAQ(Mem{Base: p.i, Disp: k}, t)
		ANDL(U8(7), t.As32())
		SHLL(U8(5), t.As32())
		VPBROADCASTD(cost(k), y)
		VPAND(Mem{Base: m, Index: t, Scale: 1}, y, y)
		VPOR(y, p.window, p.window)
	}
}

// literal goes to the next position and sets best and window. It jumps to store where there are no
// candidates.
func (p *pathCosts) literal(lane Mem) {
	p.c, p.n, p.q, p.masks, p.here, p.far = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	p.best, p.sums, p.least, p.offset, p.t = YMM(), YMM(), YMM(), YMM(), YMM()
	Label("loop")
	CMPQ(p.i, param(Param("from")))
	JLE(LabelRef("done"))
	DECQ(p.i)
	MOVBLZX(Mem{Base: p.content, Index: p.i, Scale: 1}, p.c.As32())
	VPBROADCASTD(Mem{Base: p.prices, Index: p.c, Scale: 4, Disp: ppLiteral}, p.best)
	VPADDD(p.c1, p.best, p.best)
	LEAQ(lane, p.masks)
	LEAL(Mem{Base: p.i, Disp: 3}, p.c.As32())
	ANDL(U8(7), p.c.As32())
	SHLL(U8(5), p.c.As32())
	VMOVDQU(Mem{Base: p.masks, Index: p.c, Scale: 1}, p.t)
	VPBLENDVB(p.t, p.c3, p.window, p.window)
	MOVL(Mem{Base: p.begin, Index: p.i, Scale: 4}, p.q.As32())
	LEAQ(Mem{Base: p.costs, Index: p.i, Scale: 4}, p.here)
	CMPQ(p.q, p.next)
	JCC(LabelRef("store"))
}

// nearCandidates adds up the lengths of all candidates. Lengths above 10 take a side way.
func (p *pathCosts) nearCandidates(near Mem) {
	MOVL(p.i.As32(), p.c.As32())
	ANDL(U8(7), p.c.As32())
	SHLL(U8(5), p.c.As32())
	LEAQ(near, p.masks)
	ADDQ(p.c, p.masks)
	VPADDD(Mem{Base: p.prices, Index: p.c, Scale: 1, Disp: ppNear}, p.window, p.sums)
	VPCMPEQD(p.least, p.least, p.least)
	MOVL(U32(farLength), p.far.As32())
	most := GP64()
	MOVQ(param(Param("to")), most)
	SUBQ(p.i, most)
	MOVL(U32(maxPathLength), p.n.As32())
	CMPQ(most, p.n)
	CMOVQHI(p.n, most)
	first := GP64()
	MOVQ(p.q, first)
	Label("candidate")
	MOVQ(Mem{Base: p.cands, Index: p.q, Scale: 8}, p.c)
	MOVQ(p.c, p.n)
	SHRQ(U8(codeShift), p.c)
	MOVBLZX(p.c.As8(), p.c.As32())
	SHRQ(U8(lengthShift), p.n)
	ANDL(U32(1<<lengthBits-1), p.n.As32())
	CMPQ(p.n, most)
	CMOVQHI(most, p.n)
	VPBROADCASTD(Mem{Base: p.prices, Index: p.c, Scale: 4, Disp: ppOffset}, p.offset)
	VPADDD(p.offset, p.sums, p.t)
	CMPQ(p.n, U8(farLength))
	JCC(LabelRef("long"))
	SHLL(U8(8), p.n.As32())
	VPOR(Mem{Base: p.masks, Index: p.n, Scale: 1}, p.t, p.t)
	Label("added")
	VPMINUD(p.t, p.least, p.least)
	INCQ(p.q)
	CMPQ(p.q, p.next)
	JCS(LabelRef("candidate"))
	MOVQ(first, p.next)
}

// least8 sets best to the least of its lanes and those of least.
func (p *pathCosts) least8() {
	VPERM2I128(U8(1), p.least, p.least, p.t)
	VPMINUD(p.t, p.least, p.least)
	VPSHUFD(U8(0x4E), p.least, p.t)
	VPMINUD(p.t, p.least, p.least)
	VPSHUFD(U8(0xB1), p.least, p.t)
	VPMINUD(p.t, p.least, p.least)
	VPMINUD(p.least, p.best, p.best)
}

func (p *pathCosts) store() {
	Label("store")
	VMOVD(p.best.AsX(), Mem{Base: p.here})
	VMOVDQA(p.c2, p.c3)
	VMOVDQA(p.c1, p.c2)
	VMOVDQA(p.best, p.c1)
	JMP(LabelRef("loop"))
}

// longCandidate adds up lengths from memory. t has the sums of the lengths below far.
func (p *pathCosts) longCandidate(tail Mem) {
	Label("long")
	Label("eight")
	LEAQ(Mem{Base: p.far, Disp: nearLengths - 1}, p.tmp)
	CMPQ(p.tmp, p.n)
	JHI(LabelRef("rest"))
	VMOVDQU(Mem{Base: p.here, Index: p.far, Scale: 4}, p.t)
	VPADDD(Mem{Base: p.prices, Index: p.far, Scale: 4, Disp: ppLength}, p.t, p.t)
	VPMINUD(p.t, p.sums, p.sums)
	ADDQ(U8(nearLengths), p.far)
	JMP(LabelRef("eight"))
	Label("rest")
	VPADDD(p.offset, p.sums, p.t)
	SUBQ(p.far, p.n)
	JCS(LabelRef("added"))
	VPMINUD(p.t, p.least, p.least)
	VMOVDQU(Mem{Base: p.here, Index: p.far, Scale: 4}, p.t)
	VPADDD(Mem{Base: p.prices, Index: p.far, Scale: 4, Disp: ppLength}, p.t, p.t)
	VPADDD(p.offset, p.t, p.t)
	LEAQ(tail, p.tmp)
	SHLL(U8(5), p.n.As32())
	VPOR(Mem{Base: p.tmp, Index: p.n, Scale: 1}, p.t, p.t)
	JMP(LabelRef("added"))
}
