package optimal

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/lz77"
)

// TestOptimal compares the parse with an exhaustive search over all matches of all lengths. The
// parse is optimal if there are no repeat offsets, prices are constant, and a literal costs the
// same in any run.
func TestOptimal(t *testing.T) {
	for name, f := range exactFinders {
		t.Run(name, func(t *testing.T) { testOptimal(t, f) })
	}
}

func testOptimal(t *testing.T, f Finder) {
	const size, nice = 700, 300
	c := config{
		Params: Params{
			Finder: f, HashLog: 16, Depth: 1 << 20, Nice: nice, Passes: 1, MaxMisses: nice,
		},
		MinNew: 3, MinRepeat: 3, MinOffset: 1, MaxOffset: 1 << 26, Model: flat{},
	}
	var p Prices
	flat{}.Price(&p, nil)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		src := make([]byte, size)
		for i := range src {
			src[i] = byte(r.UintN(2 + uint(seed)))
		}
		var best [size + 1]int
		for i := range size {
			best[i+1] = 1 << 30
		}
		for i, here := range best[:size] {
			best[i+1] = min(best[i+1], here+int(p.Literal[src[i]]+p.Run[1]-p.Run[0]))
			for d := 1; d <= i && i < size-finder.Tail; d++ {
				offset := p.Offset[genericModel{}.OffsetCode(uint32(d))]
				for n := 0; i+n < size && src[i+n] == src[i+n-d]; {
					n++
					if n >= 3 {
						best[i+n] = min(best[i+n], here+int(p.Run[0]+p.Match[0][NewOffset][n]+offset))
					}
				}
			}
		}
		var o Parser
		seqs := o.sequences(src, c)
		if n := literals(size, seqs); len(seqs) < 5 || n < 5 {
			t.Errorf("%d different bytes: only %d sequences and %d literals", 2+seed, len(seqs), n)
		}
		if got := total(&p, src, seqs); got != best[size] {
			t.Errorf("%d different bytes: the parse costs %d, the best costs %d",
				2+seed, got, best[size])
		}
	}
}

// TestSecondPath: the parse takes the farther of two matches, though the nearer one and a literal
// cost less, because another match at the same offset follows behind the next literal.
func TestSecondPath(t *testing.T) {
	random := corpus.ByName("random").Make(30_000)
	x, y := random[:40], random[40:80]
	x[39] = 0 // the cheapest literal
	near := random[20_000:20_300]
	near[0] = 1
	src := slices.Concat(random[100:300], x, []byte{2}, y, random[300:20_000], x[:39], near,
		x, []byte{3}, y, random[29_000:29_100])
	far := uint32(40 + 1 + 40 + 19_700 + 39 + 300)
	c := config{
		Params: Params{
			Finder: BinaryTree, HashLog: 16, Depth: 64, Nice: 256, Passes: 1, MaxMisses: 2,
			KeepSecondPath: true,
		},
		MinNew: 4, MinRepeat: 4, MinOffset: 1, MaxOffset: 1 << 26, Repeats: 3, Model: flat{},
	}
	var o Parser
	seqs := o.sequences(src, c)
	if err := valid(src, seqs, c); err != nil {
		t.Fatal(err)
	}
	last := lz77.Sequence{LitLen: 1, MatchLen: 40, Offset: far}
	if n := len(seqs); n < 2 || seqs[n-2].Offset != far || seqs[n-1] != last {
		t.Errorf("got %v, want two matches at offset %d", seqs, far)
	}
	c.Repeats = 0
	if seqs = o.sequences(src, c); len(seqs) < 2 || seqs[len(seqs)-2].Offset != 339 {
		t.Errorf("without repeat offsets: got %v, want the nearer match first", seqs)
	}
}

// TestLongMatches: a match that is longer than a chunk or goes on in the next one is one sequence.
func TestLongMatches(t *testing.T) {
	half := corpus.ByName("random").Make(3*MaxChunk + 1234)
	for _, c := range formats {
		if c.MaxOffset < len(half) {
			continue
		}
		var o Parser
		src := append(bytes.Clone(half), half...)
		seqs := o.sequences(src, atLevel(9, c))
		if err := valid(src, seqs, c); err != nil {
			t.Fatal(err)
		}
		long := slices.DeleteFunc(slices.Clone(seqs), func(s lz77.Sequence) bool { return s.MatchLen < 16 })
		n := len(seqs)
		if n == 0 || int(seqs[n-1].MatchLen) < len(half)-finder.Tail || len(long) > 1 ||
			c.MinNew > 3 && n > 20 {
			t.Errorf("MinNew %d: %d sequences, %d of 16 bytes or more", c.MinNew, n, len(long))
		}
	}
}

// TestBoundSequences: data that is all matches of 2 bytes gives no more sequences than memory is
// reserved for.
func TestBoundSequences(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	src := corpus.ByName("random").Make(8000)
	for last := 0; len(src) < 5*MaxChunk; {
		last = (last + 1 + r.IntN(2)) % 3
		from := len(src) - []int{331, 2000, 7777}[last]
		src = append(src, src[from], src[from+1])
	}
	c := formats[2]
	for level := 7; level <= 9; level++ {
		var o Parser
		seqs := o.sequences(src, atLevel(level, c))
		if err := valid(src, seqs, c); err != nil {
			t.Fatal(err)
		}
		if n := len(seqs); n > len(src)/minSequenceBytes+MaxChunk/2 || n < len(src)/6 {
			t.Errorf("level %d: %d sequences in %d bytes", level, n, len(src))
		}
	}
}
