package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chainDecoder is what kernels for chained runs have in common: the loop over rounds.
type chainDecoder struct {
	load  func()
	round func(buf, words reg.GPVirtual)
	save  func()
}

// signature of such a kernel; maps are the tables of contexts.
const chainedIn = "states *[32]uint32, last, second *[32]byte, tables *[2048]uint32, "

func (d chainDecoder) write(name, maps string) {
	TEXT(name, attr.NOSPLIT, "func("+chainedIn+maps+", buf, words []byte) (done int, used int)")
	Pragma("noescape")
	Doc(name + " decodes whole rounds for as long as there is room and there are words for one. Behind the given table are the others.")
	d.load()
	buf, words, n := GP64(), GP64(), GP64()
	end, limit := AllocLocal(8), AllocLocal(8) // last places from which a round may begin
	Load(Param("words").Base(), words)
	Load(Param("words").Len(), n)
	LEAQ(Mem{Base: words, Index: n, Scale: 1, Disp: -roundBytes - readAhead}, n)
	MOVQ(n, limit)
	Load(Param("buf").Base(), buf)
	Load(Param("buf").Len(), n)
	LEAQ(Mem{Base: buf, Index: n, Scale: 1, Disp: -lanes}, n)
	MOVQ(n, end)
	Label("loop")
	// Signed: without room the limits are in front of the slices.
	CMPQ(words, limit)
	JGT(LabelRef("done"))
	CMPQ(buf, end)
	JGT(LabelRef("done"))
	d.round(buf, words)
	ADDQ(I8(lanes), buf)
	JMP(LabelRef("loop"))
	Label("done")
	p := GP64()
	Load(Param("words").Base(), p)
	SUBQ(p, words)
	Store(words, Return("used"))
	Load(Param("buf").Base(), p)
	SUBQ(p, buf)
	Store(buf, Return("done"))
	d.save()
	VZEROUPPER()
	RET()
}

// offset is a place in a local of the frame.
func offset(m Mem, n int) Mem { return m.Offset(n) }

