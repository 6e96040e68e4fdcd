package lz77

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77/internal/base"
)

// TestLimits: all levels keep to all limits, with matches at repeat offsets shorter than the 4
// bytes that are compared at once, and longer ones.
func TestLimits(t *testing.T) {
	src := corpus.ByName("records").Make(3000)
	r := rand.New(rand.NewPCG(5, 6))
	for range 1500 {
		src = append(src, byte(r.UintN(6))) // many short matches at repeat offsets
	}
	for level := 1; level <= MaxLevel; level++ {
		for least := 3; least <= 8; least++ {
			for repeats := 0; repeats <= NewOffset; repeats++ {
				for _, offsets := range [][2]int{
					{0, 32}, {1, 32}, {0, InitialRepeat}, {1, 255}, {0, base.MaxOffset},
				} {
					if repeats > 0 && offsets[1] < InitialRepeat {
						continue
					}
					// In flatModel repeat offsets cost nothing.
					l := Limits{MinMatch: least, Repeats: repeats, Model: flatModel{}}
					l.MinOffset, l.MaxOffset = offsets[0], offsets[1]
					testLimitsOf(t, src, level, l)
				}
			}
		}
	}
}

// testLimitsOf tests l with all values of MinRepeat.
func testLimitsOf(t *testing.T, src []byte, level int, l Limits) {
	for again := l.MinMatch; again >= 2; again-- {
		if again < l.MinMatch {
			l.MinRepeat = again
			if l.Repeats == 0 || !Levels[level].Finder.Optimal() {
				break
			}
		}
		var m Matcher
		seqs := m.Parse(nil, src, &Levels[level], l)
		if err := valid(src, seqs, l); err != nil {
			t.Fatalf("level %d, limits %+v: %v", level, l, err)
		}
		if len(seqs) == 0 && l.MaxOffset > 64 {
			t.Errorf("level %d, limits %+v: no sequences", level, l)
		}
		shortest := func(s Sequence) bool { return int(s.MatchLen) == again }
		if again < l.MinMatch && l.MaxOffset > 64 && !slices.ContainsFunc(seqs, shortest) {
			t.Errorf("level %d, limits %+v: no match of %d bytes", level, l, again)
		}
	}
}

func TestImpossibleLimits(t *testing.T) {
	good := Limits{
		MinMatch: 4, MaxOffset: 1 << 16, Repeats: 3, MinOffset: 1,
		Contexts: &Contexts{
			Classes: 3, Class: [256]uint8{255: 2}, First: [256]uint8{7: 200}, Second: [256]uint8{9: 55},
		},
	}
	good.check()
	for i, change := range []func(l *Limits){
		func(l *Limits) { l.MinMatch = 2 },
		func(l *Limits) { l.MinMatch = 9 },
		func(l *Limits) { l.MaxOffset, l.Repeats = 31, 0 },
		func(l *Limits) { l.MaxOffset = InitialRepeat - 1 },
		func(l *Limits) { l.MaxOffset = 1 << 27 },
		func(l *Limits) { l.MinRepeat = 1 },
		func(l *Limits) { l.MinRepeat = 5 },
		func(l *Limits) { l.MinRepeat = -1 },
		func(l *Limits) { l.MinRepeat, l.Repeats = 3, 0 },
		func(l *Limits) { l.Repeats = -1 },
		func(l *Limits) { l.Repeats = 4 },
		func(l *Limits) { l.MinOffset = -1 },
		func(l *Limits) { l.MinOffset = MinOffset + 1 },
		func(l *Limits) { l.Contexts = new(Contexts) },
		func(l *Limits) { l.Contexts = &Contexts{Classes: MaxContextClasses + 1} },
		func(l *Limits) { l.Contexts = &Contexts{Classes: 3, Class: [256]uint8{255: 3}} },
		func(l *Limits) {
			l.Contexts = &Contexts{Classes: 1, First: [256]uint8{7: 200}, Second: [256]uint8{9: 56}}
		},
	} {
		l := good
		change(&l)
		for name, parse := range map[string]func(m *Matcher){
			"Parse": func(m *Matcher) { m.Parse(nil, make([]byte, 100), &Levels[9], l) },
			"ParseCandidates": func(m *Matcher) {
				m.ParseCandidates(nil, make([]byte, 100), 0, &Levels[5], l, make([]uint32, 100))
			},
		} {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Errorf("%+v: no panic", l)
					}
				}()
				parse(new(Matcher))
			})
		}
	}
}
