package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	copySlack = 32 // bytes written behind the content and read behind the literals
	seqBytes  = 12
	seqType   = "*struct{LitLen, MatchLen, Offset uint32}"
)

// executeAVX2 emits executeAVX2 and executeLongAVX2. For each sequence they copy 16 literals and 32
// or 96 bytes of match. Most are shorter, and the branch for longer ones
// is predicted well. Matches with offsets below 32 copy 16 bytes at a time.
func executeAVX2() {
	execute("executeAVX2", 32,
		"executeAVX2 carries out sequences. It stops before one for which dst or lits has less than 32",
		"bytes of slack, and before one whose offset reaches before the beginning of dst. It requires at",
		"to be in dst, and offsets of at least 16. It returns the size of the sequences carried out, the",
		"position behind the last one, and the number of literals used.")
	execute("executeLongAVX2", 96,
		"executeLongAVX2 does the work of executeAVX2 for sequences with many matches of more than 32",
		"bytes. It stops before a sequence for which dst has less than 96 bytes of slack.")
}

// executeNearAVX2 emits executeNearAVX2 and executeNearLongAVX2.
func executeNearAVX2() {
	executeWith(&executor{least: 32, near: true}, "executeNearAVX2",
		"executeNearAVX2 does the work of executeAVX2 for offsets of at least 1.")
	executeWith(&executor{least: 96, near: true}, "executeNearLongAVX2",
		"executeNearLongAVX2 does the work of executeLongAVX2 for offsets of at least 1.")
}

// executor has the registers of the execute kernels.
type executor struct {
	least     int  // bytes of match that every sequence copies: 32 or 96
	near      bool // offsets may be below 16
	dst, pos  reg.GPVirtual
	room      reg.GPVirtual // last position in dst at which a sequence may end
	lits      reg.GPVirtual
	most      reg.GPVirtual // last position of lits at which a literal run may end
	seq, end  reg.GPVirtual
	lit       reg.GPVirtual // literal run; scratch behind the literals
	match     reg.GPVirtual // match length
	offset    reg.GPVirtual
	litEnd    reg.GPVirtual
	mid, next reg.GPVirtual // beginning and end of the match
	from      reg.GPVirtual // source of the match
	x, y      reg.VecVirtual
}

func execute(name string, least int, doc ...string) {
	executeWith(&executor{least: least}, name, doc...)
}

func executeWith(e *executor, name string, doc ...string) {
	TEXT(name, attr.NOSPLIT,
		"func(dst []byte, at int, lits []byte, seqs "+seqType+", n int) (bytes, end, used int)")
	Pragma("noescape")
	Doc(doc...)
	e.begin()
	e.sequence()
	e.copyMatch()
	e.copyLiterals()
	if e.near {
		e.copyNear()
	}
	e.finish()
}

func (e *executor) begin() {
	e.dst, e.pos, e.room = GP64(), GP64(), GP64()
	e.lits, e.most = GP64(), GP64()
	e.seq, e.end = GP64(), GP64()
	Load(Param("dst").Base(), e.dst)
	Load(Param("dst").Len(), e.room)
	Load(Param("at"), e.pos)
	Load(Param("lits").Base(), e.lits)
	Load(Param("lits").Len(), e.most)
	LEAQ(Mem{Base: e.lits, Index: e.most, Scale: 1, Disp: -copySlack}, e.most)
	SUBQ(I8(e.least), e.room)
	Load(Param("seqs"), e.seq)
	Load(Param("n"), e.end)
	LEAQ(Mem{Base: e.end, Index: e.end, Scale: 2}, e.end)
	LEAQ(Mem{Base: e.seq, Index: e.end, Scale: 4}, e.end)
}

// sequence loads the next sequence, checks it, and copies its first 16 literals.
func (e *executor) sequence() {
	Label("loop")
	CMPQ(e.seq, e.end)
	JEQ(LabelRef("done"))
	e.lit, e.match, e.offset = GP64(), GP64(), GP64()
	e.litEnd, e.mid, e.next, e.from = GP64(), GP64(), GP64(), GP64()
	MOVL(at(e.seq, 0), e.lit.As32())
	MOVL(at(e.seq, 4), e.match.As32())
	MOVL(at(e.seq, 8), e.offset.As32())
	Comment("Signed comparisons: with less than the slack the limits are below 0.")
	LEAQ(Mem{Base: e.lits, Index: e.lit, Scale: 1}, e.litEnd)
	CMPQ(e.litEnd, e.most)
	JGT(LabelRef("done"))
	LEAQ(Mem{Base: e.pos, Index: e.lit, Scale: 1}, e.mid)
	LEAQ(Mem{Base: e.mid, Index: e.match, Scale: 1}, e.next)
	CMPQ(e.next, e.room)
	JGT(LabelRef("done"))
	MOVQ(e.mid, e.from)
	SUBQ(e.offset, e.from)
	JCS(LabelRef("done"))
	e.x, e.y = XMM(), YMM()
	VMOVDQU(at(e.lits, 0), e.x)
	VMOVDQU(e.x, Mem{Base: e.dst, Index: e.pos, Scale: 1})
	CMPL(e.lit.As32(), U8(16))
	JHI(LabelRef("literals"))
}

