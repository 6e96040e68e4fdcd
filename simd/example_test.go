package simd_test

import (
	"fmt"

	"github.com/gopz/compress/simd"
)

// A match finder compares the bytes at two positions.
func ExampleMatchLen() {
	content := []byte("the cat and the car")
	fmt.Println(simd.MatchLen(content, content[12:]))
	// Output: 6
}

// An entropy coder counts symbols.
func ExampleHistogram() {
	var counts [256]uint32
	simd.Histogram(&counts, []byte("abracadabra"))
	fmt.Println(counts['a'], counts['b'], counts['z'])
	// Output: 5 2 0
}

// Every tier gives the same results. Tests and benchmarks go through all that the machine has.
func ExampleSetTier() {
	defer simd.SetTier(simd.Tier())
	for _, name := range simd.Tiers() {
		simd.SetTier(name)
		if sum := simd.CRC32C(0, []byte("123456789")); sum != 0xe3069283 {
			fmt.Printf("%s: %08x\n", name, sum)
		}
	}
	simd.SetTier("portable")
	fmt.Println(simd.Tier())
	// Output: portable
}
