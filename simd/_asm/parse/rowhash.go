package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// recentType is simd's RowHashParse, and these are the offsets of its fields.
const rowHashType = "struct{At, Anchor, NextInsert, End, PendingLen, PendingOffset int; Repeats [3]int; Lazy, Nice, MinRowMatch, MinRepeatMatch, MaxOffset, UseRepeats, Depth int; Shift, HashMask, Base uint64; callEnd, bad int}"

const (
	rcAt = 8 * iota
	rcAnchor
	rcNextInsert
	rcEnd
	rcPendingLen
	rcPendingOffset
	rcRepeats
	_
	_
	rcLazy
	rcNice
	rcMinRowMatch
	rcMinRepeatMatch
	rcMaxOffset
	rcUseRepeats
	rcDepth
	rcShift
	rcHashMask
	rcBase
	rcCallEnd
	rcBad
)

const (
	prime32  = 0x9E3779B1 // lz77's
	prime32b = 0x85EBCA77
	tagBits  = 7 // of an entry, the highest; the others are the position, and 1 and the base more

	candidateOffsetBits = 24 // lz77's CandidateBits

	shortMatch = 8 // lz77's
	matchBits  = 4
	costLog    = 3

	// ring is how many positions there are places and entries for, and ahead how far in front of the search these are made and rows are fetched, in positions.
	ring  = 64
	ahead = 32
)

// recentData is where tables are.
type rowHashData struct{ low, high, mul, mulHigh, places, rotate, tags, far Mem }

func newRowHashData(far Mem) (d rowHashData) {
	bytes := func(name string, f func(i int) int) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for i := range 32 {
			DATA(i, U8(f(i)))
		}
		return m
	}
	words := func(name string, f func(i int) uint32) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for i := range 8 {
			DATA(4*i, U32(f(i)))
		}
		return m
	}
	d.low = bytes("rowHashLow", func(i int) int { return i/4 + i%4 })
	d.high = bytes("rowHashHigh", func(i int) int { return i/4 + i%4 + 4 })
	d.mul = words("rowHashMul", func(int) uint32 { return prime32 })
	d.mulHigh = words("rowHashMulHigh", func(int) uint32 { return prime32b })
	d.places = words("rowHashPlaces", func(i int) uint32 { return uint32(i + 1) })
	d.rotate = words("rowHashRotate", func(i int) uint32 { return uint32(i+7) % 8 })
	d.tags = words("rowHashTags", func(int) uint32 { return 1<<32 - 1<<(32-tagBits) })
	d.far = far
	return d
}

// recentParser is what the parts of the kernel have in common.
type rowHashParser struct {
	data                              rowHashData
	vectors                           int // of 8 entries, in a row
	st, src, q                        reg.GPVirtual
	low, high, mask, places, rotate   reg.VecVirtual
	tags, shift, left                 reg.VecVirtual
	offs, ents, found                 Mem // places of rows, entries, and offsets of candidates
	hashed, than, foundLen            Mem
	repeatLen, repeatOffset, repeated Mem // repeated is the score
	at, ahead, len, offset, score     Mem // the best match so far, and how far beyond it the search is
	learn, room                       Mem // ends of sequences
	labels                            int
}

// rows reports whether candidates come from rows.
func (p *rowHashParser) rows() bool { return p.vectors > 0 }

func (p *rowHashParser) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

func (p *rowHashParser) bytes(index reg.Register, disp int) Mem {
	return Mem{Base: p.src, Index: index, Scale: 1, Disp: disp}
}

func indexed(m Mem, index reg.Register) Mem {
	m.Index, m.Scale = index, 4
	return m
}

// label makes a name that is used once.
func (p *rowHashParser) label(name string) string {
	p.labels++
	return fmt.Sprint(name, p.labels)
}

// recent is lz77's parseLazy, position for position, with rows that hold the latest entry first.
func rowHash(depth int, data rowHashData) {
	p := &rowHashParser{data: data, vectors: depth / 8, low: YMM(), high: YMM(), mask: YMM(), places: YMM(), rotate: YMM(), tags: YMM(), shift: XMM(), left: XMM()}
	p.parser(fmt.Sprintf("parseRowHash%dAVX2", depth), "ParseRowHash", "rows", fmt.Sprintf("rows of %d entries", depth))
}

// given is the same with candidates that somebody else has found.
func candidates() {
	new(rowHashParser).parser("parseCandidatesAVX2", "ParseCandidates", "candidates", "candidates candidates")
}

