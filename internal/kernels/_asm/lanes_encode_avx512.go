package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// encodeAVX512 has 16 lanes to a vector, the last one first. VPCOMPRESSD moves words to the front;
// reversed, they stand at the end and in order.
func encodeAVX512() {
	var xs [2]reg.VecVirtual
	var turn, turnWords, shiftMask, scale, biasMask reg.VecVirtual
	var odds reg.OpmaskVirtual
	encoder{
		load: func(states reg.GPVirtual) {
			shiftMask, scale, biasMask = broadcast(31), broadcast(slots), broadcast(0xffff)
			turn, turnWords = ZMM(), ZMM()
			VMOVDQU32(dwords("turn", 64, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), turn)
			VMOVDQU32(turnWordsTable(), turnWords)
			odds = K()
			r := GP32()
			MOVL(U32(0xaaaa), r)
			KMOVW(r, odds)
			for i := range xs {
				xs[i] = ZMM()
				VMOVDQU32(at(states, 64*i), xs[i])
				VPERMD(xs[i], turn, xs[i])
			}
		},
		save: func(states reg.GPVirtual) {
			for i, x := range xs {
				VPERMD(x, turn, x)
				VMOVDQU32(x, at(states, 64*i))
			}
		},
		round: func(in, tab, out reg.GPVirtual) {
			for i := len(xs) - 1; i >= 0; i-- {
				x := xs[i]
				var entries [2]reg.VecVirtual // of even and odd places in the vector
				for odd := range entries {
					var quarter [4]reg.VecVirtual
					for k := range quarter {
						lane := 16*i + 15 - odd - 4*k
						quarter[k] = lookup2(tab, in, lane, lane-2)
					}
					VINSERTI64X2(U8(1), quarter[1], quarter[0].AsY(), quarter[0].AsY())
					VINSERTI64X2(U8(1), quarter[3], quarter[2].AsY(), quarter[2].AsY())
					VINSERTI64X4(U8(1), quarter[2].AsY(), quarter[0].AsZ(), quarter[0].AsZ())
					entries[odd] = quarter[0].AsZ().(reg.VecVirtual)
				}
				even, odd := entries[0], entries[1]
				upper, f, t := ZMM(), ZMM(), ZMM()
				VPSRLQ(U8(32), even, upper)
				VMOVDQA32(odd, odds, upper)
				VPSRLD(U8(encShift), upper, f)

				Comment("lanes from frequency << 20 on give off a word each")
				few, count, w := K(), GP64(), ZMM()
				VPSRLD(U8(31-probBits), x, t)
				VPCMPUD(U8(5), f, t, few) // t >= f
				KMOVW(few, count.As32())
				VPCOMPRESSD_Z(x, few, w)
				VPERMW(w, turnWords, w)
				POPCNTL(count.As32(), count.As32())
				NEGQ(count)
				VMOVDQU32(w.AsY(), at(out, -32))
				LEAQ(Mem{Base: out, Index: count, Scale: 2}, out)
				VPSRLD(U8(16), x, few, x)

				Comment("x += bias + (x / frequency) * (2048 - frequency)")
				VPMULUDQ(even, x, even)
				VPSRLQ(U8(32), x, t)
				VPMULUDQ(odd, t, odd)
				VPSRLQ(U8(32), even, even)
				q := even
				VMOVDQA32(odd, odds, q)
				VPSRLD(U8(divShift), upper, t)
				VPANDD(shiftMask, t, t)
				VPSRLVD(t, q, q)
				VPSUBD(f, scale, t)
				VPMULLD(t, q, q)
				VPANDD(biasMask, upper, upper)
				VPADDD(upper, x, x)
				VPADDD(q, x, x)
			}
		},
	}.write("encodeLanesAVX512")
}

// turnWordsTable is the shuffle that takes the lower halves of dwords, the last one first.
func turnWordsTable() Mem {
	p := make([]byte, 64)
	for i := range 16 {
		p[2*i] = byte(30 - 2*i)
	}
	return constant("turnWords", p)
}
