package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Constants of package lz77: which positions of a match enter the tables, and how far before its
// end the candidate for its end is tried.
const (
	denseBytes = 16 // the first bytes of a match,
	insertStep = 2  // of which every second position enters
	sparseStep = 8  // step behind them
	endSkip    = 3
)

// lazyParser has the registers of parseDoubleLazyAVX2 besides those of a doubleParser.
type lazyParser struct {
	*doubleParser
	learn      Mem           // end of the sequences that costs are valid for
	c, n       reg.GPVirtual // source and length of the match at i
	i1, c1, n1 reg.GPVirtual // the same of another match
	d, lit, k  reg.GPVirtual // offset, literal run, bytes before i that match
}

// doubleLazy emits parseDoubleLazyAVX2, which is parseDoubleLazyPortable of package lz77, position
// for position.
func doubleLazy(multiples, mul Mem) {
	TEXT("parseDoubleLazyAVX2", attr.NOSPLIT,
		"func(s *"+doubleType+", src []byte, long, short *uint32, cost *[256]uint8, seqs "+seqType+
			", room, costsValid, stop int) (bytes int)")
	Pragma("noescape")
	Doc("parseDoubleLazyAVX2 continues a lazy parse until it reaches stop or has written room sequences,",
		"or has to weigh a match after costsValid sequences. stop must not be above s.End. It returns the",
		"size of the sequences. See ParseDoubleLazy for other requirements.")
	p := &lazyParser{doubleParser: &doubleParser{multiples: multiples, mul: mul}}
	p.begin()
	p.resume()
	p.search()
	p.found()
	p.better()
	p.ends()
	p.judge()
	p.take()
	p.insertMatch()
	p.afterMatch("loop", "done")
	Label("done")
	p.end()
}

// resume goes on where the last call has stopped.
func (p *lazyParser) resume() {
	p.learn = AllocLocal(8)
	t := GP64()
	Load(Param("costsValid"), t)
	LEAQ(Mem{Base: t, Index: t, Scale: 2}, t)
	SHLQ(U8(2), t)
	ADDQ(param(Param("seqs")), t)
	MOVQ(t, p.learn)
	p.c, p.n = GP64(), GP64()
	MOVQ(p.field(dbPendingLen), p.n)
	TESTQ(p.n, p.n)
	JNE(LabelRef("resume"))
	CMPQ(p.field(dbCheckRepeat), I8(0))
	JNE(LabelRef("behind"))
}

// search tests the repeat offset at i+1, and then the candidates.
func (p *lazyParser) search() {
	Label("loop")
	CMPQ(p.i, param(Param("stop")))
	JGE(LabelRef("done"))
	v, cl, d := GP64(), GP64(), GP64()
	p.searchTables(v, cl, p.c)
	Comment("the repeat offset, at i+1")
	LEAQ(Mem{Base: p.i, Disp: 1}, d)
	SUBQ(p.rep, d)
	JLT(LabelRef("first"))
	SHRQ(U8(8), v)
	CMPL(v.As32(), p.bytes(d, 0))
	JEQ(LabelRef("again"))
	Label("first")
	Comment("the long candidate, or else the short one")
	CMPQ(cl, p.i)
	CMOVQCS(cl, p.c)
	LEAQ(Mem{Base: p.i, Disp: -minOffset}, d)
	SUBQ(p.c, d)
	CMPQ(d, p.reach)
	JLS(LabelRef("hit"))
	CMPQ(d, I8(-minOffset))
	JLE(LabelRef("next"))
	CMPQ(d, I8(0))
	JGE(LabelRef("next"))
	LEAQ(p.multiples, v)
	MOVBQZX(Mem{Base: v, Index: d, Scale: 1, Disp: minOffset}, d)
	MOVQ(p.i, p.c)
	SUBQ(d, p.c)
	JGE(LabelRef("hit"))
	Label("next")
	p.step("loop")
	Label("again")
	MOVQ(d, p.c)
}

