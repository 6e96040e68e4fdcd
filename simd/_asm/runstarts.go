package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// markRunStartsAVX2 takes eight tokens at a time. Their runs are bytes of one vector, to which those from litLens come by a shuffle; where they begin are sums of the runs before them, and the marks are ones moved so far. That
// works for up to 63 literals: with more the marks would not be a word.
func markRunStartsAVX2() {
	const (
		step = 8
		long = 3 // a run with a length in litLens
		most = 63
	)
	TEXT("markRunStartsAVX2", attr.NOSPLIT, "func(bits []uint64, at uint64, tokens, litLens []byte) (done, used int, end uint64)")
	Pragma("noescape")
	Doc("markRunStartsAVX2 marks as many runs as it can. The word of at must be in bits, and in litLens there are at least 8 bytes.")
	bits, words, place, tokens, left, lits, last := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("bits").Base(), bits)
	Load(Param("bits").Len(), words)
	Load(Param("at"), place)
	Load(Param("tokens").Base(), tokens)
	Load(Param("tokens").Len(), left)
	Load(Param("litLens").Base(), lits)
	Load(Param("litLens").Len(), last)
	LEAQ(Mem{Base: lits, Index: last, Scale: 1, Disp: -step}, last)

	// Which length each of eight runs has, for each set of long ones.
	var table []byte
	for set := range 1 << step {
		k := byte(0)
		for i := range step {
			if set>>i&1 == 0 {
				table = append(table, 0x80)
				continue
			}
			table = append(table, k)
			k++
		}
	}
	spread := GP64()
	LEAQ(constant("spread", table), spread)
	longs, none, one := XMM(), XMM(), YMM()
	VMOVDQU(same(long*0x01010101), longs)
	VPXOR(none, none, none)
	VMOVDQU(dwords("ones64", 32, 1, 0), one)

	// The word that place is in.
	word, here := GP64(), GP64()
	MOVQ(place, word)
	SHRQ(U8(6), word)
	MOVQ(Mem{Base: bits, Index: word, Scale: 8}, here)

	Label("loop")
	CMPQ(left, U8(step))
	JB(LabelRef("done"))
	CMPQ(lits, last)
	JA(LabelRef("done"))
	CMPQ(word, words)
	JAE(LabelRef("done"))
	run, escape, n := XMM(), XMM(), XMM()
	set, size := GP64(), GP64()
	VMOVQ(Mem{Base: tokens}, run)
	VPAND(longs, run, run)
	VPCMPEQB(longs, run, escape)
	VPMOVMSKB(escape, set.As32())
	VMOVQ(Mem{Base: spread, Index: set, Scale: 8}, escape)
	VMOVQ(Mem{Base: lits}, n)
	VPSHUFB(escape, n, n)
	VPADDUSB(n, run, run) // 255 stays more than there may be
	VPSADBW(none, run, n)
	VMOVQ(n, size)
	CMPQ(size, U8(most))
	JA(LabelRef("done"))
	// What comes before each of them: the sums of one, two, four and eight.
	VPSLLQ(U8(8), run, run)
	for shift := 8; shift < 64; shift *= 2 {
		VPSLLQ(U8(shift), run, n)
		VPADDB(n, run, run)
	}
	mark := GP64()
	low, high := YMM(), YMM()
	VPMOVZXBQ(run, low)
	VPSRLQ(U8(32), run, run)
	VPMOVZXBQ(run, high)
	VPSLLVQ(low, one, low)
	VPSLLVQ(high, one, high)
	VPOR(low, high, low)
	half := XMM()
	VEXTRACTI128(U8(1), low, half)
	VPOR(low.AsX(), half, half)
	other := XMM()
	VPSHUFD(U8(0xee), half, other)
	VPOR(half, other, half)
	VMOVQ(half, mark)
	// To this word, and to the next one.
	part, rest := GP64(), GP64()
	SHLXQ(place, mark, part)
	ORQ(part, here)
	MOVQ(here, Mem{Base: bits, Index: word, Scale: 8})
	MOVQ(place, rest)
	NOTQ(rest)
	SHRQ(U8(1), mark)
	SHRXQ(rest, mark, mark)
	ADDQ(size, place)
	MOVQ(place, part)
	SHRQ(U8(6), part)
	CMPQ(part, word)
	CMOVQNE(mark, here)
	MOVQ(part, word)
	POPCNTQ(set, set)
	ADDQ(set, lits)
	ADDQ(U8(step), tokens)
	SUBQ(U8(step), left)
	JMP(LabelRef("loop"))

	Label("done")
	CMPQ(word, words)
	JAE(LabelRef("end"))
	MOVQ(here, Mem{Base: bits, Index: word, Scale: 8})
	Label("end")
	VZEROUPPER()
	begin := reg.GPVirtual(GP64())
	Load(Param("tokens").Base(), begin)
	SUBQ(begin, tokens)
	Store(tokens, Return("done"))
	Load(Param("litLens").Base(), begin)
	SUBQ(begin, lits)
	Store(lits, Return("used"))
	Store(place, Return("end"))
	RET()
}
