package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// repeats relaxes the matches at the repeat offsets of the state at sp, and jumps to done if there
// are none. tag makes labels unique.
func (p *relaxer) repeats(tag, done string) {
	p.cost, p.from, p.to, p.offset = YMM(), YMM(), YMM(), YMM()
	p.n, p.d, p.row, p.least = GP64(), GP64(), GP64(), GP64()
	cur, left, bad, bits := GP64(), GP64(), GP64(), GP64()
	MOVQ(p.field(rpFrom), left)
	ADDQ(p.i, left)
	MOVQ(p.field(rpSrc), cur)
	ADDQ(left, cur)
	XORL(bad.As32(), bad.As32())
	zero := GP64()
	XORL(zero.As32(), zero.As32())
	there, v := XMM(), XMM()
	Comment("the bytes at the repeat offsets; one out of range stands for 0")
	for kind := range 3 {
		r, t := GP64(), GP64()
		MOVL(Mem{Base: p.sp, Disp: 4 * kind}, r.As32())
		MOVQ(left, t)
		SUBQ(r, t)
		CMOVQCS(zero, r)
		ORQ(t, bad)
		NEGQ(r)
		at := Mem{Base: cur, Index: r, Scale: 1}
		if kind == 0 {
			VMOVD(at, there)
		} else {
			VPINSRD(U8(kind), at, there, there)
		}
	}
	TESTQ(bad, bad)
	JLT(LabelRef(done))
	VPBROADCASTD(Mem{Base: cur}, v)
	VPXOR(v, there, there)
	VMOVQ(p.field(rpDrop), v)
	VPSLLD(v, there, there)
	VPCMPEQD(p.zero, there, there)
	VMOVMSKPS(there, bits.As32())
	ANDL(U8(7), bits.As32())
	if p.second != nil && p.second.extending {
		CMPL(p.second.there, U32(unreached))
		CMOVLEQ(zero.As32(), bits.As32())
		TESTL(bits.As32(), bits.As32())
	}
	JEQ(LabelRef(done))
	if p.second != nil && p.second.extending {
		run := GP64()
		MOVL(p.second.run, run.As32())
		p.setRows(run)
		p.base = YMM()
		p.setBase(p.second.there)
	}
	p.cur = cur
	p.longestRepeat(tag, bits)
}

// longestRepeat relaxes the matches at the repeat offsets whose bits are set. A shorter match of a
// dearer kind cannot win.
func (p *relaxer) longestRepeat(tag string, bits reg.GPVirtual) {
	cur, longest := p.cur, GP64()
	MOVQ(p.field(rpMinRepeat), p.least)
	LEAQ(Mem{Base: p.least, Disp: -1}, longest)
	VMOVD(longest.As32(), p.from.AsX())
	VPBROADCASTD(p.from.AsX(), p.from)
	VMOVDQA(p.base, p.cost)
	Label(tag + "repeat")
	c, most, y := GP64(), GP64(), YMM()
	TZCNTL(bits.As32(), p.row.As32())
	LEAL(Mem{Base: bits, Disp: -1}, most.As32())
	ANDL(most.As32(), bits.As32())
	MOVL(Mem{Base: p.sp, Index: p.row, Scale: 4}, p.d.As32())
	IMUL3Q(I32(rowBytes), p.row, p.row)
	ADDQ(p.rows, p.row)
	MOVQ(cur, c)
	SUBQ(p.d, c)
	VMOVDQU(Mem{Base: cur}, y)
	VPCMPEQB(Mem{Base: c}, y, y)
	VPMOVMSKB(y, p.n.As32())
	NOTL(p.n.As32())
	TZCNTL(p.n.As32(), p.n.As32())
	MOVQ(p.field(rpSize), most)
	SUBQ(p.i, most)
	CMPQ(most, p.field(rpNice))
	CMOVQGT(p.field(rpNice), most)
	CMPL(p.n.As32(), U8(32))
	JEQ(LabelRef(tag + "longRepeat"))
	Label(tag + "compared")
	CMPQ(p.n, most)
	CMOVQGT(most, p.n)
	CMPQ(p.n, longest)
	JLE(LabelRef(tag + "nextRepeat"))
	MOVQ(p.n, longest)
	p.relax(tag + "repeat")
	Label(tag + "nextRepeat")
	TESTL(bits.As32(), bits.As32())
	JNE(LabelRef(tag + "repeat"))
	if p.second == nil || !p.second.extending {
		MOVQ(longest, p.n)
		CMPQ(p.n, p.field(rpNice))
		JGE(LabelRef("skip"))
	}
	p.there, p.most = c, most
}

