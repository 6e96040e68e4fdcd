package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	// Constants of package kernels.
	inflateLiteralBits = 11 // bits that index the primary table of literals and lengths
	inflateOffsetBits  = 8  // bits that index the primary table of offsets
	inflateInput       = 16 // least input of the kernel, in bytes
	inflateRoom        = 300
	inflateLiteral     = 1 << 15 // flag of an entry: a literal
	inflateSpecial     = 1 << 14 // flag: no literal, no base
	inflateSubtable    = 1 << 13 // flag: go on in a subtable

	inflateLiterals = 2 // literals in front of the last item of an iteration
	inflateType     = "*struct{In, Out int; Bits uint64; Count uint; Length int}"
	inflateTables   = "*struct{Literals [4096]uint32; Offsets [512]uint32}"

	offsetTable = 4 * 4096 // where the table of offsets begins

	// The least number of valid bits before an offset: 28 for the offset, and 10 of the 11 that
	// look up the next entry. One more bit than counted is always there.
	inflateOffsetNeed = 38
)

// inflater has the registers of inflateAVX2 and inflateSymbolsAVX2. The low 8 bits of count are the
// number of valid bits; the others are garbage, because whole entries are subtracted.
type inflater struct {
	unit            int // bytes of a literal in the content: 1, or 2 for symbols
	tables, in, out reg.GPVirtual
	bits, count     reg.GPVirtual
	saved           reg.GPVirtual // bits before the last entry was consumed
	entry           reg.GPVirtual // of the next literal or length: not consumed yet
	offset          reg.GPVirtual // entry of an offset, if that comes next
	length, from    reg.GPVirtual // of a match: its length, and its offset
	lastIn, lastOut reg.GPVirtual // limits of an iteration
	base            Mem           // beginning of the content
}

// inflateAVX2 loads the entry of the next literal or length and that of an offset, before it tests
// whether the present symbol is a literal. Then a mispredicted branch does not delay the next load.
// It looks up each entry before the refill that follows, and before it copies a match. So the load
// overlaps with both.
func inflateAVX2() {
	TEXT("inflateAVX2", attr.NOSPLIT,
		"func(s "+inflateType+", tables "+inflateTables+", dst, src []byte)")
	Pragma("noescape")
	Doc("inflateAVX2 decodes symbols while src has 16 bytes and dst has room for 300. It stops before an",
		"item that is neither a literal nor a valid match. If this is the offset of a match, s.Length is",
		"the length of the match, else it is unchanged. It requires s.In and s.Out in the slices, s.Count",
		"below 64, and subtables that lie in the tables.")
	(&inflater{unit: 1}).all()
}

// inflateSymbolsAVX2 decodes into 16-bit symbols. It doubles offsets and lengths, and copies
// matches as bytes.
func inflateSymbolsAVX2() {
	TEXT("inflateSymbolsAVX2", attr.NOSPLIT,
		"func(s "+inflateType+", tables "+inflateTables+", dst []uint16, src []byte)")
	Pragma("noescape")
	Doc("inflateSymbolsAVX2 is inflateAVX2 with content of 16-bit symbols.")
	(&inflater{unit: 2}).all()
}

func (f *inflater) all() {
	f.begin()
	f.items()
	f.match()
	f.copyMatch()
	f.unusual()
	f.finish()
}

func (f *inflater) begin() {
	f.base = AllocLocal(8)
	f.tables, f.in, f.out, f.bits, f.count = GP64(), GP64(), GP64(), GP64(), GP64()
	f.entry, f.offset, f.saved, f.length = GP64(), GP64(), GP64(), GP64()
	f.lastIn, f.lastOut = GP64(), GP64()
	s, t := GP64(), GP64()
	Load(Param("s"), s)
	Load(Param("tables"), f.tables)
	MOVQ(at(s, 16), f.bits)
	MOVQ(at(s, 24), f.count)
	Load(Param("src").Base(), f.in)
	Load(Param("src").Len(), f.lastIn)
	LEAQ(Mem{Base: f.in, Index: f.lastIn, Scale: 1, Disp: -inflateInput}, f.lastIn)
	ADDQ(at(s, 0), f.in)
	Load(Param("dst").Base(), f.out)
	MOVQ(f.out, f.base)
	Load(Param("dst").Len(), t)
	LEAQ(Mem{Base: f.out, Index: t, Scale: uint8(f.unit), Disp: -inflateRoom * f.unit}, f.lastOut)
	MOVQ(at(s, 8), t)
	LEAQ(Mem{Base: f.out, Index: t, Scale: uint8(f.unit)}, f.out)
	Comment("Signed comparisons: the limits may be below the beginnings of the slices.")
	CMPQ(f.in, f.lastIn)
	JGT(LabelRef("done"))
	f.refill()
	f.look(f.entry)
}

