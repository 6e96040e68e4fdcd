package lz77

import (
	"math"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestAstray compares with what floating point says.
func TestAstray(t *testing.T) {
	var c, d Counts
	random := corpus.ByName("random").Make(512)
	for i := range 256 {
		c.Literals[i] = uint32(random[i])
		d.Literals[i] = uint32(random[256+i]) % 40
		c.Symbols[2][i], d.Symbols[2][i] = uint32(i)+1, 256-uint32(i)
	}
	wantLost, wantAll := 0.0, 0.0
	for _, p := range [][2]*[256]uint32{{&c.Literals, &d.Literals}, {&c.Symbols[2], &d.Symbols[2]}} {
		past, own := 0.0, 0.0
		for i := range 256 {
			past += float64(p[0][i])
			own += float64(p[1][i])
		}
		for i := range 256 {
			n := float64(p[1][i])
			if n == 0 {
				continue
			}
			wantAll += n * math.Log2(own/n)
			wantLost += n * (math.Log2((past+128)/(float64(p[0][i])+0.5)) - math.Log2(own/n))
		}
	}
	lost, all := c.divergence(&d)
	near := func(got int64, want float64) bool { return math.Abs(float64(got)/PriceBit-want) < want/100 }
	if !near(lost, wantLost) || !near(all, wantAll) {
		t.Errorf("%d of %d, want %.0f of %.0f", lost/PriceBit, all/PriceBit, wantLost, wantAll)
	}
	var many Counts
	for i := range many.Literals {
		many.Literals[i] = 1000 * d.Literals[i]
	}
	d.Symbols[2] = [256]uint32{}
	if lost, all := many.divergence(&d); lost > all/100 || -lost > all/100 {
		t.Errorf("from as much of each a thousand times: %d of %d", lost, all)
	}
	if lost, all := new(Counts).divergence(&d); lost < all/100 {
		t.Errorf("from nothing: %d of %d", lost, all)
	}
}

// TestSteady: where content changes pieces are sampled, and where it goes on they are not.
func TestSteady(t *testing.T) {
	const pieces = 10
	text := corpus.ByName("text").Make(pieces * MaxChunk)
	random := corpus.ByName("random").Make(pieces * MaxChunk)
	for _, x := range []struct {
		name    string
		content []byte
		change  int // the piece that is unlike those before, by number
	}{
		{"text, random", slices.Concat(text, random), pieces},
		{"random, text", slices.Concat(random, text), pieces},
		{"zeros, text", append(make([]byte, 2*MaxChunk), text...), 1},
	} {
		o, params := new(optimal), Levels[MaxLevel]
		m := Matcher{optimal: o}
		m.Parse(nil, x.content, &params, testLimits[1]) // makes it ready
		o.lcp.reset(&params, &o.limits, x.content, 0)
		var changes []int
		s, more := o.firstChunk(x.content, 0), true
		for k := 0; more; k++ {
			if k == 0 {
				o.seedCounts(x.content, s)
			} else if !o.resemblesPast(x.content, s) {
				changes = append(changes, k)
			}
			s, more = o.nextChunk(x.content, s)
		}
		// With little content behind them pieces become longer in their matches one after the other.
		if !slices.Contains(changes, x.change) || len(changes) > pieces {
			t.Errorf("%s: pieces %v are said to be unlike those before, and %d is", x.name, changes, x.change)
		}
	}
}