// found measures the match with the repeat offset, or with the candidate. The first jumps to
// "found" and is not improved.
func (p *lazyParser) found() {
	INCQ(p.i)
	p.measure()
	JMP(LabelRef("found"))
	Label("hit")
	p.measure()
}

// measure counts the bytes of the match in n, and makes the position behind i the next to insert.
func (p *lazyParser) measure() {
	t := GP64()
	LEAQ(Mem{Base: p.i, Disp: 1}, t)
	MOVQ(t, p.field(dbNextInsert))
	XORL(p.n.As32(), p.n.As32())
	p.extend(p.c, p.i, p.n)
	CMPQ(p.n, p.field(dbMinMatch))
	JLT(LabelRef("next"))
}

// better moves on while the long table has a longer match one position on.
func (p *lazyParser) better() {
	Label("better")
	CMPQ(p.n, p.field(dbNice))
	JGE(LabelRef("ends"))
	p.i1, p.c1, p.n1 = GP64(), GP64(), GP64()
	LEAQ(Mem{Base: p.i, Disp: 1}, p.i1)
	CMPQ(p.i1, p.field(dbEnd))
	JGE(LabelRef("ends"))
	v, hl, hs, tag := GP64(), GP64(), GP64(), GP64()
	MOVQ(p.bytes(p.i, 1), v)
	p.hashes(v, hl, hs, tag)
	MOVL(slot(p.long, hl), p.c1.As32())
	XORL(tag.As32(), p.c1.As32())
	ORL(p.i1.As32(), tag.As32())
	MOVL(tag.As32(), slot(p.long, hl))
	MOVL(tag.As32(), slot(p.short, hs))
	LEAQ(Mem{Base: p.i, Disp: 2}, v)
	MOVQ(v, p.field(dbNextInsert))
	LEAQ(Mem{Base: p.i, Disp: 1 - minOffset}, v)
	SUBQ(p.c1, v)
	CMPQ(v, p.reach)
	JHI(LabelRef("ends"))
	LEAQ(Mem{Base: p.c, Disp: 1}, v)
	CMPQ(v, p.c1)
	JEQ(LabelRef("ends"))
	XORL(p.n1.As32(), p.n1.As32())
	p.extend(p.c1, p.i1, p.n1)
	CMPQ(p.n1, p.n)
	JLE(LabelRef("ends"))
	MOVQ(p.i1, p.i)
	MOVQ(p.c1, p.c)
	MOVQ(p.n1, p.n)
	JMP(LabelRef("better"))
}

// ends tries the offset of the long candidate for the end of the match, endSkip bytes behind its
// beginning, and takes that match if it is longer.
func (p *lazyParser) ends() {
	Label("ends")
	Comment("the long candidate for the end of the match, moved back")
	j, v, h, tag, at := GP64(), GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: p.i, Index: p.n, Scale: 1}, j)
	CMPQ(j, p.field(dbEnd))
	JGE(LabelRef("found"))
	MOVQ(p.bytes(j, 0), v)
	p.hashLong(v, h, tag)
	MOVL(slot(p.long, h), p.c1.As32())
	XORL(tag.As32(), p.c1.As32())
	d := v
	SUBQ(p.c1, j)
	LEAQ(Mem{Base: j, Disp: -minOffset}, d)
	CMPQ(d, p.reach)
	JHI(LabelRef("found"))
	MOVQ(p.i, d)
	SUBQ(p.c, d)
	CMPQ(d, j)
	JEQ(LabelRef("found"))
	LEAQ(Mem{Base: p.i, Disp: endSkip}, at)
	MOVQ(at, p.c1)
	SUBQ(j, p.c1)
	JLT(LabelRef("found"))
	MOVL(p.bytes(at, 0), v.As32())
	CMPL(v.As32(), p.bytes(p.c1, 0))
	JNE(LabelRef("found"))
	MOVQ(at, p.i1)
	XORL(p.n1.As32(), p.n1.As32())
	p.extend(p.c1, p.i1, p.n1)
	CMPQ(p.n1, p.n)
	CMOVQGT(p.i1, p.i)
	CMOVQGT(p.c1, p.c)
	CMOVQGT(p.n1, p.n)
}

