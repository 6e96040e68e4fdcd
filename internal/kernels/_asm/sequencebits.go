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
	sequenceFields = "*struct{State, Repeats [3]uint32; MaxOffset uint32; " +
		"Lits, Matches uint64; Left int}"

	// offsets of the fields
	fieldRepeats   = 12
	fieldMaxOffset = 24
	fieldLits      = 32
	fieldMatches   = 40
	fieldLeft      = 48

	maxLoadBits = 56
)

// Numbers of the kinds of codes.
const kindLit, kindOff, kindMatch = 0, 1, 2

// sequenceBits has the registers of decodeSequencesAVX2.
type sequenceBits struct {
	tables reg.GPVirtual
	state  [3]reg.GPVirtual // by kind of code
	src    reg.GPVirtual
	left   reg.GPVirtual    // number of bits left
	recent [2]reg.GPVirtual // the first two repeat offsets
	third  Mem              // the third one
	seq    reg.GPVirtual

	end                    Mem // limit of seq
	lits, matches, maximum Mem

	// These belong to one sequence. Of the number in place the low 6 bits are valid: it is the
	// number of bits below the next field.
	cell                [3]reg.GPVirtual
	bits, place, offset reg.GPVirtual
}

// decodeSequencesAVX2 extracts each field by a shift to the right, which leaves it lowest, and by
// cutting off higher bits. The cells serve as operands: the instructions use their low 6 or 8 bits.
// Bases come from memory, for an addition from there is a single operation.
func decodeSequencesAVX2() {
	TEXT("decodeSequencesAVX2", attr.NOSPLIT,
		"func(s "+sequenceFields+", tables *[3][512]uint64, src []byte, seqs "+seqType+", n int) "+
			"(bytes int)")
	Pragma("noescape")
	Doc("decodeSequencesAVX2 decodes at most n sequences from the first s.Left bits of src. It stops when",
		"less than 128 bits are left. It requires n > 0, s.Left below the number of bits in src, and states",
		"below 512, in tables too. For an offset of 0 the result is 1<<32 − 1. It returns the size of the",
		"sequences decoded.")
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

const leastLeft = 128 // bits left for a sequence: 63 before its last load, which needs 56 to 64

func (b *sequenceBits) begin() {
	b.end, b.third = AllocLocal(8), AllocLocal(8)
	b.lits, b.matches, b.maximum = AllocLocal(8), AllocLocal(8), AllocLocal(8)
	b.tables, b.src, b.left, b.seq = GP64(), GP64(), GP64(), GP64()
	b.recent = [2]reg.GPVirtual{GP64(), GP64()}
	b.bits, b.place, b.offset = GP64(), GP64(), GP64()
	s, t := GP64(), GP64()
	Load(Param("s"), s)
	for i := range b.state {
		b.state[i], b.cell[i] = GP64(), GP64()
		MOVL(at(s, 4*i), b.state[i].As32())
	}
	for i, r := range b.recent {
		MOVL(at(s, fieldRepeats+4*i), r.As32())
	}
	for _, f := range []struct {
		at   int
		copy Mem
	}{{fieldRepeats + 8, b.third}, {fieldMaxOffset, b.maximum}} {
		MOVL(at(s, f.at), t.As32())
		MOVQ(t, f.copy)
	}
	MOVQ(at(s, fieldLits), t)
	MOVQ(t, b.lits)
	MOVQ(at(s, fieldMatches), t)
	MOVQ(t, b.matches)
	MOVQ(at(s, fieldLeft), b.left)
	Load(Param("src").Base(), b.src)
	Load(Param("seqs"), b.seq)
	Load(Param("n"), t)
	LEAQ(Mem{Base: t, Index: t, Scale: 2}, t)
	LEAQ(Mem{Base: b.seq, Index: t, Scale: 4}, t)
	MOVQ(t, b.end)
	Load(Param("tables"), b.tables)
	CMPQ(b.left, U32(leastLeft))
	JLT(LabelRef("done"))
}

// entry returns the memory of the cell of a state, disp bytes from its beginning.
func (b *sequenceBits) entry(kind, disp int) Mem {
	return Mem{Base: b.tables, Index: b.state[kind], Scale: 8, Disp: kind*tableCells*cellBytes + disp}
}

// load loads the cells, and the next bits.
func (b *sequenceBits) load() {
	for i, cell := range b.cell {
		MOVL(b.entry(i, 0), cell.As32())
	}
	Comment("The sum of the two low bytes of the sum of the cells is the number of bits.")
	total, states := GP64(), GP64()
	LEAL(Mem{Base: b.cell[0], Index: b.cell[1], Scale: 1}, total.As32())
	ADDL(b.cell[2].As32(), total.As32())
	MOVL(total.As32(), states.As32())
	SHRL(U8(8), states.As32())
	ADDL(states.As32(), total.As32())
	MOVBLZX(total.As8(), total.As32())
	CMPL(total.As32(), U8(maxLoadBits))
	JHI(LabelRef("many"))
	b.window()
	SUBQ(total, b.left)
}

// window loads 64 bits, of which up to 7 of the highest have been consumed.
func (b *sequenceBits) window() {
	MOVQ(b.left, b.place)
	SHRQ(U8(3), b.place)
	MOVQ(Mem{Base: b.src, Index: b.place, Scale: 1, Disp: -7}, b.bits)
	MOVQ(b.left, b.place)
	ORQ(U8(maxLoadBits), b.place)
}

// fields extracts the values of a sequence and the next states. With many set it loads bits three
// times.
func (b *sequenceBits) fields(many bool) {
	consume := func(kinds ...int) {
		if !many {
			return
		}
		for _, k := range kinds {
			n := GP64()
			MOVBLZX(b.cell[k].As8(), n.As32())
			SUBQ(n, b.left)
		}
	}
	if many {
		b.window()
	}
	again := func(kinds ...int) {
		consume(kinds...)
		if many {
			b.window()
		}
	}
	b.field(b.cell[kindOff], b.offset)
	ADDL(b.entry(kindOff, 4), b.offset.As32())
	again(kindOff)

	for _, f := range []struct {
		kind, disp int
		sum        Mem
	}{{kindMatch, 4, b.matches}, {kindLit, 0, b.lits}} {
		length := GP64()
		b.field(b.cell[f.kind], length)
		ADDL(b.entry(f.kind, 4), length.As32())
		MOVL(length.As32(), at(b.seq, f.disp))
		ADDQ(length, f.sum)
	}
	again(kindMatch, kindLit)

	for _, k := range []int{kindLit, kindMatch, kindOff} {
		cell := b.cell[k]
		SHRL(U8(8), cell.As32())
		consume(k)
		b.field(cell, b.state[k])
		SHRL(U8(8), cell.As32())
		ADDL(cell.As32(), b.state[k].As32())
	}
}

// field extracts the next bits, whose number is in the low byte of n.
func (b *sequenceBits) field(n, v reg.GPVirtual) {
	SUBQ(n, b.place)
	SHRXQ(b.place, b.bits, v)
	BZHIQ(n, v, v)
}

// repeat replaces values up to 3 by repeat offsets. The list changes without branches, but for the
// most frequent cases.
func (b *sequenceBits) repeat() {
	r := b.recent
	i, x, third := GP64(), GP64(), GP64()
	LEAL(at(b.offset, 2), i.As32())
	CMPL(i.As32(), U8(2))
	JLS(LabelRef("repeat"))
	MOVQ(r[1], b.third)
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
	MOVQ(b.third, third)
	CMPL(i.As32(), U8(2))
	CMOVLEQ(third.As32(), x.As32())
	CMOVLCS(r[1].As32(), x.As32())
	CMOVLCC(r[1].As32(), third.As32())
	MOVQ(third, b.third)
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
	ADDQ(U8(seqBytes), b.seq)
	CMPQ(b.seq, b.end)
	JEQ(LabelRef("done"))
	CMPQ(b.left, U32(leastLeft))
	JGE(LabelRef("loop"))
	JMP(LabelRef("done"))
	Label("larger")
	MOVQ(b.offset, b.maximum)
	JMP(LabelRef("next"))
}

func (b *sequenceBits) finish() {
	Label("done")
	s, t := GP64(), GP64()
	Load(Param("s"), s)
	for i, r := range b.state {
		MOVL(r.As32(), at(s, 4*i))
	}
	for i, r := range b.recent {
		MOVL(r.As32(), at(s, fieldRepeats+4*i))
	}
	MOVQ(b.third, t)
	MOVL(t.As32(), at(s, fieldRepeats+8))
	MOVQ(b.maximum, t)
	MOVL(t.As32(), at(s, fieldMaxOffset))
	MOVQ(b.lits, t)
	MOVQ(t, at(s, fieldLits))
	MOVQ(b.matches, t)
	MOVQ(t, at(s, fieldMatches))
	MOVQ(b.left, at(s, fieldLeft))
	t = GP64()
	Load(Param("seqs"), t)
	SUBQ(t, b.seq)
	Store(b.seq, Return("bytes"))
	RET()
}
