package lz77

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// cut is a Model of a form in blocks. Prices do not depend on counts, so that there is a best parse to compare with.
type cut struct {
	flat
	parts int
}

func (c cut) Rules() Rules {
	return Rules{ChunkSize: 16 << 10, NewSplitter: func() BlockSplitter { return equal(c.parts) }}
}

func (cut) Price(p *Prices, c *Counts) {
	flat{}.Price(p, c)
	clear(p.Run[:])
}

// equal cuts content into so many parts of equal size, wherever matches end: parts are good all the same where there are candidates at all positions.
type equal int

func (parts equal) Split(ends []int, content []byte, steps []Step) []int {
	n := 0
	for i := range steps {
		n += int(steps[i].LitLen + steps[i].MatchLen)
	}
	if n > len(content) {
		panic("steps beyond the content")
	}
	for k := 1; k < int(parts); k++ {
		if end := k * len(content) / int(parts); end > 0 {
			ends = append(ends, end)
		}
	}
	return append(ends, len(content))
}

// pieces is a cut that goes by pieces of so many bytes before it cuts.
type pieces struct {
	cut
	size int
}

func (p pieces) Rules() Rules {
	rules := p.cut.Rules()
	rules.ChunkSize = p.size
	return rules
}

var blockLimits = Limits{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1, Model: cut{parts: 3}}

// TestBlocks: with prices that stay, no way to a block is cheaper than the one that is found. The least price is found here by looking at all matches of all lengths.
func TestBlocks(t *testing.T) {
	const size, nice = 700, 40
	params := &Params{Finder: BinaryTree, HashLog: 16, Depth: 1 << 20, Nice: nice, Passes: 1}
	var p Prices
	cut{}.Price(&p, nil)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 2))
		src := make([]byte, size)
		for i := range src {
			src[i] = byte(r.UintN(2 + uint(seed)))
		}
		ends := equal(3).Split(nil, src, nil)
		var best [size + 1]int // from each position to the end
		for i := size - 1; i >= 0; i-- {
			end := ends[slices.IndexFunc(ends, func(e int) bool { return e > i })]
			best[i] = best[i+1] + int(p.Literal[src[i]])
			for d := 1; d <= i && i < size-tail && i+lanes <= end; d++ {
				for n := 0; i+n < end && n < nice && src[i+n] == src[i+n-d]; {
					if n++; n >= 3 {
						best[i] = min(best[i], best[i+n]+int(p.Match[0][NewOffset][n]+p.Offset[genericModel{}.OffsetCode(uint32(d))]))
					}
				}
			}
		}
		var m Matcher
		seqs := m.Parse(nil, src, params, blockLimits)
		if err := valid(src, seqs, blockLimits); err != nil {
			t.Fatal(err)
		}
		if n := uncovered(size, seqs); len(seqs) < 5 || n < 5 {
			t.Errorf("%d different bytes: %d sequences, %d literals say little", 2+seed, len(seqs), n)
		}
		seqs = seqs[:0]
		for _, s := range m.optimal.steps {
			seqs = append(seqs, s.Sequence) // as they were before some became one
		}
		if got := total(&p, src, seqs); got != best[0] {
			t.Errorf("%d different bytes: %d, the best is %d", 2+seed, got, best[0])
		}
	}
}

// TestBlocksValid: what is found is true, whatever the content, its size and what is in front of it, with candidates at the ends of windows and in matches that are longer than
// those are.
func TestBlocksValid(t *testing.T) {
	params := &Params{Finder: BinaryTree, HashLog: 16, Depth: 16, Nice: 258, Passes: 2}
	contents := worstCases(maxWindow + 5000)
	for _, k := range corpus.Kinds() {
		contents[k.Name] = k.Make(3000)
	}
	half := corpus.ByName("random").Make(maxWindow + 100)
	contents["far"] = slices.Concat(half, half[len(half)-30_000:], bytes.Repeat(half[:3], maxWindow/2))
	var m Matcher
	for name, src := range contents {
		for _, start := range []int{0, min(1<<15, len(src)/2)} {
			if small() && start > 0 && len(src) > 1<<16 {
				continue
			}
			seqs := m.ParseFrom(nil, src, start, params, blockLimits)
			if !Valid(seqs, src, start, blockLimits) {
				t.Errorf("%s from %d: impossible sequences", name, start)
			}
		}
	}
}

// TestPieces: prices that stay give the same whatever the pieces are, of which 0 is all that there is at once, and 1 is the least. Less is a mistake in the program.
func TestPieces(t *testing.T) {
	params := &Params{Finder: BinaryTree, HashLog: 16, Depth: 16, Nice: 40, Passes: 1}
	src := slices.Concat(corpus.ByName("text").Make(3000), make([]byte, 1000))
	var m Matcher
	want := m.Parse(nil, src, params, blockLimits)
	l := blockLimits
	for _, size := range []int{0, 1, 39, 2 * maxWindow} {
		l.Model = pieces{cut{parts: 3}, size}
		if got := m.Parse(nil, src, params, l); !slices.Equal(got, want) {
			t.Errorf("pieces of %d: other sequences", size)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("pieces of less than nothing are taken")
		}
	}()
	l.Model = pieces{cut{parts: 3}, -1}
	m.Parse(nil, src, params, l)
}

// TestChain: in a match longer than Nice the nearest offset is looked for again, and zeros need no look.
func TestChain(t *testing.T) {
	random := corpus.ByName("random").Make(5000)
	src := slices.Concat(random, make([]byte, 1000), random, make([]byte, 3000), random[:100])
	l := blockLimits
	l.Model = cut{parts: 1}
	var m Matcher
	seqs := m.Parse(nil, src, &Params{Finder: BinaryTree, HashLog: 16, Depth: 64, Nice: 258, Passes: 1}, l)
	if err := valid(src, seqs, l); err != nil {
		t.Fatal(err)
	}
	far := uint32(0) // what is copied from the zeros in front, where there are nearer ones
	for _, q := range seqs {
		if q.Offset == 6000 {
			far += q.MatchLen
		}
	}
	if n := uncovered(len(src), seqs); far < 5000 || far > 5000+258 || n > 5000+20 {
		t.Errorf("%d bytes at the far offset, %d literals: %v", far, n, seqs)
	}
}
