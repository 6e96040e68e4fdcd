package lz77

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestTreeDefinition compares the candidates of every position with the definition, word by word.
func TestTreeDefinition(t *testing.T) {
	const size, nice = 1200, 40
	for _, l := range []Limits{{MinMatch: 4, MaxOffset: 1 << 26, MinOffset: 1}, {MinMatch: 3, MaxOffset: 255, MinOffset: 1}, {MinMatch: 5, MaxOffset: 1 << 15}} {
		found := 0
		for _, k := range corpus.Kinds() {
			src := k.Make(size)
			var tr tree
			tr.reset(&Params{Finder: Tree, HashLog: 16, Depth: 1 << 20, Nice: nice}, &l, size)
			var cands []candidate
			for i := range size - tail {
				cands = tr.insert(cands[:0], src, i, generic{})
				longest := l.MinMatch - 1
				for d := 1; d <= min(i, l.MaxOffset); d++ {
					n := 0
					for n < nice && i+n < size && src[i+n] == src[i+n-d] {
						n++
					}
					if n <= longest || d < l.minOffset() {
						continue
					}
					longest = n
					if l.MinOffset != 1 {
						continue // what is nearer than that stands for others
					}
					found++
					if l.MinMatch == 3 && n > 3 && len(cands) > 0 && cands[0] == newCandidate(3, d, generic{}) {
						cands = cands[1:] // matches of 3 are looked up apart from the others
					}
					if len(cands) == 0 || cands[0] != newCandidate(n, d, generic{}) {
						t.Fatalf("%s, limits %+v at %d: want %d bytes at %d, have %v", k.Name, l, i, n, d, cands)
					}
					cands = cands[1:]
					if n == nice {
						break
					}
				}
				for _, c := range cands {
					if n, d := c.length(), c.offset(); l.MinOffset == 1 || d < MinOffset || d > i || !bytes.Equal(src[i:i+n], src[i-d:i-d+n]) {
						t.Fatalf("%s, limits %+v at %d: %d bytes at %d", k.Name, l, i, n, d)
					}
				}
			}
		}
		if l.MinOffset == 1 && found < 5*size {
			t.Errorf("only %d candidates", found)
		}
	}
}

// flat is a Model whose prices do not depend on counts, so that there is a best parse to compare with.
type flat struct{ generic }

func (flat) Count(*Counts, []Step) {}

func (flat) Price(p *Prices, _ *Counts) {
	for b := range p.Literal {
		p.Literal[b] = int32(700 + 5*b)
	}
	for n := range p.Run {
		p.Run[n] = int32(37 * n)
	}
	for n := range p.Match[0][Fresh] {
		p.Match[0][Fresh][n] = int32(900 + 11*n)
	}
	for c := range p.Offset {
		p.Offset[c] = int32(c * PriceBit)
	}
}

// total is what sequences cost by these prices.
func total(p *Prices, src []byte, seqs []Sequence) (sum int) {
	for _, q := range seqs {
		for _, b := range src[:q.LitLen] {
			sum += int(p.Literal[b])
		}
		sum += int(p.Run[min(q.LitLen, PricedRuns-1)]) + int(p.Match[0][Fresh][q.MatchLen]) + int(p.Offset[generic{}.OffsetCode(q.Offset)])
		src = src[q.LitLen+q.MatchLen:]
	}
	for _, b := range src {
		sum += int(p.Literal[b])
	}
	return sum + int(p.Run[min(len(src), PricedRuns-1)])
}

// TestOptimal: without repeat offsets, with prices that stay, and literals that cost the same in any run, nothing is cheaper than what is found. The least price is found here by looking at all matches
// of all lengths.
func TestOptimal(t *testing.T) {
	const size, nice = 700, 300
	l := Limits{MinMatch: 3, MaxOffset: 1 << 26, MinOffset: 1, Model: flat{}}
	params := &Params{Finder: Tree, HashLog: 16, Depth: 1 << 20, Nice: nice, Passes: 1, Misses: nice}
	var p Prices
	flat{}.Price(&p, nil)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		src := make([]byte, size)
		for i := range src {
			src[i] = byte(r.UintN(2 + uint(seed)))
		}
		var best [size + 1]int // without the price of no literals at the end, which is 0
		for i := range size {
			best[i+1] = 1 << 30
		}
		for i, here := range best[:size] {
			best[i+1] = min(best[i+1], here+int(p.Literal[src[i]]+p.Run[1]))
			for d := 1; d <= i && i < size-tail; d++ {
				for n := 0; i+n < size && src[i+n] == src[i+n-d]; {
					if n++; n >= 3 {
						best[i+n] = min(best[i+n], here+int(p.Match[0][Fresh][n]+p.Offset[generic{}.OffsetCode(uint32(d))]))
					}
				}
			}
		}
		var m Matcher
		seqs := m.Parse(nil, src, params, l)
		if got := total(&p, src, seqs); got != best[size] {
			t.Errorf("%d different bytes: %d, the best is %d", 2+seed, got, best[size])
		}
	}
}

// TestSecondArrival: a piece is taken from the farther of two places, though a match at the nearer one and a literal cost less, because the literal behind it is followed
// by a match at the same offset.
func TestSecondArrival(t *testing.T) {
	random := corpus.ByName("random").Make(30_000)
	x, y := random[:40], random[40:80]
	x[39] = 0 // the cheapest literal
	near := random[20_000:20_300]
	near[0] = 1
	src := slices.Concat(random[100:300], x, []byte{2}, y, random[300:20_000], x[:39], near, x, []byte{3}, y, random[29_000:29_100])
	far := uint32(40 + 1 + 40 + 19_700 + 39 + 300)
	params := &Params{Finder: Tree, HashLog: 16, Depth: 64, Nice: 256, Passes: 1, Misses: 2}
	l := Limits{MinMatch: 4, MaxOffset: 1 << 26, MinOffset: 1, Repeats: 3, Model: flat{}}
	var m Matcher
	seqs := m.Parse(nil, src, params, l)
	if err := valid(src, seqs, l); err != nil {
		t.Fatal(err)
	}
	if n := len(seqs); n < 2 || seqs[n-2].Offset != far || seqs[n-1] != (Sequence{1, 40, far}) {
		t.Errorf("%v, want two matches at %d", seqs, far)
	}
	l.Repeats = 0
	if seqs = m.Parse(nil, src, params, l); len(seqs) < 2 || seqs[len(seqs)-2].Offset != 339 {
		t.Errorf("%v without repeats, want the nearer one first", seqs)
	}
}

func TestEven(t *testing.T) {
	counts := []uint32{0, 5, 1, 0, 1000, 0}
	if even(counts); !slices.Equal(counts, []uint32{0, 335, 335, 0, 335, 0}) {
		t.Errorf("%v", counts)
	}
	counts = []uint32{0, 0}
	if even(counts); counts[0]+counts[1] != 0 {
		t.Errorf("%v", counts)
	}
}

// TestLongMatches: matches that are longer than a piece, or go on in the next one, are one sequence each.
func TestLongMatches(t *testing.T) {
	half := corpus.ByName("random").Make(3*maxPiece + 1234)
	for _, l := range testLimits {
		if l.MaxOffset < len(half) {
			continue
		}
		var m Matcher
		src := append(bytes.Clone(half), half...)
		seqs := m.Parse(nil, src, &Levels[9], l)
		if err := valid(src, seqs, l); err != nil {
			t.Fatal(err)
		}
		if n := len(seqs); n == 0 || int(seqs[n-1].MatchLen) < len(half)-tail || n > 20 {
			t.Errorf("%d sequences", n)
		}
	}
}
