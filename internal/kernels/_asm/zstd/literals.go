package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	litStep = 32  // bytes copied at once; most literal runs are shorter
	maxRun  = 256 // longest literal run that the kernel copies
)

// copyLiterals emits copyLiteralsAVX2.
func copyLiterals() {
	TEXT("copyLiteralsAVX2", attr.NOSPLIT,
		"func(dst, src []byte, seqs "+seqType+", n int) (bytes, used, read int)")
	Pragma("noescape")
	Doc("copyLiteralsAVX2 copies the literals of at most n > 0 sequences. It stops before a sequence with",
		"more than 256 literals, and where src or dst may have less than 32 bytes behind them. It returns",
		"the size of the sequences, the number of literals and the size of the content. The latter may",
		"exceed src.")
	dst, src, seq, dstEnd, srcEnd, end := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	lit, match := GP64(), GP64()
	v := YMM()
	Load(Param("dst").Base(), dst)
	Load(Param("dst").Len(), dstEnd)
	LEAQ(Mem{Base: dst, Index: dstEnd, Scale: 1, Disp: -litStep - maxRun}, dstEnd)
	Load(Param("src").Base(), src)
	Load(Param("src").Len(), srcEnd)
	LEAQ(Mem{Base: src, Index: srcEnd, Scale: 1, Disp: -litStep - maxRun}, srcEnd)
	Load(Param("seqs"), seq)
	Load(Param("n"), end)
	LEAQ(Mem{Base: end, Index: end, Scale: 2}, end)
	LEAQ(Mem{Base: seq, Index: end, Scale: 4}, end)

	Label("loop")
	CMPQ(src, srcEnd)
	JHI(LabelRef("done"))
	CMPQ(dst, dstEnd)
	JHI(LabelRef("done"))
	MOVL(at(seq, 0), lit.As32())
	MOVL(at(seq, 4), match.As32())
	VMOVDQU(at(src, 0), v)
	VMOVDQU(v, at(dst, 0))
	CMPL(lit.As32(), U8(litStep))
	JHI(LabelRef("long"))
	Label("next")
	ADDQ(lit, dst)
	ADDQ(lit, match)
	ADDQ(match, src)
	ADDQ(U8(seqBytes), seq)
	CMPQ(seq, end)
	JNE(LabelRef("loop"))

	Label("done")
	start := GP64()
	for _, r := range []struct {
		param, result string
		at            reg.GPVirtual
	}{{"dst", "used", dst}, {"src", "read", src}} {
		Load(Param(r.param).Base(), start)
		SUBQ(start, r.at)
		Store(r.at, Return(r.result))
	}
	Load(Param("seqs"), start)
	SUBQ(start, seq)
	Store(seq, Return("bytes"))
	VZEROUPPER()
	RET()

	Label("long")
	CMPL(lit.As32(), U32(maxRun))
	JHI(LabelRef("done"))
	i := GP64()
	MOVL(U32(litStep), i.As32())
	Label("copy")
	VMOVDQU(Mem{Base: src, Index: i, Scale: 1}, v)
	VMOVDQU(v, Mem{Base: dst, Index: i, Scale: 1})
	ADDL(U8(litStep), i.As32())
	CMPL(i.As32(), lit.As32())
	JCS(LabelRef("copy"))
	JMP(LabelRef("next"))
}
