package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// doubleType is simd's DoubleParse, and these are the offsets of its fields.
const doubleType = "struct{At, Anchor, End int; Repeats [2]int; CheckRepeat, NextInsert, PendingLen, PendingOffset int; LongShift, ShortShift, ShortMask, TagMask, SkipLog uint64; MinMatch, MaxOffset, UpdateRepeats, Nice int}"

const (
	dbAt = 8 * iota
	dbAnchor
	dbEnd
	dbRepeat
	dbRepeat2
	dbCheckRepeat
	dbNextInsert
	dbPendingLen
	dbPendingOffset
	dbLongShift
	dbShortShift
	dbShortMask
	dbTagMask
	dbSkipLog
	dbMinMatch
	dbMaxOffset
	dbUpdateRepeats
	dbNice
)

// doubleParser is what the kernels of Double have in common.
type doubleParser struct {
	far, mul             Mem
	st, src, long, short reg.GPVirtual
	i, longShift, shift  reg.GPVirtual
	rep, out             Mem
	reach                Mem // MaxOffset, less the least offset
	labels               int
}

func (p *doubleParser) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

// bytes is the content at a position.
func (p *doubleParser) bytes(index reg.Register, disp int) Mem {
	return Mem{Base: p.src, Index: index, Scale: 1, Disp: disp}
}

func slot(table, h reg.Register) Mem { return Mem{Base: table, Index: h, Scale: 4} }

// label makes a name that is used once.
func (p *doubleParser) label(name string) string {
	p.labels++
	return fmt.Sprint(name, p.labels)
}

// begin loads what stays in registers.
func (p *doubleParser) begin() {
	p.st, p.src, p.long, p.short = GP64(), GP64(), GP64(), GP64()
	p.i, p.longShift, p.shift = GP64(), GP64(), GP64()
	p.out = AllocLocal(8)
	p.rep, p.reach = p.field(dbRepeat), AllocLocal(8)
	Load(Param("s"), p.st)
	Load(Param("src").Base(), p.src)
	Load(Param("long"), p.long)
	Load(Param("short"), p.short)
	MOVQ(p.field(dbAt), p.i)
	MOVQ(p.field(dbLongShift), p.longShift)
	MOVQ(p.field(dbShortShift), p.shift)
	t := GP64()
	Load(Param("seqs"), t)
	MOVQ(t, p.out)
	MOVQ(p.field(dbMaxOffset), t)
	SUBQ(I8(minOffset), t)
	MOVQ(t, p.reach)
}

// end leaves where the parse is.
func (p *doubleParser) end() {
	VZEROUPPER()
	MOVQ(p.i, p.field(dbAt))
	t := GP64()
	MOVQ(p.out, t)
	SUBQ(param(Param("seqs")), t)
	Store(t, Return("bytes"))
	RET()
}

// hashes makes the places of the 8 bytes v in both tables and their tag.
func (p *doubleParser) hashes(v, hl, hs, tag reg.GPVirtual) {
	p.hashLong(v, hl, tag)
	p.hashShort(v, hs)
}

func (p *doubleParser) hashLong(v, hl, tag reg.GPVirtual) {
	MOVQ(v, tag)
	IMULQ(p.mul, tag)
	SHRXQ(p.longShift, tag, hl)
	ANDL(p.field(dbTagMask), tag.As32())
}

func (p *doubleParser) hashShort(v, hs reg.GPVirtual) {
	MOVQ(p.field(dbShortMask), hs)
	ANDQ(v, hs)
	IMULQ(p.mul, hs)
	SHRXQ(p.shift, hs, hs)
}

// enter puts the position that is in index, disp further, into both tables. It leaves index.
func (p *doubleParser) enter(index reg.Register, disp int) {
	v, hl, hs, tag, at := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(p.bytes(index, disp), v)
	p.hashes(v, hl, hs, tag)
	LEAL(Mem{Base: index, Disp: disp}, at.As32())
	ORL(at.As32(), tag.As32())
	MOVL(tag.As32(), slot(p.long, hl))
	MOVL(tag.As32(), slot(p.short, hs))
}

// compare counts how many of the 32 bytes are equal at c and at i, disp further, in n.
func (p *doubleParser) compare(c, i, n reg.GPVirtual, disp int) {
	y := YMM()
	VMOVDQU(p.bytes(i, disp), y)
	VPCMPEQB(p.bytes(c, 0), y, y)
	VPMOVMSKB(y, n.As32())
	NOTL(n.As32())
	TZCNTL(n.As32(), n.As32())
}

