package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cheapestTablesAVX2 adds up the sizes of a context with 32 tables in four vectors. The words that
// VPUNPCKLWD and VPUNPCKHWD interleave come from the lower and upper half of each 16 bytes, so the
// vectors hold tables 0–3 and 8–11, 4–7 and 12–15, and the same from 16 on. Packing puts them in
// order again.
func cheapestTablesAVX2() {
	const rowLog = 6 // a symbol has 64 bytes of prices
	TEXT("cheapestTablesAVX2", attr.NOSPLIT, "func(tables *uint8, ends *uint32, contexts int, "+
		"begin int, symbols *uint8, counts *uint16, prices *[256][8]uint64)")
	Pragma("noescape")
	Doc("cheapestTablesAVX2 finds the tables of one context or more. begin is the index of the first",
		"symbol.")
	tables, ends, left, i := GP64(), GP64(), GP64(), GP64()
	symbols, counts, prices := GP64(), GP64(), GP64()
	Load(Param("tables"), tables)
	Load(Param("ends"), ends)
	Load(Param("contexts"), left)
	Load(Param("begin"), i)
	Load(Param("symbols"), symbols)
	Load(Param("counts"), counts)
	Load(Param("prices"), prices)

	Label("context")
	end := GP64()
	MOVL(Mem{Base: ends}, end.As32())
	var sums [4]reg.VecVirtual
	for k := range sums {
		sums[k] = YMM()
		VPXOR(sums[k], sums[k], sums[k])
	}
	CMPQ(i, end)
	JAE(LabelRef("found"))

	Label("pair")
	a, b, n := GP64(), GP64(), YMM()
	MOVBLZX(Mem{Base: symbols, Index: i, Scale: 1}, a.As32())
	MOVBLZX(Mem{Base: symbols, Index: i, Scale: 1, Disp: 1}, b.As32())
	SHLL(U8(rowLog), a.As32())
	SHLL(U8(rowLog), b.As32())
	VPBROADCASTD(Mem{Base: counts, Index: i, Scale: 2}, n)
	for half := range 2 {
		p, q, mixed := YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: prices, Index: a, Scale: 1, Disp: 32 * half}, p)
		VMOVDQU(Mem{Base: prices, Index: b, Scale: 1, Disp: 32 * half}, q)
		VPUNPCKLWD(q, p, mixed)
		VPMADDWD(mixed, n, mixed)
		VPADDD(mixed, sums[2*half], sums[2*half])
		VPUNPCKHWD(q, p, mixed)
		VPMADDWD(mixed, n, mixed)
		VPADDD(mixed, sums[2*half+1], sums[2*half+1])
	}
	ADDQ(I8(2), i)
	CMPQ(i, end)
	JB(LabelRef("pair"))

	Label("found")
	least, other := YMM(), YMM()
	VPMINUD(sums[0], sums[1], least)
	VPMINUD(sums[2], sums[3], other)
	VPMINUD(other, least, least)
	VPERM2I128(U8(1), least, least, other)
	VPMINUD(other, least, least)
	VPSHUFD(U8(0x4e), least, other)
	VPMINUD(other, least, least)
	VPSHUFD(U8(0xb1), least, other)
	VPMINUD(other, least, least)
	for k := range sums {
		VPCMPEQD(least, sums[k], sums[k])
	}
	VPACKSSDW(sums[1], sums[0], sums[0])
	VPACKSSDW(sums[3], sums[2], sums[2])
	VPACKSSWB(sums[2], sums[0], sums[0])
	VPERMQ(U8(0xd8), sums[0], sums[0])
	mask := GP64()
	VPMOVMSKB(sums[0], mask.As32())
	TZCNTL(mask.As32(), mask.As32())
	MOVB(mask.As8(), Mem{Base: tables})
	INCQ(tables)
	ADDQ(I8(4), ends)
	DECQ(left)
	JNZ(LabelRef("context"))
	VZEROUPPER()
	RET()
}
