package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const seqType = "*struct{LitLen, MatchLen, Offset uint32}"

// Offsets of the fields of simd's offsetState.
const (
	osAcc = 8 * iota
	osHave
	osRepeats
)

// putOffsets writes what sequences say of offsets, in layouts Repeat and Dense. Nothing in it depends on a branch.
func encodeOffsets() {
	TEXT("encodeOffsetsAVX2", attr.NOSPLIT, "func(s *struct{Acc, Have uint64; Repeats [4]uint32}, tokens []byte, codes *byte, extra []byte, seqs "+seqType+") (usedCodes, usedExtra int)")
	Pragma("noescape")
	Doc("encodeOffsetsAVX2 does as many sequences as there are tokens. codes must have room for as many and one more. It stops early, with usedExtra < 0, if extra has",
		"fewer than 8 bytes left.")
	st := GP64()
	Load(Param("s"), st)
	field := func(disp int) Mem { return Mem{Base: st, Disp: disp} }
	token, codes, extra, seq := GP64(), GP64(), GP64(), GP64()
	acc, have := GP64(), GP64()
	r0, r1, r2 := GP32(), GP32(), GP32()
	Load(Param("tokens").Base(), token)
	Load(Param("codes"), codes)
	Load(Param("extra").Base(), extra)
	Load(Param("seqs"), seq)
	MOVQ(field(osAcc), acc)
	MOVQ(field(osHave), have)
	MOVL(field(osRepeats), r0)
	MOVL(field(osRepeats+4), r1)
	MOVL(field(osRepeats+8), r2)
	Comment("the lengths of slices become their ends")
	tokenEnd, extraEnd := param(Param("tokens").Len()), param(Param("extra").Len())
	ADDQ(token, tokenEnd)
	ADDQ(I8(-8), extraEnd)
	ADDQ(extra, extraEnd)

	Label("offsets")
	CMPQ(token, tokenEnd)
	JEQ(LabelRef("end"))
	CMPQ(extra, extraEnd)
	JGT(LabelRef("full"))
	off, t, a, b, c := GP32(), GP32(), GP32(), GP32(), GP32()
	MOVL(Mem{Base: seq, Disp: 8}, off)
	Comment("the list of repeats: what is in front of the offset moves back")
	MOVL(r1, t)
	CMPL(off, r1)
	CMOVLEQ(r2, t)
	SETNE(b.As8())
	CMPL(off, r2)
	SETNE(c.As8())
	CMPL(off, r0)
	SETNE(a.As8())
	CMOVLNE(t, r2)
	CMOVLNE(r0, r1)
	MOVL(off, r0)
	ANDL(a, b)
	ANDL(b, c)
	ADDL(b, a)
	ADDL(c, a)
	SHLL(U8(6), a)
	MOVB(a.As8(), Mem{Base: token})
	Comment("c is 1 for a new offset")
	MOVBLZX(c.As8(), c)
	e, v := GP32(), GP32()
	MOVL(off, v)
	SHRL(U8(2), v)
	INCL(v)
	LZCNTL(v, e)
	XORL(I8(31), e)
	BZHIL(e, v, v)
	ANDL(I8(3), off)
	LEAL(Mem{Base: off.As64(), Index: e.As64(), Scale: 4}, off)
	MOVB(off.As8(), Mem{Base: codes})
	ADDQ(c.As64(), codes)
	NEGL(c)
	ANDL(c, e)
	ANDL(c, v)
	SHLXQ(have, v.As64(), v.As64())
	ORQ(v.As64(), acc)
	ADDQ(e.As64(), have)
	MOVQ(acc, Mem{Base: extra})
	MOVL(have.As32(), t)
	SHRL(U8(3), t)
	ADDQ(t.As64(), extra)
	SHLL(U8(3), t)
	SHRXQ(t.As64(), acc, acc)
	ANDL(I8(7), have.As32())
	INCQ(token)
	ADDQ(I8(seqBytes), seq)
	JMP(LabelRef("offsets"))

	Label("full")
	XORL(extra.As32(), extra.As32())
	Label("end")
	st = GP64()
	Load(Param("s"), st)
	MOVQ(acc, field(osAcc))
	MOVQ(have, field(osHave))
	MOVL(r0, field(osRepeats))
	MOVL(r1, field(osRepeats+4))
	MOVL(r2, field(osRepeats+8))
	start := GP64()
	Load(Param("codes"), start)
	SUBQ(start, codes)
	Store(codes, Return("usedCodes"))
	Load(Param("extra").Base(), start)
	SUBQ(start, extra)
	Store(extra, Return("usedExtra"))
	RET()
}