// chainedAVX2 finds tables one by one: what a symbol adds to the contexts, which table that is, its entry. The last symbols and what is to be added pass through the
// frame.
func chainedAVX2() {
	var x [4]reg.VecVirtual
	var states, last, second, tables, ways, bases, handOut reg.GPVirtual
	var slotMask reg.VecVirtual
	var symbols, index, adds Mem
	chainDecoder{
		load: func() {
			symbols, index, adds = AllocLocal(32), AllocLocal(64), AllocLocal(128)
			last, second, states = GP64(), GP64(), GP64()
			Load(Param("states"), states)
			for i := range x {
				x[i] = YMM()
				VMOVDQU(at(states, 32*i), x[i])
			}
			Load(Param("last"), last)
			Load(Param("second"), second)
			t := YMM()
			VMOVDQU(at(last, 0), t)
			VMOVDQU(t, symbols)
			for i := range 4 {
				VPMOVZXBD(at(second, 8*i), t)
				VMOVDQU(t, offset(adds, 32*i))
			}
			tables, ways, bases, handOut = GP64(), GP64(), GP64(), GP64()
			Load(Param("tables"), tables)
			Load(Param("ways"), ways)
			Load(Param("bases"), bases)
			LEAQ(handOutTable(), handOut)
			slotMask = YMM()
			VMOVDQU(same(slots-1), slotMask)
		},
		round: func(buf, words reg.GPVirtual) {
			Comment("last symbols, and 256 where there is a mark")
			one := dwords("markBit", 32, 0x10001)
			for h := range 2 {
				s, m := YMM(), YMM()
				VPMOVZXBW(at(buf, 16*h), m)
				VPAND(one, m, m)
				VPSLLW(U8(8), m, m)
				VPMOVZXBW(offset(symbols, 16*h), s)
				VPOR(m, s, s)
				VMOVDQU(s, offset(index, 32*h))
			}
			// entry is the index of the entry of a lane, whose slot is the low half of state.
			entry := func(lane int, state reg.GPVirtual) reg.GPVirtual {
				w, c := GP64(), GP64()
				MOVWLZX(offset(index, 2*lane), w.As32())
				MOVL(Mem{Base: ways, Index: w, Scale: 4}, w.As32())
				MOVWLZX(w.As16(), c.As32())
				ADDL(offset(adds, 4*lane), c.As32())
				SHRL(U8(16), w.As32())
				MOVL(w.As32(), offset(adds, 4*lane))
				ANDL(U32(slots-1), state.As32())
				ADDL(Mem{Base: bases, Index: c, Scale: 4}, state.As32())
				return state
			}
			var syms [4]reg.VecVirtual
			for i, x := range x {
				Comment("entries of eight lanes")
				var halves [2]reg.VecVirtual
				for h := range halves {
					part := x.AsX().(reg.VecVirtual)
					if h == 1 {
						part = XMM()
						VEXTRACTI128(U8(1), x, part)
					}
					e := XMM()
					for k := range 2 {
						a, b := GP64(), GP64()
						if k == 0 {
							VMOVQ(part, b)
						} else {
							VPEXTRQ(U8(1), part, b)
						}
						MOVL(b.As32(), a.As32())
						SHRQ(U8(32), b)
						lane := 8*i + 4*h + 2*k
						if a = entry(lane, a); k == 0 {
							VMOVD(Mem{Base: tables, Index: a, Scale: 4}, e)
						} else {
							VPINSRD(U8(2), Mem{Base: tables, Index: a, Scale: 4}, e, e)
						}
						b = entry(lane+1, b)
						VPINSRD(U8(2*k+1), Mem{Base: tables, Index: b, Scale: 4}, e, e)
					}
					halves[h] = e
				}
				e, t := YMM(), YMM()
				VINSERTI128(U8(1), halves[1], halves[0].AsY(), e)

				Comment("x = frequency * (x >> 11) + number of the slot")
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
				takeWords8(x, words, handOut)
			}
			out, order := syms[0], YMM()
			VPACKUSWB(syms[2], out, out)
			VMOVDQU(dwords("packed", 32, 0, 4, 1, 5, 2, 6, 3, 7), order)
			VPERMD(out, order, out)
			VMOVDQU(out, at(buf, 0))
			VMOVDQU(out, symbols)
		},
		save: func() {
			Load(Param("states"), states)
			for i := range x {
				VMOVDQU(x[i], at(states, 32*i))
			}
			t := YMM()
			Load(Param("last"), last)
			VMOVDQU(symbols, t)
			VMOVDQU(t, at(last, 0))
			Load(Param("second"), second)
			for l := range lanes {
				v := GP32()
				MOVL(offset(adds, 4*l), v)
				MOVB(v.As8(), at(second, l))
			}
		},
	}.write("decodeChainedAVX2", "ways, bases *[512]uint32")
}

