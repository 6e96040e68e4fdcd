package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sweep emits sweepTreeAVX2.
func sweep() {
	TEXT("sweepTreeAVX2", NOSPLIT, "func(table []uint16, now uint16)")
	Pragma("noescape")
	Doc("sweepTreeAVX2 marks the entries out of reach of position now. len(table) must be a multiple",
		"of 16, and above 0.")
	table, left, t := GP64(), GP64(), GP64()
	now, empty, zero, entry, mask := YMM(), YMM(), YMM(), YMM(), YMM()
	Load(Param("table").Base(), table)
	Load(Param("table").Len(), left)
	MOVWLZX(param(Param("now")), t.As32())
	VMOVD(t.As32(), now.AsX())
	VPBROADCASTW(now.AsX(), now)
	XORL(U32(null), t.As32())
	VMOVD(t.As32(), empty.AsX())
	VPBROADCASTW(empty.AsX(), empty)
	VPXOR(zero, zero, zero)
	Label("loop")
	VMOVDQU(Mem{Base: table}, entry)
	VPSUBW(entry, now, mask)
	VPCMPGTW(zero, mask, mask)
	VPBLENDVB(mask, entry, empty, entry)
	VMOVDQU(entry, Mem{Base: table})
	ADDQ(I8(32), table)
	SUBQ(I8(16), left)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// hasher has the registers of hashTreeAVX2.
type hasher struct {
	st, src, heads, heads3 reg.GPVirtual
	i, shift, mul          reg.GPVirtual
	limit, slot            reg.GPVirtual
}

// hash emits hashTreeAVX2, which is hashPortable.
func hash() {
	TEXT("hashTreeAVX2", NOSPLIT, "func(t "+treeType+", src *byte, end int)")
	Pragma("noescape")
	Doc("hashTreeAVX2 inserts the positions from t.Hashed on into the hash tables, up to end. There is",
		"at least one, and no more than a batch. It does not change t.Hashed.")
	p := &hasher{
		st: GP64(), src: GP64(), heads: GP64(), heads3: GP64(), i: GP64(), shift: GP64(), mul: GP64(),
		limit: GP64(), slot: GP64(),
	}
	Load(Param("t"), p.st)
	Load(Param("src"), p.src)
	field := func(disp int) Mem { return Mem{Base: p.st, Disp: disp} }
	MOVQ(field(trHeads), p.heads)
	MOVQ(field(trHeads3), p.heads3)
	MOVQ(field(trHashed), p.i)
	MOVQ(field(trShift), p.shift)
	MOVL(U32(prime), p.mul.As32())
	CMPQ(field(trReach3), I8(0))
	JEQ(LabelRef("four"))

	Label("loop")
	v := GP64()
	p.begin(v)
	p.three(v)
	p.four(v)
	JLT(LabelRef("loop"))
	RET()

	Label("four")
	v = GP64()
	p.begin(v)
	p.four(v)
	JLT(LabelRef("four"))
	RET()
}

// begin loads the 4 bytes at i.
func (p *hasher) begin(v reg.GPVirtual) {
	MOVL(Mem{Base: p.src, Index: p.i, Scale: 1}, v.As32())
	MOVL(p.i.As32(), p.slot.As32())
	ANDL(U8(batch-1), p.slot.As32())
}

// three notes the match of 3 bytes at i and inserts i into the table.
func (p *hasher) three(v reg.GPVirtual) {
	h, pair, d1, d2, zero, t := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVL(v.As32(), h.As32())
	SHLL(U8(8), h.As32())
	IMULL(p.mul.As32(), h.As32())
	SHRL(U8(32-hash3Log), h.As32())
	slot := Mem{Base: p.heads3, Index: h, Scale: 4}
	MOVL(slot, pair.As32())
	MOVL(pair.As32(), d2.As32())
	SHLL(U8(16), pair.As32())
	MOVWLZX(p.i.As16(), t.As32())
	ORL(t.As32(), pair.As32())
	MOVL(pair.As32(), slot)
	Comment("offsets; 0 for one out of reach")
	MOVL(p.i.As32(), d1.As32())
	SUBL(d2.As32(), d1.As32())
	SHRL(U8(16), d2.As32())
	SUBL(d2.As32(), t.As32())
	MOVWLZX(d1.As16(), d1.As32())
	MOVWLZX(t.As16(), d2.As32())
	MOVQ(p.i, p.limit)
	CMPQ(p.limit, Mem{Base: p.st, Disp: trReach3})
	CMOVQGT(Mem{Base: p.st, Disp: trReach3}, p.limit)
	XORL(zero.As32(), zero.As32())
	CMPQ(d1, p.limit)
	CMOVQHI(zero, d1)
	CMPQ(d2, p.limit)
	CMOVQHI(zero, d2)
	Comment("the later one that matches")
	for _, d := range []reg.GPVirtual{d2, d1} {
		x := GP64()
		MOVQ(p.i, x)
		SUBQ(d, x)
		MOVL(Mem{Base: p.src, Index: x, Scale: 1}, x.As32())
		XORL(v.As32(), x.As32())
		SHLL(U8(8), x.As32())
		CMOVQEQ(d, zero)
	}
	MOVW(zero.As16(), Mem{Base: p.st, Index: p.slot, Scale: 2, Disp: trNears})
}

// four notes the root at i, prefetches it, and makes i the root. The flags say whether there are
// more positions.
func (p *hasher) four(v reg.GPVirtual) {
	t, d := GP64(), GP64()
	IMULL(p.mul.As32(), v.As32())
	SHRXL(p.shift.As32(), v.As32(), v.As32())
	slot := Mem{Base: p.heads, Index: v, Scale: 2}
	MOVWLZX(slot, t.As32())
	MOVW(p.i.As16(), slot)
	MOVL(p.i.As32(), d.As32())
	SUBL(t.As32(), d.As32())
	MOVW(d.As16(), Mem{Base: p.st, Index: p.slot, Scale: 2, Disp: trRoots})
	MOVWLZX(d.As16(), d.As32())
	MOVQ(p.i, t)
	SUBQ(d, t)
	PREFETCHT0(Mem{Base: p.src, Index: t, Scale: 1})
	ANDL(U32(window-1), t.As32())
	SHLL(U8(2), t.As32())
	ADDQ(Mem{Base: p.st, Disp: trChildren}, t)
	PREFETCHT0(Mem{Base: t})
	INCQ(p.i)
	CMPQ(p.i, param(Param("end")))
}
