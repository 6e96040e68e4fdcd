package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowHashType is the type RowHashParse of package kernels; the constants are offsets of its fields.
const rowHashType = "struct{At, Anchor, NextInsert, End, PendingLen, PendingOffset int; " +
	"Repeats [3]int; " +
	"Lazy, Nice, MinRowMatch, MinRepeatMatch, MaxOffset, UseRepeats, Depth int; " +
	"Shift, HashMask, Base uint64; callEnd, bad int}"

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
	prime32  = 0x9E3779B1 // multipliers of 32-bit hashes, as in package lz77
	prime32b = 0x85EBCA77
	tagBits  = 7 // highest bits of an entry; the others are Base + position + 1

	// ring is the number of positions whose row and entry are kept. They are computed, and the rows
	// prefetched, ahead positions before the search needs them.
	ring  = 64
	ahead = 32
)

// rowHashData has the constant tables.
type rowHashData struct {
	low, high    Mem // shuffles: the first and the second 4 bytes at each of 8 positions
	mul, mulHigh Mem // multipliers of both
	places       Mem // 1 to 8
	rotate       Mem // permutation that moves each entry by one place
	tags         Mem // the tag bits of an entry
	multiples    Mem // leastMultiple
}

func newRowHashData(multiples Mem) (d rowHashData) {
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
	d.multiples = multiples
	return d
}

// rowHashParser has the state that the parts of a kernel share. A Mem is a local variable in the
// frame.
type rowHashParser struct {
	data       rowHashData
	st, src, q reg.GPVirtual // q is the position that is searched
	rowState
	best matchState

	than                              Mem // score that a match at q must exceed
	repeatLen, repeatOffset, repeated Mem // best match at q, and its score
	foundLen                          Mem // length of the best match from a row
	learn, room, out                  Mem // ends of sequences: with valid costs, of the slice, written
	scratch                           reg.GPVirtual
	labels                            int
}

// rowState is the state of kernels with rows.
type rowState struct {
	vectors                         int // vectors of 8 entries in a row; 0 for candidates
	low, high, mask, places, rotate reg.VecVirtual
	tags, shift, left               reg.VecVirtual

	hashed            Mem // end of the positions with a row and an entry
	offs, ents, found Mem // rings of row offsets and of entries; offsets of the candidates at q
}

// matchState is the best match of a lazy search.
type matchState struct{ at, ahead, len, offset, score Mem }

// rows reports whether candidates come from rows.
func (p *rowHashParser) rows() bool { return p.vectors > 0 }

func (p *rowHashParser) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

// bytes returns the content at a position.
func (p *rowHashParser) bytes(index reg.Register, disp int) Mem {
	return Mem{Base: p.src, Index: index, Scale: 1, Disp: disp}
}

func indexed(m Mem, index reg.Register) Mem {
	m.Index, m.Scale = index, 4
	return m
}

// label returns a name that no other label has.
func (p *rowHashParser) label(name string) string {
	p.labels++
	return fmt.Sprint(name, p.labels)
}

// rowHash emits a kernel that is parseLazy of package lz77, position for position, with rows that
// hold the latest entry first.
func rowHash(depth int, data rowHashData) {
	p := &rowHashParser{data: data, rowState: rowState{
		vectors: depth / 8,
		low:     YMM(), high: YMM(), mask: YMM(), places: YMM(), rotate: YMM(),
		tags: YMM(), shift: XMM(), left: XMM(),
	}}
	p.emitParser(fmt.Sprintf("parseRowHash%dAVX2", depth), "ParseRowHash", "rows",
		fmt.Sprintf("rows of %d entries", depth))
}

// candidates emits the same parse with one candidate for each position.
func candidates() {
	new(rowHashParser).emitParser("parseCandidatesAVX2", "ParseCandidates", "candidates",
		"one candidate for each position")
}

func (p *rowHashParser) emitParser(name, exported, candidates, what string) {
	TEXT(name, attr.NOSPLIT,
		"func(s *"+rowHashType+", src []byte, "+candidates+" *uint32, cost *[256]uint8, "+
			"seqs "+seqType+", room, costsValid int) (bytes int)")
	Pragma("noescape")
	Doc(name+" continues a lazy parse, with "+what+", until it",
		"reaches s.callEnd or has written room sequences, or has to weigh a match after costsValid",
		"sequences. It returns the size of the sequences. See "+exported+" for other requirements.")
	p.begin()
	p.searchStep()
	p.judge()
	p.writeBest()
	p.finish()
}

// begin allocates the frame and loads constants.
func (p *rowHashParser) begin() {
	p.st, p.src, p.q = GP64(), GP64(), GP64()
	if p.rows() {
		p.offs, p.ents, p.found = AllocLocal(4*ring), AllocLocal(4*ring), AllocLocal(32*p.vectors)
	}
	b := &p.best
	for _, m := range []*Mem{
		&p.hashed, &p.than, &p.foundLen, &p.repeatLen, &p.repeatOffset, &p.repeated,
		&b.at, &b.ahead, &b.len, &b.offset, &b.score, &p.learn, &p.room, &p.out,
	} {
		*m = AllocLocal(8)
	}
	Load(Param("s"), p.st)
	Load(Param("src").Base(), p.src)
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
	if p.rows() {
		p.beginRows(t, u)
	}
}

// beginRows loads the constants for rows. t and u are scratch.
func (p *rowHashParser) beginRows(t, u reg.GPVirtual) {
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
