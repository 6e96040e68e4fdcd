package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hash makes the places of rows and the entries of the next 8 positions, and fetches the rows.
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

// enter puts the positions up to to, or where next is, into their rows, and hashes those that are near.
func (p *rowHashParser) enter(to reg.GPVirtual) {
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

// row broadcasts the entry of a position that is hashed, and says where its row is.
func (p *rowHashParser) row(i reg.GPVirtual, e reg.VecVirtual) func(k int) Mem {
	k, r := GP64(), GP64()
	MOVL(i.As32(), k.As32())
	ANDL(I8(ring-1), k.As32())
	MOVL(indexed(p.offs, k), r.As32())
	VPBROADCASTD(indexed(p.ents, k), e)
	ADDQ(param(Param("rows")), r)
	return func(k int) Mem { return Mem{Base: r, Disp: 32 * k} }
}

// shiftIn stores a row that is rotated, vector by vector, with a new entry in front and without the last.
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

// extend counts the bytes that are equal at c and q, in n.
func (p *rowHashParser) extend(c, n reg.GPVirtual) {
	XORL(n.As32(), n.As32())
	p.extendFrom(c, n)
}

// extendFrom is extend where n bytes are known to be equal.
func (p *rowHashParser) extendFrom(c, n reg.GPVirtual) {
	vector, bytes, one, unlike, done := p.label("vector"), p.label("bytes"), p.label("byte"), p.label("unlike"), p.label("counted")
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
	{
		b := GP64()
		MOVB(Mem{Base: v, Index: p.q, Scale: 1}, b.As8())
		CMPB(b.As8(), Mem{Base: v, Index: c, Scale: 1})
	}
	JNE(LabelRef(done))
	INCQ(n)
	JMP(LabelRef(one))
	Label(unlike)
	TZCNTL(v.As32(), v.As32())
	ADDQ(v, n)
	Label(done)
}

// repeats looks for the longest match with one of the last offsets. It goes on at nice if that has Nice bytes.
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

// search looks at the candidates of q, which comes into its row, and goes on at done, with the better of the best of them and the repeat.
func (p *rowHashParser) search(done string) {
	hits, best, off, d, c, t := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	{
		e, limit := YMM(), YMM()
		row := p.row(p.q, e)
		MOVQ(p.field(rcMaxOffset), t)
		CMPQ(p.q, t)
		CMOVQLT(p.q, t)
		VMOVD(t.As32(), limit.AsX())
		VPBROADCASTD(limit.AsX(), limit)
		v := make([]reg.VecVirtual, p.vectors)
		for k := range v {
			v[k] = YMM()
			x, y := YMM(), YMM()
			VMOVDQU(row(k), v[k])
			Comment("an offset that is one, and possible, if the tags are equal")
			VPSUBD(v[k], e, x)
			VPMINUD(x, limit, y)
			VPCMPEQD(x, y, y)
			to := p.found
			to.Disp += 32 * k
			VMOVDQU(x, to)
			if k == 0 {
				VMOVMSKPS(y, hits.As32())
			} else {
				VMOVMSKPS(y, t.As32())
				SHLL(U8(8*k), t.As32())
				ORL(t.As32(), hits.As32())
			}
		}
		for k := range v {
			VPERMD(v[k], p.rotate, v[k])
		}
		p.shiftIn(e, v, row)
	}
	LEAQ(Mem{Base: p.q, Disp: 1}, t)
	MOVQ(t, p.field(rcNextInsert))
	TESTL(hits.As32(), hits.As32())
	JEQ(LabelRef(done))

	Comment("what is shorter cannot win")
	MOVQ(p.than, best)
	MOVQ(p.repeated, t)
	CMPQ(best, t)
	CMOVQLT(t, best)
	ADDQ(I8(5), best)
	SHRQ(U8(2), best)
	MOVQ(p.field(rcNice), t)
	SUBQ(I8(6), t)
	CMPQ(best, t)
	CMOVQGT(t, best)
	MOVQ(p.field(rcMinRowMatch), t)
	DECQ(t)
	CMPQ(best, t)
	CMOVQLT(t, best)
	LEAQ(Mem{Base: p.q, Index: best, Scale: 1}, t)
	CMPQ(t, param(Param("src").Len()))
	JGE(LabelRef(done))
	XORL(off.As32(), off.As32())

	p2, ends := GP64(), GP64()
	Label("ends")
	LEAQ(p.bytes(best, -3), p2)
	MOVL(Mem{Base: p2, Index: p.q, Scale: 1}, ends.As32())
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
	CMPL(ends.As32(), Mem{Base: p2, Index: c, Scale: 1})
	JNE(LabelRef("other"))
	m := GP64()
	p.extend(c, m)
	k := GP64()
	MOVQ(p.field(rcNice), k)
	CMPQ(m, k)
	CMOVQLT(m, k)
	SUBQ(best, k)
	JLE(LabelRef("other"))
	{
		first := p.label("first")
		TESTL(off.As32(), off.As32())
		JEQ(LabelRef(first))
		Comment("each 4 bits of offset need more than a byte")
		a, b := GP64(), GP64()
		LZCNTL(off.As32(), a.As32())
		LZCNTL(d.As32(), b.As32())
		SUBL(b.As32(), a.As32())
		MOVL(k.As32(), b.As32())
		SHLL(U8(2), b.As32())
		CMPL(b.As32(), a.As32())
		JLE(LabelRef("other"))
		Label(first)
	}
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
	Label("looked")
	TESTL(off.As32(), off.As32())
	JEQ(LabelRef(done))
	LZCNTL(off.As32(), t.As32())
	n := GP64()
	MOVQ(p.foundLen, n)
	LEAQ(Mem{Base: t, Index: n, Scale: 4, Disp: -32}, t)
	p.better(t, n, off, done)

	Label("near")
	LEAQ(p.data.far, t)
	MOVBLZX(Mem{Base: t, Index: d, Scale: 1}, d.As32())
	MOVQ(p.q, c)
	SUBQ(d, c)
	JLT(LabelRef("other"))
	JMP(LabelRef("compare"))
}

// better takes a match in place of the repeat if its score is greater, and goes on at done.
func (p *rowHashParser) better(score, n, d reg.GPVirtual, done string) {
	CMPQ(score, p.repeated)
	JLE(LabelRef(done))
	MOVQ(score, p.repeated)
	MOVQ(n, p.repeatLen)
	MOVQ(d, p.repeatOffset)
	JMP(LabelRef(done))
}

// look takes the candidate of q that is given, and goes on at done, with the better of it and the repeat.
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
