package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Form of the types of package kernels.
const (
	statesType = "*struct{State [3]uint32; Have uint32; Acc uint64}"
	haveAt     = 12
	accAt      = 16

	tableType  = "*struct{Symbols [256]struct{Bits uint32; Place int32}; States [4096]uint16}"
	symbolSize = 8
	placeAt    = 4
	statesAt   = 256 * symbolSize

	stepBytes = 16 // bytes that a step may store
)

// sequenceEncoder has the registers of encodeSequencesAVX2.
type sequenceEncoder struct {
	state, table   [3]reg.GPVirtual
	seq, out       reg.GPVirtual
	acc, have      reg.GPVirtual // bits that are not written yet, and their number
	first, outEnd  Mem
	code, n, value reg.GPVirtual
}

// encodeSequences emits encodeSequencesAVX2. The three chains of states take about eight cycles a
// step. All else fits in between.
func encodeSequences() {
	TEXT("encodeSequencesAVX2", attr.NOSPLIT,
		"func(s "+statesType+", lits, offs, matches "+tableType+", seqs "+codeType+
			", n int, dst *byte, room int) (used int)")
	Pragma("noescape")
	Doc("encodeSequencesAVX2 encodes n > 0 sequences, the last one first. It stops if dst has less than 16",
		"bytes left, and then returns a negative number, else the number of whole bytes written.")
	e := &sequenceEncoder{}
	e.begin()
	Label("loop")
	CMPQ(e.out, e.outEnd)
	JHI(LabelRef("full"))
	e.step()
	SUBQ(U8(codeBytes), e.seq)
	CMPQ(e.seq, e.first)
	JAE(LabelRef("loop"))
	e.finish()
	e.long()
}

func (e *sequenceEncoder) begin() {
	e.seq, e.out, e.acc, e.have = GP64(), GP64(), GP64(), GP64()
	e.code, e.n, e.value = GP64(), GP64(), GP64()
	s := GP64()
	Load(Param("s"), s)
	for i, name := range []string{"lits", "offs", "matches"} {
		e.state[i], e.table[i] = GP64(), GP64()
		Load(Param(name), e.table[i])
		MOVL(at(s, 4*i), e.state[i].As32())
	}
	MOVL(at(s, haveAt), e.have.As32())
	MOVQ(at(s, accAt), e.acc)
	Load(Param("dst"), e.out)
	e.outEnd = param(Param("room"))
	LEAQ(at(e.out, -stepBytes), e.n)
	ADDQ(e.n, e.outEnd)
	e.first = param(Param("seqs"))
	MOVQ(e.first, e.seq)
	Load(Param("n"), e.n)
	SHLQ(U8(4), e.n)
	LEAQ(Mem{Base: e.seq, Index: e.n, Scale: 1, Disp: -codeBytes}, e.seq)
}

// step appends the bits of one sequence.
func (e *sequenceEncoder) step() {
	for _, k := range []int{kindOff, kindMatch, kindLit} {
		MOVBLZX(at(e.seq, codesAt+k), e.code.As32())
		symbol := Mem{Base: e.table[k], Index: e.code, Scale: symbolSize}
		state := e.state[k]
		MOVL(symbol, e.n.As32())
		ADDL(state.As32(), e.n.As32())
		SHRL(U8(16), e.n.As32())
		BZHIQ(e.n, state, e.value)
		SHRXL(e.n.As32(), state.As32(), state.As32())
		ADDL(symbol.Offset(placeAt), state.As32())
		MOVWLZX(Mem{Base: e.table[k], Index: state, Scale: 2, Disp: statesAt}, state.As32())
		SHLXQ(e.have, e.value, e.value)
		ORQ(e.value, e.acc)
		ADDL(e.n.As32(), e.have.As32())
	}
	MOVBLZX(at(e.seq, extraBits), e.n.As32())
	LEAL(Mem{Base: e.have, Index: e.n, Scale: 1}, e.code.As32())
	CMPL(e.code.As32(), U8(63))
	JA(LabelRef("long"))
	SHLXQ(e.have, at(e.seq, 0), e.value)
	ORQ(e.value, e.acc)
	MOVL(e.code.As32(), e.have.As32())
	Label("flush")
	e.flush()
}

// flush writes all bits of acc, and keeps those that do not fill a byte.
func (e *sequenceEncoder) flush() {
	MOVQ(e.acc, at(e.out, 0))
	MOVL(e.have.As32(), e.n.As32())
	SHRL(U8(3), e.n.As32())
	ADDQ(e.n, e.out)
	SHLL(U8(3), e.n.As32())
	SHRXQ(e.n, e.acc, e.acc)
	ANDL(U8(7), e.have.As32())
}

// long writes the bits of the states before it adds the extra bits. Long lengths with a large
// offset have up to 63 of these, so the first 16 go ahead.
func (e *sequenceEncoder) long() {
	Label("long")
	MOVL(e.n.As32(), e.code.As32())
	e.flush()
	MOVWLZX(at(e.seq, 0), e.n.As32())
	SHLXQ(e.have, e.n, e.n)
	ORQ(e.n, e.acc)
	ADDL(U8(16), e.have.As32())
	e.flush()
	MOVQ(at(e.seq, 0), e.value)
	SHRQ(U8(16), e.value)
	SHLXQ(e.have, e.value, e.value)
	ORQ(e.value, e.acc)
	LEAL(Mem{Base: e.have, Index: e.code, Scale: 1, Disp: -16}, e.have.As32())
	JMP(LabelRef("flush"))
}

func (e *sequenceEncoder) finish() {
	start, s := GP64(), GP64()
	Load(Param("dst"), start)
	SUBQ(start, e.out)
	JMP(LabelRef("end"))
	Label("full")
	MOVQ(I32(-1), e.out)
	Label("end")
	Load(Param("s"), s)
	for i, r := range e.state {
		MOVL(r.As32(), at(s, 4*i))
	}
	MOVL(e.have.As32(), at(s, haveAt))
	MOVQ(e.acc, at(s, accAt))
	Store(e.out, Return("used"))
	RET()
}
