// Command tree writes the assembly of package kernels that searches binary trees for matches, and
// its Go declarations. internal/kernels/_asm/check.sh runs it.
//
// The kernels must find exactly the matches of their portable twins in internal/kernels/tree.go.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
)

// Constants of internal/kernels/tree.go.
const (
	window      = 1 << 15
	batch       = 64
	hash3Log    = 16
	prime       = 0x9E3779B1
	null        = 1 << 15
	lengthShift = 27
	codeShift   = 48
)

// treeType is the type Tree of package kernels; the constants are offsets of its fields.
const treeType = "*struct{At, Hashed, swept int; Nice, Depth, MinMatch, Reach, Reach3 int; " +
	"Shift uint64; Heads, Heads3, Children []uint16; Codes []uint8; roots, nears [64]uint16}"

const (
	trAt       = 0
	trHashed   = 8
	trNice     = 24
	trDepth    = 32
	trMinMatch = 40
	trReach    = 48
	trReach3   = 56
	trShift    = 64
	trHeads    = 72
	trHeads3   = 96
	trChildren = 120
	trCodes    = 144
	trRoots    = 168
	trNears    = trRoots + 2*batch
)

func main() {
	ConstraintExpr("amd64,!noasm")
	sweep()
	hash()
	search()
	Generate()
}

// param returns the memory operand of a parameter.
func param(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
