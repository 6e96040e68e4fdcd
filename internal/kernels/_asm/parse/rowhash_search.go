package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hash computes row offsets and entries of the next 8 positions, and prefetches the rows.
func (p *rowHashParser) hash() {
	b, t := GP64(), GP64()
	x, y, e := YMM(), YMM(), YMM()
	MOVQ(p.hashed, b)
	VBROADCASTI128(p.bytes(b, 0), x)
	VPSHUFB(p.high, x, y)
	VPSHUFB(p.low, x, x)
	VPAND(p.mask, y, y)
	VPMULLD(p.data.mul, x, x)
	VPMULLD(p.data.mulHigh, y, y)
	VPADDD(y, x, x)
	VMOVD(b.As32(), e.AsX())
	VPBROADCASTD(e.AsX(), e)
	VPADDD(p.places, e, e)
	VPSLLD(p.left, x, y)
	VPAND(p.tags, y, y)
	VPADDD(y, e, e)
	VPSRLD(p.shift, x, x)
	VPSLLD(U8(4+bits.Len(uint(p.vectors))), x, x)
	MOVL(b.As32(), t.As32())
	ANDL(I8(ring-1), t.As32())
	VMOVDQU(e, indexed(p.ents, t))
	VMOVDQU(x, indexed(p.offs, t))
	ADDQ(I8(8), b)
	MOVQ(b, p.hashed)
	Load(Param("rows"), b)
	for i := range 8 {
		r, place := GP64(), indexed(p.offs, t)
		place.Disp += 4 * i
		MOVL(place, r.As32())
		PREFETCHT0(Mem{Base: b, Index: r, Scale: 1})
	}
}

// insert inserts the positions from NextInsert up to to into their rows, and hashes those that
// follow.
func (p *rowHashParser) insert(to reg.GPVirtual) {
	more, ready, one, done := p.label("enter"), p.label("ready"), p.label("one"), p.label("entered")
	i, t := GP64(), GP64()
	MOVQ(p.field(rcNextInsert), i)
	Label(more)
	LEAQ(Mem{Base: i, Disp: ahead}, t)
	CMPQ(p.hashed, t)
	JGE(LabelRef(ready))
	MOVQ(p.field(rcEnd), t)
	CMPQ(p.hashed, t)
	JGT(LabelRef(ready))
	p.hash()
	JMP(LabelRef(more))
	Label(ready)
	MOVQ(to, t)
	SUBQ(i, t)
	JLE(LabelRef(done))
	k := GP64()
	MOVL(U32(8), k.As32())
	CMPQ(t, k)
	CMOVQGT(k, t)
	ADDQ(i, t)
	Label(one)
	e := YMM()
	row := p.row(i, e)
	v := make([]reg.VecVirtual, p.vectors)
	for k := range v {
		v[k] = YMM()
		VPERMD(row(k), p.rotate, v[k])
	}
	p.shiftIn(e, v, row)
	INCQ(i)
	CMPQ(i, t)
	JLT(LabelRef(one))
	JMP(LabelRef(more))
	Label(done)
	MOVQ(i, p.field(rcNextInsert))
}

// row broadcasts the entry of position i, which must be hashed, to e. It returns the vectors of its
// row.
func (p *rowHashParser) row(i reg.GPVirtual, e reg.VecVirtual) func(k int) Mem {
	k, r := GP64(), GP64()
	MOVL(i.As32(), k.As32())
	ANDL(I8(ring-1), k.As32())
	MOVL(indexed(p.offs, k), r.As32())
	VPBROADCASTD(indexed(p.ents, k), e)
	ADDQ(param(Param("rows")), r)
	return func(k int) Mem { return Mem{Base: r, Disp: 32 * k} }
}

// shiftIn stores a row with the entry e in front and without the last entry. v has the vectors of
// the row, each rotated by one place.
func (p *rowHashParser) shiftIn(e reg.VecVirtual, v []reg.VecVirtual, row func(k int) Mem) {
	for k := len(v) - 1; k >= 0; k-- {
		from := e
		if k > 0 {
			from = v[k-1]
		}
		x := YMM()
		VPBLENDD(U8(1), from, v[k], x)
		VMOVDQU(x, row(k))
	}
}

// rowSearch has the registers of a search in a row.
type rowSearch struct {
	hits      reg.GPVirtual // bit mask of the candidates not tried yet
	best      reg.GPVirtual // length that a match must exceed
	off       reg.GPVirtual // offset of the best match from the row, 0 for none
	d, c      reg.GPVirtual // offset and source of the candidate
	t         reg.GPVirtual // scratch
	tail, end reg.GPVirtual // src + best − 3; the 4 bytes at tail + q
}

// search tries the candidates of q, inserts q into its row, and keeps the better of the best
// candidate and the repeat. Then it jumps to done.
func (p *rowHashParser) search(done string) {
	s := &rowSearch{hits: GP64(), best: GP64(), off: GP64(), d: GP64(), c: GP64(), t: GP64()}
	p.candidatesOf(s)
	LEAQ(Mem{Base: p.q, Disp: 1}, s.t)
	MOVQ(s.t, p.field(rcNextInsert))
	TESTL(s.hits.As32(), s.hits.As32())
	JEQ(LabelRef(done))
	p.leastLength(s, done)
	p.tryCandidates(s)

	Label("looked")
	TESTL(s.off.As32(), s.off.As32())
	JEQ(LabelRef(done))
	LZCNTL(s.off.As32(), s.t.As32())
	n := GP64()
	MOVQ(p.foundLen, n)
	LEAQ(Mem{Base: s.t, Index: n, Scale: 4, Disp: -32}, s.t)
	p.better(s.t, n, s.off, done)

	Label("near")
	LEAQ(p.data.multiples, s.t)
	MOVBLZX(Mem{Base: s.t, Index: s.d, Scale: 1}, s.d.As32())
	MOVQ(p.q, s.c)
	SUBQ(s.d, s.c)
	JLT(LabelRef("other"))
	JMP(LabelRef("compare"))
}

