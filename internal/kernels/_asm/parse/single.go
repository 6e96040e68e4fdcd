package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// singleType is the type SingleParse of package kernels; the constants are offsets of its fields.
const singleType = "struct{At, Anchor, Repeat, End int; Mask, Shift, TagMask, SkipLog uint64; " +
	"MaxOffset, MinMatch, UpdateRepeat int}"

const (
	stAt = 8 * iota
	stAnchor
	stRepeat
	stEnd
	stMask
	stShift
	stTagMask
	stSkipLog
	stMaxOffset
	stMinMatch
	stUpdateRepeat
)

// singleParser has the registers of parseSingleAVX2.
type singleParser struct {
	multiples, mul      Mem
	st, src, table, out reg.GPVirtual
	i, rep, shift       reg.GPVirtual // current position, repeat offset
	c, c1               reg.GPVirtual // candidates for i and i+1; c is that of the match
	d                   reg.GPVirtual // offset
	n                   reg.GPVirtual // length of the match, in the register of c1
	k, lit              reg.GPVirtual // bytes before i that match, literal run
	v                   reg.GPVirtual // scratch
}

// single emits parseSingleAVX2, which is parseSinglePortable of package lz77, position for
// position.
func single(multiples, mul Mem) {
	TEXT("parseSingleAVX2", attr.NOSPLIT,
		"func(s *"+singleType+", src []byte, table *uint32, seqs "+seqType+
			", room, stop int) (bytes int)")
	Pragma("noescape")
	Doc("parseSingleAVX2 continues a parse until it reaches stop or has written room sequences. stop must",
		"not be above s.End. It returns the size of the sequences. See ParseSingle for other requirements.")
	p := &singleParser{multiples: multiples, mul: mul}
	p.begin()
	p.search()
	p.miss()
	p.hits()
	p.extend()
	p.extendBack()
	p.emit()
	p.slowBack()
	p.finish()
}

func (p *singleParser) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

// at returns the content at a position.
func (p *singleParser) at(index reg.Register, disp int) Mem {
	return Mem{Base: p.src, Index: index, Scale: 1, Disp: disp}
}

func (p *singleParser) slot(h reg.Register) Mem { return Mem{Base: p.table, Index: h, Scale: 4} }

// hash computes the table index h, and the tag in x, of the bytes disp behind index.
func (p *singleParser) hash(x, h reg.GPVirtual, index reg.Register, disp int) {
	MOVQ(p.at(index, disp), x)
	ANDQ(p.field(stMask), x)
	IMULQ(p.mul, x)
	SHRXQ(p.shift, x, h)
	ANDL(p.field(stTagMask), x.As32())
}

func (p *singleParser) begin() {
	p.st, p.src, p.table, p.out = GP64(), GP64(), GP64(), GP64()
	p.i, p.rep, p.shift = GP64(), GP64(), GP64()
	Load(Param("s"), p.st)
	Load(Param("src").Base(), p.src)
	Load(Param("table"), p.table)
	Load(Param("seqs"), p.out)
	MOVQ(p.field(stAt), p.i)
	MOVQ(p.field(stRepeat), p.rep)
	MOVQ(p.field(stShift), p.shift)
}

// search inserts positions i and i+1 and tests the repeat offset and both candidates.
func (p *singleParser) search() {
	Label("loop")
	CMPQ(p.i, param(Param("stop")))
	JGE(LabelRef("done"))
	p.c, p.c1 = GP64(), GP64()
	x, h, x1, h1 := GP64(), GP64(), GP64(), GP64()
	p.hash(x, h, p.i, 0)
	p.hash(x1, h1, p.i, 1)
	MOVL(p.slot(h), p.c.As32())
	MOVL(p.slot(h1), p.c1.As32())
	XORL(x.As32(), p.c.As32())
	XORL(x1.As32(), p.c1.As32())
	ORL(p.i.As32(), x.As32())
	MOVL(x.As32(), p.slot(h))
	LEAL(Mem{Base: p.i, Disp: 1}, h.As32())
	ORL(h.As32(), x1.As32())
	MOVL(x1.As32(), p.slot(h1))

	p.v, p.d = GP64(), GP64()
	Comment("the repeat offset, at i+1")
	LEAQ(Mem{Base: p.i, Disp: 1}, p.d)
	SUBQ(p.rep, p.d)
	JLT(LabelRef("first"))
	MOVL(p.at(p.i, 1), p.v.As32())
	CMPL(p.v.As32(), p.at(p.d, 0))
	JEQ(LabelRef("again"))
	Label("first")
	CMPQ(p.c, p.i)
	JCC(LabelRef("second"))
	MOVL(p.at(p.i, 0), p.v.As32())
	CMPL(p.v.As32(), p.at(p.c, 0))
	JEQ(LabelRef("hit"))
	Label("second")
	CMPQ(p.c1, p.i)
	JHI(LabelRef("next"))
	MOVL(p.at(p.i, 1), p.v.As32())
	CMPL(p.v.As32(), p.at(p.c1, 0))
	JEQ(LabelRef("hit1"))
}

