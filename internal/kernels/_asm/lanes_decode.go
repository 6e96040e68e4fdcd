package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// decGroup is the state of a lane group within a kernel.
type decGroup struct {
	tab, words reg.GPVirtual
	dst        reg.GPVirtual // end of the part of Dst to fill
	limit      Mem           // last position in words at which a round may begin
	x          []reg.VecVirtual
}

// decoder emits one kind of kernel, for one lane group or two in step.
type decoder struct {
	prepare func()
	load    func(g *decGroup, states reg.GPVirtual)
	save    func(g *decGroup, states reg.GPVirtual)
	// round decodes 32 symbols of a group to dst + off.
	round func(g *decGroup, off reg.GPVirtual)
}

// write emits the loop over rounds, which all kinds share. The steps of one lane group wait for
// each other; those of two groups overlap. On Zen 5 one group decodes 2.2 GB/s with AVX2, two
// groups 3.1 GB/s.
func (d decoder) write(name string, groups int) {
	var in, out string
	for _, s := range "AB"[:groups] {
		in += fmt.Sprintf("states%c *[32]uint32, tab%c *[2048]uint32, dst%c, words%c []byte, ", s, s, s, s)
		out += fmt.Sprintf(", used%c int", s)
	}
	TEXT(name, attr.NOSPLIT, "func("+in[:len(in)-2]+") (done int"+out+")")
	Pragma("noescape")
	Doc(name + " decodes whole rounds while each group has room and words for one.")

	off := GP64() // counts up to 0 at the end of the last round with room
	gs := make([]*decGroup, groups)
	for i := range gs {
		s := "AB"[i : i+1]
		g := &decGroup{tab: GP64(), words: GP64(), dst: GP64(), limit: AllocLocal(8)}
		gs[i] = g
		n := GP64()
		if i == 0 {
			Load(Param("dst"+s).Len(), off)
		} else {
			Load(Param("dst"+s).Len(), n)
			CMPQ(off, n)
			CMOVQGT(n, off)
		}
		Load(Param("words"+s).Base(), g.words)
		Load(Param("words"+s).Len(), n)
		LEAQ(Mem{Base: g.words, Index: n, Scale: 1, Disp: -roundBytes - wordSlack}, n)
		MOVQ(n, g.limit)
	}
	ANDQ(I32(-lanes), off)
	d.prepare()
	for i, g := range gs {
		s := "AB"[i : i+1]
		Load(Param("tab"+s), g.tab)
		Load(Param("dst"+s).Base(), g.dst)
		ADDQ(off, g.dst)
		states := GP64()
		Load(Param("states"+s), states)
		d.load(g, states)
	}
	NEGQ(off)
	JZ(LabelRef("done"))
	Label("loop")
	for _, g := range gs {
		CMPQ(g.words, g.limit)
		JGT(LabelRef("done")) // signed: without words the limit is below 0
	}
	for _, g := range gs {
		d.round(g, off)
	}
	ADDQ(I32(lanes), off)
	JNZ(LabelRef("loop"))
	Label("done")
	ADDQ(off, gs[0].dst)
	for i, g := range gs {
		s := "AB"[i : i+1]
		p := GP64()
		Load(Param("states"+s), p)
		d.save(g, p)
		Load(Param("words"+s).Base(), p)
		SUBQ(p, g.words)
		Store(g.words, Return("used"+s))
	}
	start := GP64()
	Load(Param("dstA").Base(), start)
	SUBQ(start, gs[0].dst)
	Store(gs[0].dst, Return("done"))
	VZEROUPPER()
	RET()
}

// lookup4 loads the entries for the four states in x. It uses single loads: on Zen 5 VPGATHERDD is
// 3% slower with AVX-512 and 10% with AVX2, and far slower where microcode executes it. Passing
// indices through memory instead of general registers makes AVX2 40% slower.
func lookup4(tab reg.GPVirtual, x reg.VecVirtual) reg.VecVirtual {
	e := XMM()
	for half := range 2 {
		a, b := GP64(), GP64()
		if half == 0 {
			VMOVQ(x, b)
		} else {
			VPEXTRQ(U8(1), x, b)
		}
		// Mask here and not in x: vector units are busier than integer units.
		MOVL(b.As32(), a.As32())
		ANDL(U32(slots-1), a.As32())
		SHRQ(U8(32), b)
		ANDL(U32(slots-1), b.As32())
		if half == 0 {
			VMOVD(Mem{Base: tab, Index: a, Scale: 4}, e)
		} else {
			VPINSRD(U8(2), Mem{Base: tab, Index: a, Scale: 4}, e, e)
		}
		VPINSRD(U8(2*half+1), Mem{Base: tab, Index: b, Scale: 4}, e, e)
	}
	return e
}
