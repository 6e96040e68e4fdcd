package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// encodeAVX2 has eight lanes to a vector. It loads the entries of even and of odd lanes into two
// vectors, because VPMULUDQ multiplies the lower halves of 64-bit elements.
func encodeAVX2() {
	var xs [4]reg.VecVirtual
	var toEnd reg.GPVirtual
	encoder{
		load: func(states reg.GPVirtual) {
			for i := range xs {
				xs[i] = YMM()
				VMOVDQU(at(states, 32*i), xs[i])
			}
			toEnd = GP64()
			LEAQ(toEndTable(), toEnd)
		},
		save: func(states reg.GPVirtual) {
			for i, x := range xs {
				VMOVDQU(x, at(states, 32*i))
			}
		},
		round: func(in, tab, out reg.GPVirtual) {
			for i := len(xs) - 1; i >= 0; i-- {
				x := xs[i]
				var entries [2]reg.VecVirtual
				for odd := range entries {
					lane := 8*i + odd
					lo, hi := lookup2(tab, in, lane, lane+2), lookup2(tab, in, lane+4, lane+6)
					entries[odd] = lo.AsY().(reg.VecVirtual)
					VINSERTI128(U8(1), hi, entries[odd], entries[odd])
				}
				even, odd := entries[0], entries[1]
				upper, f := YMM(), YMM()
				VPSRLQ(U8(32), even, upper)
				VPBLENDD(U8(0xaa), odd, upper, upper)
				VPSRLD(U8(encShift), upper, f)

				Comment("lanes from frequency << 20 on give off a word each")
				few, t, w := YMM(), YMM(), YMM()
				set, count := GP64(), GP64()
				VPSRLD(U8(31-probBits), x, few)
				VPCMPGTD(few, f, few) // the lanes that give off none
				VMOVMSKPS(few, set.As32())
				VPSHUFB(lowWords(), x, w)
				VPERMQ(U8(0x08), w, w)
				POPCNTL(set.As32(), count.As32())
				ADDL(set.As32(), set.As32())
				VPSHUFB(Mem{Base: toEnd, Index: set, Scale: 8}, w.AsX(), w.AsX())
				VMOVDQU(w.AsX(), at(out, -16))
				LEAQ(Mem{Base: out, Index: count, Scale: 2, Disp: -16}, out)
				VPSRLD(U8(16), x, t)
				VBLENDVPS(few, x, t, x)

				Comment("x += bias + (x / frequency) * (2048 - frequency)")
				VPMULUDQ(even, x, even)
				VPSRLQ(U8(32), x, t)
				VPMULUDQ(odd, t, odd)
				VPSRLQ(U8(32), even, even)
				q := even
				VPBLENDD(U8(0xaa), odd, even, q)
				VPSRLD(U8(divShift), upper, t)
				VPAND(same(31), t, t)
				VPSRLVD(t, q, q)
				VMOVDQU(same(slots), t)
				VPSUBD(f, t, t)
				VPMULLD(t, q, q)
				VPAND(same(0xffff), upper, upper)
				VPADDD(upper, x, x)
				VPADDD(q, x, x)
			}
		},
	}.write("encodeLanesAVX2")
}

// lowWords is the shuffle that collects the lower halves of dwords within 16 bytes.
func lowWords() Mem {
	const none = 0x80808080
	return dwords("lowWords", 32, 0x05040100, 0x0d0c0908, none, none)
}

// toEndTable has, for each set of eight lanes, the shuffle that moves the words of all other lanes
// to the end, in order.
func toEndTable() Mem {
	var p []byte
	for set := range 256 {
		var q []byte
		for lane := range byte(8) {
			if set>>lane&1 == 0 {
				q = append(q, 2*lane, 2*lane+1)
			}
		}
		for range 16 - len(q) {
			p = append(p, 0x80)
		}
		p = append(p, q...)
	}
	return constant("toEnd", p)
}
