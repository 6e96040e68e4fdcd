package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ctxGroup is the state of a lane group within a kernel for context-coded runs.
type ctxGroup struct {
	lanes string // name of the parameter
	disp  int    // of the group's half of a round, in symbols
	words reg.GPVirtual
	limit Mem // last position in words at which a round may begin

	x             []reg.VecVirtual
	symbols, adds reg.VecVirtual // CtxLanes.Last and Order2; VBMI only
	frame         ctxFrame       // AVX2 only
}

// Offsets of the fields of CtxLanes.
const (
	statesAt = 0
	lastAt   = 4 * lanes
	order2At = 5 * lanes
)

const ctxLanesType = "*struct{States [32]uint32; Last, Order2 [32]byte}"

// ctxKernel emits the parts in which kernels differ.
type ctxKernel interface {
	// prepare loads the constants and tables that all groups share.
	prepare()
	load(g *ctxGroup, lanes reg.GPVirtual)
	// begin prepares the first round.
	begin(gs []*ctxGroup, marks Mem)
	// rounds decodes a round of all groups to buf. next points to the marks of the next round. In
	// the last round it equals marks.
	rounds(gs []*ctxGroup, marks, next, buf reg.GPVirtual)
	save(g *ctxGroup, lanes reg.GPVirtual)
}

// writeCtx emits the frame of a kernel for context-coded runs: the loop over rounds. maps are the
// parameters that map contexts to tables. A round has 64 marks and 64 symbols, for two groups. A
// kernel for one group has a parameter half that selects its half.
func writeCtx(d ctxKernel, name, maps string, groups int) {
	in, out := "", "done int"
	for _, s := range "AB"[:groups] {
		in += fmt.Sprintf("lanes%c %s, words%c []byte, ", s, ctxLanesType, s)
		out += fmt.Sprintf(", used%c int", s)
	}
	if groups == 1 {
		in += "half int, "
	}
	TEXT(name, attr.NOSPLIT,
		"func("+in+"tables *[2048]uint32, "+maps+", marks *uint64, buf *byte, rounds int) ("+out+")")
	Pragma("noescape")
	Doc(name+" decodes at most the given number of rounds, while each group has words for one.",
		"All other tables must follow the first one in memory.")
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
	gs := loadCtxGroups(d, groups, n)
	d.begin(gs, at(marks, 0))
	Label("loop")
	CMPQ(marks, end)
	JGE(LabelRef("done"))
	for _, g := range gs {
		// A signed comparison: without room the limit is before the slice.
		CMPQ(g.words, g.limit)
		JGT(LabelRef("done"))
	}
	next := GP64()
	LEAQ(at(marks, 8), next)
	CMPQ(next, end)
	CMOVQEQ(marks, next)
	d.rounds(gs, marks, next, buf)
	ADDQ(I8(8), marks)
	ADDQ(I8(2*lanes), buf)
	JMP(LabelRef("loop"))
	Label("done")
	finishCtx(d, gs, buf)
}

// loadCtxGroups loads the state of the groups. n is scratch.
func loadCtxGroups(d ctxKernel, groups int, n reg.GPVirtual) []*ctxGroup {
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
	return gs
}

// finishCtx stores the results and the state of the groups.
func finishCtx(d ctxKernel, gs []*ctxGroup, buf reg.GPVirtual) {
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
