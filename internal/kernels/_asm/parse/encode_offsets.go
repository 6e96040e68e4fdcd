package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of OffsetState of package kernels.
const (
	osAcc = 8 * iota
	osHave
	osRepeats
)

// offsetEncoder has the registers of encodeOffsetsAVX2.
type offsetEncoder struct {
	st                       reg.GPVirtual
	token, codes, extra, seq reg.GPVirtual
	acc, have                reg.GPVirtual // bits that are not written yet, and their number
	r0, r1, r2               reg.GPVirtual // list of repeat offsets
	off, t, a, b, c          reg.GPVirtual
	tokenEnd, extraEnd       Mem
}

// encodeOffsets emits encodeOffsetsAVX2, for the layouts Repeat and Dense of package lzseq. It
// handles one sequence a step, without a branch that depends on data.
func encodeOffsets() {
	TEXT("encodeOffsetsAVX2", attr.NOSPLIT,
		"func(s *struct{Acc, Have uint64; Repeats [4]uint32}, tokens []byte, codes *byte, extra []byte, "+
			"seqs "+seqType+") (usedCodes, usedExtra int)")
	Pragma("noescape")
	Doc("encodeOffsetsAVX2 encodes the offsets of as many sequences as there are tokens. It requires room",
		"for one more code than there are sequences. If extra has fewer than 8 bytes left, it stops and",
		"returns usedExtra < 0.")
	e := &offsetEncoder{}
	e.begin()
	Label("offsets")
	CMPQ(e.token, e.tokenEnd)
	JEQ(LabelRef("end"))
	CMPQ(e.extra, e.extraEnd)
	JGT(LabelRef("full"))
	e.updateList()
	e.writeCode()
	JMP(LabelRef("offsets"))
	e.finish()
}

func (e *offsetEncoder) field(disp int) Mem { return Mem{Base: e.st, Disp: disp} }

func (e *offsetEncoder) begin() {
	e.st = GP64()
	Load(Param("s"), e.st)
	e.token, e.codes, e.extra, e.seq = GP64(), GP64(), GP64(), GP64()
	e.acc, e.have = GP64(), GP64()
	e.r0, e.r1, e.r2 = GP32(), GP32(), GP32()
	Load(Param("tokens").Base(), e.token)
	Load(Param("codes"), e.codes)
	Load(Param("extra").Base(), e.extra)
	Load(Param("seqs"), e.seq)
	MOVQ(e.field(osAcc), e.acc)
	MOVQ(e.field(osHave), e.have)
	MOVL(e.field(osRepeats), e.r0)
	MOVL(e.field(osRepeats+4), e.r1)
	MOVL(e.field(osRepeats+8), e.r2)
	Comment("the parameters for lengths become ends")
	e.tokenEnd, e.extraEnd = param(Param("tokens").Len()), param(Param("extra").Len())
	ADDQ(e.token, e.tokenEnd)
	ADDQ(I8(-8), e.extraEnd)
	ADDQ(e.extra, e.extraEnd)
}

// updateList writes the token and moves the offset to the front of the list. c becomes 1 for a new
// offset and 0 otherwise.
func (e *offsetEncoder) updateList() {
	e.off, e.t, e.a, e.b, e.c = GP32(), GP32(), GP32(), GP32(), GP32()
	off, t, a, b, c := e.off, e.t, e.a, e.b, e.c
	MOVL(Mem{Base: e.seq, Disp: 8}, off)
	Comment("list entries before the offset move back")
	MOVL(e.r1, t)
	CMPL(off, e.r1)
	CMOVLEQ(e.r2, t)
	SETNE(b.As8())
	CMPL(off, e.r2)
	SETNE(c.As8())
	CMPL(off, e.r0)
	SETNE(a.As8())
	CMOVLNE(t, e.r2)
	CMOVLNE(e.r0, e.r1)
	MOVL(off, e.r0)
	ANDL(a, b)
	ANDL(b, c)
	ADDL(b, a)
	ADDL(c, a)
	SHLL(U8(6), a)
	MOVB(a.As8(), Mem{Base: e.token})
	Comment("c is 1 for a new offset")
	MOVBLZX(c.As8(), c)
}

// writeCode writes a code and the bits behind it, and advances if the offset is new.
func (e *offsetEncoder) writeCode() {
	off, t, c := e.off, e.t, e.c
	bits, v := GP32(), GP32()
	MOVL(off, v)
	SHRL(U8(2), v)
	INCL(v)
	LZCNTL(v, bits)
	XORL(I8(31), bits)
	BZHIL(bits, v, v)
	ANDL(I8(3), off)
	LEAL(Mem{Base: off.As64(), Index: bits.As64(), Scale: 4}, off)
	MOVB(off.As8(), Mem{Base: e.codes})
	ADDQ(c.As64(), e.codes)
	NEGL(c)
	ANDL(c, bits)
	ANDL(c, v)
	SHLXQ(e.have, v.As64(), v.As64())
	ORQ(v.As64(), e.acc)
	ADDQ(bits.As64(), e.have)
	MOVQ(e.acc, Mem{Base: e.extra})
	MOVL(e.have.As32(), t)
	SHRL(U8(3), t)
	ADDQ(t.As64(), e.extra)
	SHLL(U8(3), t)
	SHRXQ(t.As64(), e.acc, e.acc)
	ANDL(I8(7), e.have.As32())
	INCQ(e.token)
	ADDQ(I8(seqBytes), e.seq)
}

func (e *offsetEncoder) finish() {
	Label("full")
	XORL(e.extra.As32(), e.extra.As32())
	Label("end")
	e.st = GP64()
	Load(Param("s"), e.st)
	MOVQ(e.acc, e.field(osAcc))
	MOVQ(e.have, e.field(osHave))
	MOVL(e.r0, e.field(osRepeats))
	MOVL(e.r1, e.field(osRepeats+4))
	MOVL(e.r2, e.field(osRepeats+8))
	start := GP64()
	Load(Param("codes"), start)
	SUBQ(start, e.codes)
	Store(e.codes, Return("usedCodes"))
	Load(Param("extra").Base(), start)
	SUBQ(start, e.extra)
	Store(e.extra, Return("usedExtra"))
	RET()
}
