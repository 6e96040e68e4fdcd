package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Constants of package zstd.
const (
	minMatch   = 3
	litTable   = 64  // literal runs below have their code in the table
	matchTable = 128 // so have matches below, less minMatch
	longLit    = 19  // code of a longer literal run, less the logarithm of the length
	longMatch  = 36  // the same for a match
)

// codes has the registers of sequenceCodesAVX2.
type codes struct {
	dst, seq, counts, tables reg.GPVirtual
	r0, r1, r2               reg.GPVirtual // list of repeat offsets
	lit, match, value        reg.GPVirtual
	litCode, matchCode       reg.GPVirtual
	litBits, matchBits       reg.GPVirtual // numbers of extra bits
	end                      Mem
}

// sequenceCodes emits sequenceCodesAVX2, which finds repeat offsets with conditional moves: they
// are hard to predict.
func sequenceCodes() {
	constants := GLOBL("codeConstants", attr.RODATA|attr.NOPTR)
	for i, v := range []uint32{0, 1, 3, 1<<32 - 1} {
		DATA(4*i, U32(v))
	}
	TEXT("sequenceCodesAVX2", attr.NOSPLIT,
		"func(dst "+codeType+", counts *[3][64]uint32, repeats *[3]uint32, tables *[384]uint8, seqs "+
			seqType+", n int)")
	Pragma("noescape")
	Doc("sequenceCodesAVX2 turns n > 0 sequences into codes, counts these, and updates the repeat offsets.",
		"The tables have the codes of 64 literal runs and of 128 matches.")
	c := &codes{}
	c.begin()
	Label("loop")
	c.offset(constants)
	c.lengths()
	c.store()
	ADDQ(U8(codeBytes), c.dst)
	ADDQ(U8(seqBytes), c.seq)
	CMPQ(c.seq, c.end)
	JNE(LabelRef("loop"))
	repeats := GP64()
	Load(Param("repeats"), repeats)
	for i, r := range []reg.GPVirtual{c.r0, c.r1, c.r2} {
		MOVL(r.As32(), at(repeats, 4*i))
	}
	RET()
	c.longLengths()
}

func (c *codes) begin() {
	c.dst, c.seq, c.counts, c.tables = GP64(), GP64(), GP64(), GP64()
	c.r0, c.r1, c.r2 = GP64(), GP64(), GP64()
	c.lit, c.match, c.value = GP64(), GP64(), GP64()
	c.litCode, c.matchCode, c.litBits, c.matchBits = GP64(), GP64(), GP64(), GP64()
	repeats := GP64()
	Load(Param("repeats"), repeats)
	for i, r := range []reg.GPVirtual{c.r0, c.r1, c.r2} {
		MOVL(at(repeats, 4*i), r.As32())
	}
	Load(Param("dst"), c.dst)
	Load(Param("seqs"), c.seq)
	Load(Param("counts"), c.counts)
	Load(Param("tables"), c.tables)
	Comment("the number of sequences becomes their end")
	c.end = param(Param("n"))
	n := GP64()
	MOVQ(c.end, n)
	LEAQ(Mem{Base: n, Index: n, Scale: 2}, n)
	LEAQ(Mem{Base: c.seq, Index: n, Scale: 4}, n)
	MOVQ(n, c.end)
}

