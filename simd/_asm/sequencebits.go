package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	cellBytes      = 8
	tableCells     = 512
	sequenceFields = "*struct{State, Repeats [3]uint32; MaxOffset uint32; Lits, Matches uint64; Left int}"

	// offsets of the fields
	fieldRepeats   = 12
	fieldMaxOffset = 24
	fieldLits      = 32
	fieldMatches   = 40
	fieldLeft      = 48

	maxLoadBits = 57
)

// Numbers of the kinds of codes.
const kindLit, kindOff, kindMatch = 0, 1, 2

// sequenceBits has the registers of decodeSequencesAVX2.
type sequenceBits struct {
	tables  reg.GPVirtual
	state   [3]reg.GPVirtual // by kind of code; a cell once it has been loaded
	at      reg.GPVirtual    // address of the bits loaded
	used    reg.GPVirtual    // number of the highest of them that have been consumed, 0 to 7
	repeats [3]reg.GPVirtual
	seq     reg.GPVirtual

	end, first             Mem // limits of seq and at
	lits, matches, maximum Mem

	// These belong to one sequence. Of the number in place the low 6 bits are valid.
	bits, place, offset reg.GPVirtual
}

// decodeSequencesAVX2 extracts each field by a shift to the right, which leaves it lowest, and by
// cutting off higher bits. The cells serve as operands: the instructions use their low 6 or 8 bits.
func decodeSequencesAVX2() {
	TEXT("decodeSequencesAVX2", attr.NOSPLIT,
		"func(s "+sequenceFields+", tables *[3][512]uint64, src []byte, seqs "+seqType+", n int) (bytes int)")
	Pragma("noescape")
	Doc("decodeSequencesAVX2 decodes at most n sequences from the first s.Left bits of src. It stops when",
		"at most 128 bits are left. It requires states below 512, in tables too.",
		"For an offset of 0 the result is 1<<32 − 1. It returns the size of the sequences decoded.")
	b := &sequenceBits{}
	b.begin()
	Label("loop")
	b.load()
	b.fields(false)
	Label("values")
	b.repeat()
	b.commit()
	Label("many")
	b.fields(true)
	JMP(LabelRef("values"))
	b.finish()
}

func (b *sequenceBits) begin() {
	b.end, b.first = AllocLocal(8), AllocLocal(8)
	b.lits, b.matches, b.maximum = AllocLocal(8), AllocLocal(8), AllocLocal(8)
	b.tables, b.at, b.used, b.seq = GP64(), GP64(), GP64(), GP64()
	b.bits, b.place, b.offset = GP64(), GP64(), GP64()
	s, t := GP64(), GP64()
	Load(Param("s"), s)
	for i := range b.state {
		b.state[i], b.repeats[i] = GP64(), GP64()
		MOVL(at(s, 4*i), b.state[i].As32())
		MOVL(at(s, fieldRepeats+4*i), b.repeats[i].As32())
	}
	MOVL(at(s, fieldMaxOffset), t.As32())
	MOVQ(t, b.maximum)
	MOVQ(at(s, fieldLits), t)
	MOVQ(t, b.lits)
	MOVQ(at(s, fieldMatches), t)
	MOVQ(t, b.matches)
	Comment("The load ends with the last byte that has bits left.")
	MOVQ(at(s, fieldLeft), b.at)
	MOVQ(b.at, b.used)
	ADDQ(U8(7), b.at)
	SHRQ(U8(3), b.at)
	NEGQ(b.used)
	ANDL(U8(7), b.used.As32())
	Load(Param("src").Base(), t)
	LEAQ(Mem{Base: t, Index: b.at, Scale: 1, Disp: -8}, b.at)
	Comment("The last load of a sequence begins up to 8 bytes before the first.")
	ADDQ(U8(9), t)
	MOVQ(t, b.first)
	Load(Param("seqs"), b.seq)
	Load(Param("n"), t)
	LEAQ(Mem{Base: t, Index: t, Scale: 2}, t)
	LEAQ(Mem{Base: b.seq, Index: t, Scale: 4}, t)
	MOVQ(t, b.end)
	Load(Param("tables"), b.tables)
	CMPQ(b.seq, b.end)
	JEQ(LabelRef("done"))
	CMPQ(b.at, b.first)
	JCS(LabelRef("done"))
}

// load loads the cells, and as many bits as one load can.
func (b *sequenceBits) load() {
	for i, r := range b.state {
		MOVQ(Mem{Base: b.tables, Index: r, Scale: 8, Disp: i * tableCells * cellBytes}, r)
	}
	b.window()
	Comment("The sum of the two low bytes of the sum of the cells is the number of bits.")
	total, states := GP64(), GP64()
	LEAQ(Mem{Base: b.state[0], Index: b.state[1], Scale: 1}, total)
	ADDQ(b.state[2], total)
	MOVL(total.As32(), states.As32())
	SHRL(U8(8), states.As32())
	ADDL(states.As32(), total.As32())
	MOVBLZX(total.As8(), total.As32())
	CMPL(total.As32(), U8(maxLoadBits))
	JHI(LabelRef("many"))
	ADDQ(total, b.used)
}

func (b *sequenceBits) window() {
	MOVQ(at(b.at, 0), b.bits)
	MOVQ(b.used, b.place)
	NEGQ(b.place)
}

