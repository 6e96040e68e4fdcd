package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// This file has what both kernels of PathParse do at a position.

// block sets at to the offset of the nodes of position i, and k to its place among them.
func (p *relaxer) block(at, k reg.GPVirtual) {
	MOVQ(p.i, at)
	MOVL(p.i.As32(), k.As32())
	SHRQ(U8(3), at)
	ANDL(U8(7), k.As32())
	LEAQ(Mem{Base: at, Index: at, Scale: 2}, at)
	SHLQ(U8(5), at)
}

// setRows sets rows to the prices of lengths behind a run. It changes run.
func (p *relaxer) setRows(run reg.GPVirtual) {
	t := GP64()
	p.rows = GP64()
	MOVL(U32(pricedRuns-2), t.As32())
	CMPL(run.As32(), t.As32())
	CMOVLHI(t.As32(), run.As32())
	MOVQ(p.field(rpRunClass), p.rows)
	MOVBLZX(Mem{Base: p.rows, Index: run, Scale: 1}, p.rows.As32())
	ANDL(U8(15), p.rows.As32())
	IMUL3Q(I32(4*rowBytes), p.rows, p.rows)
	ADDQ(p.field(rpMatch), p.rows)
}

// addLiteral adds the price of the literal behind run to cost, and sets compared to the cost with a
// long run.
func (p *relaxer) addLiteral(prices, run, cost, compared reg.GPVirtual) {
	t, k := GP64(), GP64()
	MOVL(U32(2), k.As32())
	CMPL(run.As32(), k.As32())
	CMOVLCS(run.As32(), k.As32())
	ADDL(Mem{Base: prices, Index: k, Scale: 4}, cost.As32())
	MOVL(U32(pricedRuns-1), k.As32())
	CMPL(run.As32(), k.As32())
	CMOVLCS(run.As32(), k.As32())
	MOVQ(p.field(rpRuns), t)
	ADDL(Mem{Base: t, Index: k, Scale: 4}, cost.As32())
	MOVL(Mem{Base: t, Index: k, Scale: 4, Disp: 4 * pricedRuns}, compared.As32())
	ADDL(cost.As32(), compared.As32())
}

// useOffset sets to to the state behind a match at offset d, which is in all lanes, from a state.
func (p *relaxer) useOffset(from Mem, d, to reg.VecVirtual) {
	old, eq, both := XMM(), XMM(), XMM()
	VMOVDQU(from, old)
	VPCMPEQD(d, old, eq)
	VPSHUFD(U8(0), eq, both)
	VPSHUFD(U8(0x10), eq, eq)
	VPOR(eq, both, both)
	VPSHUFD(U8(0x10), old, to)
	VPBLENDVB(both, old, to, to)
	VPBLENDD(U8(1), d, to, to)
	VPBLENDD(U8(8), p.zero, to, to)
}

// laneMask sets m to −1 in lane k and 0 elsewhere.
func (p *relaxer) laneMask(k reg.GPVirtual, m reg.VecVirtual) {
	t, place := GP64(), GP64()
	MOVL(k.As32(), place.As32())
	SHLL(U8(5), place.As32())
	LEAQ(p.lane, t)
	VMOVDQU(Mem{Base: t, Index: place, Scale: 1}, m)
}

// setLane sets the lanes of the vector at to that m selects to those of y.
func setLane(m, y reg.VecVirtual, to Mem) {
	old := YMM()
	VMOVDQU(to, old)
	VPBLENDVB(m, y, old, old)
	VMOVDQU(old, to)
}

// broadcastD sets all lanes of y to r.
func broadcastD(r reg.GPVirtual, y reg.VecVirtual) {
	VMOVD(r.As32(), y.AsX())
	VPBROADCASTD(y.AsX(), y)
}
