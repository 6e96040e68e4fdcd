package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// secondPath has what relaxSecondPathsAVX2 keeps in its frame besides.
type secondPath struct {
	// edges are the literal edges to the position: from the second-cheapest path in front of it,
	// from the path that ends with a literal, and from the cheapest path.
	edges      [3]struct{ cost, offset Mem }
	here       Mem // cost of the cheapest path
	there      Mem // cost of the second-cheapest path; unreached if it is not extended
	run        Mem // behind the second-cheapest path
	apart      Mem // distance of SecondNodes from Nodes in bytes
	none       Mem // unreached
	extending  bool
	fromSecond Mem // flag in all lanes
}

// edgeFlags are the lengths of edges.
var edgeFlags = [3]uint32{fromSecond, fromLiteral, 0}

// nodePair holds the ends of the cheapest and the second-cheapest path to a position.
type nodePair struct {
	at                         reg.GPVirtual // address of the cheapest path's cost
	cost, length, offset       reg.GPVirtual
	cost2, length2, offset2    reg.GPVirtual
	newCost, newLength, newOff reg.GPVirtual // of an edge
}

func (p *relaxer) enterSecond() {
	p.st, p.i, p.zero = GP64(), GP64(), XMM()
	s := p.second
	for e := range s.edges {
		s.edges[e].cost, s.edges[e].offset = AllocLocal(4), AllocLocal(4)
	}
	s.here, s.there, s.run, s.none, s.apart =
		AllocLocal(4), AllocLocal(4), AllocLocal(4), AllocLocal(4), AllocLocal(8)
	p.literalCost, p.literalFrom, p.run, p.literalRun =
		AllocLocal(4), AllocLocal(4), AllocLocal(4), AllocLocal(4)
	Load(Param("p"), p.st)
	MOVQ(p.field(rpAt), p.i)
	VPXOR(p.zero, p.zero, p.zero)
	at, t, u := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: p.i, Disp: -1}, at)
	SHLQ(U8(4), at)
	for _, x := range []struct {
		states int
		run    Mem
	}{{rpStates, p.run}, {rpSecondStates, s.run}, {rpLiteralStates, p.literalRun}} {
		MOVQ(p.field(x.states), t)
		MOVL(Mem{Base: t, Index: at, Scale: 1, Disp: stateRun}, u.As32())
		MOVL(u.As32(), x.run)
	}
	MOVQ(p.field(rpSecondNodes), t)
	SUBQ(p.field(rpNodes), t)
	MOVQ(t, s.apart)
	MOVL(I32(unreached), s.none)
	MOVL(p.field(rpLiteralCost), t.As32())
	MOVL(t.As32(), p.literalCost)
	MOVL(p.field(rpLiteralFrom), t.As32())
	MOVL(t.As32(), p.literalFrom)
	p.dropEdges()
}

// dropEdges forgets the literal edges to the position.
func (p *relaxer) dropEdges() {
	for _, e := range p.second.edges {
		MOVL(I32(unreached), e.cost)
		MOVL(I32(0), e.offset)
	}
}

// loadNodes loads the ends of the paths to position i.
func (p *relaxer) loadNodes() *nodePair {
	n := &nodePair{at: GP64()}
	k, second := GP64(), GP64()
	p.block(n.at, k)
	LEAQ(Mem{Base: n.at, Index: k, Scale: 4}, n.at)
	ADDQ(p.field(rpNodes), n.at)
	MOVQ(p.second.apart, second)
	for f, r := range n.fields() {
		*r = GP64()
		if f < 3 {
			MOVL(Mem{Base: n.at, Disp: f * nodesLength}, (*r).As32())
		} else {
			MOVL(Mem{Base: n.at, Index: second, Scale: 1, Disp: (f - 3) * nodesLength}, (*r).As32())
		}
	}
	n.newCost, n.newLength, n.newOff = GP64(), GP64(), GP64()
	return n
}

// fields returns the registers of the nodes in the order of memory.
func (n *nodePair) fields() [6]*reg.GPVirtual {
	return [...]*reg.GPVirtual{&n.cost, &n.length, &n.offset, &n.cost2, &n.length2, &n.offset2}
}

