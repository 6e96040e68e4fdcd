package lzseq_test

import (
	"fmt"
	"slices"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// Sequences become named streams, each of one kind of symbol, and content again.
func Example() {
	src := []byte("one potato, two potatoes, three potatoes, four; five potatoes, six potatoes, seven")
	layout := lzseq.Repeat

	var m lz77.Matcher
	seqs := m.Parse(nil, src, &lz77.Levels[5], layout.Limits)
	var s lzseq.Streams
	s.Encode(layout, src, seqs)
	fmt.Printf("literals %q\n", s.Lits)
	fmt.Printf("tokens   %x\n", s.Tokens)
	fmt.Printf("offsets  %x, extra bits %x\n", s.Offsets, s.Extra)
	fmt.Printf("lengths  %x and %q\n", s.LitLens, s.MatchLens)

	// An entropy coder stores the streams. A decoder gives them room behind their ends.
	var back lzseq.Streams
	for i, stream := range s.All() {
		*back.All()[i] = slices.Grow(slices.Clone(*stream), lz77.Slack)
	}
	dst := make([]byte, len(src), len(src)+lz77.Slack)
	err := back.Decode(layout, dst, 0)
	fmt.Println(err, string(dst) == string(src))
	// Output:
	// literals "one potato, two potatoes, threefour; fivsix potatoes, seven"
	// tokens   dfe3
	// offsets  0809, extra bits 09
	// lengths  1c06 and ""
	// <nil> true
}