// refill makes at least 56 bits valid.
func (f *inflater) refill() {
	w, n := GP64(), GP64()
	SHLXQ(f.count, at(f.in, 0), w)
	ORQ(w, f.bits)
	MOVL(f.count.As32(), n.As32())
	SHRL(U8(3), n.As32())
	ANDL(U8(7), n.As32())
	ADDQ(U8(7), f.in)
	SUBQ(n, f.in)
	ORL(U8(56), f.count.As32())
}

// look loads the entry of the next literal or length.
func (f *inflater) look(entry reg.GPVirtual) {
	i := GP64()
	MOVL(f.bits.As32(), i.As32())
	ANDL(U32(1<<inflateLiteralBits-1), i.As32())
	MOVL(Mem{Base: f.tables, Index: i, Scale: 4}, entry.As32())
}

// lookOffset loads the entry of the next offset.
func (f *inflater) lookOffset() {
	MOVBLZX(f.bits.As8(), f.offset.As32())
	MOVL(Mem{Base: f.tables, Index: f.offset, Scale: 4, Disp: offsetTable}, f.offset.As32())
}

// consume consumes the bits of an entry, and keeps those before.
func (f *inflater) consume(entry reg.GPVirtual) {
	MOVQ(f.bits, f.saved)
	SHRXQ(entry, f.bits, f.bits)
	SUBL(entry.As32(), f.count.As32())
}

// value returns the base in an entry plus the extra bits behind its codeword, which the saved bits
// begin with.
func (f *inflater) value(entry, v reg.GPVirtual) {
	n := GP64()
	BZHIQ(entry, f.saved, v)
	MOVL(entry.As32(), n.As32())
	SHRL(U8(8), n.As32())
	SHRXQ(n, v, v)
	SHRL(U8(16), entry.As32())
	ADDQ(entry, v)
}

// literal stores the literal of the entry.
func (f *inflater) literal() {
	SHRL(U8(16), f.entry.As32())
	if f.unit == 1 {
		MOVB(f.entry.As8(), at(f.out, 0))
		INCQ(f.out)
		return
	}
	MOVW(f.entry.As16(), at(f.out, 0))
	ADDQ(U8(2), f.out)
}

// items decodes literals, up to a length.
func (f *inflater) items() {
	Label("loop")
	CMPQ(f.in, f.lastIn)
	JGT(LabelRef("done"))
	CMPQ(f.out, f.lastOut)
	JGT(LabelRef("done"))
	for k := range inflateLiterals + 1 {
		next := GP64()
		f.consume(f.entry)
		f.look(next)
		f.lookOffset()
		TESTL(U32(inflateLiteral), f.entry.As32())
		JEQ(LabelRef("base"))
		f.literal()
		MOVL(next.As32(), f.entry.As32())
		if k == inflateLiterals {
			f.refill()
		}
	}
	JMP(LabelRef("loop"))
}

// match decodes a length and an offset, and looks up the entry behind them.
func (f *inflater) match() {
	Label("base")
	TESTL(U32(inflateSpecial), f.entry.As32())
	JNE(LabelRef("special"))
	Label("length")
	f.value(f.entry, f.length)
	CMPB(f.count.As8(), U8(inflateOffsetNeed))
	JCS(LabelRef("refill"))
	Label("offset")
	TESTL(U32(inflateSpecial), f.offset.As32())
	JNE(LabelRef("specialOffset"))
	Label("valid")
	f.consume(f.offset)
	f.look(f.entry)
	f.from = GP64()
	t := GP64()
	MOVL(f.offset.As32(), t.As32())
	f.value(t, f.from)
	if f.unit == 2 {
		ADDQ(f.from, f.from)
	}
	t = GP64()
	MOVQ(f.out, t)
	SUBQ(f.from, t)
	CMPQ(t, f.base)
	JCS(LabelRef("tooFar"))
	f.refill()
}