// fields extracts the values of a sequence and the next states. With many set it loads bits three
// times.
func (b *sequenceBits) fields(many bool) {
	again := func(kinds ...int) {
		if !many {
			return
		}
		for _, k := range kinds {
			n := GP64()
			MOVBLZX(b.state[k].As8(), n.As32())
			ADDQ(n, b.used)
		}
		b.advance()
		b.window()
	}
	b.field(b.state[kindOff], b.offset)
	b.addBase(kindOff, b.offset)
	again(kindOff)

	length := GP64()
	b.field(b.state[kindMatch], length)
	b.addBase(kindMatch, length)
	MOVL(length.As32(), at(b.seq, 4))
	ADDQ(length, b.matches)
	length = GP64()
	b.field(b.state[kindLit], length)
	b.addBase(kindLit, length)
	MOVL(length.As32(), at(b.seq, 0))
	ADDQ(length, b.lits)
	again(kindMatch, kindLit)

	for _, k := range []int{kindLit, kindMatch, kindOff} {
		cell := b.state[k]
		SHRL(U8(8), cell.As32())
		if many {
			n := GP64()
			MOVBLZX(cell.As8(), n.As32())
			ADDQ(n, b.used)
		}
		v := GP64()
		b.field(cell, v)
		SHRL(U8(8), cell.As32())
		ADDL(v.As32(), cell.As32())
	}
}

// field extracts the next bits, whose number is in the low byte of n.
func (b *sequenceBits) field(n, v reg.GPVirtual) {
	SUBQ(n, b.place)
	SHRXQ(b.place, b.bits, v)
	BZHIQ(n, v, v)
}

// addBase adds the base of a cell to a value.
func (b *sequenceBits) addBase(kind int, v reg.GPVirtual) {
	base := GP64()
	MOVQ(b.state[kind], base)
	SHRQ(U8(32), base)
	ADDL(base.As32(), v.As32())
}

// advance goes on by whole bytes that have been consumed.
func (b *sequenceBits) advance() {
	whole := GP64()
	MOVQ(b.used, whole)
	SHRQ(U8(3), whole)
	SUBQ(whole, b.at)
	ANDL(U8(7), b.used.As32())
}

// repeat replaces values up to 3 by repeat offsets. The list changes without branches, but for the
// most frequent cases.
func (b *sequenceBits) repeat() {
	r := b.repeats
	i, x := GP64(), GP64()
	LEAL(at(b.offset, 2), i.As32())
	CMPL(i.As32(), U8(2))
	JLS(LabelRef("repeat"))
	MOVQ(r[1], r[2])
	MOVQ(r[0], r[1])
	MOVQ(b.offset, r[0])
	JMP(LabelRef("store"))

	Label("repeat")
	Comment("Without literals the next repeat offset is meant.")
	CMPL(at(b.seq, 0), U8(1))
	ADCL(U8(0), i.As32())
	MOVQ(r[0], b.offset)
	TESTL(i.As32(), i.As32())
	JEQ(LabelRef("store"))
	Comment("A first repeat offset of 1 less 1 becomes 1<<32 - 1.")
	LEAL(at(b.offset, -1), x.As32())
	CMPL(x.As32(), U8(1))
	SBBL(U8(0), x.As32())
	CMPL(i.As32(), U8(2))
	CMOVLEQ(r[2].As32(), x.As32())
	CMOVLCS(r[1].As32(), x.As32())
	CMOVLCC(r[1].As32(), r[2].As32())
	MOVQ(r[0], r[1])
	MOVQ(x, r[0])
	MOVQ(x, b.offset)
}

// commit stores the sequence and goes on.
func (b *sequenceBits) commit() {
	Label("store")
	MOVL(b.offset.As32(), at(b.seq, 8))
	CMPQ(b.offset, b.maximum)
	JHI(LabelRef("larger"))
	Label("next")
	b.advance()
	ADDQ(U8(seqBytes), b.seq)
	CMPQ(b.seq, b.end)
	JEQ(LabelRef("done"))
	CMPQ(b.at, b.first)
	JCC(LabelRef("loop"))
	JMP(LabelRef("done"))
	Label("larger")
	MOVQ(b.offset, b.maximum)
	JMP(LabelRef("next"))
}

func (b *sequenceBits) finish() {
	Label("done")
	s, t := GP64(), GP64()
	Load(Param("s"), s)
	for i := range b.state {
		MOVL(b.state[i].As32(), at(s, 4*i))
		MOVL(b.repeats[i].As32(), at(s, fieldRepeats+4*i))
	}
	MOVQ(b.maximum, t)
	MOVL(t.As32(), at(s, fieldMaxOffset))
	MOVQ(b.lits, t)
	MOVQ(t, at(s, fieldLits))
	MOVQ(b.matches, t)
	MOVQ(t, at(s, fieldMatches))
	t = GP64()
	Load(Param("src").Base(), t)
	SUBQ(t, b.at)
	LEAQ(Mem{Base: b.at, Disp: 8}, b.at)
	SHLQ(U8(3), b.at)
	SUBQ(b.used, b.at)
	MOVQ(b.at, at(s, fieldLeft))
	t = GP64()
	Load(Param("seqs"), t)
	SUBQ(t, b.seq)
	Store(b.seq, Return("bytes"))
	RET()
}
