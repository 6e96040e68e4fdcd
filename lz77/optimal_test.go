package lz77

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// exactFinders are those that find the nearest match of every length, if they are let search to the end.
var exactFinders = map[string]Finder{"Tree": BinaryTree, "Intervals": LCPIntervals}

// exactCandidates calls f with the candidates of each position in src that such a finder has.
func exactCandidates(finder Finder, src []byte, nice int, l *Limits, f func(i int, cands []candidate)) {
	src = src[:len(src):len(src)]
	params := &Params{Finder: finder, HashLog: 16, Depth: 1 << 20, Nice: nice}
	var tr binaryTree
	var in lcpIntervals
	if finder == BinaryTree {
		tr.reset(params, l, len(src))
	} else {
		in.reset(params, l, src, 0)
	}
	var cands []candidate
	for i := range len(src) - tail {
		if finder == BinaryTree {
			cands = tr.insert(cands[:0], src, i, genericModel{})
		} else {
			cands = in.find(cands[:0], src, i, genericModel{})
		}
		f(i, cands)
	}
}

// equalBytes is how many bytes at i are equal to those d before them, as far as nice.
func equalBytes(src []byte, i, d, nice int) (n int) {
	for n < nice && i+n < len(src) && src[i+n] == src[i+n-d] {
		n++
	}
	return n
}

// TestDefinition compares the candidates of every position with the definition, word by word.
func TestDefinition(t *testing.T) {
	for name, finder := range exactFinders {
		t.Run(name, func(t *testing.T) {
			for _, nice := range []int{4, 5, 6, 7, 40} { // fewer bytes than are compared at once, too
				testDefinition(t, finder, nice)
			}
		})
	}
}

func testDefinition(t *testing.T, finder Finder, nice int) {
	const size = 1200
	for _, l := range []Limits{{MinMatch: 4, MaxOffset: 1 << 26, MinOffset: 1}, {MinMatch: 3, MaxOffset: 255, MinOffset: 1}} {
		found := 0
		for _, k := range corpus.Kinds() {
			src := k.Make(size)
			exactCandidates(finder, src, nice, &l, func(i int, cands []candidate) {
				longest := l.MinMatch - 1
				for d := 1; d <= min(i, l.MaxOffset) && longest < nice; d++ {
					n := equalBytes(src, i, d, nice)
					if n <= longest {
						continue
					}
					longest = n
					found++
					if l.MinMatch == 3 && n > 3 && len(cands) > 0 && cands[0] == newCandidate(3, d, genericModel{}) {
						cands = cands[1:] // a tree looks them up apart from the others
					}
					if len(cands) == 0 || cands[0] != newCandidate(n, d, genericModel{}) {
						t.Fatalf("%s, limits %+v, Nice %d at %d: want %d bytes at %d, have %v", k.Name, l, nice, i, n, d, cands)
					}
					cands = cands[1:]
				}
				for _, c := range cands {
					t.Fatalf("%s, limits %+v, Nice %d at %d: %d bytes at %d", k.Name, l, nice, i, c.length(), c.offset())
				}
			})
		}
		if found < 5*size {
			t.Errorf("only %d candidates with Nice %d", found, nice)
		}
	}
}

// TestMinOffset: where near offsets are not allowed, what is nearer stands for its least multiple that is allowed, and the longest matches are still found: any that is longer
// than all that are nearer, unless there is one as long that stands for a nearer one.
func TestMinOffset(t *testing.T) {
	for name, finder := range exactFinders {
		t.Run(name, func(t *testing.T) { testMinOffset(t, finder) })
	}
}

func testMinOffset(t *testing.T, finder Finder) {
	const size, nice = 1200, 40
	for _, l := range []Limits{{MinMatch: 5, MaxOffset: 1 << 15}, {MinMatch: 4, MaxOffset: 300}} {
		found, near := 0, 0
		for _, k := range corpus.Kinds() {
			src := k.Make(size)
			exactCandidates(finder, src, nice, &l, func(i int, cands []candidate) {
				last := l.MinMatch - 1
				for _, c := range cands {
					n, d := c.length(), c.offset()
					if n <= last || d < MinOffset || d > min(i, l.MaxOffset) || c != newCandidate(equalBytes(src, i, d, nice), d, genericModel{}) {
						t.Fatalf("%s, limits %+v at %d: %d bytes at %d", k.Name, l, i, n, d)
					}
					last = n
				}
				longest := l.MinMatch - 1
				for d := 1; d <= min(i, l.MaxOffset) && longest < nice; d++ {
					n := equalBytes(src, i, d, nice)
					if n <= longest {
						continue
					}
					longest = n
					at := d
					if d < MinOffset {
						if at = int(leastMultiple[d]); at > min(i, l.MaxOffset) {
							continue
						}
						if n = equalBytes(src, i, at, nice); n < l.MinMatch {
							continue
						}
						near++
					}
					found++
					if !slices.ContainsFunc(cands, func(c candidate) bool { return c.length() >= n && c.offset() <= max(at, 2*MinOffset) }) {
						t.Fatalf("%s, limits %+v at %d: want %d bytes at %d, have %v", k.Name, l, i, n, at, cands)
					}
				}
			})
		}
		if found < 5*size || near < size {
			t.Errorf("only %d candidates, %d of them for nearer ones", found, near)
		}
	}
}

