package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// candidateRunType is the type CandidateRun of package simd; the constants are offsets of its
// fields.
const candidateRunType = "struct{At, End, Least, Nice, SkipInMatch, Reach, Before, Offset int; " +
	"Codes [512]uint8}"

const (
	crAt = 8 * iota
	crEnd
	crLeast
	crNice
	crSkipInMatch
	crReach
	crBefore
	crOffset
	crCodes
)

const (
	nearCodes  = 256
	farCodeLog = 7
)

// collect has the registers of collectAVX2.
type collect struct {
	st, cur, matches, first, cands reg.GPVirtual
	count, left                    reg.GPVirtual // candidates so far; positions left
	n, d                           reg.GPVirtual // length and offset of the last candidate
	k, full, e, best, x, y         reg.GPVirtual
}

func (p *collect) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

// collectAVX2 emits the kernel of Collect, which is CandidateRun.collect, position for position.
func collectAVX2() {
	TEXT("collectAVX2", attr.NOSPLIT, "func(c *"+candidateRunType+", src *byte, matches *"+
		rowMatchesType+", n int, firstCand *uint32, cands *uint64, from, most int) "+
		"(count int, stopped bool)")
	Pragma("noescape")
	Doc("collectAVX2 collects the candidates of n positions, 1 or more, while there are at most most",
		"candidates. At least Nice+32 bytes follow each position. See Collect.")
	p := &collect{}
	p.enter()
	p.short()
	p.long()
	p.stop()
	p.finish()
}

func (p *collect) enter() {
	p.st, p.cur, p.matches, p.first, p.cands = GP64(), GP64(), GP64(), GP64(), GP64()
	p.count, p.left, p.n, p.d = GP64(), GP64(), GP64(), GP64()
	p.k, p.full, p.e, p.best, p.x, p.y = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("c"), p.st)
	Load(Param("src"), p.cur)
	Load(Param("matches"), p.matches)
	Load(Param("n"), p.left)
	Load(Param("firstCand"), p.first)
	Load(Param("cands"), p.cands)
	Load(Param("from"), p.count)
	ADDQ(p.field(crAt), p.cur)
}

// add appends a candidate of n bytes at offset d.
func (p *collect) add() {
	LEAQ(Mem{Base: p.d, Disp: -1}, p.x)
	MOVQ(p.x, p.y)
	SHRQ(U8(farCodeLog), p.y)
	ADDQ(I32(nearCodes), p.y)
	CMPQ(p.x, I32(nearCodes))
	CMOVQCS(p.x, p.y)
	MOVBLZX(Mem{Base: p.st, Index: p.y, Scale: 1, Disp: crCodes}, p.y.As32())
	SHLQ(U8(codeShift), p.y)
	ORQ(p.d, p.y)
	MOVQ(p.n, p.x)
	SHLQ(U8(lengthShift), p.x)
	ORQ(p.x, p.y)
	MOVQ(p.y, Mem{Base: p.cands, Index: p.count, Scale: 8})
	INCQ(p.count)
}

// short adds the matches of fewer than 8 bytes.
func (p *collect) short() {
	Label("loop")
	CMPQ(p.count, param(Param("most")))
	JGT(LabelRef("done"))
	MOVL(p.count.As32(), Mem{Base: p.first})
	MOVWLZX(Mem{Base: p.matches, Disp: rmLonger}, p.k.As32())
	MOVWLZX(Mem{Base: p.matches, Disp: rmFull}, p.full.As32())
	XORL(p.n.As32(), p.n.As32())
	ANDNL(p.k.As32(), p.full.As32(), p.k.As32())
	JEQ(LabelRef("shorts"))
	Label("short")
	TZCNTL(p.k.As32(), p.e.As32())
	BLSRL(p.k.As32(), p.k.As32())
	MOVBLZX(Mem{Base: p.matches, Index: p.e, Scale: 1, Disp: rmLengths}, p.n.As32())
	MOVWQSX(Mem{Base: p.matches, Index: p.e, Scale: 2, Disp: rmBack}, p.d)
	NEGQ(p.d)
	p.add()
	TESTL(p.k.As32(), p.k.As32())
	JNE(LabelRef("short"))
	Label("shorts")
	TESTL(p.full.As32(), p.full.As32())
	JNE(LabelRef("long"))
	TESTL(p.n.As32(), p.n.As32())
	JNE(LabelRef("last"))
	Label("next")
	INCQ(p.cur)
	INCQ(p.field(crAt))
	ADDQ(U8(4), p.first)
	ADDQ(U8(rmBytes), p.matches)
	DECQ(p.left)
	JNE(LabelRef("loop"))
	JMP(LabelRef("done"))
}