// judge extends the match backwards, and weighs it if it is short and has a new offset.
func (p *lazyParser) judge() {
	Label("found")
	p.d, p.lit, p.k = GP64(), GP64(), GP64()
	MOVQ(p.i, p.lit)
	SUBQ(p.field(dbAnchor), p.lit)
	p.extendBack(p.c, p.lit, p.k)
	MOVQ(p.i, p.d)
	SUBQ(p.c, p.d)
	CMPQ(p.d, p.rep)
	JEQ(LabelRef("pays"))
	t := GP64()
	LEAQ(Mem{Base: p.n, Index: p.k, Scale: 1}, t)
	CMPQ(t, I8(shortMatch))
	JGE(LabelRef("pays"))
	MOVQ(p.out, t)
	CMPQ(t, p.learn)
	JCC(LabelRef("unknown"))
	p.weigh("pays")
	INCQ(p.i)
	JMP(LabelRef("loop"))

	Label("unknown")
	MOVQ(p.n, p.field(dbPendingLen))
	MOVQ(p.d, p.field(dbPendingOffset))
	JMP(LabelRef("done"))
	Label("resume")
	MOVQ(I32(0), p.field(dbPendingLen))
	MOVQ(p.i, p.c)
	SUBQ(p.field(dbPendingOffset), p.c)
	JMP(LabelRef("found"))
}

// weigh jumps to pays if the match, with the bytes before it, takes fewer bits than its bytes do as
// literals.
func (p *lazyParser) weigh(pays string) {
	sum, cost, i, b, end := GP64(), GP64(), GP64(), GP64(), GP64()
	LZCNTL(p.d.As32(), sum.As32())
	SUBL(I8(32+matchBits), sum.As32())
	SHLL(U8(costLog), sum.As32())
	Load(Param("cost"), cost)
	LEAQ(p.bytes(p.i, 0), i)
	LEAQ(Mem{Base: i, Index: p.n, Scale: 1}, end)
	SUBQ(p.k, i)
	Label("literal")
	MOVBLZX(Mem{Base: i}, b.As32())
	MOVBLZX(Mem{Base: cost, Index: b, Scale: 1}, b.As32())
	ADDL(b.As32(), sum.As32())
	INCQ(i)
	CMPQ(i, end)
	JLT(LabelRef("literal"))
	TESTL(sum.As32(), sum.As32())
	JGT(LabelRef(pays))
}

// take writes the match.
func (p *lazyParser) take() {
	Label("pays")
	MOVQ(p.i, p.lit)
	SUBQ(p.field(dbAnchor), p.lit)
	SUBQ(p.k, p.lit)
	ADDQ(p.n, p.i)
	ADDQ(p.k, p.n)
	p.put(p.lit, p.n, p.d)
	p.use(p.d)
	MOVQ(p.i, p.field(dbAnchor))
	CMPQ(p.i, p.field(dbEnd))
	JGE(LabelRef("done"))
}

// insertMatch inserts positions of the match, densely at its beginning and sparsely behind.
func (p *lazyParser) insertMatch() {
	at, dense := GP64(), GP64()
	MOVQ(p.field(dbNextInsert), at)
	LEAQ(Mem{Base: at, Disp: denseBytes}, dense)
	CMPQ(dense, p.i)
	CMOVQGT(p.i, dense)
	Label("dense")
	CMPQ(at, dense)
	JGE(LabelRef("sparse"))
	p.insert(at, 0)
	ADDQ(I8(insertStep), at)
	JMP(LabelRef("dense"))
	Label("sparse")
	CMPQ(at, p.i)
	JGE(LabelRef("entered"))
	p.insert(at, 0)
	ADDQ(I8(sparseStep), at)
	JMP(LabelRef("sparse"))
	Label("entered")
}
