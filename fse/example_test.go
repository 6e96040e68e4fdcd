package fse_test

import (
	"bytes"
	"fmt"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/simd"
)

// Symbols become a description of their distribution and a bit string, and symbols again.
func Example() {
	src := bytes.Repeat([]byte("abracadabra "), 30)
	const states = 2 // interleaved

	var counts [fse.MaxSymbols]uint32
	simd.Histogram(&counts, src)
	var d fse.Distribution
	d.Normalize(counts[:], fse.AutoLog(9, len(src), 'r'), true)
	coded := d.Append(nil)
	description := len(coded)
	var e fse.Encoder
	e.Table.Build(&d)
	coded = e.Append(coded, src, states)
	fmt.Printf("%d symbols: %d bytes of description, %d of bits\n",
		len(src), description, len(coded)-description)

	// A decoder knows the number of symbols and where the bits end.
	var read fse.Distribution
	n, err := read.Read(coded, 9, fse.MaxSymbols)
	if err != nil {
		fmt.Println(err)
		return
	}
	var table fse.DecTable
	table.Build(&read)
	dst := make([]byte, len(src))
	err = table.Decode(dst, coded[n:], states)
	fmt.Println(err, bytes.Equal(dst, src))
	// Output:
	// 360 symbols: 18 bytes of description, 105 of bits
	// <nil> true
}
