package lz77

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
)

// TestPays: once costs are known, a short match of random digits does not pay, and one of random
// bytes does.
func TestPays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	digits := make([]byte, 1<<16)
	for i := range digits {
		digits[i] = '0' + byte(r.IntN(10))
	}
	every := make([]byte, 1<<16)
	for i := range every {
		every[i] = byte(r.Uint32())
	}
	for _, c := range []struct {
		name string
		src  []byte
		pays bool
	}{{"digits", digits, false}, {"bytes", every, true}} {
		var w literalCosts
		w.reset(0, 0)
		seqs := make([]Sequence, updateEvery)
		for i := range seqs {
			seqs[i] = Sequence{LitLen: 12, MatchLen: 4, Offset: 64}
		}
		if got := w.pays(seqs, c.src, 1<<15, 5, 1<<14, nil); got != c.pays {
			t.Errorf("%s: a match of 5 bytes pays: %v", c.name, got)
		}
		if w.position != 16*len(seqs) || w.counted != len(seqs) {
			t.Errorf("%s: %d sequences, %d bytes counted", c.name, w.counted, w.position)
		}
		if !w.pays(seqs, c.src, 1<<15, shortMatch, 1<<20, nil) {
			t.Errorf("%s: a long match does not pay", c.name)
		}
	}
}

func TestLog2(t *testing.T) {
	for v := uint32(1); v < 1<<20; v += 1 + v/50 {
		got, want := float64(log2(v))/costBit, math.Log2(float64(v))
		if math.Abs(got-want) > 0.22 {
			t.Errorf("log2(%d) = %v, want %v", v, got, want)
		}
	}
}

// TestFewerShortMatches: levels with more candidates do not take short matches of random digits,
// which would make records larger.
func TestFewerShortMatches(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var src []byte
	for len(src) < 1<<19 {
		src = append(src, `{"id":`...)
		for range 9 {
			src = append(src, '0'+byte(r.IntN(10)))
		}
		src = append(src, "},\n"...)
	}
	for level := 4; level <= MaxLevel; level++ {
		var m Matcher
		short, all := 0, 0
		for _, s := range m.Parse(nil, src, &Levels[level], testLimits[1]) {
			all++
			if s.MatchLen < shortMatch {
				short++
			}
		}
		if all == 0 || short*8 > all {
			t.Errorf("level %d: %d short matches of %d", level, short, all)
		}
	}
}

// TestBestMatch: with a score to beat, bestMatch finds the same winners as without.
func TestBestMatch(t *testing.T) {
	p := &Params{Finder: RowHash, HashLog: 12, HashBytes: 5, Depth: 16, Nice: 40}
	l := testLimits[1]
	won := 0
	for _, k := range corpus.Kinds() {
		src := k.Make(4000)
		var free, bound Matcher
		for _, m := range []*Matcher{&free, &bound} {
			m.prepare(len(src), p, l)
			m.minMatch = int(p.HashBytes)
		}
		reps := repeatOffsets{InitialRepeat, InitialRepeat, InitialRepeat}
		for i := range src[:len(src)-finder.Tail] {
			than := i * 7 % 200
			want := free.bestMatch(src, i, &reps, 0)
			got := bound.bestMatch(src, i, &reps, than)
			if want.score > than {
				won++
				if got != want {
					t.Fatalf("%s at %d: %v, want %v", k.Name, i, got, want)
				}
			} else if got.score > than {
				t.Fatalf("%s at %d: %v, want none better than %d", k.Name, i, got, than)
			}
			if i%5 == 0 && want.length > 0 {
				reps.Use(want.offset)
			}
		}
	}
	if won < 1000 {
		t.Errorf("only %d winners", won)
	}
}