// parser makes the function.
func (p *rowHashParser) parser(name, exported, candidates, what string) {
	TEXT(name, attr.NOSPLIT, "func(s *"+rowHashType+", src []byte, "+candidates+" *uint32, cost *[256]uint8, seqs "+seqType+", room, costsValid int) (bytes int)")
	Pragma("noescape")
	Doc(name+" goes on with a parse, with "+what+", until stop, or until there is no room for another sequence, or a match is to be weighed after",
		"costsValid sequences or more. It returns the size of the sequences. See "+exported+" for what the arguments must be.")
	p.st, p.src, p.q = GP64(), GP64(), GP64()
	if p.rows() {
		p.offs, p.ents, p.found = AllocLocal(4*ring), AllocLocal(4*ring), AllocLocal(32*p.vectors)
	}
	for _, m := range []*Mem{&p.hashed, &p.than, &p.foundLen, &p.repeatLen, &p.repeatOffset, &p.repeated, &p.at, &p.ahead, &p.len, &p.offset, &p.score, &p.learn, &p.room} {
		*m = AllocLocal(8)
	}
	out := AllocLocal(8)
	Load(Param("s"), p.st)
	Load(Param("src").Base(), p.src)
	p.begin()
	t := GP64()
	Load(Param("seqs"), t)
	MOVQ(t, out)
	CMPQ(p.field(rcPendingLen), I8(0))
	JNE(LabelRef("resume"))

	Label("loop")
	MOVQ(p.field(rcCallEnd), t)
	CMPQ(p.q, t)
	JGE(LabelRef("stop"))
	for _, m := range []Mem{p.than, p.ahead, p.len, p.score} {
		MOVQ(I32(0), m)
	}

	Label("step")
	p.repeats("search", "judge")
	Label("search")
	if p.rows() {
		p.enter(p.q)
		p.search("judge")
	} else {
		p.look("judge")
	}

	Label("judge")
	s := GP64()
	MOVQ(p.repeated, s)
	CMPQ(s, p.than)
	JLE(LabelRef("worse"))
	MOVQ(s, p.score)
	MOVQ(p.repeatLen, s)
	MOVQ(s, p.len)
	MOVQ(p.repeatOffset, t)
	MOVQ(t, p.offset)
	MOVQ(p.q, p.at)
	XORL(t.As32(), t.As32())
	CMPQ(s, p.field(rcNice))
	JGE(LabelRef("settle"))
	JMP(LabelRef("further"))
	Label("worse")
	CMPQ(p.len, I8(0))
	JEQ(LabelRef("nothing"))
	MOVQ(p.ahead, t)
	Label("further")
	CMPQ(t, p.field(rcLazy))
	JGE(LabelRef("settle"))
	INCQ(t)
	MOVQ(t, p.ahead)
	MOVQ(p.at, p.q)
	ADDQ(t, p.q)
	CMPQ(p.q, p.field(rcEnd))
	JGE(LabelRef("settle"))
	Comment("one position further a match must have 4 bits more, two positions 7")
	LEAQ(Mem{Base: t, Index: t, Scale: 2, Disp: 1}, t)
	ADDQ(p.score, t)
	MOVQ(t, p.than)
	JMP(LabelRef("step"))

	Label("nothing")
	MOVQ(p.q, t)
	SUBQ(p.field(rcAnchor), t)
	SHRQ(U8(8), t)
	INCQ(t)
	MOVL(U32(maxStep), s.As32())
	CMPQ(t, s)
	CMOVQGT(s, t)
	ADDQ(t, p.q)
	JMP(LabelRef("loop"))

	n, d := GP64(), GP64()
	Label("settle")
	MOVQ(p.at, p.q)
	MOVQ(p.len, n)
	MOVQ(p.offset, d)
	for i := range 3 {
		CMPQ(d, p.field(rcRepeats+8*i))
		JEQ(LabelRef("emit"))
	}
	CMPQ(n, I8(shortMatch))
	JGE(LabelRef("emit"))
	MOVQ(out, t)
	CMPQ(t, p.learn)
	JCC(LabelRef("unknown"))
	Label("weigh")
	p.weigh(n, d, "emit")
	MOVQ(p.field(rcNextInsert), p.q)
	JMP(LabelRef("loop"))

	Label("resume")
	MOVQ(p.field(rcPendingLen), n)
	MOVQ(p.field(rcPendingOffset), d)
	MOVQ(I32(0), p.field(rcPendingLen))
	JMP(LabelRef("weigh"))
	Label("unknown")
	MOVQ(n, p.field(rcPendingLen))
	MOVQ(d, p.field(rcPendingOffset))
	JMP(LabelRef("done"))

	Label("emit")
	p.emit(out, n, d)
	MOVQ(out, t)
	CMPQ(t, p.room)
	JCS(LabelRef("loop"))
	JMP(LabelRef("done"))

	Label("stop")
	CMPQ(p.q, p.field(rcEnd))
	JGE(LabelRef("done"))
	if p.rows() {
		p.enter(t)
	}

	Label("done")
	VZEROUPPER()
	MOVQ(p.q, p.field(rcAt))
	MOVQ(out, t)
	SUBQ(param(Param("seqs")), t)
	Store(t, Return("bytes"))
	RET()
}

