package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// compare counts in n how many of the 32 bytes at c and at i + disp are equal.
func (p *doubleParser) compare(c, i, n reg.GPVirtual, disp int) {
	y := YMM()
	VMOVDQU(p.bytes(i, disp), y)
	VPCMPEQB(p.bytes(c, 0), y, y)
	VPMOVMSKB(y, n.As32())
	NOTL(n.As32())
	TZCNTL(n.As32(), n.As32())
}

// extend continues counting in n the equal bytes at c and at i: 32 at a time, and one by one at the
// end of src.
func (p *doubleParser) extend(c, i, n reg.GPVirtual) {
	vector, bytes, one := p.label("vector"), p.label("bytes"), p.label("byte")
	unlike, done := p.label("unlike"), p.label("counted")
	most, v, y := GP64(), GP64(), YMM()
	Load(Param("src").Len(), most)
	SUBQ(i, most)
	SUBQ(I8(32), most)
	CMPQ(n, most)
	JGT(LabelRef(bytes))
	Label(vector)
	LEAQ(p.bytes(n, 0), v)
	VMOVDQU(Mem{Base: v, Index: i, Scale: 1}, y)
	VPCMPEQB(Mem{Base: v, Index: c, Scale: 1}, y, y)
	VPMOVMSKB(y, v.As32())
	XORL(I8(-1), v.As32())
	JNE(LabelRef(unlike))
	ADDQ(I8(32), n)
	CMPQ(n, most)
	JLE(LabelRef(vector))
	Label(bytes)
	ADDQ(I8(32), most)
	Label(one)
	CMPQ(n, most)
	JGE(LabelRef(done))
	LEAQ(p.bytes(n, 0), v)
	b := GP64()
	MOVB(Mem{Base: v, Index: i, Scale: 1}, b.As8())
	CMPB(b.As8(), Mem{Base: v, Index: c, Scale: 1})
	JNE(LabelRef(done))
	INCQ(n)
	JMP(LabelRef(one))
	Label(unlike)
	TZCNTL(v.As32(), v.As32())
	ADDQ(v, n)
	Label(done)
}

// extendBack counts in k the equal bytes before c and before i, at most lit. It compares up to 7 at
// once, and more of them one by one.
func (p *doubleParser) extendBack(c, lit, k reg.GPVirtual) {
	far, one, done := p.label("back"), p.label("backbyte"), p.label("backed")
	x, v := GP64(), GP64()
	CMPQ(c, I8(8))
	JCS(LabelRef(far))
	MOVQ(p.bytes(c, -8), k)
	XORQ(p.bytes(p.i, -8), k)
	Comment("a bit that differs where the literals end")
	MOVQ(U64(1<<63), x)
	MOVQ(lit, v)
	SHLQ(U8(3), v)
	SHRXQ(v, x, x)
	XORL(v.As32(), v.As32())
	CMPQ(lit, I8(8))
	CMOVQCC(v, x)
	ORQ(x, k)
	JEQ(LabelRef(far))
	LZCNTQ(k, k)
	SHRQ(U8(3), k)
	JMP(LabelRef(done))
	Label(far)
	XORL(k.As32(), k.As32())
	MOVQ(p.src, x)
	Label(one)
	CMPQ(k, lit)
	JGE(LabelRef(done))
	CMPQ(k, c)
	JGE(LabelRef(done))
	MOVB(Mem{Base: x, Index: p.i, Scale: 1, Disp: -1}, v.As8())
	CMPB(v.As8(), Mem{Base: x, Index: c, Scale: 1, Disp: -1})
	JNE(LabelRef(done))
	DECQ(x)
	INCQ(k)
	JMP(LabelRef(one))
	Label(done)
}
