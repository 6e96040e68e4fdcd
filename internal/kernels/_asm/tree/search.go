package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// searcher has the state of searchTreeAVX2. A Mem is a parameter or a local variable, because amd64
// has too few registers.
type searcher struct {
	src, i, out   reg.GPVirtual
	n, nb, na     reg.GPVirtual // bytes known to be equal: the least; of lesser and of greater nodes
	below, above  reg.GPVirtual // where the next lesser and greater node go
	d, best       reg.GPVirtual // offset of the node, length of the last candidate
	k             reg.GPVirtual // length of the match
	node          reg.GPVirtual // children of the node
	x, y          reg.GPVirtual // 8 bytes behind n equal ones
	st, children  Mem
	left, limit   Mem // nodes that the descent may still visit, greatest offset
	last, codesAt Mem // where a position may have its first candidate; first candidate of the call
}

// search emits searchTreeAVX2, which is descend of package kernels for a range of positions.
func search() {
	TEXT("searchTreeAVX2", NOSPLIT, "func(t "+treeType+", src *byte, end int, "+
		"cands *uint64, n int, first *uint32, most int) (total int, found bool)")
	Pragma("noescape")
	Doc("searchTreeAVX2 descends the trees of positions up to end. Behind end the content has Nice+7",
		"bytes. If first is nil it drops the candidates, but needs room for one. See SearchTree.")
	p := &searcher{
		src: GP64(), i: GP64(), out: GP64(),
		st: param(Param("t")), children: AllocLocal(8), left: AllocLocal(8), limit: AllocLocal(8),
		last: AllocLocal(8), codesAt: AllocLocal(8),
	}
	p.begin()
	p.position()
	p.descend()
	p.extend()
	p.finish()
}

// field loads a field of the state into a register.
func (p *searcher) field(disp int, to reg.GPVirtual) {
	MOVQ(p.st, to)
	MOVQ(Mem{Base: to, Disp: disp}, to)
}

func (p *searcher) begin() {
	t, u := GP64(), GP64()
	Load(Param("src"), p.src)
	p.field(trAt, p.i)
	p.field(trChildren, t)
	MOVQ(t, p.children)
	Load(Param("cands"), t)
	MOVQ(param(Param("n")), u)
	LEAQ(Mem{Base: t, Index: u, Scale: 8}, p.out)
	MOVQ(p.out, p.codesAt)
	MOVQ(param(Param("most")), u)
	LEAQ(Mem{Base: t, Index: u, Scale: 8}, t)
	MOVQ(t, p.last)
}

// position begins the search at i.
func (p *searcher) position() {
	p.n, p.nb, p.na, p.below, p.above = GP64(), GP64(), GP64(), GP64(), GP64()
	p.d, p.best = GP64(), GP64()
	Label("position")
	CMPQ(p.i, param(Param("end")))
	JGE(LabelRef("done"))
	CMPQ(p.out, p.last)
	JHI(LabelRef("done"))
	st, slot, t, u := GP64(), GP64(), GP64(), GP64()
	MOVQ(p.st, st)
	MOVQ(Mem{Base: st, Disp: trDepth}, t)
	MOVQ(t, p.left)
	MOVQ(p.i, t)
	CMPQ(t, Mem{Base: st, Disp: trReach})
	CMOVQGT(Mem{Base: st, Disp: trReach}, t)
	MOVQ(t, p.limit)
	MOVL(p.i.As32(), slot.As32())
	ANDL(U8(batch-1), slot.As32())
	MOVWLZX(Mem{Base: st, Index: slot, Scale: 2, Disp: trRoots}, p.d.As32())
	MOVL(p.i.As32(), p.below.As32())
	ANDL(U32(window-1), p.below.As32())
	SHLL(U8(2), p.below.As32())
	ADDQ(p.children, p.below)
	LEAQ(Mem{Base: p.below, Disp: 2}, p.above)
	XORL(p.nb.As32(), p.nb.As32())
	XORL(p.na.As32(), p.na.As32())
	XORL(p.n.As32(), p.n.As32())
	MOVQ(param(Param("first")), t)
	MOVL(I32(1<<20), p.best.As32())
	TESTQ(t, t)
	JEQ(LabelRef("root"))
	MOVQ(p.out, u)
	SUBQ(param(Param("cands")), u)
	SHRQ(U8(3), u)
	MOVL(u.As32(), Mem{Base: t})
	ADDQ(I8(4), t)
	MOVQ(t, param(Param("first")))
	Comment("a match of 3 bytes; its offset is 0 if there is none")
	MOVQ(Mem{Base: st, Disp: trMinMatch}, p.best)
	DECQ(p.best)
	CMPQ(Mem{Base: st, Disp: trReach3}, I8(0))
	JEQ(LabelRef("root"))
	MOVWLZX(Mem{Base: st, Index: slot, Scale: 2, Disp: trNears}, t.As32())
	LEAQ(Mem{Base: t, Disp: 3 << lengthShift}, u)
	MOVQ(u, Mem{Base: p.out})
	XORL(u.As32(), u.As32())
	CMPQ(p.best, I8(3))
	CMOVQGE(u, t)
	MOVL(U32(3), slot.As32())
	TESTL(t.As32(), t.As32())
	CMOVQNE(slot, p.best)
	SETNE(u.As8())
	LEAQ(Mem{Base: p.out, Index: u, Scale: 8}, p.out)
	Label("root")
	CMPQ(p.d, p.limit)
	JHI(LabelRef("leaf"))
}

// descend visits the node at offset d.
func (p *searcher) descend() {
	p.x, p.y, p.k, p.node = GP64(), GP64(), GP64(), GP64()
	Label("node")
	c := GP64()
	MOVQ(p.i, c)
	SUBQ(p.d, c)
	LEAQ(Mem{Base: p.src, Index: p.n, Scale: 1}, p.y)
	MOVQ(Mem{Base: p.y, Index: c, Scale: 1}, p.x)
	MOVQ(Mem{Base: p.y, Index: p.i, Scale: 1}, p.y)
	ANDL(U32(window-1), c.As32())
	SHLL(U8(2), c.As32())
	MOVQ(p.children, p.node)
	ADDQ(c, p.node)
	MOVQ(p.x, p.k)
	XORQ(p.y, p.k)
	JEQ(LabelRef("long"))
	Label("differ")
	TZCNTQ(p.k, p.k)
	SHRQ(U8(3), p.k)
	ADDQ(p.n, p.k)
	st := GP64()
	MOVQ(p.st, st)
	CMPQ(p.k, Mem{Base: st, Disp: trNice})
	JGE(LabelRef("nice"))
	BSWAPQ(p.x)
	BSWAPQ(p.y)
	CMPQ(p.x, p.y)
	w := GP64()
	Comment("the node goes to its side of i")
	MOVQ(p.above, w)
	CMOVQCS(p.below, w)
	MOVQ(p.nb, p.n)
	CMOVQCS(p.na, p.n)
	CMOVQCS(p.k, p.nb)
	CMOVQCC(p.k, p.na)
	e, hi := GP64(), GP64()
	MOVWLZX(Mem{Base: p.node}, e.As32())
	MOVWLZX(Mem{Base: p.node, Disp: 2}, hi.As32())
	CMOVQCC(p.node, p.above)
	LEAQ(Mem{Base: p.node, Disp: 2}, p.node)
	CMOVQCS(p.node, p.below)
	CMOVLCS(hi.As32(), e.As32())
	MOVL(p.i.As32(), hi.As32())
	SUBL(p.d.As32(), hi.As32())
	MOVW(hi.As16(), Mem{Base: w})
	Comment("a candidate, if it is longer than the last one")
	t := GP64()
	MOVQ(p.k, t)
	SHLQ(U8(lengthShift), t)
	ORQ(p.d, t)
	MOVQ(t, Mem{Base: p.out})
	XORL(t.As32(), t.As32())
	CMPQ(p.best, p.k)
	CMOVQCS(p.k, p.best)
	SETCS(t.As8())
	LEAQ(Mem{Base: p.out, Index: t, Scale: 8}, p.out)
	Comment("the next node")
	CMPQ(p.k, p.n)
	CMOVQLT(p.k, p.n)
	MOVL(p.i.As32(), t.As32())
	SUBL(e.As32(), t.As32())
	MOVWLZX(t.As16(), p.d.As32())
	DECQ(p.left)
	JEQ(LabelRef("leaf"))
	CMPQ(p.d, p.limit)
	JLS(LabelRef("node"))

	Label("leaf")
	MOVL(p.i.As32(), t.As32())
	XORL(U32(null), t.As32())
	MOVW(t.As16(), Mem{Base: p.below})
	MOVW(t.As16(), Mem{Base: p.above})
	INCQ(p.i)
	JMP(LabelRef("position"))
}

// extend continues where 8 bytes are equal, and replaces a node that matches in Nice bytes.
func (p *searcher) extend() {
	Label("long")
	st, t := GP64(), GP64()
	MOVQ(p.st, st)
	Label("longer")
	ADDQ(I8(8), p.n)
	CMPQ(p.n, Mem{Base: st, Disp: trNice})
	JGE(LabelRef("nice"))
	LEAQ(Mem{Base: p.src, Index: p.n, Scale: 1}, p.y)
	MOVQ(p.i, t)
	SUBQ(p.d, t)
	MOVQ(Mem{Base: p.y, Index: t, Scale: 1}, p.x)
	MOVQ(Mem{Base: p.y, Index: p.i, Scale: 1}, p.y)
	MOVQ(p.x, p.k)
	XORQ(p.y, p.k)
	JEQ(LabelRef("longer"))
	JMP(LabelRef("differ"))

	Label("nice")
	p.child(0, p.below)
	p.child(2, p.above)
	INCQ(p.i)
	CMPQ(param(Param("first")), I8(0))
	JEQ(LabelRef("position"))
	MOVQ(p.st, st)
	MOVQ(Mem{Base: st, Disp: trNice}, t)
	CMPQ(p.best, t)
	JGE(LabelRef("found"))
	SHLQ(U8(lengthShift), t)
	ORQ(p.d, t)
	MOVQ(t, Mem{Base: p.out})
	ADDQ(I8(8), p.out)
	Label("found")
	MOVL(U32(1), p.k.As32())
	JMP(LabelRef("end"))
}

// child makes a child of the node one of i, or an empty entry if it is out of reach.
func (p *searcher) child(disp int, to reg.GPVirtual) {
	e, d, empty := GP64(), GP64(), GP64()
	MOVWLZX(Mem{Base: p.node, Disp: disp}, e.As32())
	MOVL(p.i.As32(), d.As32())
	SUBL(e.As32(), d.As32())
	MOVWLZX(d.As16(), d.As32())
	MOVL(p.i.As32(), empty.As32())
	XORL(U32(null), empty.As32())
	CMPQ(d, p.limit)
	CMOVLHI(empty.As32(), e.As32())
	MOVW(e.As16(), Mem{Base: to})
}

// finish adds the codes to the candidates and stores the results.
func (p *searcher) finish() {
	Label("done")
	XORL(p.k.As32(), p.k.As32())
	Label("end")
	Store(p.k.As8(), Return("found"))
	t, at, codes := GP64(), GP64(), GP64()
	MOVQ(p.st, t)
	MOVQ(p.i, Mem{Base: t, Disp: trAt})
	MOVQ(Mem{Base: t, Disp: trCodes}, codes)
	MOVQ(p.out, t)
	SUBQ(param(Param("cands")), t)
	SHRQ(U8(3), t)
	Store(t, Return("total"))
	MOVQ(p.codesAt, at)
	CMPQ(at, p.out)
	JCC(LabelRef("coded"))
	Label("code")
	MOVWQZX(Mem{Base: at}, t)
	MOVBQZX(Mem{Base: codes, Index: t, Scale: 1}, t)
	MOVW(t.As16(), Mem{Base: at, Disp: 6})
	ADDQ(I8(8), at)
	CMPQ(at, p.out)
	JCS(LabelRef("code"))
	Label("coded")
	RET()
}