// miss goes on with the next position to search.
func (p *singleParser) miss() {
	Label("next")
	MOVQ(p.i, p.v)
	SUBQ(p.field(stAnchor), p.v)
	MOVQ(p.field(stSkipLog), p.d)
	SHRXQ(p.d, p.v, p.v)
	ADDQ(I8(2), p.v)
	MOVL(U32(maxStep), p.d.As32())
	CMPQ(p.v, p.d)
	CMOVQGT(p.d, p.v)
	ADDQ(p.v, p.i)
	JMP(LabelRef("loop"))
}

// hits sets i, c and d for the three kinds of match, and replaces offsets below minOffset.
func (p *singleParser) hits() {
	Label("hit")
	MOVQ(p.i, p.d)
	SUBQ(p.c, p.d)
	CMPQ(p.d, p.field(stMaxOffset))
	JGT(LabelRef("second"))
	JMP(LabelRef("candidate"))

	Label("hit1")
	LEAQ(Mem{Base: p.i, Disp: 1}, p.d)
	SUBQ(p.c1, p.d)
	CMPQ(p.d, p.field(stMaxOffset))
	JGT(LabelRef("next"))
	INCQ(p.i)
	MOVQ(p.c1, p.c)
	Label("candidate")
	CMPQ(p.d, I8(minOffset))
	JCC(LabelRef("found"))
	LEAQ(p.multiples, p.v)
	MOVBQZX(Mem{Base: p.v, Index: p.d, Scale: 1}, p.d)
	MOVQ(p.i, p.c)
	SUBQ(p.d, p.c)
	JLT(LabelRef("next"))
	MOVL(p.at(p.i, 0), p.v.As32())
	CMPL(p.v.As32(), p.at(p.c, 0))
	JNE(LabelRef("next"))
	JMP(LabelRef("found"))

	Label("again")
	INCQ(p.i)
	MOVQ(p.d, p.c)
	MOVQ(p.rep, p.d)
}

// extend counts equal bytes in n, 32 at a time and then one by one at the end of src.
func (p *singleParser) extend() {
	Label("found")
	p.n = p.c1
	n, most := p.n, GP64()
	Load(Param("src").Len(), most)
	SUBQ(p.i, most)
	XORL(n.As32(), n.As32())
	SUBQ(I8(32), most)
	JLT(LabelRef("bytes"))
	y := YMM()
	Label("vector")
	t := GP64()
	LEAQ(Mem{Base: p.src, Index: n, Scale: 1}, t)
	VMOVDQU(Mem{Base: t, Index: p.i, Scale: 1}, y)
	VPCMPEQB(Mem{Base: t, Index: p.c, Scale: 1}, y, y)
	VPMOVMSKB(y, p.v.As32())
	XORL(I8(-1), p.v.As32())
	JNE(LabelRef("unlike"))
	ADDQ(I8(32), n)
	CMPQ(n, most)
	JLE(LabelRef("vector"))
	Label("bytes")
	ADDQ(I8(32), most)
	Label("byte")
	CMPQ(n, most)
	JGE(LabelRef("counted"))
	t = GP64()
	LEAQ(Mem{Base: p.src, Index: n, Scale: 1}, t)
	MOVB(Mem{Base: t, Index: p.i, Scale: 1}, p.v.As8())
	CMPB(p.v.As8(), Mem{Base: t, Index: p.c, Scale: 1})
	JNE(LabelRef("counted"))
	INCQ(n)
	JMP(LabelRef("byte"))
	Label("unlike")
	TZCNTL(p.v.As32(), p.v.As32())
	ADDQ(p.v, n)
	Label("counted")
	CMPQ(n, p.field(stMinMatch))
	JLT(LabelRef("next"))
}