// insert relaxes the edge whose cost, length and offset are in n.
func (n *nodePair) insert(none Mem) {
	t := GP64()
	swap := func(a, b reg.GPVirtual) {
		MOVL(a.As32(), t.As32())
		CMOVLLT(b.As32(), a.As32())
		CMOVLLT(t.As32(), b.As32())
	}
	compared := GP64()
	MOVL(n.newCost.As32(), compared.As32())
	CMPL(n.newOff.As32(), n.offset.As32())
	CMOVLEQ(none, compared.As32())
	CMPL(n.newCost.As32(), n.cost.As32())
	swap(n.cost, n.newCost)
	swap(n.length, n.newLength)
	swap(n.offset, n.newOff)
	CMPL(compared.As32(), n.cost2.As32())
	CMOVLLT(n.newCost.As32(), n.cost2.As32())
	CMOVLLT(n.newLength.As32(), n.length2.As32())
	CMOVLLT(n.newOff.As32(), n.offset2.As32())
}

// insertEdges relaxes the literal edges.
func (p *relaxer) insertEdges(n *nodePair) {
	for k, e := range p.second.edges {
		MOVL(e.cost, n.newCost.As32())
		MOVL(U32(edgeFlags[k]), n.newLength.As32())
		MOVL(e.offset, n.newOff.As32())
		n.insert(p.second.none)
	}
}

// storeNodes stores n in narrow pieces.
func (p *relaxer) storeNodes(n *nodePair) {
	second := GP64()
	MOVQ(p.second.apart, second)
	for f, r := range n.fields() {
		if f < 3 {
			MOVL((*r).As32(), Mem{Base: n.at, Disp: f * nodesLength})
		} else {
			MOVL((*r).As32(), Mem{Base: n.at, Index: second, Scale: 1, Disp: (f - 3) * nodesLength})
		}
	}
}

// positionSecond takes a position: its paths and their states, its literal, and the matches at the
// repeat offsets of the second-cheapest path.
func (p *relaxer) positionSecond() {
	Label("position")
	CMPQ(p.i, p.field(rpEnd))
	JGE(LabelRef("done"))
	n := p.loadNodes()
	p.insertEdges(n)
	Comment("nodes that no path reaches hold anything")
	zero := GP64()
	XORL(zero.As32(), zero.As32())
	CMPL(n.cost2.As32(), U32(unreached))
	CMOVLEQ(zero.As32(), n.length2.As32())
	MOVL(n.cost.As32(), p.second.here)
	p.storeLinks(n)
	p.runsSecond(n.length, n.length2)
	p.statesSecond(n)
	p.literalSecond(n.length)
	p.extendSecond()

	run := GP64()
	MOVL(p.run, run.As32())
	p.setRows(run)
	p.sp = GP64()
	MOVQ(p.i, p.sp)
	SHLQ(U8(4), p.sp)
	ADDQ(p.field(rpStates), p.sp)
	p.base = YMM()
	p.setBase(p.second.here)
}

// setBase sets base to cost and the price of an empty run.
func (p *relaxer) setBase(cost Mem) {
	t := GP64()
	MOVL(cost, t.As32())
	ADDL(p.field(rpEmpty), t.As32())
	broadcastD(t, p.base)
}

// storeLinks stores the last edges of the paths. It stores vectors only; see path.
func (p *relaxer) storeLinks(n *nodePair) {
	y, m, t, at, k, b := YMM(), YMM(), GP64(), GP64(), GP64(), GP64()
	p.block(at, k)
	p.laneMask(k, m)
	MOVQ(p.field(rpNodes), b)
	ADDQ(at, b)
	broadcastD(n.length, y)
	setLane(m, y, Mem{Base: b, Disp: nodesLength})
	MOVQ(p.field(rpSecondNodes), b)
	ADDQ(at, b)
	broadcastD(n.length2, y)
	setLane(m, y, Mem{Base: b, Disp: nodesLength})
	broadcastD(n.offset2, y)
	setLane(m, y, Mem{Base: b, Disp: nodesOffset})
	ADDQ(p.field(rpLiteralNodes), at)
	MOVL(p.literalFrom, t.As32())
	MOVL(t.As32(), Mem{Base: at, Index: k, Scale: 4, Disp: nodesLength})
}