// copyMatch copies a match of f.length units, whose offset is in f.from, in bytes.
func (f *inflater) copyMatch() {
	offset, end, x, y := f.from, f.length, XMM(), YMM()
	from := GP64()
	MOVQ(f.out, from)
	SUBQ(offset, from)
	LEAQ(Mem{Base: f.out, Index: f.length, Scale: uint8(f.unit)}, end)
	// An offset of 16 units allows copies of 16 units.
	first := []reg.VecVirtual{x, y}[f.unit-1]
	CMPQ(offset, U8(16*f.unit))
	JCS(LabelRef([]string{"pattern", "close"}[f.unit-1]))
	move := func(v reg.VecVirtual, disp int) {
		VMOVDQU(at(from, disp), v)
		VMOVDQU(v, at(f.out, disp))
	}
	Comment("Copies of 16 units are correct for every offset from 16 on.")
	move(first, 0)
	move(first, 16*f.unit)
	ADDQ(U8(32*f.unit), f.out)
	CMPQ(f.out, end)
	JCS(LabelRef("more"))
	Label("copied")
	MOVQ(end, f.out)
	JMP(LabelRef("loop"))

	Label("more")
	ADDQ(U8(32*f.unit), from)
	if f.unit == 1 {
		CMPQ(offset, U8(32))
		JCS(LabelRef("near"))
	}
	for _, c := range []struct {
		label string
		v     reg.VecVirtual
		step  uint8
	}{{"far", y, 32}, {"near", x, 16}} {
		Label(c.label)
		move(c.v, 0)
		ADDQ(U8(c.step), from)
		ADDQ(U8(c.step), f.out)
		CMPQ(f.out, end)
		JCS(LabelRef(c.label))
		JMP(LabelRef("copied"))
	}

	if f.unit == 2 {
		Label("close")
		CMPQ(offset, U8(16))
		JCC(LabelRef("near"))
	}
	Label("pattern")
	shuffles, step := GP64(), GP64()
	LEAQ(nearShuffles(), shuffles)
	MOVBLZX(Mem{Base: shuffles, Index: offset, Scale: 1, Disp: 256}, step.As32())
	SHLL(U8(4), offset.As32())
	VMOVDQU(at(from, 0), x)
	VPSHUFB(Mem{Base: shuffles, Index: offset, Scale: 1}, x, x)
	Label("patterns")
	VMOVDQU(x, at(f.out, 0))
	ADDQ(step, f.out)
	CMPQ(f.out, end)
	JCS(LabelRef("patterns"))
	JMP(LabelRef("copied"))
}

// unusual handles subtables, and a refill between a length and its offset.
func (f *inflater) unusual() {
	Label("refill")
	f.refill()
	JMP(LabelRef("offset"))

	Label("special")
	f.restore(f.entry)
	TESTL(U32(inflateSubtable), f.entry.As32())
	JEQ(LabelRef("done"))
	i := f.subtable(f.entry, inflateLiteralBits)
	MOVL(Mem{Base: f.tables, Index: i, Scale: 4}, f.entry.As32())
	TESTL(U32(inflateSpecial), f.entry.As32())
	JNE(LabelRef("done"))
	f.consume(f.entry)
	f.lookOffset()
	TESTL(U32(inflateLiteral), f.entry.As32())
	JEQ(LabelRef("length"))
	f.literal()
	f.look(f.entry)
	f.refill()
	JMP(LabelRef("loop"))

	Label("specialOffset")
	TESTL(U32(inflateSubtable), f.offset.As32())
	JEQ(LabelRef("pending"))
	i = f.subtable(f.offset, inflateOffsetBits)
	MOVL(Mem{Base: f.tables, Index: i, Scale: 4, Disp: offsetTable}, f.offset.As32())
	TESTL(U32(inflateSpecial), f.offset.As32())
	JEQ(LabelRef("valid"))
	JMP(LabelRef("pending"))

	Label("tooFar")
	f.restore(f.offset)
	Label("pending")
	s := GP64()
	Load(Param("s"), s)
	MOVQ(f.length, at(s, 32))
}

// restore undoes consume.
func (f *inflater) restore(entry reg.GPVirtual) {
	MOVQ(f.saved, f.bits)
	ADDL(entry.As32(), f.count.As32())
}

// subtable returns the index of an entry in the subtable that an entry names.
func (f *inflater) subtable(entry reg.GPVirtual, primary int) reg.GPVirtual {
	i, n := GP64(), GP64()
	MOVL(entry.As32(), n.As32())
	SHRL(U8(8), n.As32())
	ANDL(U8(15), n.As32())
	MOVQ(f.bits, i)
	SHRQ(U8(primary), i)
	BZHIQ(n, i, i)
	SHRL(U8(16), entry.As32())
	ADDQ(entry, i)
	return i
}

func (f *inflater) finish() {
	Label("done")
	VZEROUPPER()
	s, t := GP64(), GP64()
	Load(Param("s"), s)
	Load(Param("src").Base(), t)
	SUBQ(t, f.in)
	MOVQ(f.in, at(s, 0))
	Load(Param("dst").Base(), t)
	SUBQ(t, f.out)
	if f.unit == 2 {
		SHRQ(U8(1), f.out)
	}
	MOVQ(f.out, at(s, 8))
	MOVQ(f.bits, at(s, 16))
	ANDL(U8(63), f.count.As32())
	MOVQ(f.count, at(s, 24))
	RET()
}
