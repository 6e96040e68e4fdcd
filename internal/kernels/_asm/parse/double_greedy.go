package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// greedyParser has the registers of parseDoubleAVX2 besides those of a doubleParser.
type greedyParser struct {
	*doubleParser
	v      reg.GPVirtual // bytes at i
	cl, cs reg.GPVirtual // candidates of the tables
	c, d   reg.GPVirtual // source of the match, and offset; d is i − minOffset − c while searching
	n      reg.GPVirtual // length of the match
}

// double emits parseDoubleAVX2, which is parseDoublePortable of package lz77, position for
// position.
func double(multiples, mul Mem) {
	TEXT("parseDoubleAVX2", attr.NOSPLIT,
		"func(s *"+doubleType+", src []byte, long, short *uint32, seqs "+seqType+
			", room, stop int) (bytes int)")
	Pragma("noescape")
	Doc("parseDoubleAVX2 continues a greedy parse until it reaches stop or has written room sequences.",
		"stop must not be above s.End. It returns the size of the sequences. See ParseDouble for other",
		"requirements.")
	p := &greedyParser{doubleParser: &doubleParser{multiples: multiples, mul: mul}}
	p.begin()
	CMPQ(p.field(dbCheckRepeat), I8(0))
	JNE(LabelRef("behind"))
	p.search()
	p.near()
	p.hit()
	p.again()
	p.take()
	p.afterMatch("loop", "done")
	Label("done")
	p.end()
}

// search tests the repeat offset at i+1, and then selects a candidate without a branch.
func (p *greedyParser) search() {
	Label("loop")
	CMPQ(p.i, param(Param("stop")))
	JGE(LabelRef("done"))
	p.v, p.cl, p.cs, p.c, p.d, p.n = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	p.searchTables(p.v, p.cl, p.cs)
	Comment("the repeat offset, at i+1")
	LEAQ(Mem{Base: p.i, Disp: 1}, p.c)
	SUBQ(p.rep, p.c)
	JLT(LabelRef("first"))
	MOVQ(p.v, p.d)
	SHRQ(U8(8), p.d)
	CMPL(p.d.As32(), p.bytes(p.c, 0))
	JEQ(LabelRef("again"))
	Label("first")
	Comment("the long candidate, or else the short one")
	LEAQ(Mem{Base: p.i, Disp: -minOffset}, p.d)
	MOVQ(p.d, p.c)
	SUBQ(p.cl, p.c)
	CMPQ(p.c, p.reach)
	CMOVQLS(p.cl, p.cs)
	SUBQ(p.cs, p.d)
	CMPQ(p.d, p.reach)
	JLS(LabelRef("hit"))
	CMPQ(p.d, I8(-minOffset))
	JGT(LabelRef("near"))
	Label("next")
	p.step("loop")
}

// near replaces an offset below minOffset by a multiple.
func (p *greedyParser) near() {
	Label("near")
	CMPQ(p.d, I8(0))
	JGE(LabelRef("next"))
	t := GP64()
	LEAQ(p.multiples, t)
	MOVBQZX(Mem{Base: t, Index: p.d, Scale: 1, Disp: minOffset}, p.d)
	MOVQ(p.i, p.cs)
	SUBQ(p.d, p.cs)
	JLT(LabelRef("next"))
}

// hit compares the candidate, and the long candidate at i+1, and takes the longer match.
func (p *greedyParser) hit() {
	Label("hit")
	Comment("a longer match at i+1 is worth a literal")
	MOVQ(p.cs, p.c)
	p.compare(p.c, p.i, p.n, 0)
	CMPQ(p.n, p.field(dbMinMatch))
	JLT(LabelRef("next"))
	v1, h, tag, c1, d1, n1 := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(p.bytes(p.i, 1), v1)
	p.hashLong(v1, h, tag)
	MOVL(slot(p.long, h), c1.As32())
	XORL(tag.As32(), c1.As32())
	LEAL(Mem{Base: p.i, Disp: 1}, d1.As32())
	ORL(d1.As32(), tag.As32())
	MOVL(tag.As32(), slot(p.long, h))
	LEAQ(Mem{Base: p.i, Disp: 1 - minOffset}, d1)
	SUBQ(c1, d1)
	CMPQ(d1, p.reach)
	JHI(LabelRef("alone"))
	p.compare(c1, p.i, n1, 1)
	LEAQ(Mem{Base: p.i, Disp: 1}, d1)
	CMPQ(n1, p.n)
	CMOVQGT(c1, p.c)
	CMOVQGT(d1, p.i)
	CMOVQGT(n1, p.n)
	Label("alone")
	CMPQ(p.n, I8(32))
	JNE(LabelRef("counted"))
	JMP(LabelRef("more"))
}

// again takes the repeat offset at i+1.
func (p *greedyParser) again() {
	Label("again")
	INCQ(p.i)
	p.compare(p.c, p.i, p.n, 0)
	CMPQ(p.n, I8(32))
	JNE(LabelRef("counted"))
	Label("more")
	p.extend(p.c, p.i, p.n)
	Label("counted")
	CMPQ(p.n, p.field(dbMinMatch))
	JLT(LabelRef("next"))
}

// take writes the match, with bytes before it, and inserts two of its positions.
func (p *greedyParser) take() {
	lit, k := GP64(), GP64()
	MOVQ(p.i, p.d)
	SUBQ(p.c, p.d)
	MOVQ(p.i, lit)
	SUBQ(p.field(dbAnchor), lit)
	p.extendBack(p.c, lit, k)
	SUBQ(k, lit)
	at := GP64()
	MOVQ(p.i, at)
	SUBQ(k, at)
	ADDQ(p.n, p.i)
	ADDQ(k, p.n)
	p.put(lit, p.n, p.d)
	p.use(p.d)
	MOVQ(p.i, p.field(dbAnchor))
	CMPQ(p.i, p.field(dbEnd))
	JGE(LabelRef("done"))
	p.insert(at, 2)
	p.insert(p.i, -2)
}
