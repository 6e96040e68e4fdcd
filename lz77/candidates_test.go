package lz77

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/simd"
)

// candidatesOf returns the candidates of all positions.
func candidatesOf(src []byte, p *Params, l Limits) []uint32 {
	var m Matcher
	best := make([]uint32, max(0, len(src)-finder.Tail))
	m.FindCandidates(best, src, p, l)
	return best
}

// TestParseCandidates: sequences are the same with the caller's candidates.
func TestParseCandidates(t *testing.T) {
	size := 100_000
	if small() {
		size = 20_000
	}
	for level := range Levels {
		if Levels[level].Finder != RowHash {
			continue
		}
		for _, l := range testLimits {
			t.Run(fmt.Sprintf("level%d/min%d", level, l.MinMatch), func(t *testing.T) {
				p := &Levels[level]
				for _, k := range corpus.Kinds() {
					for _, n := range []int{0, 15, 16, 17, 40, size} {
						src := k.Make(n)
						best := candidatesOf(src, p, l)
						for _, start := range []int{0, min(n, 9), n / 3} {
							var m Matcher
							want := m.ParseFrom(nil, src, start, p, l)
							got, ok := m.ParseCandidates(nil, src, start, p, l, best)
							if !ok || !slices.Equal(got, want) {
								t.Fatalf("%s, %d bytes from %d: ok %v, %s",
									k.Name, n, start, ok, differ(got, want))
							}
						}
					}
				}
			})
		}
	}
}

// TestImpossibleCandidates: ParseCandidates does not panic, whatever the candidates are. It reports
// an impossible candidate or gives sequences, which Valid may reject. All tiers do the same.
func TestImpossibleCandidates(t *testing.T) {
	p, l := &Levels[6], testLimits[0]
	size := 5000
	if small() {
		size = 1500
	}
	src := corpus.ByName("text").Make(size)
	good := candidatesOf(src, p, l)
	var m Matcher
	rejected := 0
	for i := range good {
		for _, v := range []uint32{1, 15, uint32(i + 1), 0xffffffff, 255<<24 | 16, 1 << 24} {
			bad := slices.Clone(good)
			bad[i] = v
			seqs, ok := m.ParseCandidates(nil, src, 0, p, l, bad)
			if !ok || !Valid(seqs, src, 0, l, nil) {
				rejected++
			}
			if i%7 != 0 {
				continue
			}
			for _, tier := range simd.Tiers() {
				was := simd.SetTier(tier)
				got, same := m.ParseCandidates(nil, src, 0, p, l, bad)
				simd.SetTier(was)
				if same != ok || !slices.Equal(got, seqs) {
					t.Fatalf("position %d, candidate %#x, tier %s: ok %v, want %v; %s",
						i, v, tier, same, ok, differ(got, seqs))
				}
			}
		}
	}
	if rejected == 0 {
		t.Error("no candidate was rejected")
	}
	if _, ok := m.ParseCandidates(nil, src, 0, p, l, good[:len(good)-1]); ok {
		t.Error("ParseCandidates accepts one candidate too few")
	}
}

// TestCandidatesNearNice: a far candidate, whose length counts up to Nice, does not replace a near
// one that is a byte or two shorter. This holds even if the parser has a match nearly as good, so
// that only the far one could replace that.
func TestCandidatesNearNice(t *testing.T) {
	for level := range Levels {
		p := &Levels[level]
		if p.Finder != RowHash {
			continue
		}
		r := rand.New(rand.NewPCG(3, uint64(level)))
		noise := func(n int) (b []byte) {
			for range n {
				b = append(b, byte(r.Uint32()))
			}
			return b
		}
		var far, near []byte
		for range 100 {
			phrase := noise(p.Nice + 12)
			far = append(append(far, phrase[1:]...), noise(1)...)
			near = append(append(near, phrase[:p.Nice-r.IntN(5)]...), noise(3)...)
			near = append(append(near, phrase...), noise(1)...)
		}
		src := append(append(far, noise(300_000)...), near...)
		for _, l := range testLimits {
			var m Matcher
			want := m.Parse(nil, src, p, l)
			got, ok := m.ParseCandidates(nil, src, 0, p, l, candidatesOf(src, p, l))
			if !ok || !slices.Equal(got, want) {
				t.Errorf("level %d, MinMatch %d: ok %v, %s", level, l.MinMatch, ok, differ(got, want))
			}
		}
	}
}

// TestAbandonCandidates: ParseCandidates may be abandoned by its checkpoint.
func TestAbandonCandidates(t *testing.T) {
	src, next := corpus.ByName("text").Make(200_000), corpus.ByName("exe").Make(50_000)
	p, l := &Levels[5], testLimits[1]
	best := candidatesOf(src, p, l)
	want := new(Matcher).Parse(nil, next, p, l)
	var m Matcher
	for left := range 3 {
		func() {
			defer func() {
				m.Checkpoint = nil
				if v := recover(); v != "enough" {
					t.Fatalf("panic with %v, want enough", v)
				}
			}()
			calls := left
			m.Checkpoint = func() {
				calls--
				if calls < 0 {
					panic("enough")
				}
			}
			m.ParseCandidates(nil, src, 0, p, l, best)
		}()
		if got := m.Parse(nil, next, p, l); !slices.Equal(got, want) {
			t.Fatalf("other sequences after a panic at call %d", left)
		}
	}
}