// longRepeat extends a match at a repeat offset beyond 32 bytes.
func (p *relaxer) longRepeat(tag string) {
	Label(tag + "longRepeat")
	CMPQ(p.n, p.most)
	JGE(LabelRef(tag + "compared"))
	v, bits := YMM(), GP64()
	VMOVDQU(Mem{Base: p.cur, Index: p.n, Scale: 1}, v)
	VPCMPEQB(Mem{Base: p.there, Index: p.n, Scale: 1}, v, v)
	VPMOVMSKB(v, bits.As32())
	ADDQ(I8(32), p.n)
	NOTL(bits.As32())
	TESTL(bits.As32(), bits.As32())
	JEQ(LabelRef(tag + "longRepeat"))
	TZCNTL(bits.As32(), bits.As32())
	LEAQ(Mem{Base: p.n, Index: bits, Scale: 1, Disp: -32}, p.n)
	JMP(LabelRef(tag + "compared"))
}

// candidates relaxes the candidates of the position.
func (p *relaxer) candidates() {
	q, end, c := GP64(), GP64(), GP64()
	Label("candidates")
	MOVQ(p.field(rpFirstCand), c)
	MOVL(Mem{Base: c, Index: p.i, Scale: 4}, q.As32())
	MOVL(Mem{Base: c, Index: p.i, Scale: 4, Disp: 4}, end.As32())
	CMPL(q.As32(), end.As32())
	JCC(LabelRef("next"))
	MOVQ(p.field(rpCands), c)
	LEAQ(Mem{Base: c, Index: q, Scale: 8}, q)
	LEAQ(Mem{Base: c, Index: end, Scale: 8}, end)
	MOVQ(p.field(rpMinNew), p.least)
	LEAQ(Mem{Base: p.least, Disp: -1}, c)
	VMOVD(c.As32(), p.from.AsX())
	VPBROADCASTD(p.from.AsX(), p.from)
	LEAQ(Mem{Base: p.rows, Disp: newOffset * rowBytes}, p.row)
	Label("candidate")
	most := GP64()
	MOVQ(Mem{Base: q}, p.n)
	MOVL(p.n.As32(), p.d.As32())
	ANDL(U32(1<<offsetBits-1), p.d.As32())
	MOVQ(p.n, c)
	SHRQ(U8(codeShift), c)
	MOVBLZX(c.As8(), c.As32())
	SHRQ(U8(lengthShift), p.n)
	ANDL(U32(1<<lengthBits-1), p.n.As32())
	MOVQ(p.field(rpSize), most)
	SUBQ(p.i, most)
	CMPQ(p.n, most)
	CMOVQGT(most, p.n)
	CMPQ(p.n, p.least)
	JLT(LabelRef("nextCandidate"))
	MOVQ(p.field(rpOffset), most)
	VPBROADCASTD(Mem{Base: most, Index: c, Scale: 4}, p.cost)
	VPADDD(p.base, p.cost, p.cost)
	CMPQ(p.n, p.field(rpNice))
	JGE(LabelRef("long"))
	Comment("behind the match its offset is a repeat offset")
	MOVQ(p.field(rpFrom), c)
	ADDQ(p.field(rpSrc), c)
	ADDQ(p.i, c)
	ADDQ(p.n, c)
	SUBQ(p.d, c)
	PREFETCHT0(Mem{Base: c})
	kept := GP64()
	MOVQ(p.row, kept)
	p.relax("candidate")
	MOVQ(kept, p.row)
	VMOVDQA(p.to, p.from)
	LEAQ(Mem{Base: p.n, Disp: 1}, p.least)
	Label("nextCandidate")
	ADDQ(I8(8), q)
	CMPQ(q, end)
	JNE(LabelRef("candidate"))
}

// relax relaxes a match of least to n bytes with offset d, a block of nodes at a time. It changes
// row.
func (p *relaxer) relax(name string) {
	loop, more, done := name+"Block", name+"More", name+"Done"
	b, last, t, misses := GP64(), GP64(), GP64(), GP64()
	m, lengths := YMM(), YMM()
	VMOVD(p.n.As32(), p.to.AsX())
	VPBROADCASTD(p.to.AsX(), p.to)
	VMOVD(p.d.As32(), p.offset.AsX())
	VPBROADCASTD(p.offset.AsX(), p.offset)
	nodes := func(length, at reg.GPVirtual) {
		LEAQ(Mem{Base: p.i, Index: length, Scale: 1}, at)
		SHRQ(U8(3), at)
	}
	address := func(at reg.GPVirtual) {
		LEAQ(Mem{Base: at, Index: at, Scale: 2}, at)
		SHLQ(U8(5), at)
		ADDQ(p.field(rpNodes), at)
	}
	nodes(p.n, b)
	Comment("the length of the first lane")
	MOVQ(b, t)
	SHLQ(U8(3), t)
	SUBQ(p.i, t)
	LEAQ(Mem{Base: p.row, Index: t, Scale: 4}, p.row)
	VMOVD(t.As32(), lengths.AsX())
	VPBROADCASTD(lengths.AsX(), lengths)
	VPADDD(p.lanes, lengths, lengths)
	nodes(p.least, last)
	address(b)
	address(last)
	MOVL(p.field(rpMaxMisses), misses.As32())
	Label(loop)
	if p.second == nil {
		p.relaxBlock(b, lengths, m)
	} else {
		p.relaxBlockSecond(b, lengths, m)
	}
	CMPQ(b, last)
	JLS(LabelRef(done))
	eight := YMM()
	VPCMPEQD(eight, eight, eight)
	VPSLLD(U8(3), eight, eight)
	VPADDD(eight, lengths, lengths)
	SUBQ(I8(nodesBytes), b)
	SUBQ(I8(4*8), p.row)
	VMOVMSKPS(m, t.As32())
	TESTL(t.As32(), t.As32())
	JNE(LabelRef(more))
	DECL(misses.As32())
	JNE(LabelRef(loop))
	JMP(LabelRef(done))
	Label(more)
	MOVL(p.field(rpMaxMisses), misses.As32())
	JMP(LabelRef(loop))
	Label(done)
}

