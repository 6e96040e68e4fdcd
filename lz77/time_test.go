package lz77

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gopz/compress/internal/corpus"
)

// worstCases are what match finders are known to choke on: every position has many candidates, and all of them match for long.
func worstCases(n int) map[string][]byte {
	cases := map[string][]byte{"zeros": make([]byte, n)}
	random := corpus.ByName("random").Make(1 << 16)
	for _, period := range []int{2, 3, 5, 15, 16, 17, 31, 40} {
		cases[fmt.Sprint("period", period)] = bytes.Repeat(random[:period], n/period+1)[:n]
	}
	a, b := []byte("ab"), []byte("a")
	for len(a) < n {
		a, b = append(bytes.Clone(a), b...), a
	}
	cases["fibonacci"] = a[:n]
	cases["repeated64k"] = bytes.Repeat(random, n>>16+1)[:n]
	// Pieces that share their first bytes and end in different ones: no candidate is ever good enough to stop at.
	r := rand.New(rand.NewPCG(11, 12))
	for _, piece := range []int{8, 60, 250} {
		var p []byte
		for len(p) < n {
			p = append(p, random[:1+r.IntN(piece)]...)
			p = append(p, byte(r.Uint32()))
		}
		cases[fmt.Sprint("prefixes", piece)] = p[:n]
	}
	// What lies in a search tree like a list: each run is longer than all before it, or shorter.
	var grow, shrink []byte
	for k := 1; len(grow) < n; k++ {
		grow = append(append(grow, make([]byte, 8+k%1000)...), 1)
		shrink = append(append(shrink, make([]byte, 1008-k%1000)...), 1)
	}
	cases["growing runs"], cases["shrinking runs"] = grow[:n], shrink[:n]
	two := make([]byte, n)
	rows := make([]byte, n) // equal but for one byte, so that all multiples of the distance match nearly everywhere
	for i := range two {
		two[i] = 'a' + byte(r.IntN(2))
		if rows[i] = random[i%100]; i%100 == 50 {
			rows[i] = byte(r.Uint32())
		}
	}
	cases["two symbols"], cases["rows"] = two, rows
	// Few ones in zeros: runs of all lengths, over and over.
	for _, percent := range []int{1, 5} {
		ones := make([]byte, n)
		for i := range ones {
			if r.IntN(100) < percent {
				ones[i] = 1
			}
		}
		cases[fmt.Sprint("ones", percent)] = ones
	}
	// Matches of 300 bytes everywhere, at distances that change all the time.
	var deck []byte
	for len(deck) < n {
		at := r.IntN(1<<15 - 300)
		deck = append(deck, random[at:at+300]...)
	}
	cases["pieces of 300"] = deck[:n]
	cases["zeros, then random"] = append(make([]byte, n/2), random[:min(n/2, len(random))]...)
	return cases
}

// TestTime: no data takes much longer than prose does. The bounds are generous, since what they are there to find is work that
// grows with the square of the size; prose is the measure because the fast levels run through random data many times faster.
func TestTime(t *testing.T) {
	size := 1 << 18
	if small() {
		size = 1 << 16
	}
	if raceDetector {
		size = 1 << 14
	}
	text := corpus.ByName("text").Make(size)
	cases := worstCases(size)
	each := func(t *testing.T, p *Params, l Limits) {
		var m Matcher
		var seqs []Sequence
		measure := func(src []byte, times int, enough time.Duration) time.Duration {
			best := time.Duration(1 << 62)
			for range times {
				start := time.Now()
				seqs = m.Parse(seqs[:0], src, p, l)
				if best = min(best, time.Since(start)); best <= enough {
					break
				}
			}
			return best
		}
		bound := 10.0
		if raceDetector {
			bound = 40 // it makes memory accesses slow, not the rest
		}
		base := measure(text, 3, 0)
		for name, src := range cases {
			// What is fast enough at once needs no second look. What is not gets many: the fast levels take less than a processor is given to another program at once.
			ratio := float64(measure(src, 10, base*time.Duration(bound)/2)) / float64(base)
			t.Logf("%-14s %.2f", name, ratio)
			if ratio > bound {
				t.Errorf("%s takes %.1f times as long as prose", name, ratio)
			}
		}
	}
	forEachLevel(t, each)
	t.Run("short matches", func(t *testing.T) { each(t, &Levels[MaxLevel], Limits{MinMatch: 3, MinOffset: 1, MaxOffset: 1 << 15}) })
	t.Run("blocks", func(t *testing.T) {
		each(t, &Params{Finder: BinaryTree, HashLog: 16, Depth: 128, Nice: 258, Passes: 1}, blockLimits)
	})
}
