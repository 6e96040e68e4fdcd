package lz77

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// chainParams are settings with hash chains.
var chainParams = &Params{Finder: HashChain, HashLog: 16, Depth: 16, Nice: 32, Lazy: 1}

// TestHashChainTiers: all tiers give the same sequences, and valid ones, with all settings, for all
// kinds of content, sizes and windows. A Matcher gives the same as one that had other blocks
// before.
func TestHashChainTiers(t *testing.T) {
	size, rounds := 300_000, 12
	if small() {
		size, rounds = 90_000, 4
	}
	r := rand.New(rand.NewPCG(17, 18))
	var turns Matcher
	contents := corpus.Adverse(size)
	for _, k := range corpus.Kinds() {
		contents[k.Name] = k.Make(size)
	}
	for name, src := range contents {
		for range rounds {
			p := Params{
				Finder: HashChain, HashLog: uint8(8 + r.IntN(9)), Depth: 4 + r.IntN(1+r.IntN(60)),
				Nice: 5 + r.IntN(1+r.IntN(254)), Lazy: r.IntN(3),
			}
			l := Limits{
				MinMatch: 3 + r.IntN(2)*r.IntN(6), MinOffset: 1,
				MaxOffset: []int{32 + r.IntN(1000), 1 << 15, 1 << 20}[r.IntN(3)],
			}
			start := r.IntN(2) * r.IntN(len(src))
			if r.IntN(3) == 0 {
				start = 1 << 15
			}
			piece := src[:start+r.IntN(len(src)-start+1)]
			var want []Sequence
			for i, tier := range simd.Tiers() {
				defer simd.SetTier(simd.SetTier(tier))
				var m Matcher
				got := m.ParseFrom(nil, piece, start, &p, l)
				if i == 0 {
					want = got
					if !Valid(got, piece, start, l, nil) {
						t.Fatalf("%s, %d bytes from %d, %+v, %+v: not valid", name, len(piece), start, p, l)
					}
				} else if !slices.Equal(got, want) {
					t.Fatalf("%s, %d bytes from %d, %+v, %+v: tier %s: %s",
						name, len(piece), start, p, l, tier, differ(got, want))
				}
				if got = turns.ParseFrom(nil, piece, start, &p, l); !slices.Equal(got, want) {
					t.Fatalf("%s, %d bytes from %d, %+v, %+v: tier %s, used before: %s",
						name, len(piece), start, p, l, tier, differ(got, want))
				}
			}
		}
	}
}

// TestHashChainWindow: a match is found at every offset up to the window, wherever the base of the
// tables moves, and not beyond it.
func TestHashChainWindow(t *testing.T) {
	random := corpus.ByName("random").Make(1 << 17)
	for _, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		for _, offset := range []int{1000, 1<<15 - 2, 1<<15 - 1, 1 << 15, 1<<15 + 1, 1 << 16, 1<<16 + 1} {
			for _, at := range []int{70_000, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1<<16 + 20} {
				if at < offset {
					continue
				}
				src := slices.Clone(random[:100_000])
				copy(src[at:], bytes.Clone(src[at-offset:at-offset+100]))
				want := offset <= 1<<15
				seqs := new(Matcher).Parse(nil, src, chainParams, blockLimits)
				found := slices.ContainsFunc(seqs, func(s Sequence) bool {
					return s.MatchLen >= 99 && int(s.Offset) == offset
				})
				if found != want {
					t.Errorf("%s: offset %d at %d: found %v, want %v", tier, offset, at, found, want)
				}
			}
		}
	}
}

// TestHashChainShort: near matches of 3 bytes are found where literals are dear, as in programs.
// Content of few symbols has no short matches.
func TestHashChainShort(t *testing.T) {
	count := func(name string) (short, all int) {
		src := corpus.ByName(name).Make(200_000)
		for _, s := range new(Matcher).Parse(nil, src, chainParams, blockLimits) {
			all++
			if s.MatchLen == 3 {
				short++
			}
		}
		return short, all
	}
	if short, all := count("exe"); short < all/20 {
		t.Errorf("exe: %d of %d matches have 3 bytes, want more", short, all)
	}
	if short, all := count("dna"); short > all/50 {
		t.Errorf("dna: %d of %d matches have 3 bytes, want fewer", short, all)
	}
}

// TestHashChainLimits: a Matcher panics if limits or parameters are not for HashChain, on every
// tier and for every size.
func TestHashChainLimits(t *testing.T) {
	check := func(p *Params, l Limits) {
		t.Helper()
		for _, size := range []int{100, 10_000} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("no panic with %+v and %+v", p, l)
					}
				}()
				new(Matcher).Parse(nil, make([]byte, size), p, l)
			}()
		}
	}
	check(chainParams, Limits{MinMatch: 3, MaxOffset: 1 << 15})
	check(chainParams, Limits{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1, Repeats: 3})
	for _, change := range []func(p *Params){
		func(p *Params) { p.Depth = 3 },
		func(p *Params) { p.Lazy = -1 },
		func(p *Params) { p.Lazy = 3 },
		func(p *Params) { p.Nice = 4 },
		func(p *Params) { p.Nice = 259 },
		func(p *Params) { p.HashLog = 7 },
		func(p *Params) { p.HashLog = 25 },
	} {
		p := *chainParams
		change(&p)
		check(&p, blockLimits)
	}
}

// TestChainBounds: bounds depend on the mean cost of literals, however many there are.
func TestChainBounds(t *testing.T) {
	few, many := new(literalCosts), new(literalCosts)
	few.counts['a'], many.counts['a'] = 1<<10, 1<<31
	few.cost['a'], many.cost['a'] = 64, 64
	least, sure := few.bounds(3)
	if l, s := many.bounds(3); l != least || s != sure {
		t.Errorf("1<<31 literals: %d and %d, 1<<10: %d and %d", l, s, least, sure)
	}
}
