package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Scores compare matches: four for each byte, less the bits of the offset; one for a repeat offset.

// searchStep searches one position: the repeat offsets, and then the row or the candidate.
func (p *rowHashParser) searchStep() {
	t := GP64()
	Load(Param("seqs"), t)
	MOVQ(t, p.out)
	CMPQ(p.field(rcPendingLen), I8(0))
	JNE(LabelRef("resume"))

	Label("loop")
	MOVQ(p.field(rcCallEnd), t)
	CMPQ(p.q, t)
	JGE(LabelRef("stop"))
	p.scratch = t
	for _, m := range []Mem{p.than, p.best.ahead, p.best.len, p.best.score} {
		MOVQ(I32(0), m)
	}

	Label("step")
	p.repeats("search", "judge")
	Label("search")
	if p.rows() {
		p.insert(p.q)
		p.search("judge")
	} else {
		p.look("judge")
	}
}

// judge takes the match at q if its score is high enough, and then moves on to the next position of
// the lazy search, or to "settle". Without any match it moves on to the next position to parse.
func (p *rowHashParser) judge() {
	t, b := p.scratch, &p.best
	Label("judge")
	s := GP64()
	MOVQ(p.repeated, s)
	CMPQ(s, p.than)
	JLE(LabelRef("worse"))
	MOVQ(s, b.score)
	MOVQ(p.repeatLen, s)
	MOVQ(s, b.len)
	MOVQ(p.repeatOffset, t)
	MOVQ(t, b.offset)
	MOVQ(p.q, b.at)
	XORL(t.As32(), t.As32())
	CMPQ(s, p.field(rcNice))
	JGE(LabelRef("settle"))
	JMP(LabelRef("further"))
	Label("worse")
	CMPQ(b.len, I8(0))
	JEQ(LabelRef("nothing"))
	MOVQ(b.ahead, t)
	Label("further")
	CMPQ(t, p.field(rcLazy))
	JGE(LabelRef("settle"))
	INCQ(t)
	MOVQ(t, b.ahead)
	MOVQ(b.at, p.q)
	ADDQ(t, p.q)
	CMPQ(p.q, p.field(rcEnd))
	JGE(LabelRef("settle"))
	Comment("one position further the score must be 4 higher, two positions 7")
	LEAQ(Mem{Base: t, Index: t, Scale: 2, Disp: 1}, t)
	ADDQ(b.score, t)
	MOVQ(t, p.than)
	JMP(LabelRef("step"))

	Label("nothing")
	MOVQ(p.q, t)
	SUBQ(p.field(rcAnchor), t)
	SHRQ(U8(8), t)
	INCQ(t)
	MOVL(U32(maxStep), s.As32())
	CMPQ(t, s)
	CMOVQGT(s, t)
	ADDQ(t, p.q)
	JMP(LabelRef("loop"))
}

// writeBest writes the best match. It first weighs one that is short and has a new offset.
func (p *rowHashParser) writeBest() {
	t, n, d := p.scratch, GP64(), GP64()
	Label("settle")
	MOVQ(p.best.at, p.q)
	MOVQ(p.best.len, n)
	MOVQ(p.best.offset, d)
	for i := range 3 {
		CMPQ(d, p.field(rcRepeats+8*i))
		JEQ(LabelRef("emit"))
	}
	CMPQ(n, I8(shortMatch))
	JGE(LabelRef("emit"))
	MOVQ(p.out, t)
	CMPQ(t, p.learn)
	JCC(LabelRef("unknown"))
	Label("weigh")
	p.weigh(n, d, "emit")
	MOVQ(p.field(rcNextInsert), p.q)
	JMP(LabelRef("loop"))

	Label("resume")
	MOVQ(p.field(rcPendingLen), n)
	MOVQ(p.field(rcPendingOffset), d)
	MOVQ(I32(0), p.field(rcPendingLen))
	JMP(LabelRef("weigh"))
	Label("unknown")
	MOVQ(n, p.field(rcPendingLen))
	MOVQ(d, p.field(rcPendingOffset))
	JMP(LabelRef("done"))

	Label("emit")
	p.emit(n, d)
	MOVQ(p.out, t)
	CMPQ(t, p.room)
	JCS(LabelRef("loop"))
	JMP(LabelRef("done"))
}

// finish inserts positions up to the end of the call, unless the parse is at its end, and stores
// the results.
func (p *rowHashParser) finish() {
	t := p.scratch
	Label("stop")
	CMPQ(p.q, p.field(rcEnd))
	JGE(LabelRef("done"))
	if p.rows() {
		p.insert(t)
	}

	Label("done")
	VZEROUPPER()
	MOVQ(p.q, p.field(rcAt))
	MOVQ(p.out, t)
	SUBQ(param(Param("seqs")), t)
	Store(t, Return("bytes"))
	RET()
}

// weigh jumps to pays if a match of n bytes at q with offset d takes fewer bits than its bytes do
// as literals.
func (p *rowHashParser) weigh(n, d reg.GPVirtual, pays string) {
	sum, cost, i, b := GP64(), GP64(), GP64(), GP64()
	LZCNTL(d.As32(), sum.As32())
	SUBL(I8(32+matchBits), sum.As32())
	SHLL(U8(costLog), sum.As32())
	Load(Param("cost"), cost)
	LEAQ(p.bytes(p.q, 0), i)
	end := GP64()
	LEAQ(Mem{Base: i, Index: n, Scale: 1}, end)
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

// emit writes a sequence with a match of n bytes at q, extended backwards, updates the repeat
// offsets and moves q behind the match.
func (p *rowHashParser) emit(n, d reg.GPVirtual) {
	c, lit, k, v := GP64(), GP64(), GP64(), GP64()
	MOVQ(p.q, c)
	SUBQ(d, c)
	MOVQ(p.q, lit)
	SUBQ(p.field(rcAnchor), lit)
	XORL(k.As32(), k.As32())
	at := GP64()
	MOVQ(p.src, at)
	Label("back")
	CMPQ(k, lit)
	JGE(LabelRef("backed"))
	CMPQ(k, c)
	JGE(LabelRef("backed"))
	MOVB(Mem{Base: at, Index: p.q, Scale: 1, Disp: -1}, v.As8())
	CMPB(v.As8(), Mem{Base: at, Index: c, Scale: 1, Disp: -1})
	JNE(LabelRef("backed"))
	DECQ(at)
	INCQ(k)
	JMP(LabelRef("back"))
	Label("backed")
	SUBQ(k, lit)
	ADDQ(n, p.q)
	ADDQ(k, n)
	to := GP64()
	MOVQ(p.out, to)
	MOVL(lit.As32(), Mem{Base: to})
	MOVL(n.As32(), Mem{Base: to, Disp: 4})
	MOVL(d.As32(), Mem{Base: to, Disp: 8})
	ADDQ(I8(seqBytes), to)
	MOVQ(to, p.out)
	MOVQ(p.q, p.field(rcAnchor))
	MOVQ(p.field(rcRepeats), v)
	CMPQ(d, v)
	JEQ(LabelRef("used"))
	MOVQ(p.field(rcRepeats+8), k)
	CMPQ(d, k)
	JEQ(LabelRef("second"))
	MOVQ(k, p.field(rcRepeats+16))
	Label("second")
	MOVQ(v, p.field(rcRepeats+8))
	MOVQ(d, p.field(rcRepeats))
	Label("used")
}
