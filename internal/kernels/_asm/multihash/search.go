package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// searcher has the registers of searchMultiAVX2.
type searcher struct {
	st, src, i, out, entries reg.GPVirtual
	last, best, offset, zero reg.GPVirtual // zero is 0
	c, d, n, t               reg.GPVirtual
	here, there              reg.VecVirtual
}

// search emits searchMultiAVX2, which is MultiHash.search for a range of positions.
func search() {
	TEXT("searchMultiAVX2", attr.NOSPLIT, "func(t "+multiType+", src *byte, size int, end int, "+
		"cands *uint64, n int, first *uint32, most int) (total int, stopped bool)")
	Pragma("noescape")
	Doc("searchMultiAVX2 searches the positions of the batch up to end, with 32 bytes behind each. Nice",
		"and MaxOffset are at least 32. See SearchMultiHash.")
	p := &searcher{
		st: GP64(), src: GP64(), i: GP64(), out: GP64(), entries: GP64(),
		last: GP64(), best: GP64(), offset: GP64(), zero: GP64(),
		c: GP64(), d: GP64(), n: GP64(), t: GP64(), here: YMM(), there: YMM(),
	}
	Load(Param("t"), p.st)
	Load(Param("src"), p.src)
	Load(Param("cands"), p.out)
	Load(Param("n"), p.t)
	LEAQ(Mem{Base: p.out, Index: p.t, Scale: 8}, p.out)
	XORL(p.zero.As32(), p.zero.As32())
	MOVQ(p.field(mhAt), p.i)
	MOVQ(p.i, p.t)
	SUBQ(p.field(mhBatchFrom), p.t)
	LEAQ(Mem{Base: p.t, Index: p.t, Scale: 4}, p.t)
	LEAQ(Mem{Base: p.st, Index: p.t, Scale: 4, Disp: mhEntries}, p.entries)

	Label("position")
	CMPQ(p.i, param(Param("end")))
	JGE(LabelRef("done"))
	MOVQ(p.out, p.t)
	SUBQ(param(Param("cands")), p.t)
	SHRQ(U8(3), p.t)
	CMPQ(p.t, param(Param("most")))
	JGT(LabelRef("done"))
	MOVQ(param(Param("first")), p.c)
	MOVL(p.t.As32(), Mem{Base: p.c})
	ADDQ(I8(4), p.c)
	MOVQ(p.c, param(Param("first")))
	VMOVDQU(Mem{Base: p.src, Index: p.i, Scale: 1}, p.here)
	MOVL(p.i.As32(), p.last.As32())
	MOVL(p.field(mhMinMatch), p.best.As32())
	DECL(p.best.As32())
	XORL(p.offset.As32(), p.offset.As32())
	CMPQ(p.field(mhFirst), I8(0))
	JNE(LabelRef("next0"))
	p.candidate(0)
	Label("next0")
	MOVL(U32(3), p.t.As32())
	CMPL(p.best.As32(), p.t.As32())
	CMOVLLT(p.t.As32(), p.best.As32())
	for k := 1; k < tables; k++ {
		p.candidate(k)
		Label(fmt.Sprint("next", k))
	}
	p.reach()

	for k := range tables {
		p.near(k)
		p.long(k)
	}
	Label("done")
	Store(p.zero.As8(), Return("stopped"))
	MOVQ(p.i, p.field(mhAt))
	SUBQ(param(Param("cands")), p.out)
	SHRQ(U8(3), p.out)
	Store(p.out, Return("total"))
	VZEROUPPER()
	RET()
}

// field returns the operand of a field of the state.
func (p *searcher) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

// compare sets n to the number of equal bytes at c and i, at most 32.
func (p *searcher) compare() {
	VPCMPEQB(Mem{Base: p.src, Index: p.c, Scale: 1}, p.here, p.there)
	VPMOVMSKB(p.there, p.n.As32())
	NOTL(p.n.As32())
	TZCNTL(p.n.As32(), p.n.As32())
}

// candidate appends entry k if it is a candidate.
func (p *searcher) candidate(k int) {
	Comment(fmt.Sprint("entry ", k))
	MOVL(Mem{Base: p.entries, Disp: 4 * k}, p.c.As32())
	p.compare()
	MOVL(p.i.As32(), p.d.As32())
	SUBL(p.c.As32(), p.d.As32())
	CMPL(p.c.As32(), p.last.As32())
	CMOVLCC(p.zero.As32(), p.n.As32())
	CMOVLCS(p.c.As32(), p.last.As32())
	CMPL(p.d.As32(), p.field(mhMaxOffset))
	CMOVLHI(p.zero.As32(), p.n.As32())
	if k == 0 {
		CMPL(p.n.As32(), U8(3))
		JNE(LabelRef("far"))
		CMPL(p.d.As32(), p.field(mhMaxOffset3))
		CMOVLHI(p.zero.As32(), p.n.As32())
		Label("far")
	}
	Comment("the offset, or the position if the entry is no candidate")
	MOVL(p.i.As32(), p.t.As32())
	ORL(U8(16), p.t.As32())
	CMPL(p.n.As32(), p.best.As32())
	CMOVLHI(p.d.As32(), p.t.As32())
	CMPL(p.t.As32(), p.field(mhMinOffset))
	JCS(LabelRef(fmt.Sprint("near", k)))
	CMPL(p.n.As32(), U8(32))
	JEQ(LabelRef(fmt.Sprint("long", k)))
	Label(fmt.Sprint("take", k))
	MOVQ(p.n, p.t)
	SHLQ(U8(lengthShift), p.t)
	ORQ(p.d, p.t)
	MOVQ(p.t, Mem{Base: p.out})
	LEAQ(Mem{Base: p.out, Disp: 8}, p.t)
	CMPL(p.n.As32(), p.best.As32())
	CMOVQHI(p.t, p.out)
	CMOVLHI(p.d.As32(), p.offset.As32())
	CMOVLHI(p.n.As32(), p.best.As32())
}

