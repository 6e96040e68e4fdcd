package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// crc32cAVX512 folds by carry-less multiplication: Gopal et al., Fast CRC Computation for Generic
// Polynomials Using PCLMULQDQ Instruction, Intel 2009. Sixteen remainders of 128 bits advance side
// by side, 256 bytes a step. At the end they fold into four, and the CRC32 instruction reduces
// these.
func crc32cAVX512() {
	TEXT("crc32cAVX512", attr.NOSPLIT, "func(state uint32, p []byte) (next uint32)")
	Pragma("noescape")
	Doc("crc32cAVX512 continues a CRC32C over p, without the inversions at both ends.",
		"It requires len(p) to be a multiple of 256, at least 256.")
	p, n := GP64(), GP64()
	Load(Param("p").Base(), p)
	Load(Param("p").Len(), n)
	state := GP32()
	Load(Param("state"), state)
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = ZMM()
		VMOVDQU64(at(p, 64*i), acc[i])
	}
	first := ZMM()
	VMOVD(state, first.AsX())
	VPXORQ(first, acc[0], acc[0])
	far := ZMM()
	VMOVDQU64(foldBy(2048), far)
	fold := func(a, k reg.VecVirtual, with Op) {
		low := ZMM()
		multiply(0x00, k, a, low)
		multiply(0x11, k, a, a)
		VPTERNLOGQ(U8(0x96), with, low, a) // xor of all three
	}
	JMP(LabelRef("next"))
	Label("loop")
	for i := range acc {
		fold(acc[i], far, at(p, 64*i))
	}
	Label("next")
	ADDQ(U32(256), p)
	SUBQ(U32(256), n)
	JNE(LabelRef("loop"))

	near := ZMM()
	VMOVDQU64(foldBy(512), near)
	for i := range 3 {
		fold(acc[i], near, acc[i+1])
		acc[i+1] = acc[i]
	}
	last := AllocLocal(64)
	VMOVDQU64(acc[3], last)
	VZEROUPPER()
	sum := GP64()
	XORL(sum.As32(), sum.As32())
	for i := range 8 {
		CRC32Q(last.Offset(8*i), sum)
	}
	Store(sum.As32(), Return("next"))
	RET()
}

// crc32cAVX2 needs no more than SSE4.2. The CRC32 instruction takes 8 bytes in 3 cycles.
func crc32cAVX2() {
	TEXT("crc32cAVX2", attr.NOSPLIT, "func(state uint32, p []byte) (next uint32)")
	Pragma("noescape")
	Doc("crc32cAVX2 continues a CRC32C over p, without the inversions at both ends.")
	p, n, sum := GP64(), GP64(), GP64()
	Load(Param("p").Base(), p)
	Load(Param("p").Len(), n)
	Load(Param("state"), sum.As32())
	SUBQ(U32(8), n)
	JL(LabelRef("rest"))
	Label("words")
	CRC32Q(at(p, 0), sum)
	ADDQ(U32(8), p)
	SUBQ(U32(8), n)
	JGE(LabelRef("words"))
	Label("rest")
	ADDQ(U32(8), n)
	JZ(LabelRef("done"))
	Label("bytes")
	CRC32B(at(p, 0), sum.As32())
	INCQ(p)
	DECQ(n)
	JNZ(LabelRef("bytes"))
	Label("done")
	Store(sum.As32(), Return("next"))
	RET()
}

// multiply emits VPCLMULQDQ for wide vectors, which avo does not have.
func multiply(halves uint8, a, b, dst reg.VecVirtual) {
	Instruction(&ir.Instruction{
		Opcode:   "VPCLMULQDQ",
		Operands: []Op{U8(halves), a, b, dst},
		Inputs:   []Op{a, b},
		Outputs:  []Op{dst},
		ISA:      []string{"AVX512F", "VPCLMULQDQ"},
	})
}

// foldBy returns a section with four copies of the factors that move a remainder by n bits: xⁿ⁺³²
// for its lower half and xⁿ⁻³² for its upper half, modulo the polynomial, with reversed bits. It
// makes the section, so there is one call for each n.
func foldBy(n int) Mem {
	var factors [2]uint64
	for i, e := range []int{n + 32, n - 32} {
		v := uint32(1 << 31)
		for range e {
			v = v>>1 ^ 0x82f63b78&-(v&1) // the polynomial of CRC32C, reversed
		}
		factors[i] = uint64(v) << 1
	}
	m := GLOBL(fmt.Sprintf("fold%d", n), attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(8*i, U64(factors[i%2]))
	}
	return m
}
