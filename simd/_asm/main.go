// Command asm writes the assembly of package simd, and the Go declarations that go with it. check.sh runs it.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!noasm")
	decodeAVX2(1) // on Zen 5, 2.2 GB/s of text, with 64-byte vectors 2.1: one group waits for itself
	decodeAVX2(2)
	decodeAVX512()
	ctxAVX2()
	ctxVBMI(1)
	ctxVBMI(2)
	deinterleaveAVX2()
	markRunStartsAVX2()
	prefetchEntries()
	encodeAVX2()
	encodeAVX512()
	matchLenAVX2()
	histogramAVX2()
	markDisplacementsAVX2()
	crc32cAVX512()
	buildDecodeTableAVX2()
	decodeTokensPlainAVX2()
	decodeTokensRepeatAVX2()
	executeAVX2()
	Generate()
}
