package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lengthEncoder has the tables and registers of encodeLengthsAVX2.
type lengthEncoder struct {
	limits   Mem // 16 bytes: 3 for literal runs, 15 for match lengths
	order    Mem // shuffle that puts lengths in the order of their sequences
	matchMin Mem // 4 in each dword
	long     Mem // bits of a dword above a byte
	compress Mem // for each set of eight bytes, the shuffle that moves its members to the front

	token, end, lits, matches, seq, table reg.GPVirtual
	limit, shuffle, four, over            reg.VecVirtual // the tables in registers

	x, y reg.VecVirtual // literal runs in the low half, match lengths in the high half; scratch
}

// encodeLengths emits encodeLengthsAVX2, for the layout Repeat of package lzseq. It packs the
// lengths of eight sequences into 16 bytes.
func encodeLengths() {
	e := &lengthEncoder{}
	e.tables()
	TEXT("encodeLengthsAVX2", attr.NOSPLIT,
		"func(tokens []byte, lits, matches *byte, seqs "+seqType+") (done, usedLits, usedMatches int)")
	Pragma("noescape")
	Doc("encodeLengthsAVX2 adds the lengths of sequences to as many tokens, eight a step. It stops where",
		"fewer are left, and before a length that may take more than a byte. It requires room for as many",
		"bytes as there are tokens in lits and in matches.")
	e.begin()
	Label("lengths")
	CMPQ(e.token, e.end)
	JGT(LabelRef("stop"))
	e.load()
	e.write()
	JMP(LabelRef("lengths"))
	e.finish()
}

func (e *lengthEncoder) tables() {
	bytes16 := func(name string, f func(i int) int) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for i := range 16 {
			DATA(i, U8(f(i)))
		}
		return m
	}
	e.limits = bytes16("lengthLimits", func(i int) int { return []int{3, 15}[i/8] })
	// Blends leave the literal runs of sequences 0 3 6 1 4 7 2 5, and the match lengths of 5 0 3 6
	// 1 4 7 2.
	e.order = bytes16("lengthOrder", func(i int) int {
		for k, q := range [2][8]int{{0, 3, 6, 1, 4, 7, 2, 5}, {5, 0, 3, 6, 1, 4, 7, 2}}[i/8] {
			if q == i%8 {
				return i/8*8 + k
			}
		}
		panic("no such sequence")
	})
	dwords := func(name string, v uint32) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for i := range 8 {
			DATA(4*i, U32(v))
		}
		return m
	}
	e.matchMin = dwords("lengthMin", 4)
	e.long = dwords("lengthLong", 0xffffff00)
	e.compress = GLOBL("compressBytes", attr.RODATA|attr.NOPTR)
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
}

func (e *lengthEncoder) begin() {
	e.token, e.end, e.lits, e.matches, e.seq, e.table = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("tokens").Base(), e.token)
	Load(Param("tokens").Len(), e.end)
	LEAQ(Mem{Base: e.token, Index: e.end, Scale: 1, Disp: -8}, e.end)
	Load(Param("lits"), e.lits)
	Load(Param("matches"), e.matches)
	Load(Param("seqs"), e.seq)
	LEAQ(e.compress, e.table)
	e.limit, e.shuffle, e.four, e.over = XMM(), XMM(), YMM(), YMM()
	VMOVDQU(e.limits, e.limit)
	VMOVDQU(e.order, e.shuffle)
	VMOVDQU(e.matchMin, e.four)
	VMOVDQU(e.long, e.over)
}

// load packs the lengths of eight sequences into bytes. It jumps to "stop" if one does not fit.
func (e *lengthEncoder) load() {
	a, b, c, l, m := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: e.seq}, a)
	VMOVDQU(Mem{Base: e.seq, Disp: 32}, b)
	VMOVDQU(Mem{Base: e.seq, Disp: 64}, c)
	VPBLENDD(U8(1<<1|1<<4|1<<7), b, a, l)
	VPBLENDD(U8(1<<2|1<<5), c, l, l)
	VPBLENDD(U8(1<<2|1<<5), b, a, m)
	VPBLENDD(U8(1<<0|1<<3|1<<6), c, m, m)
	VPSUBD(e.four, m, m)
	VPOR(l, m, a)
	VPTEST(e.over, a)
	JNE(LabelRef("stop"))
	VPACKUSDW(m, l, l)
	VPACKUSWB(l, l, l)
	x, y := l.AsX(), m.AsX()
	VEXTRACTI128(U8(1), l, y)
	VPUNPCKLDQ(y, x, x)
	VPSHUFB(e.shuffle, x, x)
	e.x, e.y = x.(reg.VecVirtual), y.(reg.VecVirtual)
}

// write writes eight tokens, and the lengths that reach their limits.
func (e *lengthEncoder) write() {
	Comment("literal runs in the low half, match lengths in the high one")
	x, y, cut := e.x, e.y, XMM()
	VPMAXUB(e.limit, x, y)
	VPCMPEQB(x, y, y)
	sets, set := GP32(), GP32()
	VPMOVMSKB(y, sets)
	VPMINUB(e.limit, x, cut)
	VPSUBB(e.limit, x, x)
	MOVBLZX(sets.As8(), set)
	SHRL(U8(8), sets)
	e.put(set, e.lits)
	VPSRLDQ(U8(8), x, x)
	e.put(sets, e.matches)
	VPSRLDQ(U8(8), cut, y)
	VPSLLW(U8(2), y, y)
	VPOR(y, cut, cut)
	t := GP64()
	VMOVQ(cut, t)
	ORQ(t, Mem{Base: e.token})
	ADDQ(I8(8), e.token)
	ADDQ(I8(8*seqBytes), e.seq)
}

// put writes the bytes of x that are in set.
func (e *lengthEncoder) put(set, to reg.GPVirtual) {
	s := XMM()
	VMOVQ(Mem{Base: e.table, Index: set.As64(), Scale: 8}, s)
	VPSHUFB(s, e.x, s)
	VMOVQ(s, Mem{Base: to})
	POPCNTL(set, set)
	ADDQ(set.As64(), to)
}

func (e *lengthEncoder) finish() {
	Label("stop")
	VZEROUPPER()
	start := GP64()
	Load(Param("tokens").Base(), start)
	SUBQ(start, e.token)
	Store(e.token, Return("done"))
	Load(Param("lits"), start)
	SUBQ(start, e.lits)
	Store(e.lits, Return("usedLits"))
	Load(Param("matches"), start)
	SUBQ(start, e.matches)
	Store(e.matches, Return("usedMatches"))
	RET()
}
