package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// prefetchEntries needs no more than SSE. A prefetch does not fault, even with an invalid address.
func prefetchEntries() {
	TEXT("prefetchEntries", attr.NOSPLIT, "func(table *byte, size int, at []uint32, mask uint32)")
	Pragma("noescape")
	Doc("prefetchEntries prefetches the entries at[k]&mask of a table, of size bytes each.")
	table, size, from, n, mask := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("table"), table)
	Load(Param("size"), size)
	Load(Param("at").Base(), from)
	Load(Param("at").Len(), n)
	Load(Param("mask"), mask.As32())
	LEAQ(Mem{Base: from, Index: n, Scale: 4}, from)
	NEGQ(n)
	JZ(LabelRef("done"))
	Label("loop")
	i := GP64()
	MOVL(Mem{Base: from, Index: n, Scale: 4}, i.As32())
	ANDL(mask.As32(), i.As32())
	IMULQ(size, i)
	PREFETCHT0(Mem{Base: table, Index: i, Scale: 1})
	INCQ(n)
	JNZ(LabelRef("loop"))
	Label("done")
	RET()
}
