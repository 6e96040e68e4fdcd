package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const candidateOffsetBits = 24 // low bits of a candidate; the others are its length less 4

// extend counts in n the equal bytes at c and at q.
func (p *rowHashParser) extend(c, n reg.GPVirtual) {
	XORL(n.As32(), n.As32())
	p.extendFrom(c, n)
}

// extendFrom continues counting: n bytes are equal. It compares 32 at a time, and one by one at the
// end of src.
func (p *rowHashParser) extendFrom(c, n reg.GPVirtual) {
	vector, bytes, one := p.label("vector"), p.label("bytes"), p.label("byte")
	unlike, done := p.label("unlike"), p.label("counted")
	most, v, y := GP64(), GP64(), YMM()
	Load(Param("src").Len(), most)
	SUBQ(p.q, most)
	SUBQ(I8(32), most)
	CMPQ(n, most)
	JGT(LabelRef(bytes))
	Label(vector)
	LEAQ(p.bytes(n, 0), v)
	VMOVDQU(Mem{Base: v, Index: p.q, Scale: 1}, y)
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
	MOVB(Mem{Base: v, Index: p.q, Scale: 1}, b.As8())
	CMPB(b.As8(), Mem{Base: v, Index: c, Scale: 1})
	JNE(LabelRef(done))
	INCQ(n)
	JMP(LabelRef(one))
	Label(unlike)
	TZCNTL(v.As32(), v.As32())
	ADDQ(v, n)
	Label(done)
}

// repeats finds the longest match with a repeat offset. It jumps to nice if that has Nice bytes,
// and to search if there is none.
func (p *rowHashParser) repeats(search, nice string) {
	n, d := GP64(), GP64()
	XORL(n.As32(), n.As32())
	MOVQ(n, p.repeated)
	CMPQ(p.field(rcUseRepeats), I8(0))
	JEQ(LabelRef(search))
	XORL(d.As32(), d.As32())
	MOVQ(p.field(rcMinRepeatMatch), n)
	DECQ(n)
	v := GP64()
	MOVL(p.bytes(p.q, 0), v.As32())
	for i := range 3 {
		no := p.label("unlike")
		c, m := GP64(), GP64()
		MOVQ(p.q, c)
		SUBQ(p.field(rcRepeats+8*i), c)
		JLT(LabelRef(no))
		CMPL(v.As32(), p.bytes(c, 0))
		JNE(LabelRef(no))
		p.extend(c, m)
		CMPQ(m, n)
		JLE(LabelRef(no))
		MOVQ(m, n)
		MOVQ(p.field(rcRepeats+8*i), d)
		Label(no)
	}
	TESTQ(d, d)
	JEQ(LabelRef(search))
	MOVQ(n, p.repeatLen)
	MOVQ(d, p.repeatOffset)
	MOVQ(n, v)
	SHLQ(U8(2), v)
	INCQ(v)
	MOVQ(v, p.repeated)
	CMPQ(n, p.field(rcNice))
	JGE(LabelRef(nice))
}

// better replaces the repeat by a match if its score is higher, and jumps to done.
func (p *rowHashParser) better(score, n, d reg.GPVirtual, done string) {
	CMPQ(score, p.repeated)
	JLE(LabelRef(done))
	MOVQ(score, p.repeated)
	MOVQ(n, p.repeatLen)
	MOVQ(d, p.repeatOffset)
	JMP(LabelRef(done))
}

// look checks the candidate of q and keeps the better of it and the repeat. Then it jumps to done.
func (p *rowHashParser) look(done string) {
	impossible, known := p.label("impossible"), p.label("known")
	n, d, c, t := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: p.q, Disp: 1}, t)
	MOVQ(t, p.field(rcNextInsert))
	Load(Param("candidates"), t)
	MOVL(Mem{Base: t, Index: p.q, Scale: 4}, d.As32())
	TESTL(d.As32(), d.As32())
	JEQ(LabelRef(done))
	MOVL(d.As32(), n.As32())
	SHRL(U8(candidateOffsetBits), n.As32())
	ADDL(I8(4), n.As32())
	ANDL(U32(1<<candidateOffsetBits-1), d.As32())
	CMPL(d.As32(), I8(minOffset))
	JCS(LabelRef(impossible))
	CMPQ(d, p.field(rcMaxOffset))
	JGT(LabelRef(impossible))
	MOVQ(p.q, c)
	SUBQ(d, c)
	JLT(LabelRef(impossible))
	LEAQ(Mem{Base: p.q, Index: n, Scale: 1}, t)
	CMPQ(t, param(Param("src").Len()))
	JGT(LabelRef(impossible))
	CMPQ(n, p.field(rcNice))
	JLT(LabelRef(known))
	p.extendFrom(c, n)
	Label(known)
	LZCNTL(d.As32(), t.As32())
	LEAQ(Mem{Base: t, Index: n, Scale: 4, Disp: -32}, t)
	p.better(t, n, d, done)
	Label(impossible)
	MOVQ(I32(1), p.field(rcBad))
	JMP(LabelRef(done))
}
