package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	runStep      = 8  // tokens of a step
	longRun      = 3  // literal run of a token to which a length from litLens is added
	maxStepMarks = 63 // most literals of a step: with more its marks do not fit a word
)

// runMarker has the registers of markRunStartsAVX2.
type runMarker struct {
	bits, words  reg.GPVirtual // slice of marks
	place        reg.GPVirtual // number of the literal that begins the next run
	tokens, left reg.GPVirtual
	lits, last   reg.GPVirtual // next length, and the last position from which eight can be read
	spread       reg.GPVirtual // table of shuffles
	word, here   reg.GPVirtual // index of the word of place, and its marks
	set          reg.GPVirtual // bit mask of the long runs of a step
	size         reg.GPVirtual // literals of a step

	longs, none, one reg.VecVirtual // constants
	run, n           reg.VecVirtual // literal runs of a step; scratch
}

// markRunStartsAVX2 takes eight tokens a step. Their literal runs are bytes of one vector, to which
// a shuffle adds lengths from litLens. Prefix sums of these bytes are the positions of the run
// starts. Shifting a one by each position gives the marks.
func markRunStartsAVX2() {
	TEXT("markRunStartsAVX2", attr.NOSPLIT,
		"func(bits []uint64, at uint64, tokens, litLens []byte) (done, used int, end uint64)")
	Pragma("noescape")
	Doc("markRunStartsAVX2 marks as many run starts as it can. It requires bits[at/64], and at least 8",
		"bytes in litLens.")
	m := &runMarker{}
	m.begin()
	Label("loop")
	CMPQ(m.left, U8(runStep))
	JB(LabelRef("done"))
	CMPQ(m.lits, m.last)
	JA(LabelRef("done"))
	CMPQ(m.word, m.words)
	JAE(LabelRef("done"))
	m.runs()
	m.store(m.marks())
	JMP(LabelRef("loop"))
	m.finish()
}

func (m *runMarker) begin() {
	m.bits, m.words, m.place, m.tokens = GP64(), GP64(), GP64(), GP64()
	m.left, m.lits, m.last = GP64(), GP64(), GP64()
	Load(Param("bits").Base(), m.bits)
	Load(Param("bits").Len(), m.words)
	Load(Param("at"), m.place)
	Load(Param("tokens").Base(), m.tokens)
	Load(Param("tokens").Len(), m.left)
	Load(Param("litLens").Base(), m.lits)
	Load(Param("litLens").Len(), m.last)
	LEAQ(Mem{Base: m.lits, Index: m.last, Scale: 1, Disp: -runStep}, m.last)

	m.spread = GP64()
	LEAQ(spreadTable(), m.spread)
	m.longs, m.none, m.one = XMM(), XMM(), YMM()
	VMOVDQU(same(longRun*0x01010101), m.longs)
	VPXOR(m.none, m.none, m.none)
	VMOVDQU(dwords("ones64", 32, 1, 0), m.one)

	m.word, m.here = GP64(), GP64()
	MOVQ(m.place, m.word)
	SHRQ(U8(6), m.word)
	MOVQ(Mem{Base: m.bits, Index: m.word, Scale: 8}, m.here)
}

// runs computes the literal runs of a step and their sum.
func (m *runMarker) runs() {
	run, escape, n := XMM(), XMM(), XMM()
	m.run, m.n = run, n
	m.set, m.size = GP64(), GP64()
	VMOVQ(Mem{Base: m.tokens}, run)
	VPAND(m.longs, run, run)
	VPCMPEQB(m.longs, run, escape)
	VPMOVMSKB(escape, m.set.As32())
	VMOVQ(Mem{Base: m.spread, Index: m.set, Scale: 8}, escape)
	VMOVQ(Mem{Base: m.lits}, n)
	VPSHUFB(escape, n, n)
	VPADDUSB(n, run, run) // 255, a length of more than a byte, stays above the limit
	VPSADBW(m.none, run, n)
	VMOVQ(n, m.size)
	CMPQ(m.size, U8(maxStepMarks))
	JA(LabelRef("done"))
}

// marks returns the marks of a step, bit 0 for the literal place.
func (m *runMarker) marks() (mark reg.GPVirtual) {
	// Exclusive prefix sums: add neighbours at distances of 1, 2, 4 and 8 bytes.
	run, n := m.run, m.n
	VPSLLQ(U8(8), run, run)
	for shift := 8; shift < 64; shift *= 2 {
		VPSLLQ(U8(shift), run, n)
		VPADDB(n, run, run)
	}
	mark = GP64()
	low, high := YMM(), YMM()
	VPMOVZXBQ(run, low)
	VPSRLQ(U8(32), run, run)
	VPMOVZXBQ(run, high)
	VPSLLVQ(low, m.one, low)
	VPSLLVQ(high, m.one, high)
	VPOR(low, high, low)
	half := XMM()
	VEXTRACTI128(U8(1), low, half)
	VPOR(low.AsX(), half, half)
	other := XMM()
	VPSHUFD(U8(0xee), half, other)
	VPOR(half, other, half)
	VMOVQ(half, mark)
	return mark
}

// store adds the marks of a step to the current word, and moves on to the next one if they reach
// it.
func (m *runMarker) store(mark reg.GPVirtual) {
	part, rest := GP64(), GP64()
	SHLXQ(m.place, mark, part)
	ORQ(part, m.here)
	MOVQ(m.here, Mem{Base: m.bits, Index: m.word, Scale: 8})
	MOVQ(m.place, rest)
	NOTQ(rest)
	SHRQ(U8(1), mark)
	SHRXQ(rest, mark, mark)
	ADDQ(m.size, m.place)
	MOVQ(m.place, part)
	SHRQ(U8(6), part)
	CMPQ(part, m.word)
	CMOVQNE(mark, m.here)
	MOVQ(part, m.word)
	POPCNTQ(m.set, m.set)
	ADDQ(m.set, m.lits)
	ADDQ(U8(runStep), m.tokens)
	SUBQ(U8(runStep), m.left)
}

func (m *runMarker) finish() {
	Label("done")
	CMPQ(m.word, m.words)
	JAE(LabelRef("end"))
	MOVQ(m.here, Mem{Base: m.bits, Index: m.word, Scale: 8})
	Label("end")
	VZEROUPPER()
	begin := GP64()
	Load(Param("tokens").Base(), begin)
	SUBQ(begin, m.tokens)
	Store(m.tokens, Return("done"))
	Load(Param("litLens").Base(), begin)
	SUBQ(begin, m.lits)
	Store(m.lits, Return("used"))
	Store(m.place, Return("end"))
	RET()
}
