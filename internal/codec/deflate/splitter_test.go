package deflate

import (
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

// TestSplitter checks that ends ascend to the end of the content and separate two kinds of content.
// Content may be literals or matches alone.
func TestSplitter(t *testing.T) {
	text, random := corpus.ByName("text").Make(30_000), corpus.ByName("random").Make(30_000)
	both := append(append([]byte(nil), text...), random...)
	q := lz77.Sequence{LitLen: 100, MatchLen: 1000, Offset: 99}
	match := optimal.Step{Sequence: q, Kind: optimal.NewOffset}
	s := newSplitter()
	for _, c := range []struct {
		content []byte
		steps   []optimal.Step
		near    int // position near which an end must be
	}{
		{nil, nil, 0}, {text[:1], nil, 1}, {text[:unitSymbols], nil, unitSymbols},
		{both, nil, len(text)}, {text[:1100], []optimal.Step{match}, 1100},
		{text[:4400], []optimal.Step{match, match, match, match}, 4400},
	} {
		ends := s.Split([]int{-7}, c.content, c.steps)[1:]
		last, found := 0, c.near == 0
		for _, end := range ends {
			if end <= last || end > len(c.content) {
				t.Fatalf("%d bytes, %d steps: %v", len(c.content), len(c.steps), ends)
			}
			last = end
			found = found || end >= c.near-unitSymbols && end <= c.near+unitSymbols
		}
		if last != len(c.content) || !found {
			t.Errorf("%d bytes, %d steps: ends %v, want one near %d",
				len(c.content), len(c.steps), ends, c.near)
		}
	}
	ends := make([]int, 0, 100)
	if n := testing.AllocsPerRun(5, func() { ends = s.Split(ends[:0], both, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
