package lzprice

import (
	"testing"

	"github.com/gopz/compress/internal/optimal"
)

// TestMinMatch compares the lengths of the shortest matches with those of the layouts. Tests of
// package pipeline compare prices with the sizes of coded blocks.
func TestMinMatch(t *testing.T) {
	for _, f := range []*optimal.Form{&Repeat, &Dense} {
		for kind, least := range f.Model.(repeatModel).minMatch {
			want := f.LeastRepeat()
			if kind == optimal.NewOffset {
				want = f.MinMatch
			}
			if int(least) != want {
				t.Errorf("kind %d of %+v: %d, want %d", kind, f.Limits, least, want)
			}
		}
	}
	if Plain.MinMatch != plainMinMatch {
		t.Errorf("layout Plain: %d, want %d", plainMinMatch, Plain.MinMatch)
	}
}
