// Command zstd writes the assembly of package kernels that turns sequences into blocks of zstd, and
// its Go declarations. internal/kernels/_asm/check.sh runs it.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	copyLiterals()
	sequenceCodes()
	encodeSequences()
	encodeHuffman2()
	Generate()
}

// Forms of the types of package kernels.
const (
	seqBytes  = 12
	seqType   = "*struct{LitLen, MatchLen, Offset uint32}"
	codeBytes = 16
	codeType  = "*struct{Extra uint64; Codes [3]uint8; ExtraBits uint8; _ uint32}"
	codesAt   = 8
	extraBits = 11 // offset of ExtraBits

	kindLit, kindOff, kindMatch = 0, 1, 2
	codeSpace                   = 64 // counters of one kind of code
)

func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// param returns the memory operand of a parameter.
func param(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
