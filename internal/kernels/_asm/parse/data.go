package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
)

// Constants of package lz77. The kernels must find the same matches as its parsers.
const (
	prime     = 0x9E3779B185EBCA87 // multiplier of 64-bit hashes
	minOffset = 16
	maxStep   = 32 // most positions that a parser skips in a step without a match

	shortMatch = 8 // least length of a match that is not weighed
	matchBits  = 4 // bits of a match besides those of its offset
	costLog    = 3 // prices of literals are in bits << costLog
)

const (
	seqBytes = 12
	seqType  = "*struct{LitLen, MatchLen, Offset uint32}"
)

// leastMultiple has, for each offset below minOffset, its least multiple from minOffset on. A match
// repeats itself, so it is also one with that offset. Offset 0 does not occur.
var leastMultiple = [minOffset]uint8{0, 16, 16, 18, 16, 20, 18, 21, 16, 18, 20, 22, 24, 26, 28, 30}

// leastMultipleData emits leastMultiple for the assembly.
func leastMultipleData() Mem {
	m := GLOBL("leastMultiple", attr.RODATA|attr.NOPTR)
	for i, d := range leastMultiple {
		DATA(i, U8(d))
	}
	return m
}

// primeData emits prime for the assembly.
func primeData() Mem {
	mul := GLOBL("prime64", attr.RODATA|attr.NOPTR)
	DATA(0, U64(prime))
	return mul
}

// param returns the memory operand of a parameter.
func param(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
