package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowMatchesType is the type RowMatches of package simd; the constants are offsets of its fields.
const (
	rowMatchesType = "struct{Back [16]int16; Lengths [16]uint8; Longer, Full uint16; _ [12]byte}"

	rmBack    = 0
	rmLengths = 32
	rmLonger  = 48
	rmFull    = 50
	rmBytes   = 64

	rowContent = 8 // bytes compared at a position
)

// searchRows has the registers of searchRowsAVX2.
type searchRows struct {
	cur, i, end, out reg.GPVirtual // current position: address and number; first one not to search
	rows3, rows4     reg.GPVirtual
	rows6, rows10    reg.GPVirtual
	shift            reg.GPVirtual
	ones, low, least reg.VecVirtual // all bits; −maxOffset in words; minMatch−1 in bytes
	roundUp, eight   reg.VecVirtual
}

// searchRowsAVX2 emits the kernel of MultiRows.Search, which is searchPortable, position for
// position.
func searchRowsAVX2(mul Mem) {
	wordMul := GLOBL("wordMul", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0xC2B2AE3D27D4EB4F))
	TEXT("searchRowsAVX2", attr.NOSPLIT, "func(src *byte, i, n int, rows3 *uint32, rows4 *uint64, "+
		"rows6 *[2]uint64, rows10 *uint32, shift, minMatch, maxOffset int, out *"+rowMatchesType+")")
	Pragma("noescape")
	Doc("searchRowsAVX2 inserts and searches n positions from i on. n and i are at least 1. See",
		"MultiRows.Search.")
	p := &searchRows{}
	p.enter()
	Comment("insert all positions; two loops overlap more steps than one does")
	Label("insert")
	p.rows(mul, wordMul)
	ADDQ(U8(rmBytes), p.out)
	INCQ(p.cur)
	INCQ(p.i)
	CMPQ(p.i, p.end)
	JLT(LabelRef("insert"))
	Load(Param("src"), p.cur)
	Load(Param("i"), p.i)
	Load(Param("out"), p.out)
	ADDQ(p.i, p.cur)
	Label("compare")
	p.longer(p.compare())
	ADDQ(U8(rmBytes), p.out)
	INCQ(p.cur)
	INCQ(p.i)
	CMPQ(p.i, p.end)
	JLT(LabelRef("compare"))
	VZEROUPPER()
	RET()
}

// enter loads the arguments and constants.
func (p *searchRows) enter() {
	p.cur, p.i, p.end, p.out = GP64(), GP64(), GP64(), GP64()
	p.rows3, p.rows4, p.rows6, p.rows10 = GP64(), GP64(), GP64(), GP64()
	p.shift = GP64()
	Load(Param("src"), p.cur)
	Load(Param("i"), p.i)
	Load(Param("n"), p.end)
	Load(Param("rows3"), p.rows3)
	Load(Param("rows4"), p.rows4)
	Load(Param("rows6"), p.rows6)
	Load(Param("rows10"), p.rows10)
	Load(Param("shift"), p.shift)
	Load(Param("out"), p.out)
	ADDQ(p.i, p.cur)
	ADDQ(p.i, p.end)
	NEGQ(param(Param("maxOffset")))
	p.ones, p.low, p.least, p.roundUp, p.eight = YMM(), YMM(), YMM(), YMM(), YMM()
	VPCMPEQB(p.ones, p.ones, p.ones)
	VPSRLW(U8(8), p.ones, p.roundUp)
	t := GP64()
	Load(Param("minMatch"), t)
	DECQ(t)
	VMOVD(t.As32(), p.least.AsX())
	VPBROADCASTB(p.least.AsX(), p.least)
	MOVL(U32(8), t.As32())
	VMOVD(t.As32(), p.eight.AsX())
	VPBROADCASTB(p.eight.AsX(), p.eight)
}

