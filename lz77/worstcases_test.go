package lz77

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// worstCases returns content that is adverse to match finders: every position has many candidates,
// and all of them have long matches.
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

// eachSetting calls f for all levels and for settings that no level has.
func eachSetting(f func(name string, p *Params, l Limits)) {
	for level := 1; level <= MaxLevel; level++ {
		f(fmt.Sprint("level", level), &Levels[level], testLimits[level%len(testLimits)])
	}
	f("short matches", &Levels[MaxLevel], Limits{MinMatch: 3, MinOffset: 1, MaxOffset: 1 << 15})
	f("short periods", &Levels[3], blockLimits)
	f("hash chains", chainParams, blockLimits)
	deep := &Params{Finder: HashChain, HashLog: 16, Depth: 300, Nice: 258, Lazy: 2}
	f("deep hash chains", deep, blockLimits)
	f("blocks", &Params{Finder: BinaryTree, HashLog: 16, Depth: 128, Nice: 258, Passes: 1}, blockLimits)
	f("blocks, one parse", &Params{Finder: BinaryTree, HashLog: 15, Depth: 32, Nice: 96}, blockLimits)
}

// TestWorstCases: sequences of adverse content are valid. A finder whose work grew with the square
// of the size would take minutes; BenchmarkWorstCases measures the time.
func TestWorstCases(t *testing.T) {
	size := 1 << 17
	if small() {
		size = 1 << 14
	}
	cases := worstCases(size)
	eachSetting(func(name string, p *Params, l Limits) {
		t.Run(name, func(t *testing.T) {
			var m Matcher
			for content, src := range cases {
				if seqs := m.Parse(nil, src, p, l); !Valid(seqs, src, 0, l, nil) {
					t.Errorf("%s: sequences are not valid", content)
				}
			}
		})
	})
}

// BenchmarkWorstCases measures adverse content beside text. No content should take more than about
// ten times as long as text.
func BenchmarkWorstCases(b *testing.B) {
	const size = 1 << 18
	cases := worstCases(size)
	cases["text"] = corpus.ByName("text").Make(size)
	eachSetting(func(name string, p *Params, l Limits) {
		for _, content := range slices.Sorted(maps.Keys(cases)) {
			b.Run(name+"/"+content, func(b *testing.B) {
				var m Matcher
				var seqs []Sequence
				b.SetBytes(size)
				for b.Loop() {
					seqs = m.Parse(seqs[:0], cases[content], p, l)
				}
			})
		}
	})
}

// TestBlocksValid: sequences of a form in blocks are valid for any content, size and start. The
// content has candidates at the ends of windows and matches longer than windows.
func TestBlocksValid(t *testing.T) {
	const window = 1 << 17
	params := &Params{Finder: BinaryTree, HashLog: 16, Depth: 16, Nice: 258, Passes: 2}
	contents := worstCases(window + 5000)
	for _, k := range corpus.Kinds() {
		contents[k.Name] = k.Make(3000)
	}
	half := corpus.ByName("random").Make(window + 100)
	contents["far"] = slices.Concat(half, half[len(half)-30_000:], bytes.Repeat(half[:3], window/2))
	var m Matcher
	for name, src := range contents {
		for _, start := range []int{0, min(1<<15, len(src)/2)} {
			if small() && start > 0 && len(src) > 1<<16 {
				continue
			}
			seqs := m.ParseFrom(nil, src, start, params, blockLimits)
			if !Valid(seqs, src, start, blockLimits, nil) {
				t.Errorf("%s from %d: sequences are not valid", name, start)
			}
		}
	}
}
