package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// recentType is simd's RecentParse, and these are the offsets of its fields.
const recentType = "struct{At, Anchor, Next, End, Length, Offset int; Repeats [3]int; Lazy, Nice, Least, MinMatch, MaxOffset, UseRepeats, Depth int; Shift, HashMask, Base uint64; stop int}"

const (
	rcAt = 8 * iota
	rcAnchor
	rcNext
	rcEnd
	rcLength
	rcOffset
	rcRepeats
	_
	_
	rcLazy
	rcNice
	rcLeast
	rcMinMatch
	rcMaxOffset
	rcUseRepeats
	rcDepth
	rcShift
	rcHashMask
	rcBase
	rcStop
)

const (
	prime32  = 0x9E3779B1 // lz77's
	prime32b = 0x85EBCA77
	tagBits  = 7 // of an entry, the highest; the others are the position, and 1 and the base more

	shortMatch = 8 // lz77's
	matchBits  = 4
	costBit    = 8

	// ring is how many positions there are places and entries for, and ahead how far in front of the search these are made and rows are fetched, in positions.
	ring  = 64
	ahead = 32
)

// recentData are tables of 32 bytes or less.
type recentData struct{ low, high, mul, mulHigh, places, rotate, tags, far Mem }

func newRecentData(far Mem) (d recentData) {
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
	d.low = bytes("recentLow", func(i int) int { return i/4 + i%4 })
	d.high = bytes("recentHigh", func(i int) int { return i/4 + i%4 + 4 })
	d.mul = words("recentMul", func(int) uint32 { return prime32 })
	d.mulHigh = words("recentMulHigh", func(int) uint32 { return prime32b })
	d.places = words("recentPlaces", func(i int) uint32 { return uint32(i + 1) })
	d.rotate = words("recentRotate", func(i int) uint32 { return uint32(i+7) % 8 })
	d.tags = words("recentTags", func(int) uint32 { return 1<<32 - 1<<(32-tagBits) })
	d.far = far
	return d
}

