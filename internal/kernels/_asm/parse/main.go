// Command parse writes the assembly of package kernels that finds matches and that turns sequences
// into streams, and its Go declarations. internal/kernels/_asm/check.sh runs it.
//
// The kernels keep most of their state in the frame and in the struct that they are given, because
// amd64 has too few registers for it. Each must find exactly the matches of its portable twin in
// package lz77.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!noasm")
	multiples := leastMultipleData()
	mul := primeData()
	single(multiples, mul)
	double(multiples, mul)
	doubleLazy(multiples, mul)
	encodeOffsets()
	encodeLengths()
	data := newRowHashData(multiples)
	rowHash(8, data)
	rowHash(16, data)
	rowHash(32, data)
	candidates()
	lane := laneMasks()
	pathCostsAVX2(lane)
	relaxPaths(lane)
	hashChain()
	slide()
	Generate()
}