// runsSecond computes the runs behind the paths, whose last edges have the given lengths.
func (p *relaxer) runsSecond(length, length2 reg.GPVirtual) {
	s, from := p.second, GP64()
	MOVL(p.literalFrom, from.As32())
	best, second, literal, zero := GP64(), GP64(), GP64(), GP64()
	XORL(zero.As32(), zero.As32())
	behind := func(length, to reg.GPVirtual) {
		MOVL(p.run, to.As32())
		TESTL(length.As32(), length.As32())
		CMOVLMI(s.run, to.As32())
		TESTL(U32(fromLiteral), length.As32())
		CMOVLNE(p.literalRun, to.As32())
		INCL(to.As32())
		TESTL(U32(fromLiteral-1), length.As32())
		CMOVLNE(zero.As32(), to.As32())
	}
	behind(length, best)
	behind(length2, second)
	behind(from, literal)
	MOVL(best.As32(), p.run)
	MOVL(second.As32(), s.run)
	MOVL(literal.As32(), p.literalRun)
}

// statesSecond stores the states behind the paths, and decides whether the second-cheapest path is
// extended.
func (p *relaxer) statesSecond(n *nodePair) {
	at, t := GP64(), GP64()
	MOVQ(p.i, at)
	SHLQ(U8(4), at)
	var last [3]reg.VecVirtual // states behind the last position
	for k, states := range []int{rpStates, rpSecondStates, rpLiteralStates} {
		last[k] = XMM()
		MOVQ(p.field(states), t)
		VMOVDQU(Mem{Base: t, Index: at, Scale: 1, Disp: -16}, last[k])
	}
	behindLiteral := func(length, to reg.VecVirtual) {
		m := XMM()
		VPSLLD(U8(1), length, m)
		VBLENDVPS(length, last[1], last[0], to)
		VBLENDVPS(m, last[2], to, to)
		VPADDD(p.one, to, to)
	}
	behind := func(length, offset reg.GPVirtual, states int, to reg.VecVirtual) {
		back, from, literal, mask, d := GP64(), GP64(), XMM(), XMM(), XMM()
		VMOVD(length.As32(), mask)
		VPBROADCASTD(mask, mask)
		behindLiteral(mask, literal)
		MOVQ(p.field(rpStates), from)
		TESTL(length.As32(), length.As32())
		CMOVQMI(p.field(rpSecondStates), from)
		MOVL(length.As32(), back.As32())
		ANDL(U32(fromLiteral-1), back.As32())
		VMOVD(back.As32(), mask)
		VPBROADCASTD(mask, mask)
		VPCMPEQD(mask, p.zero, mask)
		SHLQ(U8(4), back)
		NEGQ(back)
		ADDQ(at, back)
		VMOVD(offset.As32(), d)
		VPBROADCASTD(d, d)
		p.useOffset(Mem{Base: from, Index: back, Scale: 1}, d, to)
		VPBLENDVB(mask, literal, to, to)
		MOVQ(p.field(states), t)
		VMOVDQU(to, Mem{Base: t, Index: at, Scale: 1})
	}
	best, second, literal, from := XMM(), XMM(), XMM(), XMM()
	behind(n.length, n.offset, rpStates, best)
	behind(n.length2, n.offset2, rpSecondStates, second)
	VPBROADCASTD(p.literalFrom, from)
	behindLiteral(from, literal)
	MOVQ(p.field(rpLiteralStates), t)
	VMOVDQU(literal, Mem{Base: t, Index: at, Scale: 1})
	s := p.second
	VMOVD(second, s.edges[0].offset)
	VMOVD(literal, s.edges[1].offset)
	VMOVD(best, s.edges[2].offset)

	Comment("extended if it is not too dear and has other repeat offsets")
	none := GP64()
	MOVL(U32(unreached), none.As32())
	MOVL(p.field(rpMaxSecondLag), t.As32())
	ADDL(n.cost.As32(), t.As32())
	CMPL(n.cost2.As32(), t.As32())
	CMOVLGE(none.As32(), n.cost2.As32())
	VPCMPEQD(best, second, second)
	VMOVMSKPS(second, t.As32())
	ANDL(U8(7), t.As32())
	CMPL(t.As32(), U8(7))
	CMOVLEQ(none.As32(), n.cost2.As32())
	MOVL(n.cost2.As32(), s.there)
}

