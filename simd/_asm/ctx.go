package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chainGroup is what a kernel holds of a group in registers.
type ctxGroup struct {
	lanes string // the argument
	disp  int    // of the group's half of a round, in symbols
	words reg.GPVirtual
	limit Mem // last place of words from which a round may begin

	x             []reg.VecVirtual
	symbols, adds reg.VecVirtual
}

// Where the members of ChainLanes are.
const (
	statesAt = 0
	lastAt   = 4 * lanes
	secondAt = 5 * lanes
)

// chainDecoder is one kind of kernel for chained runs, for one group or two in step.
type ctxDecoder struct {
	prepare func()
	load    func(g *ctxGroup, lanes reg.GPVirtual)
	// round decodes a round of a group; its marks are at the place marks, its symbols go to buf.
	round func(g *ctxGroup, marks, buf Mem)
	save  func(g *ctxGroup, lanes reg.GPVirtual)
}

const ctxLanesType = "*struct{States [32]uint32; Last, Order2 [32]byte}"

// write has what all kinds have in common; maps are the tables of contexts. A round has 64 bits of marks and 64 symbols, of two groups: the one of a kernel that has only one
// is in the half that an argument tells.
func (d ctxDecoder) write(name, maps string, groups int) {
	in, out := "", "done int"
	for _, s := range "AB"[:groups] {
		in += fmt.Sprintf("lanes%c %s, words%c []byte, ", s, ctxLanesType, s)
		out += fmt.Sprintf(", used%c int", s)
	}
	if groups == 1 {
		in += "half int, "
	}
	TEXT(name, attr.NOSPLIT, "func("+in+"tables *[2048]uint32, "+maps+", marks *uint64, buf *byte, rounds int) ("+out+")")
	Pragma("noescape")
	Doc(name + " decodes rounds, at most as many as there are, for as long as each group has words for one. Behind the candidates table are the others.")
	marks, buf, n := GP64(), GP64(), GP64()
	end := AllocLocal(8)
	Load(Param("marks"), marks)
	Load(Param("buf"), buf)
	Load(Param("rounds"), n)
	if groups == 1 {
		half := GP64()
		Load(Param("half"), half)
		LEAQ(Mem{Base: marks, Index: half, Scale: 4}, marks)
		SHLQ(U8(5), half)
		ADDQ(half, buf)
	}
	LEAQ(Mem{Base: marks, Index: n, Scale: 8}, n)
	MOVQ(n, end)
	gs := make([]*ctxGroup, groups)
	d.prepare()
	for i := range gs {
		s := "AB"[i : i+1]
		g := &ctxGroup{lanes: "lanes" + s, disp: lanes * i, words: GP64(), limit: AllocLocal(8)}
		gs[i] = g
		Load(Param("words"+s).Base(), g.words)
		Load(Param("words"+s).Len(), n)
		LEAQ(Mem{Base: g.words, Index: n, Scale: 1, Disp: -roundBytes - wordSlack}, n)
		MOVQ(n, g.limit)
		p := GP64()
		Load(Param(g.lanes), p)
		d.load(g, p)
	}
	Label("loop")
	CMPQ(marks, end)
	JGE(LabelRef("done"))
	for _, g := range gs {
		// Signed: without room the limit is in front of the slice.
		CMPQ(g.words, g.limit)
		JGT(LabelRef("done"))
	}
	for _, g := range gs {
		d.round(g, at(marks, g.disp/8), at(buf, g.disp))
	}
	ADDQ(I8(8), marks)
	ADDQ(I8(2*lanes), buf)
	JMP(LabelRef("loop"))
	Label("done")
	p := GP64()
	Load(Param("buf"), p)
	SUBQ(p, buf)
	SHRQ(U8(6), buf)
	Store(buf, Return("done"))
	for i, g := range gs {
		s := "AB"[i : i+1]
		Load(Param("words"+s).Base(), p)
		SUBQ(p, g.words)
		Store(g.words, Return("used"+s))
		Load(Param(g.lanes), p)
		d.save(g, p)
	}
	VZEROUPPER()
	RET()
}