// long adds the matches of 8 bytes and more.
func (p *collect) long() {
	Label("long")
	MOVL(U32(rowContent-1), p.best.As32())
	c, n := p.k, GP64()
	a := YMM()
	Label("entry")
	TZCNTL(p.full.As32(), p.e.As32())
	BLSRL(p.full.As32(), p.full.As32())
	MOVWQSX(Mem{Base: p.matches, Index: p.e, Scale: 2, Disp: rmBack}, p.y)
	LEAQ(Mem{Base: p.cur, Index: p.y, Scale: 1}, c)
	MOVL(U32(rowContent), n.As32())
	Label("vector")
	VMOVDQU(Mem{Base: p.cur, Index: n, Scale: 1}, a)
	VPCMPEQB(Mem{Base: c, Index: n, Scale: 1}, a, a)
	VPMOVMSKB(a, p.x.As32())
	XORL(I8(-1), p.x.As32())
	JNE(LabelRef("unlike"))
	ADDQ(U8(32), n)
	CMPQ(n, p.field(crNice))
	JLT(LabelRef("vector"))
	JMP(LabelRef("counted"))
	Label("unlike")
	TZCNTL(p.x.As32(), p.x.As32())
	ADDQ(p.x, n)
	Label("counted")
	MOVQ(p.field(crNice), p.x)
	CMPQ(n, p.x)
	CMOVQGT(p.x, n)
	CMPQ(n, p.best)
	JLE(LabelRef("entries"))
	MOVQ(n, p.best)
	MOVQ(n, p.n)
	NEGQ(p.y)
	MOVQ(p.y, p.d)
	p.add()
	CMPQ(p.best, p.field(crNice))
	JGE(LabelRef("stop"))
	Label("entries")
	TESTL(p.full.As32(), p.full.As32())
	JNE(LabelRef("entry"))
}

// stop decides whether the run stops at a match of n bytes with offset d.
func (p *collect) stop() {
	Label("last")
	MOVQ(p.field(crAt), p.x)
	ADDQ(p.x, p.n)
	MOVQ(p.field(crReach), p.y)
	CMPQ(p.n, p.y)
	JLE(LabelRef("reached"))
	CMPQ(p.d, p.field(crOffset))
	JEQ(LabelRef("farther"))
	MOVQ(p.y, p.field(crBefore))
	MOVQ(p.d, p.field(crOffset))
	Label("farther")
	MOVQ(p.n, p.field(crReach))
	MOVQ(p.n, p.y)
	Label("reached")
	SUBQ(p.x, p.y)
	CMPQ(p.y, p.field(crSkipInMatch))
	JLT(LabelRef("next"))
	CMPQ(p.x, p.field(crBefore))
	JLT(LabelRef("next"))
}

func (p *collect) finish() {
	Label("stop")
	MOVL(U32(1), p.x.As32())
	JMP(LabelRef("return"))
	Label("done")
	XORL(p.x.As32(), p.x.As32())
	Label("return")
	VZEROUPPER()
	Store(p.count, Return("count"))
	Store(p.x.As8(), Return("stopped"))
	RET()
}
