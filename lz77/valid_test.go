package lz77

import (
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

func TestValid(t *testing.T) {
	src := corpus.ByName("text").Make(20_000)
	limits := Limits{MinMatch: 4, MaxOffset: 1 << 16, Repeats: 3}
	var m Matcher
	seqs := m.Parse(nil, src, &Levels[5], limits)
	if len(seqs) < 100 || !Valid(seqs, src, 0, limits, nil) || !Valid(nil, nil, 0, limits, nil) {
		t.Fatalf("valid sequences are rejected, or too few: %d", len(seqs))
	}
	behind := m.ParseFrom(nil, src, 9000, &Levels[5], limits)
	if !Valid(behind, src, 9000, limits, nil) || Valid(behind, src[9000:], 0, limits, nil) {
		t.Error("matches into the bytes in front of the block are rejected, or accepted without these")
	}
	end := 0
	limits.MinRepeat = 2
	if again := slices.Clone(seqs); !Valid(again, src, 0, limits, nil) {
		t.Error("matches longer than MinRepeat are rejected")
	} else {
		// A match at a repeat offset may have 2 bytes, one at a new offset may not.
		short := slices.IndexFunc(again, func(s Sequence) bool { return s.Offset != InitialRepeat })
		q := again[short]
		lit := q.LitLen
		for _, part := range []struct {
			first uint32
			want  bool
		}{{4, true}, {2, false}} {
			rest := q.MatchLen - part.first
			two := append(slices.Clone(again[:short]),
				Sequence{LitLen: lit, MatchLen: part.first, Offset: q.Offset},
				Sequence{MatchLen: min(rest, 2), Offset: q.Offset})
			if rest < 2 || Valid(two, src, 0, limits, nil) != part.want {
				t.Errorf("a new match of %d bytes, then %d at a repeat offset: valid %v",
					part.first, min(rest, 2), !part.want)
			}
		}
	}
	limits.MinRepeat = 0
	for _, s := range seqs {
		end += int(s.LitLen + s.MatchLen)
	}
	if !Valid(seqs, src[:end], 0, limits, nil) || Valid(seqs, src[:end-1], 0, limits, nil) {
		t.Error("sequences up to the end are rejected, or accepted beyond it")
	}
	for name, spoil := range map[string]func(s []Sequence){
		"short":            func(s []Sequence) { s[5].MatchLen = 3 },
		"near":             func(s []Sequence) { s[5].Offset = MinOffset - 1 },
		"far":              func(s []Sequence) { s[len(s)-1].Offset = 1<<16 + 1 },
		"before the block": func(s []Sequence) { s[0].Offset = s[0].LitLen + 1 },
		"untrue":           func(s []Sequence) { s[9].LitLen++; s[9].Offset++; s[10].Offset++ },
		"longer":           func(s []Sequence) { s[7].MatchLen++ },
		"literals":         func(s []Sequence) { s[7].LitLen = 1<<32 - 1 },
		"match":            func(s []Sequence) { s[7].MatchLen = 1<<32 - 1 },
	} {
		bad := slices.Clone(seqs)
		spoil(bad)
		if Valid(bad, src, 0, limits, nil) {
			t.Errorf("%s: accepted", name)
		}
	}
}
