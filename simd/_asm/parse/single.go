package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	prime     = 0x9E3779B185EBCA87 // lz77's prime64
	minOffset = 16                 // lz77.MinOffset
	maxStep   = 32                 // lz77's
	seqBytes  = 12
)

// farEnough is lz77's table, with an entry for an offset of 0, which does not occur.
var leastMultiple = [minOffset]uint8{0, 16, 16, 18, 16, 20, 18, 21, 16, 18, 20, 22, 24, 26, 28, 30}

// farData is the same for the assembly.
func leastMultipleData() Mem {
	far := GLOBL("leastMultiple", attr.RODATA|attr.NOPTR)
	for i, d := range leastMultiple {
		DATA(i, U8(d))
	}
	return far
}

// stateType is simd's SingleParse, and these are the offsets of its fields.
const (
	stateType = "struct{At, Anchor, Repeat, End int; Mask, Shift, TagMask, SkipLog uint64; MaxOffset, MinMatch, UpdateRepeat int}"
)

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

// primeData is what hashes of 64 bits are multiplied by.
func primeData() Mem {
	mul := GLOBL("prime64", attr.RODATA|attr.NOPTR)
	DATA(0, U64(prime))
	return mul
}

// single is lz77's parseSingle, position for position.
func single(far, mul Mem) {
	TEXT("parseSingleAVX2", attr.NOSPLIT, "func(s *"+stateType+", src []byte, table *uint32, seqs "+seqType+", room, stop int) (bytes int)")
	Pragma("noescape")
	Doc("parseSingleAVX2 goes on with a parse until it is at stop, which is not behind the end that the state names, or until there is no room for another sequence. It",
		"returns the size of the sequences. See ParseSingle for what the arguments must be.")
	st, src, table, out := GP64(), GP64(), GP64(), GP64()
	i, rep, shift := GP64(), GP64(), GP64()
	Load(Param("s"), st)
	Load(Param("src").Base(), src)
	Load(Param("table"), table)
	Load(Param("seqs"), out)
	field := func(disp int) Mem { return Mem{Base: st, Disp: disp} }
	MOVQ(field(stAt), i)
	MOVQ(field(stRepeat), rep)
	MOVQ(field(stShift), shift)
	at := func(index reg.Register, disp int) Mem { return Mem{Base: src, Index: index, Scale: 1, Disp: disp} }
	slot := func(h reg.Register) Mem { return Mem{Base: table, Index: h, Scale: 4} }
	// look makes the product of the bytes at disp from i in x and its place in h.
	look := func(x, h reg.GPVirtual, index reg.Register, disp int) {
		MOVQ(at(index, disp), x)
		ANDQ(field(stMask), x)
		IMULQ(mul, x)
		SHRXQ(shift, x, h)
		ANDL(field(stTagMask), x.As32())
	}

	Label("loop")
	CMPQ(i, param(Param("stop")))
	JGE(LabelRef("done"))
	c, c1 := GP64(), GP64()
	{
		x, h, x1, h1 := GP64(), GP64(), GP64(), GP64()
		look(x, h, i, 0)
		look(x1, h1, i, 1)
		MOVL(slot(h), c.As32())
		MOVL(slot(h1), c1.As32())
		XORL(x.As32(), c.As32())
		XORL(x1.As32(), c1.As32())
		ORL(i.As32(), x.As32())
		MOVL(x.As32(), slot(h))
		LEAL(Mem{Base: i, Disp: 1}, h.As32())
		ORL(h.As32(), x1.As32())
		MOVL(x1.As32(), slot(h1))
	}
	v, d := GP64(), GP64()
	Comment("the last offset, one position on")
	LEAQ(Mem{Base: i, Disp: 1}, d)
	SUBQ(rep, d)
	JLT(LabelRef("first"))
	MOVL(at(i, 1), v.As32())
	CMPL(v.As32(), at(d, 0))
	JEQ(LabelRef("again"))
	Label("first")
	CMPQ(c, i)
	JCC(LabelRef("second"))
	MOVL(at(i, 0), v.As32())
	CMPL(v.As32(), at(c, 0))
	JEQ(LabelRef("hit"))
	Label("second")
	CMPQ(c1, i)
	JHI(LabelRef("next"))
	MOVL(at(i, 1), v.As32())
	CMPL(v.As32(), at(c1, 0))
	JEQ(LabelRef("hit1"))

	Label("next")
	MOVQ(i, v)
	SUBQ(field(stAnchor), v)
	MOVQ(field(stSkipLog), d)
	SHRXQ(d, v, v)
	ADDQ(I8(2), v)
	MOVL(U32(maxStep), d.As32())
	CMPQ(v, d)
	CMOVQGT(d, v)
	ADDQ(v, i)
	JMP(LabelRef("loop"))

	Label("hit")
	MOVQ(i, d)
	SUBQ(c, d)
	CMPQ(d, field(stMaxOffset))
	JGT(LabelRef("second"))
	JMP(LabelRef("candidate"))

	Label("hit1")
	LEAQ(Mem{Base: i, Disp: 1}, d)
	SUBQ(c1, d)
	CMPQ(d, field(stMaxOffset))
	JGT(LabelRef("next"))
	INCQ(i)
	MOVQ(c1, c)
	Label("candidate")
	CMPQ(d, I8(minOffset))
	JCC(LabelRef("found"))
	LEAQ(far, v)
	MOVBQZX(Mem{Base: v, Index: d, Scale: 1}, d)
	MOVQ(i, c)
	SUBQ(d, c)
	JLT(LabelRef("next"))
	MOVL(at(i, 0), v.As32())
	CMPL(v.As32(), at(c, 0))
	JNE(LabelRef("next"))
	JMP(LabelRef("found"))

	Label("again")
	INCQ(i)
	MOVQ(d, c)
	MOVQ(rep, d)

	Label("found")
	n := c1 // free by now
	most := GP64()
	Load(Param("src").Len(), most)
	SUBQ(i, most)
	XORL(n.As32(), n.As32())
	SUBQ(I8(32), most)
	JLT(LabelRef("bytes"))
	y := YMM()
	Label("vector")
	{
		p := GP64()
		LEAQ(Mem{Base: src, Index: n, Scale: 1}, p)
		VMOVDQU(Mem{Base: p, Index: i, Scale: 1}, y)
		VPCMPEQB(Mem{Base: p, Index: c, Scale: 1}, y, y)
	}
	VPMOVMSKB(y, v.As32())
	XORL(I8(-1), v.As32())
	JNE(LabelRef("unlike"))
	ADDQ(I8(32), n)
	CMPQ(n, most)
	JLE(LabelRef("vector"))
	Label("bytes")
	ADDQ(I8(32), most)
	Label("byte")
	CMPQ(n, most)
	JGE(LabelRef("counted"))
	{
		p := GP64()
		LEAQ(Mem{Base: src, Index: n, Scale: 1}, p)
		MOVB(Mem{Base: p, Index: i, Scale: 1}, v.As8())
		CMPB(v.As8(), Mem{Base: p, Index: c, Scale: 1})
	}
	JNE(LabelRef("counted"))
	INCQ(n)
	JMP(LabelRef("byte"))
	Label("unlike")
	TZCNTL(v.As32(), v.As32())
	ADDQ(v, n)
	Label("counted")
	CMPQ(n, field(stMinMatch))
	JLT(LabelRef("next"))

	Comment("backwards, as far as literals go")
	k, lit := GP64(), GP64()
	MOVQ(i, lit)
	SUBQ(field(stAnchor), lit)
	CMPQ(c, I8(8))
	JCS(LabelRef("back"))
	{
		x := GP64()
		MOVQ(at(c, -8), k)
		XORQ(at(i, -8), k)
		Comment("a bit that differs where the literals end")
		MOVQ(U64(1<<63), x)
		MOVQ(lit, v)
		SHLQ(U8(3), v)
		SHRXQ(v, x, x)
		XORL(v.As32(), v.As32())
		CMPQ(lit, I8(8))
		CMOVQCC(v, x)
		ORQ(x, k)
		JEQ(LabelRef("back"))
		LZCNTQ(k, k)
		SHRQ(U8(3), k)
	}
	Label("backed")
	SUBQ(k, lit)
	MOVL(lit.As32(), Mem{Base: out})
	LEAQ(Mem{Base: n, Index: k, Scale: 1}, v)
	MOVL(v.As32(), Mem{Base: out, Disp: 4})
	MOVL(d.As32(), Mem{Base: out, Disp: 8})
	ADDQ(I8(seqBytes), out)
	CMPQ(field(stUpdateRepeat), I8(0))
	CMOVQNE(d, rep)
	MOVQ(i, d)
	SUBQ(k, d)
	ADDQ(n, i)
	MOVQ(i, field(stAnchor))
	CMPQ(i, field(stEnd))
	JGE(LabelRef("done"))
	{
		x, h := GP64(), GP64()
		look(x, h, d, 2)
		ADDQ(I8(2), d)
		ORL(d.As32(), x.As32())
		MOVL(x.As32(), slot(h))
	}
	{
		x, h := GP64(), GP64()
		look(x, h, i, -2)
		LEAQ(Mem{Base: i, Disp: -2}, d)
		ORL(d.As32(), x.As32())
		MOVL(x.As32(), slot(h))
	}
	DECQ(param(Param("room")))
	JNE(LabelRef("loop"))
	JMP(LabelRef("done"))

	Label("back")
	XORL(k.As32(), k.As32())
	{
		p := GP64()
		MOVQ(src, p)
		Label("backbyte")
		CMPQ(k, lit)
		JGE(LabelRef("backed"))
		CMPQ(k, c)
		JGE(LabelRef("backed"))
		MOVB(Mem{Base: p, Index: i, Scale: 1, Disp: -1}, v.As8())
		CMPB(v.As8(), Mem{Base: p, Index: c, Scale: 1, Disp: -1})
		JNE(LabelRef("backed"))
		DECQ(p)
		INCQ(k)
		JMP(LabelRef("backbyte"))
	}

	Label("done")
	VZEROUPPER()
	MOVQ(i, field(stAt))
	MOVQ(rep, field(stRepeat))
	Load(Param("seqs"), i)
	SUBQ(i, out)
	Store(out, Return("bytes"))
	RET()
}

// param is where a parameter is.
func param(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