// flat is a Model whose prices do not depend on counts, so that there is a best parse to compare with.
type flat struct{ genericModel }

func (flat) Count(*Counts, []Step) {}

func (flat) Price(p *Prices, _ *Counts) {
	for b := range p.Literal {
		p.Literal[b] = int32(700 + 5*b)
	}
	for n := range p.Run {
		p.Run[n] = int32(150 + 37*n)
	}
	for n := range p.Match[0][NewOffset] {
		p.Match[0][NewOffset][n] = int32(900 + 11*n)
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
		sum += int(p.Run[min(q.LitLen, PricedRuns-1)]) + int(p.Match[0][NewOffset][q.MatchLen]) + int(p.Offset[genericModel{}.OffsetCode(q.Offset)])
		src = src[q.LitLen+q.MatchLen:]
	}
	for _, b := range src {
		sum += int(p.Literal[b])
	}
	return sum + int(p.Run[min(len(src), PricedRuns-1)]-p.Run[0]) // as literals, not as a run
}

// TestOptimal: without repeat offsets, with prices that stay, and literals that cost the same in any run, nothing is cheaper than what is found. The least price is found here by looking at all matches
// of all lengths.
func TestOptimal(t *testing.T) {
	for name, finder := range exactFinders {
		t.Run(name, func(t *testing.T) { testOptimal(t, finder) })
	}
}

func testOptimal(t *testing.T, finder Finder) {
	const size, nice = 700, 300
	l := Limits{MinMatch: 3, MaxOffset: 1 << 26, MinOffset: 1, Model: flat{}}
	params := &Params{Finder: finder, HashLog: 16, Depth: 1 << 20, Nice: nice, Passes: 1, MaxMisses: nice}
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
			for d := 1; d <= i && i < size-tail; d++ {
				for n := 0; i+n < size && src[i+n] == src[i+n-d]; {
					if n++; n >= 3 {
						best[i+n] = min(best[i+n], here+int(p.Run[0]+p.Match[0][NewOffset][n]+p.Offset[genericModel{}.OffsetCode(uint32(d))]))
					}
				}
			}
		}
		var m Matcher
		seqs := m.Parse(nil, src, params, l)
		if n := uncovered(size, seqs); len(seqs) < 5 || n < 5 {
			t.Errorf("%d different bytes: %d sequences, %d literals say little", 2+seed, len(seqs), n)
		}
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
	params := &Params{Finder: BinaryTree, HashLog: 16, Depth: 64, Nice: 256, Passes: 1, MaxMisses: 2, KeepSecondPath: true}
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

// TestSample: a quarter that begins in a match taken at once is sampled behind that; its bytes are no literals.
func TestSample(t *testing.T) {
	random := corpus.ByName("random").Make(5000)
	half := random[:4000]
	src := slices.Concat(half, half, random[4000:])
	var m Matcher
	seqs := m.Parse(nil, src, &Levels[9], testLimits[1])
	if len(seqs) != 1 || seqs[0].MatchLen != 4000 {
		t.Fatalf("%v", seqs)
	}
	o := m.optimal
	o.counts = Counts{}
	o.sample(src, chunk{from: 0, to: len(src)}, state{repeats: o.rules.InitialRepeats})
	sum := 0
	for _, n := range o.counts.Literals {
		sum += int(n)
	}
	if want := len(src)/4 + 1000; sum != want {
		t.Errorf("%d literals in the sample, want %d", sum, want)
	}
}

func TestEven(t *testing.T) {
	counts := []uint32{0, 5, 1, 0, 1000, 0}
	if equalize(counts); !slices.Equal(counts, []uint32{0, 335, 335, 0, 335, 0}) {
		t.Errorf("%v", counts)
	}
	counts = []uint32{0, 0}
	if equalize(counts); counts[0]+counts[1] != 0 {
		t.Errorf("%v", counts)
	}
}

// TestLongMatches: matches that are longer than a piece, or go on in the next one, are one sequence each.
func TestLongMatches(t *testing.T) {
	half := corpus.ByName("random").Make(3*MaxChunk + 1234)
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
		long := slices.DeleteFunc(slices.Clone(seqs), func(s Sequence) bool { return s.MatchLen < 16 })
		if n := len(seqs); n == 0 || int(seqs[n-1].MatchLen) < len(half)-tail || len(long) > 1 || l.MinMatch > 3 && n > 20 {
			t.Errorf("%d sequences, %d of them long", n, len(long))
		}
	}
}

// TestShortSequences: of data that is all matches of 2 bytes there are no more sequences than memory is stated for.
func TestShortSequences(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	src := corpus.ByName("random").Make(8000)
	for last := 0; len(src) < 5*MaxChunk; {
		last = (last + 1 + r.IntN(2)) % 3
		from := len(src) - []int{331, 2000, 7777}[last]
		src = append(src, src[from], src[from+1])
	}
	l := Limits{MinMatch: 3, MinRepeat: 2, MaxOffset: 1 << 20, Repeats: 3}
	for level := 7; level <= MaxLevel; level++ {
		var m Matcher
		seqs := m.Parse(nil, src, &Levels[level], l)
		if err := valid(src, seqs, l); err != nil {
			t.Fatal(err)
		}
		if n := len(seqs); n > len(src)/minSequenceBytes+MaxChunk/2 || n < len(src)/6 {
			t.Errorf("level %d: %d sequences in %d bytes", level, n, len(src))
		}
	}
}
