package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hashChainType is the type HashChainParse of package kernels; the constants are offsets of its
// fields.
const hashChainType = "struct{At, Anchor, NextInsert, End int; " +
	"Depth, Lazy, Nice, MinMatch, SureMatch, MaxOffset, Base int; Shift uint64}"

const (
	hcAt = 8 * iota
	hcAnchor
	hcNextInsert
	hcEnd
	hcDepth
	hcLazy
	hcNice
	hcMinMatch
	hcSureMatch
	hcMaxOffset
	hcBase
	hcShift
)

const (
	chainWindow   = 1 << 15 // links
	hash3Less     = 2       // bits by which the hash of 3 bytes is shorter
	maxChainMatch = 258     // greatest length of a match that a search returns
	chainBits     = 6       // bits of a match besides those of its offset
	chainLeast    = 3       // a search in a chain finds longer matches than that
)

// hashChainParser has the state that the parts of the kernel share. A Mem is a local variable in
// the frame, or a parameter.
type hashChainParser struct {
	st, src, q, links, shift reg.GPVirtual // q is the position that is searched

	p, low     reg.GPVirtual // candidate, and the least position of one
	best       reg.GPVirtual // length that a match must exceed
	left       reg.GPVirtual // number of candidates yet to compare
	tail, ends reg.GPVirtual // src + best − 3; the 4 bytes at tail + q
	n, t       reg.GPVirtual // length of a candidate; scratch

	length, distance, match reg.GPVirtual // of the match to take; match is its source

	chainFrame
	labels int
}

// chainFrame has the local variables of the kernel.
type chainFrame struct {
	next4, next3      Mem // hashes of the bytes at NextInsert
	old3              Mem // candidate with the same hash of 3 bytes
	least             Mem // best of the first search
	lowest            Mem // least position in the tables
	end               Mem // of the positions to search
	at, bestLen       Mem // the best match of the lazy search
	bestOffset, ahead Mem
	room, out         Mem // ends of sequences: of the slice, written
}

func (p *hashChainParser) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

// bytes returns the content at a position.
func (p *hashChainParser) bytes(index reg.Register, disp int) Mem {
	return Mem{Base: p.src, Index: index, Scale: 1, Disp: disp}
}

// label returns a name that no other label has.
func (p *hashChainParser) label(name string) string {
	p.labels++
	return fmt.Sprint(name, p.labels)
}

// hashChain emits parseHashChainAVX2, which is chains.parse of package lz77, position for position.
func hashChain() {
	TEXT("parseHashChainAVX2", attr.NOSPLIT,
		"func(s *"+hashChainType+", src []byte, heads3, heads4, links *int16, "+
			"cost *[256]uint8, seqs "+seqType+", room, stop int) (bytes int)")
	Pragma("noescape")
	Doc("parseHashChainAVX2 continues a parse until it reaches stop or has written room sequences. stop",
		"must be HashChainSlack below the length of src. It returns the size of the sequences. See",
		"ParseHashChain for other requirements.")
	p := &hashChainParser{}
	p.begin()
	p.first()
	p.lazy()
	p.emit()
	p.finish()
}

// begin allocates the frame, loads constants and hashes the first position to insert.
func (p *hashChainParser) begin() {
	p.st, p.src, p.q, p.links, p.shift = GP64(), GP64(), GP64(), GP64(), GP64()
	for _, m := range []*Mem{
		&p.next4, &p.next3, &p.old3, &p.least, &p.lowest, &p.end, &p.at, &p.bestLen, &p.bestOffset,
		&p.ahead, &p.room, &p.out,
	} {
		*m = AllocLocal(8)
	}
	Load(Param("s"), p.st)
	Load(Param("src").Base(), p.src)
	Load(Param("links"), p.links)
	MOVQ(p.field(hcShift), p.shift)
	t, u := GP64(), GP64()
	Load(Param("room"), t)
	LEAQ(Mem{Base: t, Index: t, Scale: 2}, t)
	SHLQ(U8(2), t)
	Load(Param("seqs"), u)
	MOVQ(u, p.out)
	ADDQ(u, t)
	MOVQ(t, p.room)
	MOVQ(p.field(hcMinMatch), t)
	DECQ(t)
	MOVL(U32(chainLeast), u.As32())
	CMPQ(t, u)
	CMOVQLT(u, t)
	MOVQ(t, p.least)
	Comment("positions are relative to Base from here on")
	h := GP64()
	MOVQ(p.field(hcBase), t)
	ADDQ(t, p.src)
	for _, f := range []int{hcAt, hcAnchor, hcNextInsert} {
		SUBQ(t, p.field(f))
	}
	SUBQ(t, param(Param("stop")))
	MOVQ(p.field(hcEnd), u)
	SUBQ(t, u)
	MOVL(U32(chainWindow), h.As32())
	CMPQ(u, h)
	CMOVQGT(h, u)
	MOVQ(u, p.end)
	NEGQ(t)
	MOVQ(I32(1-chainWindow), u)
	CMPQ(t, u)
	CMOVQLT(u, t)
	MOVQ(t, p.lowest)
	MOVQ(p.field(hcNextInsert), p.q)
	MOVL(p.bytes(p.q, 0), t.As32())
	p.hash(t, h)
	MOVQ(h, p.next4)
	p.hash3(t)
	MOVQ(t, p.next3)
	MOVQ(p.field(hcAt), p.q)
}

