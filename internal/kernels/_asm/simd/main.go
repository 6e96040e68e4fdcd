// Command simd writes the assembly of package simd, and its Go declarations.
// internal/kernels/_asm/check.sh runs it.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	prefetchEntries()
	matchLenAVX2()
	histogramAVX2()
	crc32cAVX2()
	crc32cAVX512()
	Generate()
}

// at returns the memory operand base + disp.
func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }
