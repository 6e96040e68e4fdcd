package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hash sets h to the hash of the 4 bytes v.
func (p *hashChainParser) hash(v, h reg.GPVirtual) {
	IMUL3L(U32(prime32), v.As32(), h.As32())
	SHRXL(p.shift.As32(), h.As32(), h.As32())
}

// hash3 replaces v by the hash of its first 3 bytes.
func (p *hashChainParser) hash3(v reg.GPVirtual) {
	SHLL(U8(8), v.As32())
	p.hash(v, v)
	SHRL(U8(hash3Less), v.As32())
}

// link stores the old head of the chain of position i.
func (p *hashChainParser) link(i, old reg.GPVirtual) {
	u := GP64()
	MOVL(i.As32(), u.As32())
	ANDL(U32(chainWindow-1), u.As32())
	MOVW(old.As16(), Mem{Base: p.links, Index: u, Scale: 2})
}

// insert inserts the positions from NextInsert up to q.
func (p *hashChainParser) insert() {
	three, end, done := p.label("three"), p.label("entered"), p.label("inserted")
	i := GP64()
	MOVQ(p.field(hcNextInsert), i)
	CMPQ(i, p.q)
	JGE(LabelRef(done))
	h, heads := GP64(), GP64()
	MOVQ(p.next4, h)
	Load(Param("heads4"), heads)
	CMPQ(p.field(hcMinMatch), I8(3))
	JE(LabelRef(three))
	body := func(loop string, with3 bool) {
		v, old := GP64(), GP64()
		var h3 reg.GPVirtual
		if with3 {
			h3 = GP64()
			MOVQ(p.next3, h3)
		}
		Label(loop)
		if with3 {
			Load(Param("heads3"), v)
			MOVW(i.As16(), Mem{Base: v, Index: h3, Scale: 2})
		}
		MOVWLZX(Mem{Base: heads, Index: h, Scale: 2}, old.As32())
		MOVW(i.As16(), Mem{Base: heads, Index: h, Scale: 2})
		p.link(i, old)
		INCQ(i)
		MOVL(p.bytes(i, 0), v.As32())
		p.hash(v, h)
		if with3 {
			MOVQ(v, h3)
			p.hash3(h3)
		}
		CMPQ(i, p.q)
		JLT(LabelRef(loop))
		if with3 {
			MOVQ(h3, p.next3)
		}
	}
	body(p.label("insert"), false)
	JMP(LabelRef(end))
	Label(three)
	body(p.label("insert3"), true)
	Label(end)
	MOVQ(h, p.next4)
	Label(done)
}

// enter inserts q, sets the candidate to the old head of its chain, and prefetches the heads of the
// next position.
func (p *hashChainParser) enter() {
	only4 := p.label("only")
	h, heads, v := GP64(), GP64(), GP64()
	MOVQ(p.next4, h)
	Load(Param("heads4"), heads)
	MOVWQSX(Mem{Base: heads, Index: h, Scale: 2}, p.p)
	MOVW(p.q.As16(), Mem{Base: heads, Index: h, Scale: 2})
	p.link(p.q, p.p)
	MOVL(p.bytes(p.q, 1), v.As32())
	p.hash(v, h)
	MOVQ(h, p.next4)
	PREFETCHT0(Mem{Base: heads, Index: h, Scale: 2})
	LEAQ(Mem{Base: p.q, Disp: 1}, h)
	MOVQ(h, p.field(hcNextInsert))
	CMPQ(p.field(hcMinMatch), I8(3))
	JNE(LabelRef(only4))
	old := GP64()
	MOVQ(p.next3, h)
	Load(Param("heads3"), heads)
	MOVWQSX(Mem{Base: heads, Index: h, Scale: 2}, old)
	MOVW(p.q.As16(), Mem{Base: heads, Index: h, Scale: 2})
	MOVQ(old, p.old3)
	p.hash3(v)
	MOVQ(v, p.next3)
	PREFETCHT0(Mem{Base: heads, Index: v, Scale: 2})
	Label(only4)
}

// search sets length and distance to the longest match at q of more than best bytes among left
// candidates. It jumps to none if there is none. All positions before q must be in the tables.
func (p *hashChainParser) search(none string) {
	p.enter()
	MOVQ(p.lowest, p.t)
	MOVQ(p.q, p.low)
	SUBQ(p.field(hcMaxOffset), p.low)
	CMPQ(p.low, p.t)
	CMOVQLT(p.t, p.low)
	CMPQ(p.p, p.low)
	JLT(LabelRef(none))
	CMPQ(p.p, p.q)
	JGE(LabelRef(none))
	p.setEnds()
	found, next := p.label("found"), p.label("next")
	p.candidates(p.label("next"), none, next, found)
	Comment("a longer match has branches of its own, because it is less likely")
	p.candidates(next, found, next, found)
	Label(found)
	MOVQ(p.best, p.length)
	MOVQ(p.q, p.distance)
	SUBQ(p.match, p.distance)
}

// candidates compares candidates from p on. It goes on with the one behind p from the label next
// on, and jumps to end if there is none. A longer match sets match and best. Then it jumps to found
// if that has Nice bytes, and otherwise to then.
func (p *hashChainParser) candidates(next, end, then, found string) {
	candidate, hit := p.label("candidate"), p.label("hit")
	long, counted := p.label("long"), p.label("counted")
	if next == then {
		JMP(LabelRef(next))
	}
	Label(candidate)
	CMPL(p.ends.As32(), Mem{Base: p.tail, Index: p.p, Scale: 1})
	JE(LabelRef(hit))
	Label(next)
	MOVL(p.p.As32(), p.t.As32())
	ANDL(U32(chainWindow-1), p.t.As32())
	MOVWQSX(Mem{Base: p.links, Index: p.t, Scale: 2}, p.t)
	CMPQ(p.t, p.p)
	JGE(LabelRef(end))
	CMPQ(p.t, p.low)
	JLT(LabelRef(end))
	MOVQ(p.t, p.p)
	DECQ(p.left)
	JNZ(LabelRef(candidate))
	JMP(LabelRef(end))

	p.extend(long, counted)
	Label(hit)
	MOVQ(p.bytes(p.q, 0), p.n)
	XORQ(p.bytes(p.p, 0), p.n)
	JEQ(LabelRef(long))
	TZCNTQ(p.n, p.n)
	SHRL(U8(3), p.n.As32())
	Label(counted)
	CMPQ(p.n, p.best)
	JLE(LabelRef(next))
	MOVQ(p.p, p.match)
	MOVQ(p.n, p.best)
	CMPQ(p.n, p.field(hcNice))
	JGE(LabelRef(found))
	p.setEnds()
	if next == then {
		JMP(LabelRef(then))
	}
}

// setEnds sets tail and ends by best.
func (p *hashChainParser) setEnds() {
	LEAQ(p.bytes(p.best, -3), p.tail)
	MOVL(Mem{Base: p.tail, Index: p.q, Scale: 1}, p.ends.As32())
}

// extend counts equal bytes in n, of which there are at least 32, up to maxChainMatch.
func (p *hashChainParser) extend(long, counted string) {
	more, ended := p.label("more"), p.label("ended")
	a, y := GP64(), YMM()
	Label(long)
	MOVL(U32(8), p.n.As32())
	Label(more)
	LEAQ(p.bytes(p.n, 0), a)
	VMOVDQU(Mem{Base: a, Index: p.q, Scale: 1}, y)
	VPCMPEQB(Mem{Base: a, Index: p.p, Scale: 1}, y, y)
	VPMOVMSKB(y, p.t.As32())
	NOTL(p.t.As32())
	TZCNTL(p.t.As32(), p.t.As32())
	LEAQ(Mem{Base: p.n, Index: p.t, Scale: 1}, p.n)
	JCC(LabelRef(ended))
	CMPQ(p.n, U32(maxChainMatch))
	JLT(LabelRef(more))
	Label(ended)
	MOVL(U32(maxChainMatch), p.t.As32())
	CMPQ(p.n, p.t)
	CMOVQGT(p.t, p.n)
	JMP(LabelRef(counted))
}
