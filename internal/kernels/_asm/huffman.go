package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Constants of package huffman.
const (
	huffmanBits  = 11 // bits that index the table
	huffmanRound = 5  // bytes that a round decodes from a stream
	huffmanType  = "*struct{Bits [4]uint64; In, Out [4]int}"
)

// decodeHuffman4AVX2 emits decodeHuffman4AVX2. An entry shifts by its low byte, the length of the
// code, so nothing but the load, the shift and the index of the next load depend on one another.
func decodeHuffman4AVX2() {
	TEXT("decodeHuffman4AVX2", attr.NOSPLIT,
		"func(s "+huffmanType+", table *[2048]uint16, dst *byte, part int, src *byte, rounds int)")
	Pragma("noescape")
	Doc("decodeHuffman4AVX2 decodes whole rounds of four streams. It requires room and input for them,",
		"and output of the streams that begins part bytes apart.")
	s, table, out := GP64(), GP64(), GP64()
	var bits, in [4]reg.GPVirtual
	Load(Param("s"), s)
	for i := range bits {
		bits[i], in[i] = GP64(), GP64()
		MOVQ(at(s, 8*i), bits[i])
		MOVQ(at(s, 32+8*i), in[i])
	}
	Load(Param("dst"), out)
	ADDQ(at(s, 64), out)
	from := GP64()
	Load(Param("src"), from)
	for i := range in {
		ADDQ(from, in[i])
	}
	Load(Param("table"), table)
	part, part3, shift := GP64(), GP64(), GP64()
	Load(Param("part"), part)
	LEAQ(Mem{Base: part, Index: part, Scale: 2}, part3)
	rounds := AllocLocal(8)
	n := GP64()
	Load(Param("rounds"), n)
	MOVQ(n, rounds)
	MOVQ(U32(64-huffmanBits), shift)
	to := [4]Mem{
		{Base: out}, {Base: out, Index: part, Scale: 1},
		{Base: out, Index: part, Scale: 2}, {Base: out, Index: part3, Scale: 1},
	}
	Label("loop")
	for k := range huffmanRound {
		for i, b := range bits {
			e := GP64()
			SHRXQ(shift, b, e)
			MOVWLZX(Mem{Base: table, Index: e, Scale: 2}, e.As32())
			SHLXQ(e, b, b)
			SHRL(U8(8), e.As32())
			MOVB(e.As8(), to[i].Offset(k))
		}
	}
	for i, b := range bits {
		used, whole := GP64(), GP64()
		TZCNTQ(b, used)
		MOVQ(used, whole)
		SHRQ(U8(3), whole)
		SUBQ(whole, in[i])
		ANDL(U8(7), used.As32())
		MOVQ(at(in[i], 0), b)
		ORQ(U8(1), b)
		SHLXQ(used, b, b)
	}
	ADDQ(I8(huffmanRound), out)
	DECQ(rounds)
	JNZ(LabelRef("loop"))

	from, s = GP64(), GP64()
	Load(Param("src"), from)
	Load(Param("s"), s)
	for i := range bits {
		SUBQ(from, in[i])
		MOVQ(bits[i], at(s, 8*i))
		MOVQ(in[i], at(s, 32+8*i))
	}
	RET()
}