// extendBack counts equal bytes before the match in k, up to 7 at once and at most the literal run.
func (p *singleParser) extendBack() {
	Comment("backwards over literals")
	p.k, p.lit = GP64(), GP64()
	MOVQ(p.i, p.lit)
	SUBQ(p.field(stAnchor), p.lit)
	CMPQ(p.c, I8(8))
	JCS(LabelRef("back"))
	x := GP64()
	MOVQ(p.at(p.c, -8), p.k)
	XORQ(p.at(p.i, -8), p.k)
	Comment("a bit that differs where the literals end")
	MOVQ(U64(1<<63), x)
	MOVQ(p.lit, p.v)
	SHLQ(U8(3), p.v)
	SHRXQ(p.v, x, x)
	XORL(p.v.As32(), p.v.As32())
	CMPQ(p.lit, I8(8))
	CMOVQCC(p.v, x)
	ORQ(x, p.k)
	JEQ(LabelRef("back"))
	LZCNTQ(p.k, p.k)
	SHRQ(U8(3), p.k)
	Label("backed")
	SUBQ(p.k, p.lit)
}

// emit writes the sequence, inserts two positions of the match, and goes on behind it.
func (p *singleParser) emit() {
	MOVL(p.lit.As32(), Mem{Base: p.out})
	LEAQ(Mem{Base: p.n, Index: p.k, Scale: 1}, p.v)
	MOVL(p.v.As32(), Mem{Base: p.out, Disp: 4})
	MOVL(p.d.As32(), Mem{Base: p.out, Disp: 8})
	ADDQ(I8(seqBytes), p.out)
	CMPQ(p.field(stUpdateRepeat), I8(0))
	CMOVQNE(p.d, p.rep)
	MOVQ(p.i, p.d)
	SUBQ(p.k, p.d)
	ADDQ(p.n, p.i)
	MOVQ(p.i, p.field(stAnchor))
	CMPQ(p.i, p.field(stEnd))
	JGE(LabelRef("done"))
	x, h := GP64(), GP64()
	p.hash(x, h, p.d, 2)
	ADDQ(I8(2), p.d)
	ORL(p.d.As32(), x.As32())
	MOVL(x.As32(), p.slot(h))
	x, h = GP64(), GP64()
	p.hash(x, h, p.i, -2)
	LEAQ(Mem{Base: p.i, Disp: -2}, p.d)
	ORL(p.d.As32(), x.As32())
	MOVL(x.As32(), p.slot(h))
	DECQ(param(Param("room")))
	JNE(LabelRef("loop"))
	JMP(LabelRef("done"))
}

// slowBack counts equal bytes before the match one by one: near the beginning of src, or if there
// are 8 or more.
func (p *singleParser) slowBack() {
	Label("back")
	XORL(p.k.As32(), p.k.As32())
	t := GP64()
	MOVQ(p.src, t)
	Label("backbyte")
	CMPQ(p.k, p.lit)
	JGE(LabelRef("backed"))
	CMPQ(p.k, p.c)
	JGE(LabelRef("backed"))
	MOVB(Mem{Base: t, Index: p.i, Scale: 1, Disp: -1}, p.v.As8())
	CMPB(p.v.As8(), Mem{Base: t, Index: p.c, Scale: 1, Disp: -1})
	JNE(LabelRef("backed"))
	DECQ(t)
	INCQ(p.k)
	JMP(LabelRef("backbyte"))
}

func (p *singleParser) finish() {
	Label("done")
	VZEROUPPER()
	MOVQ(p.i, p.field(stAt))
	MOVQ(p.rep, p.field(stRepeat))
	Load(Param("seqs"), p.i)
	SUBQ(p.i, p.out)
	Store(p.out, Return("bytes"))
	RET()
}