// begin loads what does not change.
func (p *rowHashParser) begin() {
	t, u := GP64(), GP64()
	MOVQ(p.field(rcAt), p.q)
	for _, c := range []struct {
		count gotypes.Component
		to    Mem
	}{{Param("costsValid"), p.learn}, {Param("room"), p.room}} {
		Load(c.count, t)
		LEAQ(Mem{Base: t, Index: t, Scale: 2}, t)
		SHLQ(U8(2), t)
		ADDQ(param(Param("seqs")), t)
		MOVQ(t, c.to)
	}
	if !p.rows() {
		return
	}
	MOVQ(p.field(rcNextInsert), t)
	ANDQ(I8(-8), t)
	MOVQ(t, p.hashed)
	VPBROADCASTD(p.field(rcHashMask), p.mask)
	VPBROADCASTD(p.field(rcBase), p.places)
	VPADDD(p.data.places, p.places, p.places)
	VMOVDQU(p.data.low, p.low)
	VMOVDQU(p.data.high, p.high)
	VMOVDQU(p.data.rotate, p.rotate)
	VMOVDQU(p.data.tags, p.tags)
	MOVQ(p.field(rcShift), t)
	VMOVQ(t, p.shift)
	MOVL(U32(32), u.As32())
	SUBQ(t, u)
	VMOVQ(u, p.left)
}

// weigh goes on at pays if a match of n bytes at q with offset d takes fewer bits than its bytes as literals.
func (p *rowHashParser) weigh(n, d reg.GPVirtual, pays string) {
	sum, cost, i, b := GP64(), GP64(), GP64(), GP64()
	LZCNTL(d.As32(), sum.As32())
	SUBL(I8(32+matchBits), sum.As32())
	SHLL(U8(costLog), sum.As32())
	Load(Param("cost"), cost)
	LEAQ(p.bytes(p.q, 0), i)
	end := GP64()
	LEAQ(Mem{Base: i, Index: n, Scale: 1}, end)
	Label("literal")
	MOVBLZX(Mem{Base: i}, b.As32())
	MOVBLZX(Mem{Base: cost, Index: b, Scale: 1}, b.As32())
	ADDL(b.As32(), sum.As32())
	INCQ(i)
	CMPQ(i, end)
	JLT(LabelRef("literal"))
	TESTL(sum.As32(), sum.As32())
	JGT(LabelRef(pays))
}

// emit writes a sequence with a match of n bytes at q, or from before it, and moves on.
func (p *rowHashParser) emit(out Mem, n, d reg.GPVirtual) {
	c, lit, k, v := GP64(), GP64(), GP64(), GP64()
	MOVQ(p.q, c)
	SUBQ(d, c)
	MOVQ(p.q, lit)
	SUBQ(p.field(rcAnchor), lit)
	XORL(k.As32(), k.As32())
	{
		at := GP64()
		MOVQ(p.src, at)
		Label("back")
		CMPQ(k, lit)
		JGE(LabelRef("backed"))
		CMPQ(k, c)
		JGE(LabelRef("backed"))
		MOVB(Mem{Base: at, Index: p.q, Scale: 1, Disp: -1}, v.As8())
		CMPB(v.As8(), Mem{Base: at, Index: c, Scale: 1, Disp: -1})
		JNE(LabelRef("backed"))
		DECQ(at)
		INCQ(k)
		JMP(LabelRef("back"))
	}
	Label("backed")
	SUBQ(k, lit)
	ADDQ(n, p.q)
	ADDQ(k, n)
	to := GP64()
	MOVQ(out, to)
	MOVL(lit.As32(), Mem{Base: to})
	MOVL(n.As32(), Mem{Base: to, Disp: 4})
	MOVL(d.As32(), Mem{Base: to, Disp: 8})
	ADDQ(I8(seqBytes), to)
	MOVQ(to, out)
	MOVQ(p.q, p.field(rcAnchor))
	MOVQ(p.field(rcRepeats), v)
	CMPQ(d, v)
	JEQ(LabelRef("used"))
	MOVQ(p.field(rcRepeats+8), k)
	CMPQ(d, k)
	JEQ(LabelRef("second"))
	MOVQ(k, p.field(rcRepeats+16))
	Label("second")
	MOVQ(v, p.field(rcRepeats+8))
	MOVQ(d, p.field(rcRepeats))
	Label("used")
}
