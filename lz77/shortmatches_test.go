package lz77

import (
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// shortParams fills literal runs, as levels 6 and 7 of .gz do.
var shortParams = &Params{
	Finder: RowHash, HashLog: 14, HashBytes: 5, Depth: 16, Nice: 128, Lazy: 2, ShortMatches: true,
}

// literalsOf returns how many bytes of src the sequences leave as literals.
func literalsOf(seqs []Sequence, src []byte) int {
	n := len(src)
	for i := range seqs {
		n -= int(seqs[i].MatchLen)
	}
	return n
}

// TestShortMatches: all kinds of content, of all sizes and behind a window, have valid sequences,
// the same for each tier and for a caller's candidates. Programs have many short matches.
func TestShortMatches(t *testing.T) {
	plain := *shortParams
	plain.ShortMatches = false
	const long = 20_000
	sizes := []int{15, 17, 40, 1000, long}
	if tiny() {
		sizes = sizes[1:]
	}
	for _, k := range corpus.Kinds() {
		for _, n := range sizes {
			src := k.Make(n)
			for _, start := range []int{0, n / 3} {
				var first []Sequence
				for i, tier := range simd.Tiers() {
					defer simd.SetTier(simd.SetTier(tier))
					seqs := new(Matcher).ParseFrom(nil, src, start, shortParams, blockLimits)
					if !Valid(seqs, src, start, blockLimits, nil) {
						t.Fatalf("%s, %d bytes from %d, %s: not valid", k.Name, n, start, tier)
					}
					if i == 0 {
						first = seqs
					} else if !slices.Equal(seqs, first) {
						t.Errorf("%s, %d bytes from %d, %s: other sequences", k.Name, n, start, tier)
					}
				}
				without := new(Matcher).ParseFrom(nil, src, start, &plain, blockLimits)
				if a, b := literalsOf(first, src[start:]), literalsOf(without, src[start:]); a > b ||
					k.Name == "exe" && n == long && a > b*9/10 {
					t.Errorf("%s, %d bytes: %d literals, %d without short matches", k.Name, n, a, b)
				}
				if n < CandidateTail {
					continue
				}
				var m Matcher
				best := make([]uint32, n-CandidateTail)
				m.FindCandidates(best, src, shortParams, blockLimits)
				seqs, ok := m.ParseCandidates(nil, src, start, shortParams, blockLimits, best)
				if !ok || !slices.Equal(seqs, first) {
					t.Errorf("%s, %d bytes from %d: other sequences from candidates", k.Name, n, start)
				}
			}
		}
	}
}

// TestShortMatchesIgnored: other limits, and forms without a model, leave the parse as it is.
func TestShortMatchesIgnored(t *testing.T) {
	plain := *shortParams
	plain.ShortMatches = false
	src := corpus.ByName("exe").Make(50_000)
	four := blockLimits
	four.MinMatch = 4
	for _, l := range append([]Limits{four, {MinMatch: 3, MaxOffset: 1 << 15}}, testLimits...) {
		with := new(Matcher).Parse(nil, src, shortParams, l)
		if !slices.Equal(with, new(Matcher).Parse(nil, src, &plain, l)) {
			t.Errorf("limits %+v: other sequences", l)
		}
	}
}