// recentParser is what the parts of the kernel have in common.
type recentParser struct {
	data                              recentData
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

func (p *recentParser) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

func (p *recentParser) bytes(index reg.Register, disp int) Mem {
	return Mem{Base: p.src, Index: index, Scale: 1, Disp: disp}
}

func indexed(m Mem, index reg.Register) Mem {
	m.Index, m.Scale = index, 4
	return m
}

// label makes a name that is used once.
func (p *recentParser) label(name string) string {
	p.labels++
	return fmt.Sprint(name, p.labels)
}

// recent is lz77's parseLazy, position for position, with rows that hold the latest entry first.
func recent(depth int, data recentData) {
	TEXT(fmt.Sprintf("parseRecent%dAVX2", depth), attr.NOSPLIT,
		"func(s *"+recentType+", src []byte, rows *uint32, cost *[256]uint8, seqs "+seqType+", room, fresh int) (bytes int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("parseRecent%dAVX2 goes on with a parse until stop, or until there is no room for another sequence, or a match is to be weighed with fresh sequences or more made. It returns the size of the", depth),
		"sequences. See ParseRecent for what the arguments must be.")
	p := &recentParser{data: data, vectors: depth / 8, st: GP64(), src: GP64(), q: GP64(),
		low: YMM(), high: YMM(), mask: YMM(), places: YMM(), rotate: YMM(), tags: YMM(), shift: XMM(), left: XMM()}
	p.offs, p.ents, p.found = AllocLocal(4*ring), AllocLocal(4*ring), AllocLocal(4*depth)
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
	CMPQ(p.field(rcLength), I8(0))
	JNE(LabelRef("resume"))

	Label("loop")
	MOVQ(p.field(rcStop), t)
	CMPQ(p.q, t)
	JGE(LabelRef("stop"))
	for _, m := range []Mem{p.than, p.ahead, p.len, p.score} {
		MOVQ(I32(0), m)
	}

	Label("step")
	p.repeats("search", "judge")
	Label("search")
	p.enter(p.q)
	p.search("judge")

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
	MOVQ(p.field(rcNext), p.q)
	JMP(LabelRef("loop"))

	Label("resume")
	MOVQ(p.field(rcLength), n)
	MOVQ(p.field(rcOffset), d)
	MOVQ(I32(0), p.field(rcLength))
	JMP(LabelRef("weigh"))
	Label("unknown")
	MOVQ(n, p.field(rcLength))
	MOVQ(d, p.field(rcOffset))
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
	p.enter(t)

	Label("done")
	VZEROUPPER()
	MOVQ(p.q, p.field(rcAt))
	MOVQ(out, t)
	SUBQ(param(Param("seqs")), t)
	Store(t, Return("bytes"))
	RET()
}

// begin takes what does not change from the state.
func (p *recentParser) begin() {
	t, u := GP64(), GP64()
	MOVQ(p.field(rcAt), p.q)
	MOVQ(p.field(rcNext), t)
	ANDQ(I8(-8), t)
	MOVQ(t, p.hashed)
	for _, c := range []struct {
		count gotypes.Component
		to    Mem
	}{{Param("fresh"), p.learn}, {Param("room"), p.room}} {
		Load(c.count, t)
		LEAQ(Mem{Base: t, Index: t, Scale: 2}, t)
		SHLQ(U8(2), t)
		ADDQ(param(Param("seqs")), t)
		MOVQ(t, c.to)
	}
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

// hash makes the places of rows and the entries of the next 8 positions, and fetches the rows.
func (p *recentParser) hash() {
	b, t := GP64(), GP64()
	x, y, e := YMM(), YMM(), YMM()
	MOVQ(p.hashed, b)
	VBROADCASTI128(p.bytes(b, 0), x)
	VPSHUFB(p.high, x, y)
	VPSHUFB(p.low, x, x)
	VPAND(p.mask, y, y)
	VPMULLD(p.data.mul, x, x)
	VPMULLD(p.data.mulHigh, y, y)
	VPADDD(y, x, x)
	VMOVD(b.As32(), e.AsX())
	VPBROADCASTD(e.AsX(), e)
	VPADDD(p.places, e, e)
	VPSLLD(p.left, x, y)
	VPAND(p.tags, y, y)
	VPADDD(y, e, e)
	VPSRLD(p.shift, x, x)
	VPSLLD(U8(4+bits.Len(uint(p.vectors))), x, x)
	MOVL(b.As32(), t.As32())
	ANDL(I8(ring-1), t.As32())
	VMOVDQU(e, indexed(p.ents, t))
	VMOVDQU(x, indexed(p.offs, t))
	ADDQ(I8(8), b)
	MOVQ(b, p.hashed)
	Load(Param("rows"), b)
	for i := range 8 {
		r, place := GP64(), indexed(p.offs, t)
		place.Disp += 4 * i
		MOVL(place, r.As32())
		PREFETCHT0(Mem{Base: b, Index: r, Scale: 1})
	}
}

// enter puts the positions up to to, or where next is, into their rows, and hashes those that are near.
func (p *recentParser) enter(to reg.GPVirtual) {
	more, ready, one, done := p.label("enter"), p.label("ready"), p.label("one"), p.label("entered")
	i, t := GP64(), GP64()
	MOVQ(p.field(rcNext), i)
	Label(more)
	LEAQ(Mem{Base: i, Disp: ahead}, t)
	CMPQ(p.hashed, t)
	JGE(LabelRef(ready))
	MOVQ(p.field(rcEnd), t)
	CMPQ(p.hashed, t)
	JGT(LabelRef(ready))
	p.hash()
	JMP(LabelRef(more))
	Label(ready)
	MOVQ(to, t)
	SUBQ(i, t)
	JLE(LabelRef(done))
	k := GP64()
	MOVL(U32(8), k.As32())
	CMPQ(t, k)
	CMOVQGT(k, t)
	ADDQ(i, t)
	Label(one)
	e := YMM()
	row := p.row(i, e)
	v := make([]reg.VecVirtual, p.vectors)
	for k := range v {
		v[k] = YMM()
		VPERMD(row(k), p.rotate, v[k])
	}
	p.shiftIn(e, v, row)
	INCQ(i)
	CMPQ(i, t)
	JLT(LabelRef(one))
	JMP(LabelRef(more))
	Label(done)
	MOVQ(i, p.field(rcNext))
}

// row broadcasts the entry of a position that is hashed, and says where its row is.
func (p *recentParser) row(i reg.GPVirtual, e reg.VecVirtual) func(k int) Mem {
	k, r := GP64(), GP64()
	MOVL(i.As32(), k.As32())
	ANDL(I8(ring-1), k.As32())
	MOVL(indexed(p.offs, k), r.As32())
	VPBROADCASTD(indexed(p.ents, k), e)
	ADDQ(param(Param("rows")), r)
	return func(k int) Mem { return Mem{Base: r, Disp: 32 * k} }
}

// shiftIn stores a row that is rotated, vector by vector, with a new entry in front and without the last.
func (p *recentParser) shiftIn(e reg.VecVirtual, v []reg.VecVirtual, row func(k int) Mem) {
	for k := len(v) - 1; k >= 0; k-- {
		from := e
		if k > 0 {
			from = v[k-1]
		}
		x := YMM()
		VPBLENDD(U8(1), from, v[k], x)
		VMOVDQU(x, row(k))
	}
}

// extend counts the bytes that are equal at c and q, in n.
func (p *recentParser) extend(c, n reg.GPVirtual) {
	vector, bytes, one, unlike, done := p.label("vector"), p.label("bytes"), p.label("byte"), p.label("unlike"), p.label("counted")
	most, v, y := GP64(), GP64(), YMM()
	Load(Param("src").Len(), most)
	SUBQ(p.q, most)
	XORL(n.As32(), n.As32())
	SUBQ(I8(32), most)
	JLT(LabelRef(bytes))
	Label(vector)
	LEAQ(p.bytes(n, 0), v)
	VMOVDQU(Mem{Base: v, Index: p.q, Scale: 1}, y)
	VPCMPEQB(Mem{Base: v, Index: c, Scale: 1}, y, y)
	VPMOVMSKB(y, v.As32())
	XORL(I8(-1), v.As32())
	JNE(LabelRef(unlike))
	ADDQ(I8(32), n)
	CMPQ(n, most)
	JLE(LabelRef(vector))
	Label(bytes)
	ADDQ(I8(32), most)
	Label(one)
	CMPQ(n, most)
	JGE(LabelRef(done))
	LEAQ(p.bytes(n, 0), v)
	{
		b := GP64()
		MOVB(Mem{Base: v, Index: p.q, Scale: 1}, b.As8())
		CMPB(b.As8(), Mem{Base: v, Index: c, Scale: 1})
	}
	JNE(LabelRef(done))
	INCQ(n)
	JMP(LabelRef(one))
	Label(unlike)
	TZCNTL(v.As32(), v.As32())
	ADDQ(v, n)
	Label(done)
}

// repeats looks for the longest match with one of the last offsets. It goes on at nice if that has Nice bytes.
func (p *recentParser) repeats(search, nice string) {
	n, d := GP64(), GP64()
	XORL(n.As32(), n.As32())
	MOVQ(n, p.repeated)
	CMPQ(p.field(rcUseRepeats), I8(0))
	JEQ(LabelRef(search))
	XORL(d.As32(), d.As32())
	MOVQ(p.field(rcMinMatch), n)
	DECQ(n)
	v := GP64()
	MOVL(p.bytes(p.q, 0), v.As32())
	for i := range 3 {
		no := p.label("unlike")
		c, m := GP64(), GP64()
		MOVQ(p.q, c)
		SUBQ(p.field(rcRepeats+8*i), c)
		JLT(LabelRef(no))
		CMPL(v.As32(), p.bytes(c, 0))
		JNE(LabelRef(no))
		p.extend(c, m)
		CMPQ(m, n)
		JLE(LabelRef(no))
		MOVQ(m, n)
		MOVQ(p.field(rcRepeats+8*i), d)
		Label(no)
	}
	TESTQ(d, d)
	JEQ(LabelRef(search))
	MOVQ(n, p.repeatLen)
	MOVQ(d, p.repeatOffset)
	MOVQ(n, v)
	SHLQ(U8(2), v)
	INCQ(v)
	MOVQ(v, p.repeated)
	CMPQ(n, p.field(rcNice))
	JGE(LabelRef(nice))
}

// search looks at the candidates of q, which comes into its row, and goes on at done, with the better of the best of them and the repeat.
func (p *recentParser) search(done string) {
	hits, best, off, d, c, t := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	{
		e, limit := YMM(), YMM()
		row := p.row(p.q, e)
		MOVQ(p.field(rcMaxOffset), t)
		CMPQ(p.q, t)
		CMOVQLT(p.q, t)
		VMOVD(t.As32(), limit.AsX())
		VPBROADCASTD(limit.AsX(), limit)
		v := make([]reg.VecVirtual, p.vectors)
		for k := range v {
			v[k] = YMM()
			x, y := YMM(), YMM()
			VMOVDQU(row(k), v[k])
			Comment("an offset that is one, and possible, if the tags are equal")
			VPSUBD(v[k], e, x)
			VPMINUD(x, limit, y)
			VPCMPEQD(x, y, y)
			to := p.found
			to.Disp += 32 * k
			VMOVDQU(x, to)
			if k == 0 {
				VMOVMSKPS(y, hits.As32())
			} else {
				VMOVMSKPS(y, t.As32())
				SHLL(U8(8*k), t.As32())
				ORL(t.As32(), hits.As32())
			}
		}
		for k := range v {
			VPERMD(v[k], p.rotate, v[k])
		}
		p.shiftIn(e, v, row)
	}
	LEAQ(Mem{Base: p.q, Disp: 1}, t)
	MOVQ(t, p.field(rcNext))
	TESTL(hits.As32(), hits.As32())
	JEQ(LabelRef(done))

	Comment("what is shorter cannot win")
	MOVQ(p.than, best)
	MOVQ(p.repeated, t)
	CMPQ(best, t)
	CMOVQLT(t, best)
	ADDQ(I8(5), best)
	SHRQ(U8(2), best)
	MOVQ(p.field(rcNice), t)
	SUBQ(I8(6), t)
	CMPQ(best, t)
	CMOVQGT(t, best)
	MOVQ(p.field(rcLeast), t)
	DECQ(t)
	CMPQ(best, t)
	CMOVQLT(t, best)
	LEAQ(Mem{Base: p.q, Index: best, Scale: 1}, t)
	CMPQ(t, param(Param("src").Len()))
	JGE(LabelRef(done))
	XORL(off.As32(), off.As32())

	p2, ends := GP64(), GP64()
	Label("ends")
	LEAQ(p.bytes(best, -3), p2)
	MOVL(Mem{Base: p2, Index: p.q, Scale: 1}, ends.As32())
	TESTL(hits.As32(), hits.As32())
	JEQ(LabelRef("looked"))
	Label("candidate")
	TZCNTL(hits.As32(), t.As32())
	MOVL(indexed(p.found, t), d.As32())
	BLSRL(hits.As32(), hits.As32())
	MOVQ(p.q, c)
	SUBQ(d, c)
	CMPL(d.As32(), I8(minOffset))
	JCS(LabelRef("near"))
	Label("compare")
	CMPL(ends.As32(), Mem{Base: p2, Index: c, Scale: 1})
	JNE(LabelRef("other"))
	m := GP64()
	p.extend(c, m)
	k := GP64()
	MOVQ(p.field(rcNice), k)
	CMPQ(m, k)
	CMOVQLT(m, k)
	SUBQ(best, k)
	JLE(LabelRef("other"))
	{
		first := p.label("first")
		TESTL(off.As32(), off.As32())
		JEQ(LabelRef(first))
		Comment("each 4 bits of offset need more than a byte")
		a, b := GP64(), GP64()
		LZCNTL(off.As32(), a.As32())
		LZCNTL(d.As32(), b.As32())
		SUBL(b.As32(), a.As32())
		MOVL(k.As32(), b.As32())
		SHLL(U8(2), b.As32())
		CMPL(b.As32(), a.As32())
		JLE(LabelRef("other"))
		Label(first)
	}
	MOVQ(m, p.foundLen)
	MOVL(d.As32(), off.As32())
	ADDQ(k, best)
	CMPQ(best, p.field(rcNice))
	JGE(LabelRef("looked"))
	LEAQ(Mem{Base: p.q, Index: m, Scale: 1}, t)
	CMPQ(t, param(Param("src").Len()))
	JLT(LabelRef("ends"))
	JMP(LabelRef("looked"))
	Label("other")
	TESTL(hits.As32(), hits.As32())
	JNE(LabelRef("candidate"))
	Label("looked")
	TESTL(off.As32(), off.As32())
	JEQ(LabelRef(done))
	LZCNTL(off.As32(), t.As32())
	n := m
	MOVQ(p.foundLen, n)
	LEAQ(Mem{Base: t, Index: n, Scale: 4, Disp: -32}, t)
	CMPQ(t, p.repeated)
	JLE(LabelRef(done))
	MOVQ(t, p.repeated)
	MOVQ(n, p.repeatLen)
	MOVQ(off, p.repeatOffset)
	JMP(LabelRef(done))

	Label("near")
	LEAQ(p.data.far, t)
	MOVBLZX(Mem{Base: t, Index: d, Scale: 1}, d.As32())
	MOVQ(p.q, c)
	SUBQ(d, c)
	JLT(LabelRef("other"))
	JMP(LabelRef("compare"))
}

// weigh goes on at pays if a match of n bytes at q with offset d takes fewer bits than its bytes as literals.
func (p *recentParser) weigh(n, d reg.GPVirtual, pays string) {
	sum, cost, i, b := GP64(), GP64(), GP64(), GP64()
	LZCNTL(d.As32(), sum.As32())
	SUBL(I8(32+matchBits), sum.As32())
	SHLL(U8(3), sum.As32()) // costBit
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
func (p *recentParser) emit(out Mem, n, d reg.GPVirtual) {
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
