package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Constants of PathParse of package kernels; the names beginning with rp are offsets of its fields.
const (
	pathParseType = "struct{At, End, From, Size int; MinNew, MinRepeat, Nice, MaxMisses int; " +
		"Drop uint64; Src []byte; Best, Literal, Second struct{" +
		"Nodes []struct{Cost [8]int32; Length, Offset [8]uint32}; " +
		"States []struct{Repeats [3]uint32; Run uint32}}; Literals [][3]int32; " +
		"FirstCand []uint32; Cands []uint64; RunClass *[320]uint8; Match *[16][4][320]int32; " +
		"Offset *[256]int32; Runs *struct{More, Compared [320]int32}; Empty, MaxLag, LiteralCost int32; " +
		"LiteralFrom uint32; MaxSecondLag int32}"

	rpAt            = 0
	rpEnd           = 8
	rpFrom          = 16
	rpSize          = 24
	rpMinNew        = 32
	rpMinRepeat     = 40
	rpNice          = 48
	rpMaxMisses     = 56
	rpDrop          = 64
	rpSrc           = 72
	rpNodes         = 96
	rpStates        = 120
	rpLiteralNodes  = 144
	rpLiteralStates = 168
	rpSecondNodes   = 192
	rpSecondStates  = 216
	rpLiterals      = 240
	rpFirstCand     = 264
	rpCands         = 288
	rpRunClass      = 312
	rpMatch         = 320
	rpOffset        = 328
	rpRuns          = 336
	rpEmpty         = 344
	rpMaxLag        = 348
	rpLiteralCost   = 352
	rpLiteralFrom   = 356
	rpMaxSecondLag  = 360

	unreached   = 1<<31 - 1
	fromLiteral = 1 << 30
	fromSecond  = 1 << 31
	pricedRuns  = 320
	rowBytes    = 4 * 320
	newOffset   = 3
	nodesLength = 32 // offsets in PathNodes
	nodesOffset = 64
	nodesBytes  = 96
	stateRun    = 12
	offsetBits  = 27
)

// relaxer has the registers of relaxPathsAVX2. The frame holds what goes from one position to the
// next: the cheapest literal edge to the next position, and the path that ends with a literal.
type relaxer struct {
	st, i                    reg.GPVirtual
	pendCost, pendFrom       Mem
	literalCost, literalFrom Mem
	run, literalRun          Mem
	state, literalState      reg.VecVirtual // states behind the last position
	zero                     reg.VecVirtual
	here                     reg.GPVirtual // cost of the position
	sp, rows                 reg.GPVirtual // addresses of its state and of the prices of lengths behind it
	second                   *secondPath   // nil for relaxPathsAVX2
	relaxData
	matches
}

// relaxData has constants.
type relaxData struct {
	lane  Mem // a vector for each k < 8 that is −1 in lane k
	lanes Mem // 0 … 7
	one   Mem // 1 in the lane of a run
}

// matches has the registers for the matches at a position.
type matches struct {
	base, cost       reg.VecVirtual // costs without the offset's price, and without the length's
	from, to, offset reg.VecVirtual // least length − 1, greatest length
	n, d, least      reg.GPVirtual  // greatest length, offset, least length
	row              reg.GPVirtual  // address of the prices of lengths
	cur, there, most reg.GPVirtual  // addresses of the position and of a repeat; bound of the length
}

func (p *relaxer) field(disp int) Mem { return Mem{Base: p.st, Disp: disp} }

// relaxPaths emits relaxPathsAVX2 and relaxSecondPathsAVX2.
func relaxPaths(lane Mem) {
	lanes := GLOBL("relaxLanes", attr.RODATA|attr.NOPTR)
	for k := range 8 {
		DATA(4*k, U32(uint32(k)))
	}
	one := GLOBL("relaxOne", attr.RODATA|attr.NOPTR)
	for k := range 4 {
		DATA(4*k, U32(uint32(k/3)))
	}
	flags := GLOBL("relaxFromSecond", attr.RODATA|attr.NOPTR)
	for k := range 8 {
		DATA(4*k, U32(fromSecond))
	}
	data := relaxData{lane, lanes, one}

	TEXT("relaxPathsAVX2", attr.NOSPLIT, "func(p *"+pathParseType+")")
	Pragma("noescape")
	Doc("relaxPathsAVX2 relaxes the edges of the positions from At on, up to End. See PathParse.")
	p := &relaxer{relaxData: data}
	p.enter()
	p.position()
	p.matchesAtPosition()
	p.leave()

	TEXT("relaxSecondPathsAVX2", attr.NOSPLIT, "func(p *"+pathParseType+")")
	Pragma("noescape")
	Doc("relaxSecondPathsAVX2 is relaxPathsAVX2 with second-cheapest paths.")
	p = &relaxer{relaxData: data, second: &secondPath{fromSecond: flags}}
	p.enterSecond()
	p.positionSecond()
	p.matchesAtPosition()
	p.leaveSecond()
}