// offset is a place in a local of the frame.
func offset(m Mem, n int) Mem { return m.Offset(n) }

// ctxAVX2 finds tables one by one: what a symbol adds to the contexts, which table that is, its entry. The last symbols and what is to be added pass through the
// frame.
func ctxAVX2() {
	var tables, ways, bases, handOut reg.GPVirtual
	var slotMask reg.VecVirtual
	var symbols, index, adds Mem
	ctxDecoder{
		prepare: func() {
			symbols, index, adds = AllocLocal(32), AllocLocal(64), AllocLocal(128)
			tables, ways, bases, handOut = GP64(), GP64(), GP64(), GP64()
			Load(Param("tables"), tables)
			Load(Param("ways"), ways)
			Load(Param("bases"), bases)
			LEAQ(handOutTable(), handOut)
			slotMask = YMM()
			VMOVDQU(same(slots-1), slotMask)
		},
		load: func(g *ctxGroup, lanes reg.GPVirtual) {
			for i := range 4 {
				g.x = append(g.x, YMM())
				VMOVDQU(at(lanes, statesAt+32*i), g.x[i])
			}
			t := YMM()
			VMOVDQU(at(lanes, lastAt), t)
			VMOVDQU(t, symbols)
			for i := range 4 {
				VPMOVZXBD(at(lanes, secondAt+8*i), t)
				VMOVDQU(t, offset(adds, 32*i))
			}
		},
		round: func(g *ctxGroup, marks, buf Mem) {
			Comment("last symbols, and 256 where there is a mark")
			bit := dwords("markBits", 32, 0x20001, 0x80004, 0x200010, 0x800040, 0x2000100, 0x8000400, 0x20001000, 0x80004000)
			one := dwords("marked", 32, 0x1000100)
			for h := range 2 {
				s, m := YMM(), YMM()
				VPBROADCASTW(marks.Offset(2*h), m)
				VPAND(bit, m, m)
				VPCMPEQW(bit, m, m)
				VPAND(one, m, m)
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
			for i, x := range g.x {
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
				takeWords8(x, g.words, handOut)
			}
			out, order := syms[0], YMM()
			VPACKUSWB(syms[2], out, out)
			VMOVDQU(dwords("packed", 32, 0, 4, 1, 5, 2, 6, 3, 7), order)
			VPERMD(out, order, out)
			VMOVDQU(out, buf)
			VMOVDQU(out, symbols)
		},
		save: func(g *ctxGroup, lanes reg.GPVirtual) {
			for i, x := range g.x {
				VMOVDQU(x, at(lanes, statesAt+32*i))
			}
			t := YMM()
			VMOVDQU(symbols, t)
			VMOVDQU(t, at(lanes, lastAt))
			for l := range 32 {
				v := GP32()
				MOVL(offset(adds, 4*l), v)
				MOVB(v.As8(), at(lanes, secondAt+l))
			}
		},
	}.write("decodeCtxAVX2", "ways, bases *[512]uint32", 1)
}

// ctxVBMI looks contexts and tables up for all lanes at once: 256 bytes fill four registers.
func ctxVBMI(groups int) {
	var tables reg.GPVirtual
	var first, seconds, class [4]reg.VecVirtual
	var slotMask, least reg.VecVirtual
	// Of these registers a part is written at a time, so that avo takes the rest for something to be kept: there is one of each for all rounds.
	var halves [2]reg.VecVirtual
	var low reg.VecVirtual
	var markClass, none Mem // 32 bytes each, and no registers: there are just as many as it takes
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
	ctxDecoder{
		prepare: func() {
			tables = GP64()
			halves, low = [2]reg.VecVirtual{ZMM(), ZMM()}, YMM()
			for _, t := range []*[4]reg.VecVirtual{&first, &seconds, &class} {
				for i := range t {
					t[i] = ZMM()
				}
			}
			none, markClass = AllocLocal(32), AllocLocal(32)
			p, t := GP64(), YMM()
			Load(Param("firsts"), p)
			for i := range first {
				VMOVDQU64(at(p, 64*i), first[i])
			}
			Load(Param("seconds"), p)
			for i := range seconds {
				VMOVDQU64(at(p, 64*i), seconds[i])
			}
			VPBROADCASTB(at(p, 0), t)
			VMOVDQU(t, none)
			Comment("no more tables than there are, whatever the numbers")
			Load(Param("class"), p)
			numbers := broadcast((maxCtxTables - 1) * 0x01010101)
			for i := range class {
				VPANDD(at(p, 64*i), numbers, class[i])
			}
			VPBROADCASTB(at(p, 256), t)
			VPANDD(numbers.AsY(), t, t)
			VMOVDQU(t, markClass)
			Load(Param("tables"), tables)
			slotMask, least = broadcast(slots-1), broadcast(lower)
		},
		load: func(g *ctxGroup, lanes reg.GPVirtual) {
			for i := range 2 {
				g.x = append(g.x, ZMM())
				VMOVDQU32(at(lanes, statesAt+64*i), g.x[i])
			}
			g.symbols, g.adds = ZMM(), ZMM()
			VMOVDQU64(at(lanes, lastAt), g.symbols.AsY())
			VMOVDQU64(at(lanes, secondAt), g.adds.AsY())
		},
		round: func(g *ctxGroup, marks, buf Mem) {
			Comment("tables of the lanes")
			marked := K()
			KMOVD(marks, marked)
			context := look(first, g.symbols)
			VPADDB(g.adds, context, context)
			VMOVDQA64(look(seconds, g.symbols), g.adds)
			VMOVDQU8(none, marked, g.adds.AsY())
			k := look(class, context)
			VMOVDQU8(markClass, marked, k.AsY())
			out := [2]reg.VecVirtual{low.AsX().(reg.VecVirtual), XMM()}
			for i, x := range g.x {
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
				for h, whole := range halves {
					for q := range 2 {
						part, to := index.AsX().(reg.VecVirtual), whole.AsX().(reg.VecVirtual)
						if h+q > 0 {
							part = XMM()
							VEXTRACTI32X4(U8(2*h+q), index, part)
						}
						if q > 0 {
							to = XMM()
						}
						load4(tables, part, to)
						if q > 0 {
							VINSERTI64X2(U8(1), to, whole.AsY(), whole.AsY())
						}
					}
				}
				VINSERTI64X4(U8(1), halves[1].AsY(), halves[0], e)
				VPMOVDB(e, out[i])

				Comment("x = frequency * (x >> 11) + number of the slot")
				VPSRLD(U8(freqShift), e, t)
				VPANDD(slotMask, t, t)
				VPSRLD(U8(probBits), x, x)
				VPMULLD(t, x, x)
				VPSRLD(U8(slotShift), e, e)
				VPADDD(e, x, x)
				takeWords16(x, least, g.words)
			}
			VINSERTI32X4(U8(1), out[1], low, g.symbols.AsY())
			VMOVDQU64(g.symbols.AsY(), buf)
		},
		save: func(g *ctxGroup, lanes reg.GPVirtual) {
			for i, x := range g.x {
				VMOVDQU32(x, at(lanes, statesAt+64*i))
			}
			VMOVDQU64(g.symbols.AsY(), at(lanes, lastAt))
			VMOVDQU64(g.adds.AsY(), at(lanes, secondAt))
		},
	}.write([]string{"decodeCtxVBMI", "decodeCtx2VBMI"}[groups-1], "firsts, seconds *[256]byte, class *[512]byte", groups)
}

// load4 loads the entries with the four numbers in x, as lookup4 does for states.
func load4(tables reg.GPVirtual, x, e reg.VecVirtual) {
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
}