// near replaces an offset that is too small by a multiple.
func (p *searcher) near(k int) {
	Label(fmt.Sprint("near", k))
	MOVBLZX(Mem{Base: p.st, Index: p.d, Scale: 1, Disp: mhMultiples}, p.d.As32())
	CMPL(p.d.As32(), p.i.As32())
	JHI(LabelRef(fmt.Sprint("next", k)))
	MOVL(p.i.As32(), p.c.As32())
	SUBL(p.d.As32(), p.c.As32())
	p.compare()
	CMPL(p.n.As32(), U8(32))
	JNE(LabelRef(fmt.Sprint("take", k)))
}

// long extends a match of 32 bytes at c, up to Nice bytes and the end.
func (p *searcher) long(k int) {
	step, byByte, loop, ends := fmt.Sprint("step", k), fmt.Sprint("byte", k),
		fmt.Sprint("loop", k), fmt.Sprint("ends", k)
	Label(fmt.Sprint("long", k))
	left := p.t
	MOVQ(param(Param("size")), left)
	SUBQ(p.i, left)
	ADDQ(p.src, p.c) // where the candidate is
	Label(loop)
	CMPQ(p.n, p.field(mhNice))
	JGE(LabelRef(ends))
	ADDQ(I8(32), p.n)
	CMPQ(p.n, left)
	JGT(LabelRef(byByte))
	v, bits := YMM(), GP64()
	MOVQ(p.src, bits)
	ADDQ(p.i, bits)
	VMOVDQU(Mem{Base: bits, Index: p.n, Scale: 1, Disp: -32}, v)
	VPCMPEQB(Mem{Base: p.c, Index: p.n, Scale: 1, Disp: -32}, v, v)
	VPMOVMSKB(v, bits.As32())
	NOTL(bits.As32())
	TESTL(bits.As32(), bits.As32())
	JEQ(LabelRef(loop))
	TZCNTL(bits.As32(), bits.As32())
	LEAQ(Mem{Base: p.n, Index: bits, Scale: 1, Disp: -32}, p.n)
	JMP(LabelRef(ends))

	Label(byByte)
	SUBQ(I8(32), p.n)
	Label(step)
	CMPQ(p.n, left)
	JEQ(LabelRef(ends))
	b := GP64()
	MOVQ(p.src, b)
	ADDQ(p.i, b)
	MOVBLZX(Mem{Base: b, Index: p.n, Scale: 1}, b.As32())
	CMPB(b.As8(), Mem{Base: p.c, Index: p.n, Scale: 1})
	JNE(LabelRef(ends))
	INCQ(p.n)
	JMP(LabelRef(step))

	Label(ends)
	CMPQ(p.n, p.field(mhNice))
	CMOVQGT(p.field(mhNice), p.n)
	JMP(LabelRef(fmt.Sprint("take", k)))
}

// reach updates Reach and goes to the next position, unless the search stops.
func (p *searcher) reach() {
	reach, before, end := p.c, p.d, p.n
	CMPQ(p.best, p.field(mhNice))
	JGE(LabelRef("found"))
	MOVQ(p.field(mhReach), reach)
	MOVQ(p.field(mhBefore), before)
	Comment("the end of the longest candidate; offset is 0 if there is none")
	LEAQ(Mem{Base: p.i, Index: p.best, Scale: 1}, end)
	TESTQ(p.offset, p.offset)
	CMOVQEQ(p.zero, end)
	MOVQ(before, p.t)
	CMPQ(p.offset, p.field(mhOffset))
	CMOVQNE(reach, p.t)
	CMPQ(end, reach)
	CMOVQGT(p.t, before)
	CMOVQGT(end, reach)
	MOVQ(p.field(mhOffset), p.t)
	CMOVQGT(p.offset, p.t)
	MOVQ(reach, p.field(mhReach))
	MOVQ(before, p.field(mhBefore))
	MOVQ(p.t, p.field(mhOffset))
	SUBQ(p.i, reach)
	CMPQ(reach, p.field(mhSkip))
	JGE(LabelRef("covered"))
	Label("on")
	ADDQ(I8(4*tables), p.entries)
	INCQ(p.i)
	JMP(LabelRef("position"))

	Label("covered")
	TESTQ(p.offset, p.offset)
	JEQ(LabelRef("on"))
	CMPQ(p.i, before)
	JLT(LabelRef("on"))
	Label("found")
	INCQ(p.i)
	MOVL(U32(1), p.zero.As32())
	JMP(LabelRef("done"))
}