// matchesAtPosition relaxes the matches of a position and goes on to the next one.
func (p *relaxer) matchesAtPosition() {
	p.repeats("", "candidates")
	p.candidates()
	Label("next")
	INCQ(p.i)
	JMP(LabelRef("position"))
	p.longRepeat("")
	p.takeLong()
}

func (p *relaxer) enter() {
	p.st, p.i = GP64(), GP64()
	p.pendCost, p.pendFrom, p.literalCost, p.literalFrom, p.run, p.literalRun =
		AllocLocal(4), AllocLocal(4), AllocLocal(4), AllocLocal(4), AllocLocal(4), AllocLocal(4)
	p.state, p.literalState, p.zero = XMM(), XMM(), XMM()
	Load(Param("p"), p.st)
	MOVQ(p.field(rpAt), p.i)
	VPXOR(p.zero, p.zero, p.zero)
	at, s, t := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: p.i, Disp: -1}, at)
	SHLQ(U8(4), at)
	MOVQ(p.field(rpStates), s)
	VMOVDQU(Mem{Base: s, Index: at, Scale: 1}, p.state)
	MOVL(Mem{Base: s, Index: at, Scale: 1, Disp: stateRun}, t.As32())
	MOVL(t.As32(), p.run)
	MOVQ(p.field(rpLiteralStates), s)
	VMOVDQU(Mem{Base: s, Index: at, Scale: 1}, p.literalState)
	MOVL(Mem{Base: s, Index: at, Scale: 1, Disp: stateRun}, t.As32())
	MOVL(t.As32(), p.literalRun)
	MOVL(p.field(rpLiteralCost), t.As32())
	MOVL(t.As32(), p.literalCost)
	MOVL(p.field(rpLiteralFrom), t.As32())
	MOVL(t.As32(), p.literalFrom)
	MOVL(I32(unreached), p.pendCost)
	MOVL(I32(0), p.pendFrom)
}

// position takes a position: its path and state, and its literal.
func (p *relaxer) position() {
	Label("position")
	CMPQ(p.i, p.field(rpEnd))
	JGE(LabelRef("done"))
	at, k, b, length, t := GP64(), GP64(), GP64(), GP64(), GP64()
	p.here, p.n = GP64(), GP64()
	p.block(at, k)
	MOVQ(p.field(rpNodes), b)
	ADDQ(at, b)
	Comment("the cheaper one of a match and a literal")
	MOVL(Mem{Base: b, Index: k, Scale: 4}, p.here.As32())
	MOVL(Mem{Base: b, Index: k, Scale: 4, Disp: nodesLength}, length.As32())
	MOVL(p.pendCost, t.As32())
	MOVL(p.pendFrom, p.n.As32())
	CMPL(t.As32(), p.here.As32())
	CMOVLLT(t.As32(), p.here.As32())
	CMOVLLT(p.n.As32(), length.As32())
	MOVL(length.As32(), p.n.As32())
	ANDL(U32(fromLiteral-1), p.n.As32())
	p.path(at, k, b, length)

	from := GP64()
	MOVL(p.literalFrom, from.As32())
	run, literalRun := p.runs(length, from)
	p.literal(length, from, run, literalRun)

	p.setRows(run)
	p.base = YMM()
	ADDL(p.field(rpEmpty), p.here.As32())
	broadcastD(p.here, p.base)
}

// path stores the length of the path's last edge and the states behind the paths.
func (p *relaxer) path(at, k, b, length reg.GPVirtual) {
	t, y, m, d := GP64(), YMM(), YMM(), XMM()
	VPBROADCASTD(Mem{Base: b, Index: k, Scale: 4, Disp: nodesOffset}, d)
	Comment("nodes are stored in vectors only: a load waits long for a narrower store")
	broadcastD(length, y)
	p.laneMask(k, m)
	setLane(m, y, Mem{Base: b, Disp: nodesLength})
	MOVQ(p.field(rpLiteralNodes), t)
	ADDQ(t, at)
	MOVL(p.literalFrom, t.As32())
	MOVL(t.As32(), Mem{Base: at, Index: k, Scale: 4, Disp: nodesLength})

	Comment("states behind a literal")
	literal, ends, mask := XMM(), XMM(), XMM()
	VPCMPEQD(y.AsX(), p.zero, mask)
	VPBLENDVB(mask, p.state, p.literalState, literal)
	VPADDD(p.one, literal, literal)
	VPBROADCASTD(p.literalFrom, ends)
	VPCMPEQD(ends, p.zero, ends)
	VPBLENDVB(ends, p.state, p.literalState, p.literalState)
	VPADDD(p.one, p.literalState, p.literalState)
	Comment("state behind a match")
	states, back := GP64(), GP64()
	MOVQ(p.field(rpStates), states)
	MOVQ(p.i, back)
	SUBQ(p.n, back)
	SHLQ(U8(4), back)
	shifted := XMM()
	p.useOffset(Mem{Base: states, Index: back, Scale: 1}, d, shifted)
	VMOVD(p.n.As32(), mask)
	VPBROADCASTD(mask, mask)
	VPCMPEQD(mask, p.zero, mask)
	VPBLENDVB(mask, literal, shifted, p.state)
	p.sp = GP64()
	MOVQ(p.i, p.sp)
	SHLQ(U8(4), p.sp)
	MOVQ(p.field(rpLiteralStates), t)
	VMOVDQU(p.literalState, Mem{Base: t, Index: p.sp, Scale: 1})
	ADDQ(states, p.sp)
	VMOVDQU(p.state, Mem{Base: p.sp})
}

