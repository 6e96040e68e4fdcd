// Command asm writes the assembly of package simd, and the Go declarations that go with it. check.sh runs it.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!noasm")
	decodeAVX2(1) // on Zen 5, 2.2 GB/s of text, with 64-byte vectors 2.1: one group waits for itself
	decodeAVX2(2)
	decodeAVX512()
	chainedAVX2()
	chainedVBMI(1)
	chainedVBMI(2)
	scatterAVX2()
	markRunsAVX2()
	loadAhead()
	encodeAVX2()
	encodeAVX512()
	matchLenAVX2()
	histogramAVX2()
	branchesAVX2()
	checksumAVX512()
	buildAVX2()
	resolvePlainAVX2()
	resolveRepeatAVX2()
	executeAVX2()
	Generate()
}