// relaxBlock relaxes matches to the block of nodes at b, whose lengths are given. It sets m to the
// lanes that it changes.
func (p *relaxer) relaxBlock(b reg.GPVirtual, lengths, m reg.VecVirtual) {
	cost, old, t := YMM(), YMM(), YMM()
	VPADDD(Mem{Base: p.row}, p.cost, cost)
	VMOVDQU(Mem{Base: b}, old)
	VPCMPGTD(cost, old, m)
	VPCMPGTD(p.from, lengths, t)
	VPAND(t, m, m)
	VPCMPGTD(p.to, lengths, t)
	VPANDN(m, t, m)
	VPBLENDVB(m, cost, old, old)
	VMOVDQU(old, Mem{Base: b})
	setLane(m, lengths, Mem{Base: b, Disp: nodesLength})
	setLane(m, p.offset, Mem{Base: b, Disp: nodesOffset})
}

// relaxBlockSecond is relaxBlock with second-cheapest paths.
func (p *relaxer) relaxBlockSecond(b reg.GPVirtual, lengths, m reg.VecVirtual) {
	second := GP64()
	MOVQ(p.second.apart, second)
	at := func(disp int) Mem { return Mem{Base: b, Disp: disp} }
	at2 := func(disp int) Mem { return Mem{Base: b, Index: second, Scale: 1, Disp: disp} }
	cost, old, valid, less, t, u := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
	VPADDD(Mem{Base: p.row}, p.cost, cost)
	VPCMPGTD(p.to, lengths, t)
	VPCMPGTD(p.from, lengths, valid)
	VPANDN(valid, t, valid)
	VMOVDQU(at(0), old)
	VPCMPGTD(cost, old, less)
	Comment("the dearer one of both is second if its offset differs")
	VMOVDQU(at2(0), u)
	VPCMPGTD(cost, u, m)
	VPAND(valid, m, m)
	offset := YMM()
	VMOVDQU(at(nodesOffset), offset)
	VPCMPEQD(p.offset, offset, t)
	VPANDN(m, t, m)
	VPMAXSD(cost, old, t)
	VPBLENDVB(m, t, u, u)
	VMOVDQU(u, at2(0))
	VPBLENDVB(less, offset, p.offset, t)
	setLane(m, t, at2(nodesOffset))
	edge := lengths
	if p.second.extending {
		edge = YMM()
		VPOR(p.second.fromSecond, lengths, edge)
	}
	VMOVDQU(at(nodesLength), u)
	VPBLENDVB(less, u, edge, t)
	setLane(m, t, at2(nodesLength))
	Comment("the cheaper one is first")
	VPAND(valid, less, less)
	VPBLENDVB(less, cost, old, old)
	VMOVDQU(old, at(0))
	VPBLENDVB(less, p.offset, offset, offset)
	VMOVDQU(offset, at(nodesOffset))
	VPBLENDVB(less, edge, u, u)
	VMOVDQU(u, at(nodesLength))
	VPOR(less, m, m)
}

// takeLong takes a candidate of Nice bytes or more at once.
func (p *relaxer) takeLong() {
	Label("long")
	c, t := GP64(), GP64()
	MOVL(U32(pricedRuns-1), t.As32())
	CMPQ(p.n, t)
	CMOVQLT(p.n, t)
	VMOVD(p.cost.AsX(), c.As32())
	ADDL(Mem{Base: p.row, Index: t, Scale: 4}, c.As32())
	if p.second != nil {
		p.takeLongSecond(c)
	} else {
		at, k := GP64(), GP64()
		ADDQ(p.n, p.i)
		p.block(at, k)
		ADDQ(p.field(rpNodes), at)
		SUBQ(p.n, p.i)
		CMPL(c.As32(), Mem{Base: at, Index: k, Scale: 4})
		JGE(LabelRef("skip"))
		MOVL(c.As32(), Mem{Base: at, Index: k, Scale: 4})
		MOVL(p.n.As32(), Mem{Base: at, Index: k, Scale: 4, Disp: nodesLength})
		MOVL(p.d.As32(), Mem{Base: at, Index: k, Scale: 4, Disp: nodesOffset})
	}
	Comment("no path goes through the positions in the match")
	Label("skip")
	ADDQ(p.n, p.i)
	if p.second != nil {
		p.dropEdges()
	} else {
		MOVL(I32(unreached), p.pendCost)
	}
	MOVL(I32(unreached), p.literalCost)
	JMP(LabelRef("position"))
}
