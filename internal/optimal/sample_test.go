package optimal

import (
	"math"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestSample: a quarter that begins in a match taken at once is sampled behind the match. The bytes
// of the match are not counted as literals.
func TestSample(t *testing.T) {
	random := corpus.ByName("random").Make(5000)
	half := random[:4000]
	src := slices.Concat(half, half, random[4000:])
	var o Parser
	seqs := o.sequences(src, atLevel(9, formats[1]))
	if len(seqs) != 1 || seqs[0].MatchLen != 4000 {
		t.Fatalf("got %v, want one match of 4000", seqs)
	}
	o.counts, o.checkpoint = Counts{}, func() {}
	o.sample(src, chunk{from: 0, to: len(src)}, state{repeats: o.rules.InitialRepeats})
	sum := 0
	for _, n := range o.counts.Literals {
		sum += int(n)
	}
	if want := len(src)/4 + 1000; sum != want {
		t.Errorf("%d literals in the sample, want %d", sum, want)
	}
}

func TestEqualize(t *testing.T) {
	counts := []uint32{0, 5, 1, 0, 1000, 0}
	equalize(counts)
	if !slices.Equal(counts, []uint32{0, 335, 335, 0, 335, 0}) {
		t.Errorf("got %v", counts)
	}
	counts = []uint32{0, 0}
	equalize(counts)
	if counts[0]+counts[1] != 0 {
		t.Errorf("got %v", counts)
	}
}

// TestDivergence compares divergence with floating-point arithmetic.
func TestDivergence(t *testing.T) {
	var c, d Counts
	random := corpus.ByName("random").Make(512)
	for i := range 256 {
		c.Literals[i] = uint32(random[i])
		d.Literals[i] = uint32(random[256+i]) % 40
		c.Symbols[2][i], d.Symbols[2][i] = uint32(i)+1, 256-uint32(i)
	}
	wantExcess, wantEntropy := 0.0, 0.0
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
			wantEntropy += n * math.Log2(own/n)
			wantExcess += n * (math.Log2((past+128)/(float64(p[0][i])+0.5)) - math.Log2(own/n))
		}
	}
	excess, entropy := c.divergence(&d)
	near := func(got int64, want float64) bool { return math.Abs(float64(got)/PriceBit-want) < want/100 }
	if !near(excess, wantExcess) || !near(entropy, wantEntropy) {
		t.Errorf("got %d and %d bits, want %.0f and %.0f",
			excess/PriceBit, entropy/PriceBit, wantExcess, wantEntropy)
	}
	var many Counts
	for i := range many.Literals {
		many.Literals[i] = 1000 * d.Literals[i]
	}
	d.Symbols[2] = [256]uint32{}
	if excess, entropy := many.divergence(&d); excess > entropy/100 || -excess > entropy/100 {
		t.Errorf("from a thousand times the counts: divergence %d, entropy %d", excess, entropy)
	}
	if excess, entropy := new(Counts).divergence(&d); excess < entropy/100 {
		t.Errorf("from no counts: divergence %d, entropy %d", excess, entropy)
	}
}

// TestResemblesPast: chunks are sampled where content changes, and only there.
func TestResemblesPast(t *testing.T) {
	testenv.Slow(t)
	const chunks = 10
	text := corpus.ByName("text").Make(chunks * MaxChunk)
	random := corpus.ByName("random").Make(chunks * MaxChunk)
	for _, x := range []struct {
		name    string
		content []byte
		change  int // number of the chunk that differs from those before it
	}{
		{"text, random", slices.Concat(text, random), chunks},
		{"random, text", slices.Concat(random, text), chunks},
		{"zeros, text", append(make([]byte, 2*MaxChunk), text...), 1},
	} {
		src := slices.Clip(x.content)
		var o Parser
		o.sequences(src, atLevel(9, formats[1])) // allocates everything
		o.checkpoint = func() {}
		o.lcp.reset(&o.config, src, 0, o.checkpoint)
		var changes []int
		s, more := o.firstChunk(src, 0), true
		for k := 0; more; k++ {
			if k == 0 {
				o.seedCounts(src, s)
			} else if !o.resemblesPast(src, s) {
				changes = append(changes, k)
			}
			s, more = o.nextChunk(src, s)
		}
		// Without much content in front of them, chunks get longer matches one after the other.
		if !slices.Contains(changes, x.change) || len(changes) > chunks {
			t.Errorf("%s: chunks %v differ from those before them, want %d among few",
				x.name, changes, x.change)
		}
	}
}