// copyMatch copies the match and goes on with the next sequence.
func (e *executor) copyMatch() {
	Label("match")
	MOVQ(e.litEnd, e.lits)
	MOVQ(e.next, e.pos)
	ADDQ(I8(seqBytes), e.seq)
	if e.near {
		CMPL(e.offset.As32(), U8(16))
		JCS(LabelRef("pattern"))
	}
	if e.least == 32 {
		Comment("Copies of 16 bytes are correct for every offset from 16 on.")
		e.copyVector(e.x, 0)
		e.copyVector(e.x, 16)
		CMPL(e.match.As32(), U8(32))
		JLS(LabelRef("loop"))
		CMPL(e.offset.As32(), U8(32))
		JCS(LabelRef("near"))
		e.copyRest("far", e.y, 32, 32)
		e.copyRest("near", e.x, 16, 32)
		return
	}
	CMPL(e.offset.As32(), U8(32))
	JCS(LabelRef("near"))
	for disp := 0; disp < e.least; disp += 32 {
		e.copyVector(e.y, disp)
	}
	CMPL(e.match.As32(), U8(e.least))
	JLS(LabelRef("loop"))
	e.copyRest("far", e.y, 32, e.least)
	e.copyRest("near", e.x, 16, 0)
}

// copyVector copies one vector of the match, disp bytes from its beginning, through v.
func (e *executor) copyVector(v reg.VecVirtual, disp int) {
	VMOVDQU(Mem{Base: e.dst, Index: e.from, Scale: 1, Disp: disp}, v)
	VMOVDQU(v, Mem{Base: e.dst, Index: e.mid, Scale: 1, Disp: disp})
}

// copyRest copies the match behind its first done bytes, step bytes at a time, through v.
func (e *executor) copyRest(label string, v reg.VecVirtual, step, done int) {
	Label(label)
	e.copyVector(v, done)
	ADDQ(I8(step), e.from)
	ADDQ(I8(step), e.mid)
	if done > 0 {
		LEAQ(at(e.mid, done), e.lit)
		CMPQ(e.lit, e.next)
	} else {
		CMPQ(e.mid, e.next)
	}
	JLT(LabelRef(label))
	JMP(LabelRef("loop"))
}

// copyNear copies a match with an offset below 16. It makes 16 bytes that repeat the match, and
// stores them at multiples of the offset.
func (e *executor) copyNear() {
	Label("pattern")
	shuffles, step := GP64(), GP64()
	LEAQ(nearShuffles(), shuffles)
	SHLL(U8(4), e.offset.As32())
	VMOVDQU(Mem{Base: e.dst, Index: e.from, Scale: 1}, e.x)
	VPSHUFB(Mem{Base: shuffles, Index: e.offset, Scale: 1}, e.x, e.x)
	SHRL(U8(4), e.offset.As32())
	MOVBLZX(Mem{Base: shuffles, Index: e.offset, Scale: 1, Disp: 256}, step.As32())
	Label("patterns")
	VMOVDQU(e.x, Mem{Base: e.dst, Index: e.mid, Scale: 1})
	ADDQ(step, e.mid)
	CMPQ(e.mid, e.next)
	JLT(LabelRef("patterns"))
	JMP(LabelRef("loop"))
}

// nearShuffles returns a section with 16 shuffles of 16 bytes, by offset, and behind them the
// largest multiple of each offset up to 16.
func nearShuffles() Mem {
	p := make([]byte, 16*16+16)
	for offset := 1; offset < 16; offset++ {
		for i := range 16 {
			p[16*offset+i] = byte(i % offset)
		}
		p[256+offset] = byte(16 / offset * offset)
	}
	p[256] = 16
	return constant("nearShuffles", p)
}

// copyLiterals copies the literals behind the first 16, and goes on with the match.
func (e *executor) copyLiterals() {
	Label("literals")
	ADDQ(I8(16), e.lits)
	ADDQ(I8(16), e.pos)
	VMOVDQU(at(e.lits, 0), e.y)
	VMOVDQU(e.y, Mem{Base: e.dst, Index: e.pos, Scale: 1})
	ADDQ(I8(16), e.lits)
	ADDQ(I8(16), e.pos)
	LEAQ(at(e.lits, 16), e.lit)
	CMPQ(e.lit, e.litEnd)
	JLT(LabelRef("literals"))
	JMP(LabelRef("match"))
}

func (e *executor) finish() {
	Label("done")
	VZEROUPPER()
	start := GP64()
	Load(Param("seqs"), start)
	SUBQ(start, e.seq)
	Store(e.seq, Return("bytes"))
	Store(e.pos, Return("end"))
	Load(Param("lits").Base(), start)
	SUBQ(start, e.lits)
	Store(e.lits, Return("used"))
	RET()
}