// chainedVBMI looks contexts and tables up for all lanes at once: 256 bytes fill four registers.
func chainedVBMI() {
	var x [2]reg.VecVirtual
	var states, p, tables reg.GPVirtual
	var first, seconds, class [4]reg.VecVirtual
	var symbols, adds, slotMask, least, ones, markClass, none reg.VecVirtual
	// look is table[index] in each byte.
	look := func(table [4]reg.VecVirtual, index reg.VecVirtual) reg.VecVirtual {
		a, b, upper := ZMM(), ZMM(), K()
		VPMOVB2M(index, upper)
		VMOVDQA64(index, a)
		VPERMI2B(table[1], table[0], a)
		VMOVDQA64(index, b)
		VPERMI2B(table[3], table[2], b)
		VPBLENDMB(b, a, upper, a)
		return a
	}
	chainDecoder{
		load: func() {
			states, p, tables = GP64(), GP64(), GP64()
			Load(Param("states"), states)
			for i := range x {
				x[i] = ZMM()
				VMOVDQU32(at(states, 64*i), x[i])
			}
			symbols, adds = ZMM(), ZMM()
			Load(Param("last"), p)
			VMOVDQU64(at(p, 0), symbols.AsY())
			Load(Param("second"), p)
			VMOVDQU64(at(p, 0), adds.AsY())
			for _, t := range []*[4]reg.VecVirtual{&first, &seconds, &class} {
				for i := range t {
					t[i] = ZMM()
				}
			}
			none, markClass = YMM(), YMM()
			Load(Param("firsts"), p)
			for i := range first {
				VMOVDQU64(at(p, 64*i), first[i])
			}
			Load(Param("seconds"), p)
			for i := range seconds {
				VMOVDQU64(at(p, 64*i), seconds[i])
			}
			VPBROADCASTB(at(p, 0), none)
			Comment("no more tables than there are, whatever the numbers")
			Load(Param("class"), p)
			low := broadcast((chainTables - 1) * 0x01010101)
			for i := range class {
				VPANDD(at(p, 64*i), low, class[i])
			}
			VPBROADCASTB(at(p, 256), markClass)
			VPANDD(low.AsY(), markClass, markClass)
			Load(Param("tables"), tables)
			slotMask, least, ones = broadcast(slots-1), broadcast(lower), broadcast(0x01010101)
		},
		round: func(buf, words reg.GPVirtual) {
			Comment("tables of the lanes")
			marked := K()
			VPTESTMB(at(buf, 0), ones.AsY(), marked)
			context := look(first, symbols)
			VPADDB(adds, context, context)
			VMOVDQA64(look(seconds, symbols), adds)
			VMOVDQU8(none, marked, adds.AsY())
			k := look(class, context)
			VMOVDQU8(markClass, marked, k.AsY())
			out := [2]reg.VecVirtual{XMM(), XMM()}
			for i, x := range x {
				index := ZMM()
				half := k.AsX().(reg.VecVirtual)
				if i == 1 {
					half = XMM()
					VEXTRACTI32X4(U8(1), k.AsY(), half)
				}
				VPMOVZXBD(half, index)
				VPSLLD(U8(probBits), index, index)
				Comment("index | x & 2047")
				VPTERNLOGD(U8(0xf8), slotMask, x, index)
				e, t := ZMM(), ZMM()
				var quarter [4]reg.VecVirtual
				for q := range quarter {
					part := index.AsX().(reg.VecVirtual)
					if q > 0 {
						part = XMM()
						VEXTRACTI32X4(U8(q), index, part)
					}
					quarter[q] = load4(tables, part)
				}
				VINSERTI64X2(U8(1), quarter[1], quarter[0].AsY(), quarter[0].AsY())
				VINSERTI64X2(U8(1), quarter[3], quarter[2].AsY(), quarter[2].AsY())
				VINSERTI64X4(U8(1), quarter[2].AsY(), quarter[0].AsZ(), e)
				VPMOVDB(e, out[i])

				Comment("x = frequency * (x >> 11) + number of the slot")
				VPSRLD(U8(freqShift), e, t)
				VPANDD(slotMask, t, t)
				VPSRLD(U8(probBits), x, x)
				VPMULLD(t, x, x)
				VPSRLD(U8(slotShift), e, e)
				VPADDD(e, x, x)
				takeWords16(x, least, words)
			}
			VINSERTI32X4(U8(1), out[1], out[0].AsY(), symbols.AsY())
			VMOVDQU64(symbols.AsY(), at(buf, 0))
		},
		save: func() {
			Load(Param("states"), states)
			for i := range x {
				VMOVDQU32(x[i], at(states, 64*i))
			}
			Load(Param("last"), p)
			VMOVDQU64(symbols.AsY(), at(p, 0))
			Load(Param("second"), p)
			VMOVDQU64(adds.AsY(), at(p, 0))
		},
	}.write("decodeChainedVBMI", "firsts, seconds *[256]byte, class *[512]byte")
}

// load4 loads the entries with the four numbers in x, as lookup4 does for states.
func load4(tables reg.GPVirtual, x reg.VecVirtual) reg.VecVirtual {
	e := XMM()
	for half := range 2 {
		a, b := GP64(), GP64()
		if half == 0 {
			VMOVQ(x, b)
		} else {
			VPEXTRQ(U8(1), x, b)
		}
		MOVL(b.As32(), a.As32())
		SHRQ(U8(32), b)
		if half == 0 {
			VMOVD(Mem{Base: tables, Index: a, Scale: 4}, e)
		} else {
			VPINSRD(U8(2), Mem{Base: tables, Index: a, Scale: 4}, e, e)
		}
		VPINSRD(U8(2*half+1), Mem{Base: tables, Index: b, Scale: 4}, e, e)
	}
	return e
}