// candidatesOf sets hits and stores the offsets of the candidates. It inserts q into its row.
func (p *rowHashParser) candidatesOf(s *rowSearch) {
	e, limit := YMM(), YMM()
	row := p.row(p.q, e)
	MOVQ(p.field(rcMaxOffset), s.t)
	CMPQ(p.q, s.t)
	CMOVQLT(p.q, s.t)
	VMOVD(s.t.As32(), limit.AsX())
	VPBROADCASTD(limit.AsX(), limit)
	v := make([]reg.VecVirtual, p.vectors)
	for k := range v {
		v[k] = YMM()
		x, y := YMM(), YMM()
		VMOVDQU(row(k), v[k])
		Comment("the difference is a possible offset if the tags are equal")
		VPSUBD(v[k], e, x)
		VPMINUD(x, limit, y)
		VPCMPEQD(x, y, y)
		to := p.found
		to.Disp += 32 * k
		VMOVDQU(x, to)
		if k == 0 {
			VMOVMSKPS(y, s.hits.As32())
		} else {
			VMOVMSKPS(y, s.t.As32())
			SHLL(U8(8*k), s.t.As32())
			ORL(s.t.As32(), s.hits.As32())
		}
	}
	for k := range v {
		VPERMD(v[k], p.rotate, v[k])
	}
	p.shiftIn(e, v, row)
}

// leastLength sets best to the length up to which a match cannot win.
func (p *rowHashParser) leastLength(s *rowSearch, done string) {
	Comment("shorter matches cannot win")
	MOVQ(p.than, s.best)
	MOVQ(p.repeated, s.t)
	CMPQ(s.best, s.t)
	CMOVQLT(s.t, s.best)
	ADDQ(I8(5), s.best)
	SHRQ(U8(2), s.best)
	MOVQ(p.field(rcNice), s.t)
	SUBQ(I8(6), s.t)
	CMPQ(s.best, s.t)
	CMOVQGT(s.t, s.best)
	MOVQ(p.field(rcMinRowMatch), s.t)
	DECQ(s.t)
	CMPQ(s.best, s.t)
	CMOVQLT(s.t, s.best)
	LEAQ(Mem{Base: p.q, Index: s.best, Scale: 1}, s.t)
	CMPQ(s.t, param(Param("src").Len()))
	JGE(LabelRef(done))
	XORL(s.off.As32(), s.off.As32())
}

// tryCandidates compares candidates, the latest first. It first compares the four bytes at the end
// of the length that a match must have.
func (p *rowHashParser) tryCandidates(s *rowSearch) {
	s.tail, s.end = GP64(), GP64()
	hits, best, off, d, c, t := s.hits, s.best, s.off, s.d, s.c, s.t
	Label("ends")
	LEAQ(p.bytes(best, -3), s.tail)
	MOVL(Mem{Base: s.tail, Index: p.q, Scale: 1}, s.end.As32())
	TESTL(hits.As32(), hits.As32())
	JEQ(LabelRef("looked"))
	Label("candidate")
	TZCNTL(hits.As32(), t.As32())
	MOVL(indexed(p.found, t), d.As32())
	BLSRL(hits.As32(), hits.As32())
	MOVQ(p.q, c)
	SUBQ(d, c)
	CMPL(d.As32(), I8(minOffset))
	JCS(LabelRef("near"))
	Label("compare")
	CMPL(s.end.As32(), Mem{Base: s.tail, Index: c, Scale: 1})
	JNE(LabelRef("other"))
	m := GP64()
	p.extend(c, m)
	k := GP64()
	MOVQ(p.field(rcNice), k)
	CMPQ(m, k)
	CMOVQLT(m, k)
	SUBQ(best, k)
	JLE(LabelRef("other"))
	first := p.label("first")
	TESTL(off.As32(), off.As32())
	JEQ(LabelRef(first))
	Comment("4 for each further byte must exceed the further bits of the offset")
	a, b := GP64(), GP64()
	LZCNTL(off.As32(), a.As32())
	LZCNTL(d.As32(), b.As32())
	SUBL(b.As32(), a.As32())
	MOVL(k.As32(), b.As32())
	SHLL(U8(2), b.As32())
	CMPL(b.As32(), a.As32())
	JLE(LabelRef("other"))
	Label(first)
	MOVQ(m, p.foundLen)
	MOVL(d.As32(), off.As32())
	ADDQ(k, best)
	CMPQ(best, p.field(rcNice))
	JGE(LabelRef("looked"))
	LEAQ(Mem{Base: p.q, Index: m, Scale: 1}, t)
	CMPQ(t, param(Param("src").Len()))
	JLT(LabelRef("ends"))
	JMP(LabelRef("looked"))
	Label("other")
	TESTL(hits.As32(), hits.As32())
	JNE(LabelRef("candidate"))
}
