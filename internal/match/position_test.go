package match

import (
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
)

// TestPosition: the position never falls during a parse, comes near the end of the content, and is
// 0 outside of a parse, also behind a panic.
func TestPosition(t *testing.T) {
	const size, start = 1 << 20, 30_000
	src := corpus.ByName("mixed").Make(start + size)
	eachSetting(func(name string, p *Params, form *optimal.Form) {
		for _, start := range []int{0, start} {
			var m Matcher
			last, half, size := 0, 0, len(src)-start
			m.Checkpoint = func() {
				at := m.Position()
				if at < last || at > size {
					t.Fatalf("%s from %d: position %d of %d behind %d", name, start, at, size, last)
				}
				last = at
				if at < size/2 {
					half = at
				}
			}
			m.ParseFrom(nil, src, start, p, form)
			// The step is largest with the fast parsers, and a match may be longer.
			if last < size*5/8 || half < size/8 {
				t.Errorf("%s from %d: positions end at %d of %d, and at %d in the first half",
					name, start, last, size, half)
			}
			if at := m.Position(); at != 0 {
				t.Errorf("%s from %d: position %d behind a parse", name, start, at)
			}
			abandon(&m, 1, func() { m.ParseFrom(nil, src, start, p, form) })
			if at := m.Position(); at != 0 {
				t.Errorf("%s from %d: position %d behind a panic", name, start, at)
			}
		}
	})
}
