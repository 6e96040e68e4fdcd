package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// huffmanRound is the number of bytes of each stream that a round encodes. Their codes and 7
// pending bits have at most 51 bits.
const huffmanRound = 4

// encodeHuffman2 emits encodeHuffman2AVX2. A code is in the highest bits of an entry and its length
// in the lowest 8. The length shifts the bits so far to the right and the code is placed above
// them. The lengths below go as far as the lowest bits, which do not count.
func encodeHuffman2() {
	TEXT("encodeHuffman2AVX2", attr.NOSPLIT,
		"func(s *struct{Acc, Have [2]uint64; Out [2]int}, codes *[256]uint64, dst, a, b *byte, rounds int)")
	Pragma("noescape")
	Doc("encodeHuffman2AVX2 encodes rounds > 0 rounds of two streams. It requires room for them, and 8 bytes",
		"more. The bytes of a stream begin at a or b, and it encodes the last one first.")
	codes, left := GP64(), GP64()
	var acc, have, out, src [2]reg.GPVirtual
	s := GP64()
	Load(Param("s"), s)
	for i, name := range []string{"a", "b"} {
		acc[i], have[i], out[i], src[i] = GP64(), GP64(), GP64(), GP64()
		MOVQ(at(s, 8*i), acc[i])
		MOVQ(at(s, 16+8*i), have[i])
		MOVQ(at(s, 32+8*i), out[i])
		Load(Param(name), src[i])
	}
	for i := range 2 {
		ADDQ(param(Param("dst")), out[i])
	}
	Load(Param("codes"), codes)
	Load(Param("rounds"), left)
	SHLQ(U8(2), left)
	Label("loop")
	for k := range huffmanRound {
		for i := range 2 {
			c := GP64()
			MOVBLZX(Mem{Base: src[i], Index: left, Scale: 1, Disp: -1 - k}, c.As32())
			MOVQ(Mem{Base: codes, Index: c, Scale: 8}, c)
			SHRXQ(c, acc[i], acc[i])
			ORQ(c, acc[i])
			ADDL(c.As32(), have[i].As32())
		}
	}
	for i := range 2 {
		v, n := GP64(), GP64()
		MOVL(have[i].As32(), n.As32())
		NEGL(n.As32())
		SHRXQ(n, acc[i], v)
		MOVQ(v, at(out[i], 0))
		MOVL(have[i].As32(), n.As32())
		SHRL(U8(3), n.As32())
		ADDQ(n, out[i])
		ANDL(U8(7), have[i].As32())
	}
	SUBQ(U8(huffmanRound), left)
	JNZ(LabelRef("loop"))
	s = GP64()
	Load(Param("s"), s)
	for i := range 2 {
		SUBQ(param(Param("dst")), out[i])
		MOVQ(acc[i], at(s, 8*i))
		MOVQ(have[i], at(s, 16+8*i))
		MOVQ(out[i], at(s, 32+8*i))
	}
	RET()
}