// offset sets value to the offset value, and updates the list of repeat offsets. Later comparisons
// take precedence.
func (c *codes) offset(constants Mem) {
	zero, one, three, all := constants, constants.Offset(4), constants.Offset(8), constants.Offset(12)
	off, first, less, index, next := GP32(), GP32(), GP32(), GP32(), GP32()
	value := c.value.As32()
	r0, r1, r2 := c.r0.As32(), c.r1.As32(), c.r2.As32()
	MOVL(at(c.seq, 8), off)
	MOVL(at(c.seq, 0), c.lit.As32())
	LEAL(at(off.As64(), 3), value)
	Comment("Values from 1 on stand for r0, r1 and r2, behind an empty literal run for r1, r2 and r0 - 1.")
	MOVL(r0, first)
	LEAL(at(c.r0, -1), less)
	MOVL(U32(3), index)
	CMPL(c.lit.As32(), U8(1))
	CMOVLCS(all, first)
	CMOVLCC(zero, less)
	SBBL(U8(0), index)
	CMPL(off, less)
	CMOVLEQ(three, value)
	CMPL(off, r2)
	CMOVLEQ(index, value)
	DECL(index)
	MOVL(r1, next)
	CMPL(off, r1)
	CMOVLEQ(index, value)
	CMOVLEQ(r2, next)
	Comment("The offset moves to the front of the list.")
	CMPL(off, first)
	CMOVLEQ(one, value)
	CMOVLNE(next, r2)
	CMOVLNE(r0, r1)
	MOVL(off, r0)
}

// lengths looks the codes of lengths up.
func (c *codes) lengths() {
	entry := func(length reg.GPVirtual, table int) Mem {
		return Mem{Base: c.tables, Index: length, Scale: 1, Disp: table}
	}
	CMPL(c.lit.As32(), U8(litTable))
	JAE(LabelRef("longLit"))
	MOVBLZX(entry(c.lit, 0), c.litCode.As32())
	MOVBLZX(entry(c.lit, litTable), c.litBits.As32())
	Label("match")
	MOVL(at(c.seq, 4), c.match.As32())
	SUBL(U8(minMatch), c.match.As32())
	CMPL(c.match.As32(), U32(matchTable))
	JAE(LabelRef("longMatch"))
	MOVBLZX(entry(c.match, 2*litTable), c.matchCode.As32())
	MOVBLZX(entry(c.match, 2*litTable+matchTable), c.matchBits.As32())
	Label("store")
}

// store writes the codes and extra bits, and counts the codes.
func (c *codes) store() {
	counter := func(code reg.GPVirtual, kind int) Mem {
		return Mem{Base: c.counts, Index: code, Scale: 4, Disp: 4 * codeSpace * kind}
	}
	extra, have, code := c.lit, c.litBits, GP64()
	BZHIQ(c.litBits, c.lit, extra)

	BZHIQ(c.matchBits, c.match, c.match)
	SHLXQ(have, c.match, c.match)
	ORQ(c.match, extra)
	ADDL(c.matchBits.As32(), have.As32())

	LZCNTL(c.value.As32(), code.As32())
	XORL(U8(31), code.As32())
	BZHIQ(code, c.value, c.value)
	SHLXQ(have, c.value, c.value)
	ORQ(c.value, extra)
	ADDL(code.As32(), have.As32())
	Comment("With stores in between the other instructions a step takes 1.4 times as long.")
	INCL(counter(c.litCode, kindLit))
	INCL(counter(c.matchCode, kindMatch))
	INCL(counter(code, kindOff))
	MOVB(c.litCode.As8(), at(c.dst, codesAt+kindLit))
	MOVB(c.matchCode.As8(), at(c.dst, codesAt+kindMatch))
	MOVB(code.As8(), at(c.dst, codesAt+kindOff))
	MOVQ(extra, at(c.dst, 0))
	MOVB(have.As8(), at(c.dst, extraBits))
}

// longLengths computes the codes of lengths that are not in the tables: a constant plus the
// logarithm of the length, which is also the number of extra bits.
func (c *codes) longLengths() {
	for _, f := range []struct {
		label, back        string
		length, code, bits reg.GPVirtual
		base               int
	}{
		{"longLit", "match", c.lit, c.litCode, c.litBits, longLit},
		{"longMatch", "store", c.match, c.matchCode, c.matchBits, longMatch},
	} {
		Label(f.label)
		LZCNTL(f.length.As32(), f.bits.As32())
		XORL(U8(31), f.bits.As32())
		LEAL(at(f.bits, f.base), f.code.As32())
		Comment("keeps to the counters, whatever the length")
		ANDL(U8(codeSpace-1), f.code.As32())
		JMP(LabelRef(f.back))
	}
}
