// Command parse writes the assembly of package simd that makes sequences of bytes and streams of sequences, and the Go declarations that go with it. check.sh runs it.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!noasm")
	far := leastMultipleData()
	mul := primeData()
	single(far, mul)
	double(far, mul)
	doubleLazy(far, mul)
	encodeOffsets()
	encodeLengths()
	data := newRowHashData(far)
	rowHash(8, data)
	rowHash(16, data)
	rowHash(32, data)
	candidates()
	Generate()
}
