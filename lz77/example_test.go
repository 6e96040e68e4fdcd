package lz77_test

import (
	"fmt"

	"github.com/gopz/compress/lz77"
)

// Bytes become sequences and literals, and bytes again.
func Example() {
	src := []byte("one potato, two potatoes, three potatoes, four; five potatoes, six potatoes, seven")
	limits := lz77.Limits{MinMatch: 5, MaxOffset: 1<<16 - 1} // what a coder can express

	var m lz77.Matcher
	seqs := m.Parse(nil, src, &lz77.Levels[5], limits)
	room := make([]byte, 0, len(src)+lz77.Slack)
	lits, rest := lz77.AppendLiterals(room, src, seqs, nil)
	lits = append(lits, rest...)
	for _, s := range seqs {
		fmt.Printf("%d literals, %d bytes from %d back\n", s.LitLen, s.MatchLen, s.Offset)
	}
	fmt.Printf("%s\n", lits)

	dst := make([]byte, len(src)+lz77.Slack)
	end, rest, ok := lz77.Execute(dst, 0, lits[:len(lits)+lz77.Slack], seqs)
	end += copy(dst[end:], rest[:len(rest)-lz77.Slack])
	fmt.Println(ok, string(dst[:end]) == string(src))
	// Output:
	// 31 literals, 11 bytes from 16 back
	// 9 literals, 12 bytes from 21 back
	// one potato, two potatoes, threefour; fivsix potatoes, seven
	// true true
}

// Sequences of unknown origin must be checked before they are carried out. Valid compares them with
// the content, which an encoder has.
func ExampleValid() {
	src := []byte("abcdefghijklmnopabcdefghijklmnop")
	limits := lz77.Limits{MinMatch: 4, MaxOffset: 1 << 16}
	good := []lz77.Sequence{{LitLen: 16, MatchLen: 16, Offset: 16}}
	bad := []lz77.Sequence{{LitLen: 16, MatchLen: 16, Offset: 17}}
	fmt.Println(lz77.Valid(good, src, 0, limits, nil), lz77.Valid(bad, src, 0, limits, nil))
	// Output: true false
}
