package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	copySlack = 32 // bytes written behind the content and read behind the literals
	seqBytes  = 12
	seqType   = "*struct{LitLen, MatchLen, Offset uint32}"
)

// executeAVX2 and executeLongAVX2 copy 16 literals and 32 or 96 bytes of match whatever the lengths: most are shorter, and a branch that is taken seldom is
// foreseen.
func executeAVX2() {
	execute("executeAVX2", 32, "executeAVX2 carries out sequences up to the first one for which there is not room in dst, or not enough in lits, with 32 bytes of slack each, or",
		"whose offset reaches beyond the beginning of dst. at must be in dst, offsets must be 16 or more.",
		"It returns the size of what it has carried out, the position behind that, and the number of literals used.")
	execute("executeLongAVX2", 96, "executeLongAVX2 is executeAVX2 for sequences with many matches of more than 32 bytes. It needs 96 bytes of slack in dst.")
}

func execute(name string, least int, doc ...string) {
	TEXT(name, attr.NOSPLIT, "func(dst []byte, at int, lits []byte, seqs "+seqType+", n int) (bytes, end, used int)")
	Pragma("noescape")
	Doc(doc...)
	dst, pos, room := GP64(), GP64(), GP64()
	lits, most := GP64(), GP64()
	seq, end := GP64(), GP64()
	Load(Param("dst").Base(), dst)
	Load(Param("dst").Len(), room)
	Load(Param("at"), pos)
	Load(Param("lits").Base(), lits)
	Load(Param("lits").Len(), most)
	LEAQ(Mem{Base: lits, Index: most, Scale: 1, Disp: -copySlack}, most)
	SUBQ(I8(least), room)
	Load(Param("seqs"), seq)
	Load(Param("n"), end)
	LEAQ(Mem{Base: end, Index: end, Scale: 2}, end)
	LEAQ(Mem{Base: seq, Index: end, Scale: 4}, end)

	Label("loop")
	CMPQ(seq, end)
	JEQ(LabelRef("done"))
	lit, match, offset := GP64(), GP64(), GP64()
	litEnd, mid, next, from := GP64(), GP64(), GP64(), GP64()
	MOVL(at(seq, 0), lit.As32())
	MOVL(at(seq, 4), match.As32())
	MOVL(at(seq, 8), offset.As32())
	Comment("signed: with less than the slack the limits are below 0")
	LEAQ(Mem{Base: lits, Index: lit, Scale: 1}, litEnd)
	CMPQ(litEnd, most)
	JGT(LabelRef("done"))
	LEAQ(Mem{Base: pos, Index: lit, Scale: 1}, mid)
	LEAQ(Mem{Base: mid, Index: match, Scale: 1}, next)
	CMPQ(next, room)
	JGT(LabelRef("done"))
	MOVQ(mid, from)
	SUBQ(offset, from)
	JCS(LabelRef("done"))
	x, y := XMM(), YMM()
	VMOVDQU(at(lits, 0), x)
	VMOVDQU(x, Mem{Base: dst, Index: pos, Scale: 1})
	CMPL(lit.As32(), U8(16))
	JHI(LabelRef("literals"))
	Label("match")
	MOVQ(litEnd, lits)
	MOVQ(next, pos)
	ADDQ(I8(seqBytes), seq)
	copy := func(v reg.VecVirtual, disp int) {
		VMOVDQU(Mem{Base: dst, Index: from, Scale: 1, Disp: disp}, v)
		VMOVDQU(v, Mem{Base: dst, Index: mid, Scale: 1, Disp: disp})
	}
	// repeat goes on behind the first done bytes, one vector a step.
	repeat := func(label string, v reg.VecVirtual, step, done int) {
		Label(label)
		copy(v, done)
		ADDQ(I8(step), from)
		ADDQ(I8(step), mid)
		if done > 0 {
			LEAQ(at(mid, done), lit)
			CMPQ(lit, next)
		} else {
			CMPQ(mid, next)
		}
		JLT(LabelRef(label))
		JMP(LabelRef("loop"))
	}
	if least == 32 {
		Comment("by 16 bytes, which is right with every offset from 16 on")
		copy(x, 0)
		copy(x, 16)
		CMPL(match.As32(), U8(32))
		JLS(LabelRef("loop"))
		CMPL(offset.As32(), U8(32))
		JCS(LabelRef("near"))
		repeat("far", y, 32, 32)
		repeat("near", x, 16, 32)
	} else {
		CMPL(offset.As32(), U8(32))
		JCS(LabelRef("near"))
		for disp := 0; disp < least; disp += 32 {
			copy(y, disp)
		}
		CMPL(match.As32(), U8(least))
		JLS(LabelRef("loop"))
		repeat("far", y, 32, least)
		repeat("near", x, 16, 0)
	}

	Label("literals")
	ADDQ(I8(16), lits)
	ADDQ(I8(16), pos)
	VMOVDQU(at(lits, 0), y)
	VMOVDQU(y, Mem{Base: dst, Index: pos, Scale: 1})
	ADDQ(I8(16), lits)
	ADDQ(I8(16), pos)
	LEAQ(at(lits, 16), lit)
	CMPQ(lit, litEnd)
	JLT(LabelRef("literals"))
	JMP(LabelRef("match"))

	Label("done")
	VZEROUPPER()
	start := GP64()
	Load(Param("seqs"), start)
	SUBQ(start, seq)
	Store(seq, Return("bytes"))
	Store(pos, Return("end"))
	Load(Param("lits").Base(), start)
	SUBQ(start, lits)
	Store(lits, Return("used"))
	RET()
}