// runs computes the runs behind the path, whose last edge has the given length, and behind the path
// that ends with a literal.
func (p *relaxer) runs(length, from reg.GPVirtual) (run, literalRun reg.GPVirtual) {
	run, literalRun = GP64(), GP64()
	a, zero := GP64(), GP64()
	XORL(zero.As32(), zero.As32())
	MOVL(p.literalRun, a.As32())
	MOVL(p.run, run.As32())
	MOVL(run.As32(), literalRun.As32())
	CMPL(length.As32(), U32(fromLiteral))
	CMOVLEQ(a.As32(), run.As32())
	TESTL(from.As32(), from.As32())
	CMOVLNE(a.As32(), literalRun.As32())
	INCL(run.As32())
	INCL(literalRun.As32())
	TESTL(p.n.As32(), p.n.As32())
	CMOVLNE(zero.As32(), run.As32())
	MOVL(run.As32(), p.run)
	MOVL(literalRun.As32(), p.literalRun)
	return run, literalRun
}

// literal relaxes the literal of the position, behind both paths.
func (p *relaxer) literal(length, from, run, literalRun reg.GPVirtual) {
	prices := GP64()
	LEAQ(Mem{Base: p.i, Index: p.i, Scale: 2}, prices)
	SHLQ(U8(2), prices)
	ADDQ(p.field(rpLiterals), prices)

	Comment("behind the path that ends with a literal, if that is not too dear nor the cheapest")
	a, comparedA, most, none := GP64(), GP64(), GP64(), GP64()
	MOVL(p.field(rpMaxLag), most.As32())
	ADDL(p.here.As32(), most.As32())
	MOVL(p.literalCost, a.As32())
	p.addLiteral(prices, literalRun, a, comparedA)
	MOVL(U32(unreached), none.As32())
	CMPL(most.As32(), p.literalCost)
	CMOVLLE(none.As32(), a.As32())
	CMOVLLE(none.As32(), comparedA.As32())
	CMPL(length.As32(), from.As32())
	CMOVLEQ(none.As32(), a.As32())
	CMOVLEQ(none.As32(), comparedA.As32())

	Comment("behind the cheapest path")
	b, comparedB := GP64(), GP64()
	MOVL(p.here.As32(), b.As32())
	p.addLiteral(prices, run, b, comparedB)

	zero, flag, cost := GP64(), GP64(), GP64()
	XORL(zero.As32(), zero.As32())
	MOVL(U32(fromLiteral), flag.As32())
	MOVL(a.As32(), cost.As32())
	CMPL(comparedB.As32(), comparedA.As32())
	CMOVLLT(b.As32(), cost.As32())
	CMOVLLT(zero.As32(), flag.As32())
	MOVL(cost.As32(), p.literalCost)
	MOVL(flag.As32(), p.literalFrom)
	MOVL(U32(fromLiteral), flag.As32())
	CMPL(b.As32(), a.As32())
	CMOVLLT(b.As32(), a.As32())
	CMOVLLT(zero.As32(), flag.As32())
	MOVL(a.As32(), p.pendCost)
	MOVL(flag.As32(), p.pendFrom)
}

// leave stores what the next call needs.
func (p *relaxer) leave() {
	Label("done")
	at, k, t := GP64(), GP64(), GP64()
	MOVQ(p.i, p.field(rpAt))
	MOVL(p.literalCost, t.As32())
	MOVL(t.As32(), p.field(rpLiteralCost))
	MOVL(p.literalFrom, t.As32())
	MOVL(t.As32(), p.field(rpLiteralFrom))
	p.block(at, k)
	ADDQ(p.field(rpNodes), at)
	MOVL(p.pendCost, t.As32())
	CMPL(t.As32(), Mem{Base: at, Index: k, Scale: 4})
	JGE(LabelRef("return"))
	MOVL(t.As32(), Mem{Base: at, Index: k, Scale: 4})
	MOVL(p.pendFrom, t.As32())
	MOVL(t.As32(), Mem{Base: at, Index: k, Scale: 4, Disp: nodesLength})
	Label("return")
	VZEROUPPER()
	RET()
}
