// Command parse writes the assembly of package simd that makes sequences of bytes and streams of sequences, and the Go declarations that go with it. check.sh runs it.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!noasm")
	single()
	putOffsets()
	putLengths()
	Generate()
}
