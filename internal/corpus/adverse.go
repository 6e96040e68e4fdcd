package corpus

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// Adverse returns content of n bytes that is adverse to match finders: every position has many
// candidates, and all of them have long matches.
func Adverse(n int) map[string][]byte {
	cases := map[string][]byte{"zeros": make([]byte, n)}
	random := ByName("random").Make(1 << 16)
	for _, period := range []int{2, 3, 5, 15, 16, 17, 31, 40} {
		cases[fmt.Sprint("period", period)] = bytes.Repeat(random[:period], n/period+1)[:n]
	}
	a, b := []byte("ab"), []byte("a")
	for len(a) < n {
		a, b = append(bytes.Clone(a), b...), a
	}
	cases["fibonacci"] = a[:n]
	cases["repeated64k"] = bytes.Repeat(random, n>>16+1)[:n]
	// Strings with the same first bytes and different ends: no candidate ends a search.
	r := rand.New(rand.NewPCG(11, 12))
	for _, most := range []int{8, 60, 250} {
		var p []byte
		for len(p) < n {
			p = append(p, random[:1+r.IntN(most)]...)
			p = append(p, byte(r.Uint32()))
		}
		cases[fmt.Sprint("prefixes", most)] = p[:n]
	}
	// Search trees degenerate to lists: each run is longer than all before it, or shorter.
	var grow, shrink []byte
	for k := 1; len(grow) < n; k++ {
		grow = append(append(grow, make([]byte, 8+k%1000)...), 1)
		shrink = append(append(shrink, make([]byte, 1008-k%1000)...), 1)
	}
	cases["growing runs"], cases["shrinking runs"] = grow[:n], shrink[:n]
	two := make([]byte, n)
	rows := make([]byte, n) // equal but for one byte: all multiples of the row match nearly everywhere
	for i := range two {
		two[i] = 'a' + byte(r.IntN(2))
		rows[i] = random[i%100]
		if i%100 == 50 {
			rows[i] = byte(r.Uint32())
		}
	}
	cases["two symbols"], cases["rows"] = two, rows
	// Few ones among zeros: runs of all lengths, over and over.
	for _, percent := range []int{1, 5} {
		ones := make([]byte, n)
		for i := range ones {
			if r.IntN(100) < percent {
				ones[i] = 1
			}
		}
		cases[fmt.Sprint("ones", percent)] = ones
	}
	// Matches of 300 bytes everywhere, at ever-changing offsets.
	var deck []byte
	for len(deck) < n {
		at := r.IntN(1<<15 - 300)
		deck = append(deck, random[at:at+300]...)
	}
	cases["strings of 300"] = deck[:n]
	cases["zeros, then random"] = append(make([]byte, n/2), random[:min(n/2, len(random))]...)
	return cases
}
