package lz77

import (
	"fmt"
	"testing"
)

func TestImpossibleLimits(t *testing.T) {
	good := Limits{
		MinMatch: 4, MaxOffset: 1 << 16, Repeats: 3, MinOffset: 1,
	}
	good.Check()
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
	} {
		l := good
		change(&l)
		for name, parse := range map[string]func(m *Matcher){
			"Parse": func(m *Matcher) { m.Parse(nil, make([]byte, 100), &Levels[4], l) },
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
