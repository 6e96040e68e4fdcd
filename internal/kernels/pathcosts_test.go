package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// pathGraph is a graph for PathCosts.
type pathGraph struct {
	prices    PathPrices
	content   []byte
	firstCand []uint32
	cands     []uint64
	to        int
}

// randomGraph returns a graph of n positions, with candidates of ascending lengths.
func randomGraph(r *rand.Rand, n int) *pathGraph {
	g := &pathGraph{content: make([]byte, n), to: n - r.IntN(2)*r.IntN(n+1)}
	most := []int{5, 12, 40, MaxPathLength}[r.IntN(4)]
	for i := range n {
		g.content[i] = byte(r.Uint32())
		g.firstCand = append(g.firstCand, uint32(len(g.cands)))
		if r.IntN(3) == 0 {
			continue
		}
		for length := MinPathLength; ; {
			if length += r.IntN(1 + r.IntN(most)); length > most {
				break
			}
			g.cands = append(g.cands, r.Uint64()>>56<<CandidateCodeShift|
				uint64(length)<<CandidateLengthShift|r.Uint64()>>(64-CandidateLengthShift))
			length += r.IntN(2) // lengths may be equal
			if r.IntN(4) == 0 {
				break
			}
		}
	}
	g.firstCand = append(g.firstCand, uint32(len(g.cands)))
	most = []int{10, 3000, 1<<13 - 1}[r.IntN(3)] // few prices make many paths of equal cost
	for i := range g.prices.Literal {
		g.prices.Literal[i] = r.Uint32N(uint32(most))
		g.prices.Offset[i] = r.Uint32N(uint32(most))
	}
	least := MinPathLength + r.IntN(2)*r.IntN(3)
	for k := range g.prices.Length {
		g.prices.Length[k] = r.Uint32N(uint32(most))
		if k < least {
			g.prices.Length[k] = ForbiddenPrice
		}
	}
	g.prices.Rotate()
	return g
}

// costs returns the definition of the costs.
func (g *pathGraph) costs() []uint32 {
	costs := make([]uint32, g.to+1)
	for i := g.to - 1; i >= 0; i-- {
		costs[i] = costs[i+1] + g.prices.Literal[g.content[i]]
		for _, c := range g.cands[g.firstCand[i]:g.firstCand[i+1]] {
			length := int(c >> CandidateLengthShift & (1<<21 - 1))
			offset := g.prices.Offset[uint8(c>>CandidateCodeShift)]
			for n := MinPathLength; n <= length && i+n <= g.to; n++ {
				costs[i] = min(costs[i], costs[i+n]+g.prices.Length[n]+offset)
			}
		}
	}
	return costs
}

// run compares PathCosts, in a few calls, with the definition. costs is its memory.
func (g *pathGraph) run(t *testing.T, r *rand.Rand, costs []uint32) {
	for i := range costs {
		costs[i] = r.Uint32() >> 2 // of another content
	}
	costs[g.to] = 0
	for at := g.to; at > 0; {
		from := r.IntN(at)
		PathCosts(&g.prices, g.content, g.firstCand, g.cands, costs, from, at, g.to)
		at = from
	}
	if want := g.costs(); !slices.Equal(costs[:g.to+1], want) {
		t.Fatalf("costs of %d positions differ", g.to)
	}
}

func TestPathCosts(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(81, 82))
		for range scaled(3000) {
			n := 1 + r.IntN([]int{30, 600}[r.IntN(2)])
			randomGraph(r, n).run(t, r, make([]uint32, n+1+PathSlack))
		}
		// More positions and candidates than one call of the assembly takes.
		randomGraph(r, 20_000).run(t, r, make([]uint32, 20_001+PathSlack))
	})
}

// TestPathCostsRange: arguments out of range panic.
func TestPathCostsRange(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		g := randomGraph(rand.New(rand.NewPCG(83, 84)), 50)
		first, cands := g.firstCand, g.cands
		for name, f := range map[string]func(costs []uint32){
			"from":      func(c []uint32) { PathCosts(&g.prices, g.content, first, cands, c, -1, 9, 9) },
			"at":        func(c []uint32) { PathCosts(&g.prices, g.content, first, cands, c, 5, 10, 9) },
			"order":     func(c []uint32) { PathCosts(&g.prices, g.content, first, cands, c, 6, 5, 9) },
			"content":   func(c []uint32) { PathCosts(&g.prices, g.content[:8], first, cands, c, 0, 9, 9) },
			"firstCand": func(c []uint32) { PathCosts(&g.prices, g.content, first[:9], cands, c, 0, 9, 9) },
			"slack":     func(c []uint32) { PathCosts(&g.prices, g.content, first, cands, c[1:], 0, 9, 9) },
			"cands": func(c []uint32) {
				PathCosts(&g.prices, g.content, []uint32{9: 1, 10: 1}, cands[:0], c, 0, 9, 9)
			},
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f(make([]uint32, 9+1+PathSlack))
			}()
		}
	})
}

func BenchmarkPathCosts(b *testing.B) {
	const n = 1 << 14
	g := randomGraph(rand.New(rand.NewPCG(85, 90)), n)
	g.to = n
	costs := make([]uint32, n+1+PathSlack)
	b.Logf("%d candidates", len(g.cands))
	benchTiers(b, func(b *testing.B) {
		b.SetBytes(n)
		for b.Loop() {
			PathCosts(&g.prices, g.content, g.firstCand, g.cands, costs, 0, n, n)
		}
	})
}