// emit writes the best match, extended backwards, and moves q behind it.
func (p *hashChainParser) emit() {
	n, d, c, lit, k, x, v := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	Label("settle")
	MOVQ(p.at, p.q)
	MOVQ(p.bestOffset, d)
	MOVQ(p.q, c)
	SUBQ(d, c)
	MOVQ(p.q, lit)
	SUBQ(p.field(hcAnchor), lit)
	MOVQ(p.field(hcBase), x)
	ADDQ(c, x)
	CMPQ(x, I8(8))
	JCS(LabelRef("far"))
	MOVQ(p.bytes(c, -8), k)
	XORQ(p.bytes(p.q, -8), k)
	Comment("a bit that differs where the literals end")
	MOVQ(U64(1<<63), x)
	MOVQ(lit, v)
	SHLQ(U8(3), v)
	SHRXQ(v, x, x)
	XORL(v.As32(), v.As32())
	CMPQ(lit, I8(8))
	CMOVQCC(v, x)
	ORQ(x, k)
	JEQ(LabelRef("long"))
	LZCNTQ(k, k)
	SHRQ(U8(3), k)
	Label("backed")
	MOVQ(p.bestLen, n)
	SUBQ(k, lit)
	ADDQ(n, p.q)
	ADDQ(k, n)
	MOVQ(p.out, x)
	MOVL(lit.As32(), Mem{Base: x})
	MOVL(n.As32(), Mem{Base: x, Disp: 4})
	MOVL(d.As32(), Mem{Base: x, Disp: 8})
	ADDQ(I8(seqBytes), x)
	MOVQ(x, p.out)
	MOVQ(p.q, p.field(hcAnchor))
	CMPQ(x, p.room)
	JCS(LabelRef("loop"))
	JMP(LabelRef("done"))

	Label("long")
	MOVQ(p.field(hcBase), x)
	ADDQ(c, x)
	Label("far")
	Comment("at most to the beginning of src")
	CMPQ(x, lit)
	CMOVQGT(lit, x)
	MOVQ(x, p.left)
	XORL(k.As32(), k.As32())
	MOVQ(p.src, x)
	Label("back")
	CMPQ(k, p.left)
	JGE(LabelRef("backed"))
	MOVB(Mem{Base: x, Index: p.q, Scale: 1, Disp: -1}, v.As8())
	CMPB(v.As8(), Mem{Base: x, Index: c, Scale: 1, Disp: -1})
	JNE(LabelRef("backed"))
	DECQ(x)
	INCQ(k)
	JMP(LabelRef("back"))
}

func (p *hashChainParser) finish() {
	Label("done")
	VZEROUPPER()
	MOVQ(p.q, p.field(hcAt))
	MOVL(U32(chainWindow), p.t.As32())
	CMPQ(p.q, p.t)
	JLT(LabelRef("within"))
	Comment("the rest of the window, which the caller slides next")
	MOVQ(p.t, p.q)
	p.insert()
	MOVQ(p.q, p.field(hcNextInsert))
	Label("within")
	MOVQ(p.field(hcBase), p.t)
	for _, f := range []int{hcAt, hcAnchor, hcNextInsert} {
		ADDQ(p.t, p.field(f))
	}
	MOVQ(p.out, p.t)
	SUBQ(param(Param("seqs")), p.t)
	Store(p.t, Return("bytes"))
	RET()
}

// slide emits slideAVX2.
func slide() {
	TEXT("slideAVX2", attr.NOSPLIT, "func(entries *int16, n int)")
	Pragma("noescape")
	Doc("slideAVX2 lowers n entries by the size of the window; those below 0 become the least. n is a",
		"multiple of 16 above 0.")
	at, n, by := GP64(), GP64(), YMM()
	Load(Param("entries"), at)
	Load(Param("n"), n)
	VPCMPEQD(by, by, by)
	VPSLLW(U8(15), by, by)
	Label("slide")
	y := YMM()
	VPADDSW(Mem{Base: at}, by, y)
	VMOVDQU(y, Mem{Base: at})
	ADDQ(I8(32), at)
	SUBQ(I8(16), n)
	JGT(LabelRef("slide"))
	VZEROUPPER()
	RET()
}