// extend goes on counting in n the bytes that are equal at c and at i, behind the n that are known to be.
func (p *doubleParser) extend(c, i, n reg.GPVirtual) {
	vector, bytes, one, unlike, done := p.label("vector"), p.label("bytes"), p.label("byte"), p.label("unlike"), p.label("counted")
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
	{
		b := GP64()
		MOVB(Mem{Base: v, Index: i, Scale: 1}, b.As8())
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

// back counts the bytes in front of c and i that are equal, in k, lit at most.
func (p *doubleParser) back(c, lit, k reg.GPVirtual) {
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

// put writes a sequence.
func (p *doubleParser) put(lit, n, d reg.GPVirtual) {
	to := GP64()
	MOVQ(p.out, to)
	if lit == nil {
		MOVL(I32(0), Mem{Base: to})
	} else {
		MOVL(lit.As32(), Mem{Base: to})
	}
	MOVL(n.As32(), Mem{Base: to, Disp: 4})
	MOVL(d.As32(), Mem{Base: to, Disp: 8})
	ADDQ(I8(seqBytes), to)
	MOVQ(to, p.out)
}

// use makes d the last offset.
func (p *doubleParser) use(d reg.GPVirtual) {
	same := p.label("same")
	CMPQ(d, p.rep)
	JEQ(LabelRef(same))
	CMPQ(p.field(dbUpdateRepeats), I8(0))
	JEQ(LabelRef(same))
	{
		t := GP64()
		MOVQ(p.rep, t)
		MOVQ(t, p.field(dbRepeat2))
	}
	MOVQ(d, p.rep)
	Label(same)
}

// behind takes the room for a sequence that has been written, and looks for matches with the offset before the last where it ends. It goes on at loop, or at done if there is no room, with
// Behind set, so that the next call begins here, at the label behind.
func (p *doubleParser) behind(loop, done string) {
	more := p.label("room")
	DECQ(param(Param("room")))
	JNE(LabelRef(more))
	MOVQ(I32(1), p.field(dbCheckRepeat))
	JMP(LabelRef(done))
	Label("behind")
	MOVQ(I32(0), p.field(dbCheckRepeat))
	Label(more)
	c, n, d := GP64(), GP64(), GP64()
	MOVQ(p.field(dbRepeat2), d)
	MOVQ(p.i, c)
	SUBQ(d, c)
	JLT(LabelRef(loop))
	CMPQ(p.i, p.field(dbEnd))
	JGE(LabelRef(done))
	MOVL(p.bytes(p.i, 0), n.As32())
	CMPL(n.As32(), p.bytes(c, 0))
	JNE(LabelRef(loop))
	XORL(n.As32(), n.As32())
	p.extend(c, p.i, n)
	CMPQ(n, p.field(dbMinMatch))
	JLT(LabelRef(loop))
	p.put(nil, n, d)
	{
		t := GP64()
		MOVQ(p.rep, t)
		MOVQ(t, p.field(dbRepeat2))
	}
	MOVQ(d, p.rep)
	p.enter(p.i, 0)
	ADDQ(n, p.i)
	MOVQ(p.i, p.field(dbAnchor))
	DECQ(param(Param("room")))
	JNE(LabelRef(more))
	MOVQ(I32(1), p.field(dbCheckRepeat))
	JMP(LabelRef(done))
}

// step goes on at loop behind a position where nothing is.
func (p *doubleParser) step(loop string) {
	t, s := GP64(), GP64()
	MOVQ(p.i, t)
	SUBQ(p.field(dbAnchor), t)
	MOVQ(p.field(dbSkipLog), s)
	SHRXQ(s, t, t)
	INCQ(t)
	MOVL(U32(maxStep), s.As32())
	CMPQ(t, s)
	CMOVQGT(s, t)
	ADDQ(t, p.i)
	JMP(LabelRef(loop))
}

// double is lz77's parseDouble, position for position.
func double(far, mul Mem) {
	TEXT("parseDoubleAVX2", attr.NOSPLIT, "func(s *"+doubleType+", src []byte, long, short *uint32, seqs "+seqType+", room, stop int) (bytes int)")
	Pragma("noescape")
	Doc("parseDoubleAVX2 goes on with a greedy parse until it is at stop, which is not behind the end that the state names, or until there is no room for another sequence. It",
		"returns the size of the sequences. See ParseDouble for what the arguments must be.")
	p := &doubleParser{far: far, mul: mul}
	p.begin()
	CMPQ(p.field(dbCheckRepeat), I8(0))
	JNE(LabelRef("behind"))

	Label("loop")
	CMPQ(p.i, param(Param("stop")))
	JGE(LabelRef("done"))
	v, cl, cs, c, d, n := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	{
		hl, hs, tag := GP64(), GP64(), GP64()
		MOVQ(p.bytes(p.i, 0), v)
		p.hashes(v, hl, hs, tag)
		MOVL(slot(p.long, hl), cl.As32())
		MOVL(slot(p.short, hs), cs.As32())
		XORL(tag.As32(), cl.As32())
		XORL(tag.As32(), cs.As32())
		ORL(p.i.As32(), tag.As32())
		MOVL(tag.As32(), slot(p.long, hl))
		MOVL(tag.As32(), slot(p.short, hs))
	}
	Comment("the last offset, one position on")
	LEAQ(Mem{Base: p.i, Disp: 1}, c)
	SUBQ(p.rep, c)
	JLT(LabelRef("first"))
	MOVQ(v, d)
	SHRQ(U8(8), d)
	CMPL(d.As32(), p.bytes(c, 0))
	JEQ(LabelRef("again"))
	Label("first")
	Comment("the long candidate, or else the short one")
	LEAQ(Mem{Base: p.i, Disp: -minOffset}, d)
	MOVQ(d, c)
	SUBQ(cl, c)
	CMPQ(c, p.reach)
	CMOVQLS(cl, cs)
	SUBQ(cs, d)
	CMPQ(d, p.reach)
	JLS(LabelRef("hit"))
	CMPQ(d, I8(-minOffset))
	JGT(LabelRef("near"))
	Label("next")
	p.step("loop")

	Label("near")
	CMPQ(d, I8(0))
	JGE(LabelRef("next"))
	{
		t := GP64()
		LEAQ(p.far, t)
		MOVBQZX(Mem{Base: t, Index: d, Scale: 1, Disp: minOffset}, d)
		MOVQ(p.i, cs)
		SUBQ(d, cs)
		JLT(LabelRef("next"))
	}
	Label("hit")
	Comment("a longer match one byte on is worth a literal")
	MOVQ(cs, c)
	p.compare(c, p.i, n, 0)
	CMPQ(n, p.field(dbMinMatch))
	JLT(LabelRef("next"))
	{
		v1, h, tag, c1, d1, n1 := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
		MOVQ(p.bytes(p.i, 1), v1)
		p.hashLong(v1, h, tag)
		MOVL(slot(p.long, h), c1.As32())
		XORL(tag.As32(), c1.As32())
		LEAL(Mem{Base: p.i, Disp: 1}, d1.As32())
		ORL(d1.As32(), tag.As32())
		MOVL(tag.As32(), slot(p.long, h))
		LEAQ(Mem{Base: p.i, Disp: 1 - minOffset}, d1)
		SUBQ(c1, d1)
		CMPQ(d1, p.reach)
		JHI(LabelRef("alone"))
		p.compare(c1, p.i, n1, 1)
		LEAQ(Mem{Base: p.i, Disp: 1}, d1)
		CMPQ(n1, n)
		CMOVQGT(c1, c)
		CMOVQGT(d1, p.i)
		CMOVQGT(n1, n)
	}
	Label("alone")
	CMPQ(n, I8(32))
	JNE(LabelRef("counted"))
	JMP(LabelRef("more"))

	Label("again")
	INCQ(p.i)
	p.compare(c, p.i, n, 0)
	CMPQ(n, I8(32))
	JNE(LabelRef("counted"))
	Label("more")
	p.extend(c, p.i, n)
	Label("counted")
	CMPQ(n, p.field(dbMinMatch))
	JLT(LabelRef("next"))
	lit, k := GP64(), GP64()
	MOVQ(p.i, d)
	SUBQ(c, d)
	MOVQ(p.i, lit)
	SUBQ(p.field(dbAnchor), lit)
	p.back(c, lit, k)
	SUBQ(k, lit)
	at := GP64()
	MOVQ(p.i, at)
	SUBQ(k, at)
	ADDQ(n, p.i)
	ADDQ(k, n)
	p.put(lit, n, d)
	p.use(d)
	MOVQ(p.i, p.field(dbAnchor))
	CMPQ(p.i, p.field(dbEnd))
	JGE(LabelRef("done"))
	p.enter(at, 2)
	p.enter(p.i, -2)
	p.behind("loop", "done")

	Label("done")
	p.end()
}
