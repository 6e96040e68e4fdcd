// Command asm writes assembly of package kernels for amd64, and its Go declarations: all kernels
// but those that the commands in its folders write. The one in the folder simd writes the assembly
// of package simd. check.sh runs all of them.
//
// The generator library, avo, allocates registers and computes the offsets of parameters. A
// function of this program that emits an assembly function has its name. The essays on the kernels
// are in package kernels.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!noasm")
	decodeAVX2(1) // serves the tier avx512 too: 2.2 GB/s against 2.1 GB/s with 64-byte vectors on Zen 5
	decodeAVX2(2)
	decodeAVX512()
	ctxAVX2(1)
	ctxAVX2(2)
	ctxVBMI(1)
	ctxVBMI(2)
	deinterleaveAVX2()
	cheapestTablesAVX2()
	nonZeroAVX2()
	markRunStartsAVX2()
	encodeAVX2()
	encodeAVX512()
	encodeCtxAVX2()
	markDisplacementsAVX2()
	buildDecodeTableAVX2()
	decodeTokensPlainAVX2()
	decodeTokensRepeatAVX2()
	executeAVX2()
	executeNearAVX2()
	decodeHuffman4AVX2()
	decodeSequencesAVX2()
	inflateAVX2()
	inflateSymbolsAVX2()
	resolveSymbolsAVX2()
	Generate()
}