// rows inserts the position into its rows and stores the distances. It stores the bytes of those that
// are valid, all bits, in place of lengths.
func (p *searchRows) rows(mul, wordMul Mem) {
	v, h, r := GP64(), GP64(), GP64()
	prime, at := GP64(), GP64()
	six, low := YMM(), YMM()
	back, valid := YMM(), YMM()
	MOVQ(mul, prime)
	MOVQ(Mem{Base: p.cur}, v)
	MOVWLZX(p.i.As16(), at.As32())
	hash := func(drop int) {
		MOVQ(v, h)
		SHLQ(U8(drop), h)
		IMULQ(prime, h)
		SHRXQ(p.shift, h, h)
	}
	Comment("4 bytes")
	hash(32)
	place := Mem{Base: p.rows4, Index: h, Scale: 8}
	MOVQ(place, r)
	VMOVQ(r, back.AsX())
	SHLQ(U8(16), r)
	ORQ(at, r)
	MOVQ(r, place)
	VPSLLDQ(U8(4), back.AsX(), back.AsX())
	Comment("3 bytes")
	hash(40)
	place = Mem{Base: p.rows3, Index: h, Scale: 4}
	MOVL(place, r.As32())
	VPINSRD(U8(0), r.As32(), back.AsX(), back.AsX())
	SHLL(U8(16), r.As32())
	ORL(at.As32(), r.As32())
	MOVL(r.As32(), place)
	Comment("6 bytes")
	hash(16)
	SHLQ(U8(4), h)
	place = Mem{Base: p.rows6, Index: h, Scale: 1}
	VPINSRD(U8(3), place, back.AsX(), back.AsX())
	VMOVDQU(place, six.AsX())
	VPSRLDQ(U8(4), six.AsX(), valid.AsX())
	VPSLLDQ(U8(2), six.AsX(), six.AsX())
	VPINSRW(U8(0), at.As32(), six.AsX(), six.AsX())
	VMOVDQU(six.AsX(), place)
	Comment("10 bytes")
	IMULQ(prime, v)
	MOVQ(Mem{Base: p.cur, Disp: 8}, h)
	SHLQ(U8(48), h)
	IMULQ(wordMul, h)
	ADDQ(h, v)
	SHRXQ(p.shift, v, v)
	place = Mem{Base: p.rows10, Index: v, Scale: 4}
	MOVL(place, r.As32())
	VPINSRD(U8(3), r.As32(), valid.AsX(), valid.AsX())
	SHLL(U8(16), r.As32())
	ORL(at.As32(), r.As32())
	MOVL(r.As32(), place)
	VINSERTI128(U8(1), valid.AsX(), back, back)

	Comment("distances: valid ones are from −min(i, maxOffset) to −1")
	VMOVD(at.As32(), low.AsX())
	VPBROADCASTW(low.AsX(), low)
	VPSUBW(low, back, back)
	t := GP64()
	MOVQ(p.i, t)
	NEGQ(t)
	MOVQ(param(Param("maxOffset")), at)
	CMPQ(t, at)
	CMOVQLT(at, t)
	VMOVD(t.As32(), low.AsX())
	VPBROADCASTW(low.AsX(), low)
	VPMAXSW(low, back, valid)
	VPMINSW(p.ones, valid, low)
	VMOVDQU(low, Mem{Base: p.out, Disp: rmBack})
	VPCMPEQW(low, back, valid)
	VEXTRACTI128(U8(1), valid, low.AsX())
	VPACKSSWB(low.AsX(), valid.AsX(), valid.AsX())
	VMOVDQU(valid.AsX(), Mem{Base: p.out, Disp: rmLengths})
}

// compare returns the lengths of all matches in 16 bytes.
func (p *searchRows) compare() (lengths reg.VecVirtual) {
	here, zero, sum := YMM(), YMM(), YMM()
	VPBROADCASTQ(Mem{Base: p.cur}, here)
	VPXOR(zero, zero, zero)
	for k := range 4 {
		Comment("entries k, 4+k, 8+k and 12+k: their lengths go to words of four quadwords")
		entry := func(n int) Mem {
			r := GP64()
			MOVWQSX(Mem{Base: p.out, Disp: rmBack + 2*n}, r)
			return Mem{Base: p.cur, Index: r, Scale: 1}
		}
		x, high, t := YMM(), YMM(), YMM()
		VMOVQ(entry(k), x.AsX())
		VMOVHPS(entry(4+k), x.AsX(), x.AsX())
		VMOVQ(entry(8+k), high.AsX())
		VMOVHPS(entry(12+k), high.AsX(), high.AsX())
		VINSERTI128(U8(1), high.AsX(), x, x)
		VPXOR(here, x, x)
		Comment("ones below the lowest one; the bytes of ones match")
		VPADDQ(p.ones, x, t)
		VPANDN(t, x, x)
		VPCMPEQB(p.ones, x, x)
		VPSADBW(zero, x, x)
		if k == 0 {
			sum = x
		} else {
			VPSLLQ(U8(16*k), x, x)
			VPOR(x, sum, sum)
		}
	}
	Comment("255 for each byte")
	VPADDW(p.roundUp, sum, sum)
	VPSRLW(U8(8), sum, sum)
	lengths, high := YMM(), YMM()
	VEXTRACTI128(U8(1), sum, high.AsX())
	VPACKUSWB(high.AsX(), sum.AsX(), lengths.AsX())
	VPAND(Mem{Base: p.out, Disp: rmLengths}, lengths.AsX(), lengths.AsX())
	return lengths
}

// longer compares lengths with the greatest of those before them.
func (p *searchRows) longer(lengths reg.VecVirtual) {
	x, before, t := lengths.AsX(), YMM().AsX(), YMM().AsX()
	VMOVDQU(x, Mem{Base: p.out, Disp: rmLengths})
	VPSLLDQ(U8(1), x, before)
	VPMAXUB(p.least.AsX(), before, before)
	for _, n := range []uint8{1, 2, 4, 8} {
		VPSLLDQ(U8(n), before, t)
		VPMAXUB(t, before, before)
	}
	r := GP32()
	VPCMPGTB(before, x, before)
	VPMOVMSKB(before, r)
	MOVW(r.As16(), Mem{Base: p.out, Disp: rmLonger})
	VPCMPEQB(p.eight.AsX(), x, x)
	VPMOVMSKB(x, r)
	MOVW(r.As16(), Mem{Base: p.out, Disp: rmFull})
}
