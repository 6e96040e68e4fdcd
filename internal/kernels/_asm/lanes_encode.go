package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// encoder emits one kind of kernel.
type encoder struct {
	load, save func(states reg.GPVirtual)
	// round codes the 32 symbols at in. It writes their words before out and moves out there.
	round func(in, tab, out reg.GPVirtual)
}

// write emits the loop over rounds, which all kinds share.
func (e encoder) write(name string) {
	TEXT(name, attr.NOSPLIT, "func(states *[32]uint32, tab *[256]uint64, run, words []byte, p int) (at int)")
	Pragma("noescape")
	Doc(name + " codes run, whole rounds, and returns the index where the words begin.")
	first, in, tab, out, states := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("run").Base(), first)
	Load(Param("run").Len(), in)
	ADDQ(first, in)
	Load(Param("tab"), tab)
	base, p := GP64(), GP64()
	Load(Param("words").Base(), out)
	Load(Param("p"), p)
	ADDQ(p, out)
	Load(Param("states"), states)
	e.load(states)
	CMPQ(in, first)
	JE(LabelRef("done"))
	Label("loop")
	SUBQ(U8(lanes), in)
	e.round(in, tab, out)
	CMPQ(in, first)
	JNE(LabelRef("loop"))
	Label("done")
	Load(Param("states"), states)
	e.save(states)
	Load(Param("words").Base(), base)
	SUBQ(base, out)
	Store(out, Return("at"))
	VZEROUPPER()
	RET()
}

// lookup2 loads the entries of the symbols at in[a] and in[b].
func lookup2(tab, in reg.GPVirtual, a, b int) reg.VecVirtual {
	x, y, e := GP64(), GP64(), XMM()
	MOVBLZX(at(in, a), x.As32())
	MOVBLZX(at(in, b), y.As32())
	VMOVQ(Mem{Base: tab, Index: x, Scale: 8}, e)
	VMOVHPS(Mem{Base: tab, Index: y, Scale: 8}, e, e)
	return e
}
