// Command parse writes the assembly of package simd that makes sequences of bytes and streams of sequences, and the Go declarations that go with it. check.sh runs it.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!noasm")
	far := farData()
	mul := primeData()
	single(far, mul)
	double(far, mul)
	doubleLazy(far, mul)
	putOffsets()
	putLengths()
	data := newRecentData(far)
	recent(8, data)
	recent(16, data)
	recent(32, data)
	given()
	Generate()
}