// literalSecond relaxes the literal of the position behind all paths. length is that of the last
// edge of the cheapest one.
func (p *relaxer) literalSecond(length reg.GPVirtual) {
	s, prices, none := p.second, GP64(), GP64()
	LEAQ(Mem{Base: p.i, Index: p.i, Scale: 2}, prices)
	SHLQ(U8(2), prices)
	ADDQ(p.field(rpLiterals), prices)
	MOVL(U32(unreached), none.As32())

	Comment("behind the second-cheapest path")
	cost, compared, flag, run := GP64(), GP64(), GP64(), GP64()
	MOVL(s.there, cost.As32())
	MOVL(s.run, run.As32())
	p.addLiteral(prices, run, cost, compared)
	CMPL(s.there, U32(unreached))
	CMOVLEQ(none.As32(), cost.As32())
	CMOVLEQ(none.As32(), compared.As32())
	MOVL(cost.As32(), s.edges[0].cost)
	MOVL(U32(fromSecond), flag.As32())

	// cheaper keeps the cheapest path that ends with this literal.
	cheaper := func(c, comparedC reg.GPVirtual, f uint32) {
		t := GP64()
		MOVL(U32(f), t.As32())
		CMPL(comparedC.As32(), compared.As32())
		CMOVLLT(comparedC.As32(), compared.As32())
		CMOVLLT(c.As32(), cost.As32())
		CMOVLLT(t.As32(), flag.As32())
	}
	Comment("behind the path that ends with a literal, if that is not too dear nor the cheapest")
	a, comparedA, most := GP64(), GP64(), GP64()
	MOVL(p.literalCost, a.As32())
	MOVL(p.literalRun, run.As32())
	p.addLiteral(prices, run, a, comparedA)
	MOVL(p.field(rpMaxLag), most.As32())
	ADDL(s.here, most.As32())
	CMPL(most.As32(), p.literalCost)
	CMOVLLE(none.As32(), a.As32())
	CMOVLLE(none.As32(), comparedA.As32())
	CMPL(length.As32(), p.literalFrom)
	CMOVLEQ(none.As32(), a.As32())
	CMOVLEQ(none.As32(), comparedA.As32())
	MOVL(a.As32(), s.edges[1].cost)
	cheaper(a, comparedA, edgeFlags[1])

	Comment("behind the cheapest path")
	MOVL(s.here, a.As32())
	MOVL(p.run, run.As32())
	p.addLiteral(prices, run, a, comparedA)
	MOVL(a.As32(), s.edges[2].cost)
	cheaper(a, comparedA, edgeFlags[2])
	MOVL(cost.As32(), p.literalCost)
	MOVL(flag.As32(), p.literalFrom)
}

// extendSecond relaxes the matches at the repeat offsets of the second-cheapest path.
func (p *relaxer) extendSecond() {
	p.second.extending = true
	p.sp = GP64()
	MOVQ(p.i, p.sp)
	SHLQ(U8(4), p.sp)
	ADDQ(p.field(rpSecondStates), p.sp)
	p.repeats("second", "best")
	p.second.extending = false
	JMP(LabelRef("best"))
	p.longRepeat("second")
	Label("best")
}

// takeLongSecond takes a match of n bytes at once, with the price of a length in c.
func (p *relaxer) takeLongSecond(c reg.GPVirtual) {
	ADDQ(p.n, p.i)
	n := p.loadNodes()
	MOVL(c.As32(), n.newCost.As32())
	MOVL(p.n.As32(), n.newLength.As32())
	MOVL(p.d.As32(), n.newOff.As32())
	n.insert(p.second.none)
	p.storeNodes(n)
	SUBQ(p.n, p.i)
}

// leaveSecond stores what the next call needs.
func (p *relaxer) leaveSecond() {
	Label("done")
	n, t := p.loadNodes(), GP64()
	p.insertEdges(n)
	p.storeNodes(n)
	MOVQ(p.i, p.field(rpAt))
	MOVL(p.literalCost, t.As32())
	MOVL(t.As32(), p.field(rpLiteralCost))
	MOVL(p.literalFrom, t.As32())
	MOVL(t.As32(), p.field(rpLiteralFrom))
	VZEROUPPER()
	RET()
}
