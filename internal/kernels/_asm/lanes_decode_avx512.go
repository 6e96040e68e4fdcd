package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// decodeAVX512 has 16 lanes to a vector, and two groups. VPEXPANDD hands out the words of each
// vector. VPEXPANDW for a whole round is 19% slower on Zen 5, because both vectors then wait for
// each other.
func decodeAVX512() {
	var slotMask, least reg.VecVirtual
	decoder{
		prepare: func() {
			slotMask, least = broadcast(slots-1), broadcast(lower)
		},
		load: func(g *decGroup, states reg.GPVirtual) {
			for i := range 2 {
				g.x = append(g.x, ZMM())
				VMOVDQU32(at(states, 64*i), g.x[i])
			}
		},
		save: func(g *decGroup, states reg.GPVirtual) {
			for i, x := range g.x {
				VMOVDQU32(x, at(states, 64*i))
			}
		},
		round: func(g *decGroup, off reg.GPVirtual) {
			for i, x := range g.x {
				e, t := ZMM(), ZMM()
				var quarter [4]reg.VecVirtual
				for k := range quarter {
					part := x.AsX().(reg.VecVirtual)
					if k > 0 {
						part = XMM()
						VEXTRACTI32X4(U8(k), x, part)
					}
					quarter[k] = lookup4(g.tab, part)
				}
				VINSERTI64X2(U8(1), quarter[1], quarter[0].AsY(), quarter[0].AsY())
				VINSERTI64X2(U8(1), quarter[3], quarter[2].AsY(), quarter[2].AsY())
				VINSERTI64X4(U8(1), quarter[2].AsY(), quarter[0].AsZ(), e)
				VPMOVDB(e, Mem{Base: g.dst, Index: off, Scale: 1, Disp: 16 * i})

				Comment("x = frequency * (x >> 11) + number of the slot")
				VPSRLD(U8(freqShift), e, t)
				VPANDD(slotMask, t, t)
				VPSRLD(U8(probBits), x, x)
				VPMULLD(t, x, x)
				VPSRLD(U8(slotShift), e, e)
				VPADDD(e, x, x)

				takeWords16(x, least, g.words)
			}
		},
	}.write("decodeLanes2AVX512", 2)
}

// takeWords16 gives a word to each of 16 lanes that is below least, which is 2^15.
func takeWords16(x, least reg.VecVirtual, words reg.GPVirtual) {
	Comment("lanes below 2^15 take a word each")
	few, count, w := K(), GP64(), ZMM()
	VPCMPUD(U8(1), least, x, few) // x < least
	KMOVW(few, count.As32())
	VPMOVZXWD(at(words, 0), w)
	VPEXPANDD_Z(w, few, w)
	POPCNTL(count.As32(), count.As32())
	LEAQ(Mem{Base: words, Index: count, Scale: 2}, words)
	VPSLLD(U8(16), x, few, x)
	VPORD(w, x, x)
}
