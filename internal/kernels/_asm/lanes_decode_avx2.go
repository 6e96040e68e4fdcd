package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// decodeAVX2 has eight lanes to a vector and four vectors to a group. The states of two groups fill
// half of the registers, so most constants stay in memory.
func decodeAVX2(groups int) {
	var handOut reg.GPVirtual
	var slotMask reg.VecVirtual
	decoder{
		prepare: func() {
			handOut = GP64()
			LEAQ(handOutTable(), handOut)
			slotMask = YMM()
			VMOVDQU(same(slots-1), slotMask)
		},
		load: func(g *decGroup, states reg.GPVirtual) {
			for i := range 4 {
				g.x = append(g.x, YMM())
				VMOVDQU(at(states, 32*i), g.x[i])
			}
		},
		save: func(g *decGroup, states reg.GPVirtual) {
			for i, x := range g.x {
				VMOVDQU(x, at(states, 32*i))
			}
		},
		round: func(g *decGroup, off reg.GPVirtual) {
			var syms [4]reg.VecVirtual
			for i, x := range g.x {
				high, e := XMM(), YMM()
				VEXTRACTI128(U8(1), x, high)
				VINSERTI128(U8(1), lookup4(g.tab, high), lookup4(g.tab, x.AsX().(reg.VecVirtual)).AsY(), e)

				Comment("x = frequency * (x >> 11) + number of the slot")
				t := YMM()
				VPSRLD(U8(freqShift), e, t)
				VPAND(slotMask, t, t)
				VPSRLD(U8(probBits), x, x)
				VPMULLD(t, x, x)
				VPSRLD(U8(slotShift), e, t)
				VPADDD(t, x, x)
				VPAND(same(0xff), e, e)
				syms[i] = e
				if i%2 == 1 {
					VPACKUSDW(e, syms[i-1], syms[i-1])
				}

				takeWords8(x, same(lower), g.words, handOut)
			}
			out, order := syms[0], YMM()
			VPACKUSWB(syms[2], out, out)
			// Packing works within halves of 16 bytes.
			VMOVDQU(dwords("packed", 32, 0, 4, 1, 5, 2, 6, 3, 7), order)
			VPERMD(out, order, out)
			VMOVDQU(out, Mem{Base: g.dst, Index: off, Scale: 1})
		},
	}.write([]string{1: "decodeLanesAVX2", 2: "decodeLanes2AVX2"}[groups], groups)
}

// takeWords8 gives a word to each of eight lanes that is below 2^15, which least has in each dword.
func takeWords8(x reg.VecVirtual, least Op, words, handOut reg.GPVirtual) {
	Comment("lanes below 2^15 take a word each")
	t, few, w := YMM(), YMM(), YMM() // few: the signs of these lanes are set
	set, count := GP64(), GP64()
	VPSUBD(least, x, few)
	VMOVMSKPS(few, set.As32())
	VBROADCASTI128(at(words, 0), w)
	POPCNTL(set.As32(), count.As32())
	SHLL(U8(5), set.As32())
	VPSHUFB(Mem{Base: handOut, Index: set, Scale: 1}, w, w)
	LEAQ(Mem{Base: words, Index: count, Scale: 2}, words)
	VPSLLD(U8(16), x, t)
	VPOR(w, t, t)
	VBLENDVPS(few, t, x, x)
}

// handOutTable has, for each set of eight lanes, the shuffle that hands the next words to them in
// order, as dwords, and zeros to the others. Its 8 KiB save the instruction that widens words: 6%
// on Zen 5.
func handOutTable() Mem {
	var p []byte
	for set := range 256 {
		next := byte(0)
		for lane := range 8 {
			if set>>lane&1 == 0 {
				p = append(p, 0x80, 0x80, 0x80, 0x80)
			} else {
				p = append(p, next, next+1, 0x80, 0x80)
				next += 2
			}
		}
	}
	return constant("handOut", p)
}
