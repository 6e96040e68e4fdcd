package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// doubleType is the type DoubleParse of package kernels; the constants are offsets of its fields.
const doubleType = "struct{At, Anchor, End int; Repeats [2]int; " +
	"CheckRepeat, NextInsert, PendingLen, PendingOffset int; " +
	"LongShift, ShortShift, ShortMask, TagMask, SkipLog uint64; " +
	"MinMatch, MaxOffset, UpdateRepeats, Nice int}"

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

// doubleParser has the parts that both kernels with two hash tables share.
type doubleParser struct {
	multiples, mul       Mem
	st, src, long, short reg.GPVirtual
	i, longShift, shift  reg.GPVirtual // i is the current position
	rep, out             Mem           // repeat offset, next sequence
	reach                Mem           // MaxOffset − minOffset
	labels               int
}

func (p *doubleParser) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

// bytes returns the content at a position.
func (p *doubleParser) bytes(index reg.Register, disp int) Mem {
	return Mem{Base: p.src, Index: index, Scale: 1, Disp: disp}
}

func slot(table, h reg.Register) Mem { return Mem{Base: table, Index: h, Scale: 4} }

// label returns a name that no other label has.
func (p *doubleParser) label(name string) string {
	p.labels++
	return fmt.Sprint(name, p.labels)
}

// begin loads the values that stay in registers.
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

// end stores the position and the size of the sequences.
func (p *doubleParser) end() {
	VZEROUPPER()
	MOVQ(p.i, p.field(dbAt))
	t := GP64()
	MOVQ(p.out, t)
	SUBQ(param(Param("seqs")), t)
	Store(t, Return("bytes"))
	RET()
}

// hashes computes the indices in both tables, and the tag, of the 8 bytes v.
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

// searchTables inserts position i into both tables. v gets its 8 bytes, cl and cs the candidates.
func (p *doubleParser) searchTables(v, cl, cs reg.GPVirtual) {
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

// insert inserts the position index + disp into both tables. It preserves index.
func (p *doubleParser) insert(index reg.Register, disp int) {
	v, hl, hs, tag, at := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(p.bytes(index, disp), v)
	p.hashes(v, hl, hs, tag)
	LEAL(Mem{Base: index, Disp: disp}, at.As32())
	ORL(at.As32(), tag.As32())
	MOVL(tag.As32(), slot(p.long, hl))
	MOVL(tag.As32(), slot(p.short, hs))
}

// put writes a sequence with the literal run lit, or none if that is nil.
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

// use makes d the repeat offset.
func (p *doubleParser) use(d reg.GPVirtual) {
	same := p.label("same")
	CMPQ(d, p.rep)
	JEQ(LabelRef(same))
	CMPQ(p.field(dbUpdateRepeats), I8(0))
	JEQ(LabelRef(same))
	t := GP64()
	MOVQ(p.rep, t)
	MOVQ(t, p.field(dbRepeat2))
	MOVQ(d, p.rep)
	Label(same)
}

// afterMatch counts a sequence that has been written, and takes matches with the offset before the
// last where it ends. Then it jumps to loop. Without room for another sequence it sets CheckRepeat
// and jumps to done; the next call begins at the label "behind".
func (p *doubleParser) afterMatch(loop, done string) {
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
	t := GP64()
	MOVQ(p.rep, t)
	MOVQ(t, p.field(dbRepeat2))
	MOVQ(d, p.rep)
	p.insert(p.i, 0)
	ADDQ(n, p.i)
	MOVQ(p.i, p.field(dbAnchor))
	DECQ(param(Param("room")))
	JNE(LabelRef(more))
	MOVQ(I32(1), p.field(dbCheckRepeat))
	JMP(LabelRef(done))
}

// step skips positions after one without a match, and jumps to loop.
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