// putLengths writes what sequences say of lengths, in layout Repeat, eight at a time.
func encodeLengths() {
	bytes16 := func(name string, f func(i int) int) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for i := range 16 {
			DATA(i, U8(f(i)))
		}
		return m
	}
	limits := bytes16("lengthLimits", func(i int) int { return []int{3, 15}[i/8] })
	// Blending leaves the literal runs of sequences 0 3 6 1 4 7 2 5, and the matches of 5 0 3 6 1 4 7 2.
	order := bytes16("lengthOrder", func(i int) int {
		for k, q := range [2][8]int{{0, 3, 6, 1, 4, 7, 2, 5}, {5, 0, 3, 6, 1, 4, 7, 2}}[i/8] {
			if q == i%8 {
				return i/8*8 + k
			}
		}
		panic("no such sequence")
	})
	matchMin := GLOBL("lengthMin", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(4*i, U32(4))
	}
	long := GLOBL("lengthLong", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(4*i, U32(0xffffff00))
	}
	// For each set of eight bytes the places of those that are in it.
	compress := GLOBL("compressBytes", attr.RODATA|attr.NOPTR)
	for set := range 256 {
		v, n := uint64(0), 0
		for i := range 8 {
			if set>>i&1 != 0 {
				v |= uint64(i) << (8 * n)
				n++
			}
		}
		DATA(8*set, U64(v))
	}

	TEXT("encodeLengthsAVX2", attr.NOSPLIT, "func(tokens []byte, lits, matches *byte, seqs "+seqType+") (done, usedLits, usedMatches int)")
	Pragma("noescape")
	Doc("encodeLengthsAVX2 adds to the tokens what they say of the lengths of as many sequences, eight at a time, until fewer are left, or one of them may take more than a",
		"byte. lits and matches must have room for as many bytes as there are tokens.")
	token, end, lits, matches, seq, table := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("tokens").Base(), token)
	Load(Param("tokens").Len(), end)
	LEAQ(Mem{Base: token, Index: end, Scale: 1, Disp: -8}, end)
	Load(Param("lits"), lits)
	Load(Param("matches"), matches)
	Load(Param("seqs"), seq)
	LEAQ(compress, table)
	limit, shuffle, four, over := XMM(), XMM(), YMM(), YMM()
	VMOVDQU(limits, limit)
	VMOVDQU(order, shuffle)
	VMOVDQU(matchMin, four)
	VMOVDQU(long, over)

	Label("lengths")
	CMPQ(token, end)
	JGT(LabelRef("stop"))
	a, b, c, l, m := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: seq}, a)
	VMOVDQU(Mem{Base: seq, Disp: 32}, b)
	VMOVDQU(Mem{Base: seq, Disp: 64}, c)
	VPBLENDD(U8(1<<1|1<<4|1<<7), b, a, l)
	VPBLENDD(U8(1<<2|1<<5), c, l, l)
	VPBLENDD(U8(1<<2|1<<5), b, a, m)
	VPBLENDD(U8(1<<0|1<<3|1<<6), c, m, m)
	VPSUBD(four, m, m)
	VPOR(l, m, a)
	VPTEST(over, a)
	JNE(LabelRef("stop"))
	VPACKUSDW(m, l, l)
	VPACKUSWB(l, l, l)
	x, y := l.AsX(), m.AsX()
	VEXTRACTI128(U8(1), l, y)
	VPUNPCKLDQ(y, x, x)
	VPSHUFB(shuffle, x, x)
	Comment("literal runs in the low half, matches in the high one")
	cut := XMM()
	VPMAXUB(limit, x, y)
	VPCMPEQB(x, y, y)
	sets, set := GP32(), GP32()
	VPMOVMSKB(y, sets)
	VPMINUB(limit, x, cut)
	VPSUBB(limit, x, x)
	MOVBLZX(sets.As8(), set)
	SHRL(U8(8), sets)
	put := func(set reg.GPVirtual, to reg.GPVirtual) {
		s := XMM()
		VMOVQ(Mem{Base: table, Index: set.As64(), Scale: 8}, s)
		VPSHUFB(s, x, s)
		VMOVQ(s, Mem{Base: to})
		POPCNTL(set, set)
		ADDQ(set.As64(), to)
	}
	put(set, lits)
	VPSRLDQ(U8(8), x, x)
	put(sets, matches)
	VPSRLDQ(U8(8), cut, y)
	VPSLLW(U8(2), y, y)
	VPOR(y, cut, cut)
	t := GP64()
	VMOVQ(cut, t)
	ORQ(t, Mem{Base: token})
	ADDQ(I8(8), token)
	ADDQ(I8(8*seqBytes), seq)
	JMP(LabelRef("lengths"))

	Label("stop")
	VZEROUPPER()
	start := GP64()
	Load(Param("tokens").Base(), start)
	SUBQ(start, token)
	Store(token, Return("done"))
	Load(Param("lits"), start)
	SUBQ(start, lits)
	Store(lits, Return("usedLits"))
	Load(Param("matches"), start)
	SUBQ(start, matches)
	Store(matches, Return("usedMatches"))
	RET()
}
